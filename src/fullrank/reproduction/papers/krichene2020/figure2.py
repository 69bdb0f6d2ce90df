"""Krichene and Rendle 2020, Figure 2: expected sampled metrics of the toy example while the number of samples grows."""

from __future__ import annotations

from itertools import groupby

from fullrank.arrays import Doubles
from fullrank.evaluation.analysis import against_samples
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings
from fullrank.reproduction.papers.krichene2020.protocol import ITEMS, MEASURES, PLACE, TOY, toy
from fullrank.reproduction.workspace import Workspace

SAMPLES = [1, 2, 5, 10, 20, 40, 70, 99, 150, 200, 300, 500, 700, 1000, 1500, 2500, 3500, 5000, 7000, 9000, ITEMS - 1]
BY_AP = {40: "A > C > B", 200: "A > B > C", 500: "C > A > B", 9000: "C > A = B"}  # section 4.2: what each would say
HEAVY = ("AP", "NDCG", "Recall")


def run(workspace: Workspace) -> Findings:
    """Without replacement, so that all samples are the exact metric; values alike in three digits are equal."""
    models = {name: toy(name) for name in TOY}
    means = {name: against_samples(models, metric, SAMPLES) for name, metric in MEASURES.items()}
    orders = {
        name: {m: order({model: rows[model][at] for model in TOY}) for at, m in enumerate(SAMPLES)}
        for name, rows in means.items()
    }
    exact = {
        name: order({who: metric(ranks).mean() for who, ranks in models.items()}) for name, metric in MEASURES.items()
    }
    figures = tuple(
        Figure(f"{name}, sampled", "samples", name, {who: _line(row) for who, row in rows.items()}, log="x")
        for name, rows in means.items()
    )
    return Findings(claims=_claims(means, orders, exact), figures=figures)


def _claims(
    means: dict[str, dict[str, Doubles]], orders: dict[str, dict[int, str]], exact: dict[str, str]
) -> tuple[Claim, ...]:
    moved = max(float(row.max() - row.min()) for row in means["AUC"].values())
    by_ap, by_recall = orders["AP"], orders["Recall"]
    right = min(m for m in SAMPLES if all(by_recall[n] == exact["Recall"] for n in SAMPLES if n >= m))
    one = {name: by_samples[1] for name, by_samples in orders.items()}
    return (
        Claim("AUC does not move with the number of samples", moved < 1e-9, f"by {moved:.0e} at most"),
        Claim(
            "by AP the conclusion depends on the number of samples: A > C > B with few, A > B > C with 200, C > A > B "
            "with 500, C > A = B with many",
            all(by_ap[m] == ordering for m, ordering in BY_AP.items()),
            f"{len(set(by_ap.values()))} orders: "
            + "; ".join(f"{ordering} from {next(runs)}" for ordering, runs in groupby(by_ap, by_ap.__getitem__)),
        ),
        Claim(
            "with 99 samples AP, NDCG and recall order A, B and C otherwise than exactly",
            all(orders[name][99] != exact[name] for name in HEAVY),
            "; ".join(f"{name} {orders[name][99]}, exactly {exact[name]}" for name in HEAVY),
        ),
        Claim(
            "with nearly all items sampled every metric orders them as exactly",
            all(orders[name][m] == exact[name] for name in orders for m in SAMPLES[-2:]),
            f"{SAMPLES[-2]:,} and {SAMPLES[-1]:,} of {ITEMS - 1:,}",
        ),
        Claim("recall needs about 5,000 samples to be right", 2500 < right <= 5000, f"right from {right:,} on"),
        Claim(
            "with one sample AP and NDCG order A, B and C as AUC does, and recall is the same for all",
            one["AP"] == one["NDCG"] == exact["AUC"] and one["Recall"] == "A = B = C",
            "; ".join(f"{name} {ordering}" for name, ordering in one.items()),
        ),
    )  # fmt: skip


def order(values: dict[str, float]) -> str:
    """Best first, with those side by side that print alike."""
    near = {name: round(float(value), 3) for name, value in values.items()}
    levels = sorted(set(near.values()), reverse=True)
    return " > ".join(" = ".join(name for name in near if near[name] == level) for level in levels)


def _line(row: Doubles) -> list[tuple[float | str, float]]:
    return [(m, float(value)) for m, value in zip(SAMPLES, row, strict=True)]


EXHIBIT = Exhibit(
    "krichene2020-figure2", "The toy example by number of samples", f"{PLACE}, Figure 2 and section 4", run
)
