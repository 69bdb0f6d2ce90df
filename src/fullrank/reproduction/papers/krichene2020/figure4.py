"""Krichene and Rendle 2020, Figure 4: average precision corrected for sampling, on the sample and in expectation."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Doubles, Ints
from fullrank.evaluation.analysis import characteristic
from fullrank.evaluation.corrections import corrected
from fullrank.evaluation.methods import Method
from fullrank.evaluation.sampling import values
from fullrank.metrics.relevance import ap
from fullrank.ranks import Ranks
from fullrank.reproduction.exhibit import Exhibit, turns
from fullrank.reproduction.findings import Claim, Figure, Findings
from fullrank.reproduction.papers.krichene2020.protocol import ITEMS, METHODS, PLACE
from fullrank.reproduction.workspace import Workspace

SAMPLES = 100
ON_SAMPLE, IN_FULL = 20, 1000  # ranks shown


def run(workspace: Workspace) -> Findings:
    """One relevant item of 10,000, 100 others sampled with replacement, all ranks as likely."""
    exact = values(ap, ITEMS)
    tables = {name: on_sample(method) for name, method in METHODS.items()}
    means = {name: characteristic(ap, ITEMS, SAMPLES, method=method, replace=True) for name, method in METHODS.items()}
    turned = {name: turns(table.tolist()) for name, table in tables.items()}
    rise = float(np.diff(tables["CLS"]).max())
    low = ("BV 0.1", "BV 0.01", "BV 0.001")
    claims = (
        Claim(
            "the lower gamma, the more the corrected metric oscillates on the sample",
            0 < turned[low[0]] < turned[low[1]] < turned[low[2]],
            ", ".join(f"{name} turns {turned[name]} times" for name in low),
        ),
        Claim("CLS never rewards a worse sampled rank", rise <= 1e-12, f"it rises by {max(rise, 0.0):.0e} at most"),
        *_closer(exact, means),
    )
    sampled = np.arange(1, ON_SAMPLE + 1)
    true = np.unique(np.geomspace(1, IN_FULL, 80).astype(int))
    return Findings(
        claims=claims,
        figures=(
            _figure("Corrected AP on the sample", "sampled rank", sampled, tables),
            _figure("Its expectation", "true rank", true, {"exact": exact} | means),
        ),
    )


def on_sample(method: Method | None) -> Doubles:
    """The corrected value of each sampled rank."""
    ranks = np.arange(SAMPLES + 1)
    cases = Ranks(np.append(ranks, SAMPLES + 1), ranks, np.zeros_like(ranks), np.full_like(ranks, SAMPLES))
    return ap(cases) if method is None else corrected(ap, method, full=ITEMS - 1, replace=True)(cases)


def _closer(exact: Doubles, means: dict[str, Doubles]) -> tuple[Claim, ...]:
    """In expectation nearer to the metric: by the root of the mean squared bias over all ranks, and rank by rank."""
    bias = {name: np.abs(mean - exact) for name, mean in means.items()}
    size = {name: float(np.sqrt((gap**2).mean())) for name, gap in bias.items()}
    others = [name for name in means if name != "uncorrected"]
    where = {name: bias[name] < bias["uncorrected"] for name in others}
    return (
        Claim(
            "all corrected ones are closer in expectation, by the root mean squared bias over all ranks",
            max(size[name] for name in others) < size["uncorrected"],
            ", ".join(f"{name} {value:.4f}" for name, value in size.items()),
        ),
        Claim(
            "they are so at every rank but the first, where the sampled metric is right by itself",
            all(closer[1:].all() and not closer[0] for closer in where.values()),
            f"closer at {min(int(closer.sum()) for closer in where.values()):,} of {ITEMS:,} ranks or more",
        ),
    )


def _figure(title: str, x: str, ranks: Ints, curves: dict[str, Doubles]) -> Figure:
    lines = {name: list(zip(ranks.tolist(), curve[ranks - 1].tolist(), strict=True)) for name, curve in curves.items()}
    return Figure(f"{title}, {SAMPLES} of {ITEMS:,}", x, "AP", lines)


EXHIBIT = Exhibit("krichene2020-figure4", "AP corrected for sampling", f"{PLACE}, Figure 4 and section 5.4", run)
