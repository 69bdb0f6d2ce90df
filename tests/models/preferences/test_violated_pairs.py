"""Opportunity cost in context without targets (SPW-HVS): errors and steps against the pairs, one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from fullrank import Graded
from fullrank.data.feedback import seen
from fullrank.models.preferences.session_cost import SessionCost

LEARNED = ("users", "items", "alpha")


def errors_by_pairs(value: Any, grade: Any) -> tuple[Any, int]:
    """Ackerman 2012, Eq. 4.7, pair by pair: lower ones at or above each item less higher ones at or below it."""
    errors, violated = np.zeros(len(value)), 0
    for better, worse in permutations(range(len(value)), 2):
        if grade[better] > grade[worse] and value[worse] >= value[better]:
            errors[better] += 1
            errors[worse] -= 1
            violated += 1
    return errors, violated


def values(parameters: dict[str, Any], code: Any) -> Any:
    """r_ui|s of the items of a session, of the one user."""
    b = parameters["items"][code] @ parameters["users"][0]
    return b + parameters["alpha"][0] * (b.sum() - b) / (len(b) - 1)


def test_the_published_example() -> None:
    """One lower movie is at or above "Catch Me If You Can", the fourth; the recipe counts one of 12 pairs."""
    benefit, grade = [0.87, 0.96, 0.57, 0.32, 0.44, 0.31], [3, 3, 2, 2, 1, 1]
    errors, violated = errors_by_pairs(benefit, grade)
    assert (errors.tolist(), violated) == ([0, 0, 0, 1, -1, 0], 1)
    offers = Graded.of(session=[1] * 6, item=range(6), grade=grade, user=[1] * 6)
    rounds = SessionCost(factors=1, targets="heaviside", rate=1e-6, reg=0.0).prepare(offers, 0)
    parameters = rounds.start()
    parameters["users"][:], parameters["alpha"][:] = 1, 0
    parameters["items"][offers.items.codes(list(range(6))), 0] = benefit
    assert rounds.run(parameters, 0) == pytest.approx(1 / 12)


@pytest.mark.parametrize("seed", range(6))
def test_steps_follow_the_violated_pairs(seed: int) -> None:
    """In the limit of a small rate: sum of eps_i dr_ui|s, and the share of pairs that are violated as the loss."""
    rng = np.random.default_rng(seed)
    grade = rng.permutation([3, 3, 2, 2, 1, 1, 0])
    offers = Graded.of(session=[1] * 7, item=range(7), grade=grade, user=[1] * 7)
    code = seen(offers).items.codes(list(range(7)))
    recipe = SessionCost(factors=3, targets="heaviside", decay=1.0, reg=0.0)
    before = recipe.prepare(offers, 0).start()
    before |= {name: rng.standard_normal(before[name].shape).astype(np.float32) for name in LEARNED}
    before["alpha"][0] = (-1, 0.5, 9)[seed % 3]  # beyond 6, costs turn the order of benefits around
    wide = {name: before[name].astype(float) for name in LEARNED}
    assert values(wide, code) == pytest.approx(recipe.model(before, seen(offers)).offer_scores(offers), abs=1e-5)
    errors, violated = errors_by_pairs(values(wide, code), grade)
    assert violated

    def speed(rate: float) -> dict[str, Any]:
        after = {name: array.copy() for name, array in before.items()}
        loss = replace(recipe, rate=rate).prepare(offers, 0).run(after, 0)
        assert loss == pytest.approx(violated / 18)  # 21 pairs, but for one in each class of two
        return {name: (after[name].astype(float) - before[name]) / rate for name in LEARNED}

    slow, slower = speed(4e-4), speed(2e-4)
    for name in LEARNED:
        for place in np.ndindex(before[name].shape):
            ends = []
            for h in (1e-5, -1e-5):
                near = {key: array.copy() for key, array in wide.items()}
                near[name][place] += h
                ends.append(float(errors @ values(near, code)))
            limit = 2 * slower[name][place] - slow[name][place]
            assert limit == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=5e-3, abs=0.03)
