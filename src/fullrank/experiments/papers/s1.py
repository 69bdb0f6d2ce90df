"""S1: Krichene and Rendle, On Sampled Metrics for Item Recommendation (KDD 2020)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from fullrank.data import sources
from fullrank.evaluation.analysis import against_samples, consistency, expected_values
from fullrank.evaluation.methods import bias_variance, constrained, rank_estimate
from fullrank.evaluation.rank import rank
from fullrank.experiments.exhibits import Bench, Claim, Exhibit, Found, Number
from fullrank.metrics.metric import Metric
from fullrank.metrics.relevance import ap, auc, ndcg, recall
from fullrank.models.ials import IALS
from fullrank.models.itemcf import S1_Y, S1_Z
from fullrank.ranks import Ranks

PLACE = "S1 (Krichene and Rendle 2020)"
ITEMS, SAMPLES = 10_000, 99
TOY = {"A": [100] * 5, "B": [40, 40, 8437, 9266, 4482], "C": [212, 2, 743, 5342, 1548]}
MEASURES: dict[str, Metric] = {"AUC": auc, "AP": ap, "NDCG": ndcg, "Recall": recall @ 10}
TABLE1 = {
    "AUC": (0.990, 0.555, 0.843), "AP": (0.010, 0.010, 0.101), "NDCG": (0.150, 0.122, 0.208), "Recall": (0, 0, 0.2),
}  # fmt: skip
TABLE2 = {  # mean and standard deviation of 1,000 samplings
    "AUC": ((0.990, 0.004), (0.555, 0.014), (0.843, 0.014)), "AP": ((0.630, 0.129), (0.336, 0.073), (0.325, 0.050)),
    "NDCG": ((0.724, 0.097), (0.444, 0.054), (0.460, 0.039)), "Recall": ((1.0, 0.0), (0.400, 0.0), (0.567, 0.092)),
}  # fmt: skip
RECIPES: dict[str, Any] = {
    "X": IALS(factors=16, missing_weight=0.2, reg=10, frequency=0, sweeps=16),
    "Y": S1_Y,
    "Z": S1_Z,
}
REAL: dict[str, Metric] = {"Recall": recall @ 10, "NDCG": ndcg @ 10, "AP": ap, "AUC": auc}
METHODS: dict[str, Any] = {
    "": None, "rank estimate": rank_estimate(), "CLS": constrained(), "BV 1": bias_variance(1.0),
    "BV 0.1": bias_variance(0.1), "BV 0.01": bias_variance(0.01), "BV 0.001": bias_variance(0.001),
}  # fmt: skip
TABLE3: dict[str, dict[str, tuple[float, ...]]] = {  # percent: exact, uncorrected, then the methods in their order
    "Recall": {
        "X": (7.60, 66.19, 17.46, 8.52, 4.71, 6.49, 7.18, 7.32),
        "Y": (8.84, 56.51, 17.26, 8.42, 4.60, 6.95, 8.18, 8.54),
        "Z": (9.42, 54.20, 18.67, 9.10, 4.97, 7.44, 8.63, 9.08),
    },
    "NDCG": {
        "X": (3.76, 39.21, 17.46, 3.99, 2.16, 3.00, 3.34, 3.41),
        "Y": (4.59, 34.82, 17.26, 3.94, 2.12, 3.24, 3.85, 4.03),
        "Z": (4.79, 35.34, 18.67, 4.27, 2.29, 3.46, 4.05, 4.31),
    },
    "AP": {
        "X": (3.75, 32.55, 18.12, 3.58, 2.44, 3.13, 3.37, 3.42),
        "Y": (4.32, 30.01, 17.81, 3.54, 2.32, 3.19, 3.62, 3.73),
        "Z": (4.44, 30.71, 19.20, 3.82, 2.45, 3.38, 3.79, 3.97),
    },
    "AUC": {
        "X": (89.13, 89.12, 89.24, 89.12, 88.36, 89.04, 89.11, 89.12),
        "Y": (85.33, 85.33, 85.48, 85.32, 84.63, 85.26, 85.32, 85.32),
        "Z": (74.73, 75.04, 75.24, 75.04, 74.51, 75.02, 75.02, 75.02),
    },
}
TABLE4: dict[str, dict[str, tuple[int, ...]]] = {  # of 100 samplings, by pair and measure, methods in their order
    "X vs Y": {
        "Recall": (0, 31, 31, 11, 93, 91, 78), "NDCG": (0, 31, 31, 15, 93, 88, 76), "AP": (0, 24, 31, 0, 68, 79, 66),
        "AUC": (100,) * 7,
    },
    "X vs Z": {
        "Recall": (0, 100, 100, 100, 100, 95, 86), "NDCG": (0, 100, 100, 100, 100, 95, 82),
        "AP": (0, 100, 100, 61, 99, 92, 81), "AUC": (100,) * 7,
    },
    "Y vs Z": {
        "Recall": (0, 100, 100, 100, 95, 72, 68), "NDCG": (100, 100, 100, 100, 94, 70, 67),
        "AP": (100, 100, 100, 100, 98, 75, 68), "AUC": (100,) * 7,
    },
}  # fmt: skip


def toy(name: str) -> Ranks:
    """Five cases of one relevant item among 10,000 (section 3.2)."""
    return Ranks(start=np.arange(6), above=np.array(TOY[name]) - 1, tied=np.zeros(5, int), pool=np.full(5, ITEMS - 1))


def table1(bench: Bench) -> Found:
    """The toy example, exactly."""
    return Found(
        tuple(
            Number(f"{name}, {measure}", TABLE1[measure][place], float(metric(toy(name)).mean()))
            for place, name in enumerate(TOY)
            for measure, metric in MEASURES.items()
        )
    )


def table2(bench: Bench) -> Found:
    """The toy example with 99 samples, in expectation; S1 repeats it 1,000 times."""
    values = {
        measure: [float(expected_values(MEASURES[measure], toy(name), SAMPLES, replace=True).mean()) for name in TOY]
        for measure in TABLE2
    }
    numbers = []
    for measure, rows in TABLE2.items():
        for place, (name, (mean, deviation)) in enumerate(zip(TOY, rows, strict=True)):
            within = 4 * deviation / 1000**0.5  # four standard errors of S1's own mean
            numbers.append(Number(f"{name}, sampled {measure}", mean, values[measure][place], within))
    order = sorted(TOY, key=lambda name: -values["AP"][list(TOY).index(name)])
    return Found(
        tuple(numbers), (Claim("sampled AP turns the order of A, B and C around", order == [*"ABC"], "".join(order)),)
    )


def ranks(bench: Bench) -> dict[str, Ranks]:
    """X, Y and Z on the last event of everybody in MovieLens 1M (section 6)."""

    def run() -> dict[str, Ranks]:
        split = sources.ncf(bench.place("ml-1m")).data
        return {name: rank(recipe.fit(split.train), split) for name, recipe in RECIPES.items()}

    found: dict[str, Ranks] = bench.once("s1 ranks", run)
    return found


def samplings(bench: Bench) -> dict[str, Any]:
    """100 samplings of 100 items: means in percent by (measure, method) and model, and agreement by pair."""

    def run() -> dict[str, Any]:
        found = consistency(ranks(bench), list(REAL.values()), 100, methods=list(METHODS.values()), repeats=100)
        shape = len(REAL), len(METHODS), -1
        exact, mean, agreement = (100 * part for part in (found.exact, found.sampled.mean(axis=0), found.agreement()))
        return {
            "exact": exact.reshape(shape)[:, 0].tolist(),
            "mean": mean.reshape(shape).tolist(),
            "agreement": agreement.reshape(shape).tolist(),
        }

    found: dict[str, Any] = bench.step("s1/samplings", run)
    return found


def table3(bench: Bench) -> Found:
    """Exact, sampled and corrected: means over samplings."""
    found = samplings(bench)
    ours = {
        measure: {name: [found["exact"][m][n], *(row[n] for row in found["mean"][m])] for n, name in enumerate(RECIPES)}
        for m, measure in enumerate(REAL)
    }
    columns = ["exact", *(name or "uncorrected" for name in METHODS)]
    numbers = []
    for measure, rows in TABLE3.items():
        for name, published in rows.items():
            for place, column in enumerate(columns):
                exact = 0.0 if name == "Y" and measure != "AUC" else 0.25
                within = exact if place == 0 else (1.5 if place == 1 else 0.5)
                numbers.append(
                    Number(f"{name}, {measure}, {column}", published[place], ours[measure][name][place], within, 2)
                )
    recalls = {column: [ours["Recall"][name][place] for name in "XYZ"] for place, column in enumerate(columns)}
    return Found(
        tuple(numbers),
        (
            Claim("exactly, Z is better than Y and Y than X", recalls["exact"] == sorted(recalls["exact"])),
            Claim("sampled, the order by recall is the other way round", recalls["uncorrected"] == sorted(recalls["uncorrected"])[::-1]),  # noqa: E501
            Claim("corrected by BV 0.1 it is right again", recalls["BV 0.1"] == sorted(recalls["BV 0.1"])),
        ),
    )  # fmt: skip


def table4(bench: Bench) -> Found:
    """How often 100 samplings order two models as the exact metric does."""

    found = samplings(bench)["agreement"]
    pairs = [f"{one} vs {two}" for one, two in combinations(RECIPES, 2)]
    ours = {
        pair: {measure: [row[p] for row in found[m]] for m, measure in enumerate(REAL)} for p, pair in enumerate(pairs)
    }
    numbers, claims = [], []
    for pair, rows in TABLE4.items():
        for measure, published in rows.items():
            for place, method in enumerate(METHODS):
                seen = ours[pair][measure][place]
                what = f"{pair}, {measure}, {method or 'uncorrected'}"
                numbers.append(Number(what, published[place], seen, 15.0, 0))
                if published[place] >= 90:
                    claims.append(Claim(f"{what}: at least 85 of 100, as S1 has 90 or more", seen >= 85, f"{seen:.0f}"))
    return Found(tuple(numbers), tuple(claims))


def figure6(bench: Bench) -> Found:
    """Recall@10 of X and Y against the number of samples: where they come in the right order."""
    samples = {"raw": [50, 100, 200, 500, 800, 1000, 1500, 2000], "mended": [20, 40, 60, 80, 100]}
    methods = {"raw": None, "mended": bias_variance(0.1)}

    def run() -> dict[str, list[float]]:
        some = {name: found for name, found in ranks(bench).items() if name != "Z"}
        means = {w: against_samples(some, recall @ 10, samples[w], method=method) for w, method in methods.items()}
        return {which: (found["Y"] - found["X"]).tolist() for which, found in means.items()}

    ours = bench.step("s1/figure6", run)
    raw, mended = (
        next((m for m, lead in zip(samples[which], ours[which], strict=True) if lead > 0), samples[which][-1] + 1)
        for which in samples
    )
    return Found(
        claims=(
            Claim("uncorrected, X and Y need about 1000 samples to come in order", raw >= 800, f"from {raw} on"),
            Claim("corrected by BV 0.1, fewer than 100", mended < 100, f"from {mended} on"),
        )
    )


EXHIBITS = (
    Exhibit("s1-table1", "A toy example of three recommenders", f"{PLACE}, Table 1", table1),
    Exhibit("s1-table2", "The toy example, sampled", f"{PLACE}, Table 2", table2),
    Exhibit(
        "s1-table3", "X, Y and Z, exact, sampled and corrected", f"{PLACE}, Table 3", table3, ("ml-1m",),
        why="X depends on its start; most scores of Z are tied at 0, and S1 does not tell how it broke ties.",
    ),
    Exhibit(
        "s1-table4", "How often samplings agree with the exact order", f"{PLACE}, Table 4", table4, ("ml-1m",),
        why="Counts of 100 samplings; S1 samples the same items for all models, here each model is thinned by itself.",
    ),
    Exhibit("s1-figure6", "Recall against the number of samples", f"{PLACE}, Figure 6", figure6, ("ml-1m",)),
)  # fmt: skip
