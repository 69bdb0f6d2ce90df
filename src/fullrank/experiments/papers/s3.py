"""S3: training toward the average discounted gain, and measuring what is missing (ADG)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fullrank.data.split import Split, holdout, repetitions
from fullrank.evaluation.cases import cases_of
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.experiments.exhibits import Bench, Claim, Exhibit, Found, Number
from fullrank.metrics.relevance import adg, ap, atop, ndcg, recall
from fullrank.models.mfadg import MFADG, MFAUC

PLACE = "S3"
STANDS_IN = "S3 uses denser parts of MovieLens 10M, last.FM and Amazon Games; here MovieLens 1M, ratings from 4 on."
METRICS = [ap, ndcg, recall @ 10, adg, atop]
REGS = (0.05, 0.1, 0.15)
TIMES = 4
TABLE2 = {"atop": -0.06, "adg": -0.29, "recall@10": 0.0, "ap": -24.0, "ndcg": -20.0}  # percent, validation to test


def splits(bench: Bench) -> list[Split[Any]]:
    """20% of everybody's relevant items for the test and 10% for validation, four times."""
    data = bench.data("ml-1m").relevant(4)
    found: list[Split[Any]] = bench.once(
        "s3 splits", lambda: list(repetitions(partial(holdout, data, 0.2, valid=0.1), TIMES))
    )
    return found


def measured(model: Any, split: Split[Any], part: str) -> dict[str, float]:
    """Only training items are excluded, so that both parts meet the same candidates."""
    cases = cases_of(Split(split.train, getattr(split, part)), exclude=split.train)
    return evaluate(rank(model, cases), METRICS).mean()


def tuned(bench: Bench, recipe: Any, target: str) -> Any:
    """The regularisation with the best validation value of what the recipe is for."""
    tried = [replace(recipe, reg=reg) for reg in REGS]

    def value(one: Any) -> float:
        split = splits(bench)[0]
        name = f"s3/tune-{type(one).__name__}-{one.reg}"
        return float(bench.step(name, lambda: measured(one.fit(split.train), split, "valid")[target]))

    return max(tried, key=value)


def means(bench: Bench, recipe: Any) -> dict[str, dict[str, float]]:
    """Means over the repetitions, on the test and on the validation part."""

    def run() -> dict[str, dict[str, float]]:
        models = [recipe.fit(split.train, seed=seed) for seed, split in enumerate(splits(bench))]
        both = {}
        for part in ("held_out", "valid"):
            rows = [measured(model, split, part) for model, split in zip(models, splits(bench), strict=True)]
            both[part] = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        return both

    found: dict[str, dict[str, float]] = bench.step(f"s3/{type(recipe).__name__}-{recipe.reg}", run)
    return found


def table1(bench: Bench) -> Found:
    """Trained toward ADG against trained toward AUC."""
    gain = means(bench, tuned(bench, MFADG(), "adg"))["held_out"]
    area = means(bench, tuned(bench, MFAUC(), "atop"))["held_out"]
    numbers = [Number(f"{name}, {model}", None, row[name], digits=4) for model, row in (("MF-AUC", area), ("MF-ADG", gain)) for name in row]  # fmt: skip # noqa: E501
    claims = [
        Claim(f"MF-ADG is better by {name}", gain[name] > area[name], f"{area[name]:.4f} to {gain[name]:.4f}")
        for name in ("ap", "ndcg", "recall@10", "adg")
    ]
    seen = f"{area['atop']:.4f} to {gain['atop']:.4f}"
    claims.append(Claim("and slightly worse by ATOP", 0 <= area["atop"] - gain["atop"] < 0.01, seen))
    return Found(tuple(numbers), tuple(claims))


def table2(bench: Bench) -> Found:
    """From the test part to the validation part, which has half as many relevant items."""
    both = means(bench, tuned(bench, MFADG(), "adg"))
    change = {name: 100 * (both["valid"][name] / both["held_out"][name] - 1) for name in TABLE2}
    numbers = [
        Number(f"{name}, change in percent", published, change[name], 4.0 if abs(published) < 1 else 10.0, 2)
        for name, published in TABLE2.items()
    ]
    unbiased = max(abs(change[name]) for name in ("atop", "adg"))
    biased = max(change[name] for name in ("ap", "ndcg"))
    return Found(
        tuple(numbers),
        (
            Claim("ATOP and ADG agree within 1%", unbiased < 1, f"{unbiased:.2f}%"),
            Claim("recall@10 agrees within 4%", abs(change["recall@10"]) < 4, f"{change['recall@10']:.2f}%"),
            Claim("MAP and nDCG fall by more than 15%", biased < -15, f"{biased:.1f}%"),
        ),
    )


EXHIBITS = (
    Exhibit("s3-table1", "Training toward ADG and toward AUC", f"{PLACE}, Table 1", table1, ("ml-1m",), STANDS_IN),
    Exhibit("s3-table2", "Which measures survive missing data", f"{PLACE}, Table 2", table2, ("ml-1m",), STANDS_IN),
)
