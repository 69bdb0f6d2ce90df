"""Collaborative competitive filtering: by the book, gradients, choices, people who are new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import Graded, Interactions, Preferences
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.offers import offer_scores
from fullrank.kernels import sgd_sessions as kernels
from fullrank.metrics.partial_order import pair_errors
from fullrank.models.preferences.ccf import CCF
from fullrank.models.preferences.sessions import SessionCounts, count_sessions
from fullrank.runtime.threads import threads
from fullrank.testing.recipes import check_recipe

KERNELS: Any = kernels
SESSIONS = Graded.of(
    session=[1, 1, 1, 2, 2, 3, 3, 3, 4, 5, 5],
    item=["a", "b", "c", "a", "d", "b", "c", "d", "a", "b", "e"],
    grade=[2, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0],
    user=["u"] * 11,
)
WORLD = fullrank.simulate.sessions(users=120, items=60, seed=1)


def softmax_loss(parameters: list[Any], offered: list[int], chosen: int, reg: float) -> float:
    """The objective of one session, the first `chosen` of these items being the best class."""
    p, q = parameters[0], parameters[1][offered]
    b = q @ p
    return float(np.log(np.exp(b).sum()) - b[:chosen].mean() + reg / 2 * (p @ p + (q * q).sum()))


@pytest.mark.parametrize("chosen", [1, 2, 3])
def test_a_step_is_down_the_gradient(chosen: int) -> None:
    rng = np.random.default_rng(chosen)
    p, q, rate = rng.standard_normal(3), rng.standard_normal((6, 3)), 1e-7
    offered, moved = [4, 1, 2, 5], [p.copy(), q.copy()]
    loss = KERNELS._choose.py_func(np.array(offered), chosen, moved[1], np.zeros(6), moved[0], rate, 0.1)
    assert loss == pytest.approx(softmax_loss([p, q], offered, chosen, 0.0))
    for number, array in enumerate((p, q)):
        for place in np.ndindex(array.shape):
            ends = []
            for h in (1e-5, -1e-5):
                near = [p.copy(), q.copy()]
                near[number][place] += h
                ends.append(softmax_loss(near, offered, chosen, 0.1))
            step = (moved[number][place] - array[place]) / rate
            assert step == pytest.approx((ends[1] - ends[0]) / 2e-5, abs=1e-5)


def by_the_book(recipe: CCF, sessions: list[tuple[list[int], int]], items: int) -> tuple[Any, Any]:
    """One user feature by feature, session after session; everything starts at 0.1."""
    p, q = np.full(recipe.factors, 0.1), np.full((items, recipe.factors), 0.1)
    for f in range(recipe.factors):
        rate = recipe.rate * 0.9**f
        for _ in range(recipe.epochs):
            for offered, chosen in sessions:
                b = q[offered] @ p
                pull = np.exp(b) / np.exp(b).sum() - (np.arange(len(b)) < chosen) / chosen
                slope = pull @ q[offered, f]
                q[offered, f] -= rate * (pull * p[f] + recipe.reg * q[offered, f])
                p[f] -= rate * (slope + recipe.reg * p[f])
    return p, q


def test_one_feature_after_the_other_as_published() -> None:
    recipe = CCF(factors=3, epochs=4, rate=0.2, reg=0.02, by_feature=True)
    model = recipe.fit(SESSIONS)
    p, q = by_the_book(recipe, [([0, 1, 2], 1), ([3, 0], 1), ([1, 2, 3], 2)], 5)
    assert model.users[0] == pytest.approx(p, rel=1e-4)
    assert model.items == pytest.approx(q, rel=1e-4)


def test_sessions_without_a_choice_are_counted_and_left_out() -> None:
    assert CCF().counts(SESSIONS) == SessionCounts(ordered=3, alone=1, one_class=1, silent=1)
    known = SESSIONS.where(SESSIONS.count_pairs() > 0)
    one, other = (CCF(factors=2, epochs=2, by_feature=True).fit(data) for data in (SESSIONS, known))
    assert one.users.tobytes() == other.users.tobytes()
    assert one.items[:4].tobytes() == other.items[:4].tobytes()
    silent = Graded.of(session=[1, 1, 2], item=["a", "b", "a"], grade=[1, 1, 0])
    with pytest.raises(DataError, match="none of 2 sessions has a choice"):
        CCF().fit(silent)
    assert count_sessions(Interactions.of([1, 1], [1, 2], [3, 4])).ordered == 1


def held_out_loss(model: Any, held_out: Graded) -> float:
    return pair_errors(held_out, offer_scores(model, held_out)).pooled()


@pytest.mark.parametrize("recipe", [CCF(), CCF.as_ackerman(factors=8, rate=0.1, reg=0.01)])
def test_better_than_what_is_popular(recipe: CCF) -> None:
    split = next(iter(fullrank.folds(WORLD.data, 5)))
    item, grade = split.train.item, split.train.grade
    popular = np.bincount(item, grade, minlength=60) / np.maximum(np.bincount(item, minlength=60), 1)
    baseline = pair_errors(split.held_out, popular[split.held_out.item]).pooled()
    assert baseline < 0.4  # random is 0.5
    assert held_out_loss(recipe.fit(split.train), split.held_out) < baseline - 0.02


@pytest.mark.identical
@pytest.mark.parametrize("by_feature", [True, False])
def test_any_number_of_threads_and_a_resumed_fit_give_the_same_bytes(by_feature: bool, tmp_path: Path) -> None:
    recipe = CCF(factors=3, epochs=4, by_feature=by_feature)
    before, models = threads(), set()
    try:
        for count in (1, 2, 4):
            threads(count)
            model = recipe.fit(WORLD.data, seed=3)
            models.add((model.users.tobytes(), model.items.tobytes()))
    finally:
        threads(before)

    def stop(done: int, of: int, loss: float) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recipe.fit(WORLD.data, seed=3, checkpoint=tmp_path / "c", progress=stop)
    again = recipe.fit(WORLD.data, seed=3, checkpoint=tmp_path / "c")
    assert models == {(again.users.tobytes(), again.items.tobytes())}


def test_many_hands_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    one = CCF(epochs=2).fit(WORLD.data)
    monkeypatch.setattr("fullrank.models.preferences.session_passes.WORTH", 1)
    before = threads()
    try:
        threads(4)
        several = CCF(epochs=2).fit(WORLD.data)
    finally:
        threads(before)
    assert one.users.tobytes() == several.users.tobytes()
    assert one.items.tobytes() == several.items.tobytes()


def test_somebody_new() -> None:
    split = next(iter(fullrank.folds(WORLD.data, 5)))
    model = CCF(epochs=60).fit(split.train)
    new = model.fold_in(split.train)
    assert held_out_loss(new, split.held_out) < held_out_loss(model, split.held_out) + 0.01
    codes, values = np.array([4, 7, 9], dtype=np.int32), np.array([1, 3, 2], dtype=np.float32)
    person = model.newcomer(codes, values).vectors[0]
    offered = model.items[[7, 4, 9]].astype(np.float64)
    steepest = model.recipe.reg * person + np.exp(offered @ person) @ offered / np.exp(offered @ person).sum()
    assert steepest == pytest.approx(offered[0], abs=1e-4)  # the gradient is 0
    assert model.history_scores(codes, values) == pytest.approx(model.items @ person, rel=1e-5)
    assert not model.history_scores(codes, np.ones(3, dtype=np.float32)).any()  # no choice: nothing is known


def test_offers_are_valued_without_costs() -> None:
    model = CCF(factors=3, epochs=9).fit(SESSIONS)
    offer = model.rank_offers("u", ["c", "a", "b"])
    assert offer.cost == [0, 0, 0]
    assert offer.value == sorted(offer.benefit, reverse=True)
    items = model.items[["abcde".index(str(name)) for name in offer.items]].astype(np.float64)
    assert offer.value == pytest.approx(items @ model.users[0])


def test_ratings_are_sessions() -> None:
    data = fullrank.simulate.ratings(users=60, items=50, density=0.15, seed=3).data
    for recipe in (CCF(factors=4, epochs=3), CCF.as_ackerman(factors=2, epochs=2)):
        check_recipe(recipe, fullrank.holdout(data, 0.2, seed=0))


def test_bad_input() -> None:
    with pytest.raises(DataError, match="CCF: preferences do not tell what was offered together"):
        CCF().fit(Preferences.of(user=[1], better=["a"], worse=["b"]))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="CCF: feedback without values"):
        CCF().fit(Interactions.of([1, 1], [1, 2]))
    with pytest.raises(DataError, match="there is no feedback"):
        CCF().fit(SESSIONS.where(np.zeros(5, dtype=bool)))
    with pytest.raises(DataError, match=r"the objective became nan in epoch .* use a smaller rate"):
        CCF(rate=1e6, reg=0.0).fit(WORLD.data)
    for parameters in ({"factors": 0}, {"rate": 0}, {"by_feature": 1}, {"reg": 20.0}):
        with pytest.raises(ParameterError, match=f"'{next(iter(parameters))}' parameter"):
            CCF(**parameters)
