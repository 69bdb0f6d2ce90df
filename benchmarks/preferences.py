"""Opportunity cost beside what no fit can do without: the products of its normal equations, reading its items.

ML-1M and ML-100K, two threads, everything compiled before the clock runs. Comparisons are prepared before it too, and
how long that takes is told, except in whole fits, which contain it. A sweep finds all items and all users: its normal
equations take ratings * k (k + 1) multiply-adds, and the floor is one square product with as many. By the procedure of
Ackerman 2012 every preference is two updates, of i's value given j and of j's given i, and a pass takes each preference
once; the floor is NumPy reading the values of its two items, in the same order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

import fullrank
from benchmarks.measure import best_times
from benchmarks.preferences_order import gathering
from benchmarks.training_turns import THREADS, Row, against, taking_turns, verdict
from benchmarks.turns import LISTEN, PAUSE, Once, busy, timed
from fullrank.models.preferences.comparisons import Comparisons, comparisons
from fullrank.models.preferences.features import make_pass
from fullrank.models.preferences.opportunity import OpportunityCost, sweep
from fullrank.models.training.state import Parameters

SHARES, FACTORS, MIDDLE = (1 / 8, 1 / 4, 1 / 2, 1), (25, 50, 100, 200), 50
LINEAR, QUADRATIC = 1.1, 2.1  # exponents, with room for noise
PASSES = 5
SECONDS = 40.0  # of turns

Data = fullrank.Interactions


def run() -> list[Row]:
    fullrank.threads(THREADS)
    measures: dict[str, list[Callable[[Data], list[Row]]]] = {
        "ml-1m": [preparing, by_ratings, by_factors, fit],
        "ml-100k": [preparing, updates, five_fits],
    }
    rows: list[Row] = []
    for name, asked in measures.items():
        try:
            data = fullrank.sources.load(name).data
        except fullrank.FullrankError as error:
            rows.append({"setting": name, "not measured": str(error)})
            continue
        rows += [{"setting": name, **row} for measure in asked for row in measure(data)]
    return rows


def preparing(data: Data) -> list[Row]:
    seconds = best_times({"comparisons": partial(comparisons, data)})["comparisons"]
    return [
        {"measure": "comparisons", "seconds": seconds, "ratings": len(data), "preferences": comparisons(data).pairs}
    ]


def by_ratings(data: Data) -> list[Row]:
    """A sweep with some of the users, by chance."""
    drawn = np.random.default_rng(0).permutation(data.n_users)
    some = {share: data.where(drawn[data.user] < share * data.n_users) for share in SHARES}
    settings = {f"{share:g} of the users, k {MIDDLE}": (comparisons(part), MIDDLE) for share, part in some.items()}
    return sweeps(settings, [len(part) for part in some.values()], "ratings", LINEAR)


def by_factors(data: Data) -> list[Row]:
    parts = comparisons(data)
    return sweeps({f"all users, k {k}": (parts, k) for k in FACTORS}, FACTORS, "k", QUADRATIC)


def sweeps(settings: Mapping[str, tuple[Comparisons, int]], sizes: Any, what: str, most: float) -> list[Row]:
    """A sweep over its floor in every setting, all from the same turns, and how both grow."""
    ours = {f"sweep, {name}": _sweep(*setting) for name, setting in settings.items()}
    floors = {f"floor, {name}": _products(*setting) for name, setting in settings.items()}
    times, others = taking_turns({**ours, **floors}, SECONDS)
    rows = [
        {"measure": f"{way} / floor", **against(times[way], times[floor], "", others)}
        for way, floor in zip(ours, floors, strict=True)
    ]
    for name, ways in (("sweep", ours), ("floor", floors)):
        wall, cpu = (
            _exponent(sizes, [min(seconds) for seconds in of]) for of in zip(*(times[way] for way in ways), strict=True)
        )
        target = {"target": f"<= {most:g}"} if name == "sweep" else {}
        told = {**target, **verdict({"ratio": wall, **target}, others)}
        rows.append({"measure": f"{name}, exponent of {what}", "exponent": wall, "cpu_exponent": cpu, **told})
    return rows


def _exponent(sizes: Any, seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _sweep(parts: Comparisons, factors: int) -> Once:
    """One more sweep of a fit that is under way."""
    recipe = OpportunityCost(factors)
    parameters = recipe.start(*(len(side.start) - 1 for side in (parts.by_user, parts.by_item)), seed=0)
    return timed(partial(sweep, parts, parameters, recipe.reg))


def _products(parts: Comparisons, factors: int) -> Once:
    many = len(parts.by_user.other) * factors * (factors + 1)
    n = round(many ** (1 / 3))
    left, right = (np.ones((n, m), dtype=np.float32) for m in (n, round(many / n**2)))
    out, blas = np.empty_like(right), ThreadpoolController()

    def product() -> None:
        with blas.limit(limits=THREADS, user_api="blas"):
            np.matmul(left, right, out=out)

    return timed(product)


def updates(data: Data) -> list[Row]:
    """Passes over all preferences for one feature, over gathering as often."""
    parts = comparisons(data)
    recipe = OpportunityCost(factors=1, sweeps=PASSES, reg=0.02, solver="sgd")
    gather = gathering(parts)

    def passes(parameters: Parameters) -> None:
        once = make_pass(recipe, parts, 0)
        for number in range(PASSES):
            once(parameters, number)

    def floor() -> None:
        for _ in range(PASSES):
            gather()

    ways = {
        "ours": timed(passes, lambda: (_begin(recipe, data),)),
        "floor": timed(floor),
    }
    times, others = taking_turns(ways, SECONDS)
    row = {"measure": f"{PASSES} passes by sgd / gathering", **against(times["ours"], times["floor"], "", others)}
    many = parts.pairs * PASSES / row["seconds"]
    return [{**row, "preferences_a_second": many, "updates_a_second": 2 * many}]


def _begin(recipe: OpportunityCost, data: Data) -> Parameters:
    return recipe.start(data.n_users, data.n_items, 0)


def fit(data: Data) -> list[Row]:
    return [{"measure": "fit, k 100", **_fits(OpportunityCost(100), [data])}]


def five_fits(data: Data) -> list[Row]:
    trains = [split.train for split in fullrank.folds(data, 5)]
    return [{"measure": "five folds' fits, k 200", **_fits(OpportunityCost(200, reg=0.03), trains)}]


def _fits(recipe: OpportunityCost, trains: list[Data]) -> Row:
    """Seconds of all these, preparing included, the better of two after one fit to warm up."""
    recipe.fit(trains[0])
    found = []
    for _ in range(2):
        time.sleep(PAUSE)
        others, start = busy(LISTEN), time.perf_counter()
        for train in trains:
            recipe.fit(train)
        found.append((time.perf_counter() - start, others))
    seconds, others = min(found)
    return {"sweeps": recipe.sweeps, "seconds": seconds, "others": others}
