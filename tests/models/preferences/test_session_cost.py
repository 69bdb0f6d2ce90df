"""Opportunity cost in context: Ackerman's examples, gradients, one user by the book, sessions of every kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import Graded, Interactions, Preferences
from fullrank.data.feedback import seen
from fullrank.errors import DataError, ParameterError
from fullrank.kernels import sgd_sessions as kernels
from fullrank.metrics.partial_order import pair_errors
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.models.preferences.comparisons import comparisons
from fullrank.models.preferences.session_cost import SessionCost
from fullrank.models.preferences.sessions import SessionCounts, class_gaps, in_comparisons, item_gaps
from fullrank.runtime.threads import threads
from fullrank.testing.recipes import check_recipe

KERNELS: Any = kernels
SESSIONS = Graded.of(
    session=[1, 1, 1, 1, 1, 2, 2, 3, 3, 3, 4, 5, 5, 6],
    item=["a", "b", "c", "d", "e", "a", "d", "b", "c", "d", "a", "b", "e", "c"],
    grade=[2, 1, 0, 1, 0, 0, 1, 3, 2, 1, 1, 0, 0, 0],
    user=["u"] * 14,
)
CASES = [[[0], [1, 3], [2, 4]], [[3], [0]], [[1], [2], [3]], [[0]], [[1, 4]], [[2]]]  # the same, classes best first
WORLD = fullrank.simulate.sessions(users=120, items=60, seed=1)
SPLIT = next(iter(fullrank.folds(WORLD.data, 5)))


def targets_of(classes: list[int], gaps: Any, *, by_item: bool) -> Any:
    """From the kernel; classes as their sizes, the gaps themselves, pairs in their order."""
    runs = np.concatenate([[0], np.cumsum(classes)])
    pairs = np.multiply(classes[:-1], classes[1:])
    place = np.concatenate([[0], np.cumsum(pairs)]) if by_item else np.arange(len(classes))
    targets = np.empty(runs[-1])
    KERNELS._targets.py_func(runs, place, np.arange(pairs.sum()), np.log(gaps), by_item, targets)
    return targets


def test_targets_by_classes() -> None:
    """Ackerman's example in section 4.6: gaps of 1.5 and 1."""
    assert targets_of([2, 2, 2], [1.5, 1.0], by_item=False) == pytest.approx([1, 1, 0.4, 0.4, 0, 0])
    assert targets_of([1, 3], [7.0], by_item=False) == pytest.approx([1, 0, 0, 0])
    assert targets_of([2], [], by_item=False) == pytest.approx([0, 0])  # silent


def test_targets_by_items() -> None:
    """Eq. 4.14 for Table 4.5, as Eq. 4.15 reads it: i5 has 1 - .6535, not the .653 that is printed."""
    targets = targets_of([1, 2, 2, 1], [0.9, 0.8, 1.1, 0.7, 1.0, 0.9, 0.6, 0.9], by_item=True)
    assert targets[4] == pytest.approx(1 - 1.65 / 2.525)
    assert round(float(targets[4]), 4) == 0.3465
    assert targets[0] == 1
    assert targets[5] == pytest.approx(0)
    assert targets[1:3].mean() == pytest.approx(1 - 0.85 / 2.525)


def test_equal_gaps_of_items_are_gaps_of_classes() -> None:
    assert targets_of([1, 3, 2], np.ones(9), by_item=True) == pytest.approx(
        targets_of([1, 3, 2], np.ones(2), by_item=False)
    )


def test_values_of_the_published_example() -> None:
    """Eq. 4.8 and 4.9: benefits .5 .4 .3 .3 .2 .1, a discount of .3."""
    items, one = np.array([[0.5, 0.4, 0.3, 0.3, 0.2, 0.1]], dtype=np.float32).T, np.ones((1, 1), dtype=np.float32)
    offers = Graded.of(session=[1] * 6 + [2], item=[*range(6), 2], grade=[5, 4, 3, 2, 1, 0, 1], user=[1] * 7)
    model = CostFactors(one, items, np.array([0.3], dtype=np.float32), seen(offers), SessionCost())
    values = model.offer_scores(offers)
    assert values[[0, 5]] == pytest.approx([0.578, 0.202])
    assert values[6] == pytest.approx(0.3)  # alone: no cost


def objective(parameters: dict[str, Any], entry: list[int], target: Any, reg: float) -> float:
    """Half the squared errors of a session, and what every one of its steps shrinks."""
    p, q, a = parameters["p"], parameters["q"][entry], parameters["a"][0]
    b = q @ p
    beside = (b.sum() - b) / max(len(b) - 1, 1) if len(b) > 1 else 0 * b
    size = p @ p + (q * q).sum() + (a * a if len(b) > 1 else 0)
    return float(((target - b - a * beside) ** 2).sum() / 2 + len(b) * reg / 2 * size)


@pytest.mark.parametrize("entry", [[4, 1, 2, 5], [3, 0], [2]])
def test_a_session_moves_down_the_gradient(entry: list[int]) -> None:
    rng, rate, reg = np.random.default_rng(len(entry)), 1e-7, 0.1
    before = {"p": rng.standard_normal(3), "q": rng.standard_normal((6, 3)), "a": rng.standard_normal(1)}
    target, eps, runs = rng.random(len(entry)), np.empty(len(entry)), np.arange(len(entry) + 1)
    after = {name: array.copy() for name, array in before.items()}
    after["a"][0], loss = KERNELS._value.py_func(
        np.array(entry), runs, after["q"], np.zeros(6), after["p"], before["a"][0], target, rate, reg, False, eps
    )
    assert loss / 2 == pytest.approx(objective(before, entry, target, 0.0), rel=1e-4)
    for name, array in before.items():
        for place in np.ndindex(array.shape):
            ends = []
            for h in (1e-5, -1e-5):
                near = {key: value.copy() for key, value in before.items()}
                near[name][place] += h
                ends.append(objective(near, entry, target, reg))
            assert (after[name][place] - array[place]) / rate == pytest.approx((ends[1] - ends[0]) / 2e-5, abs=1e-5)


@pytest.mark.parametrize("by_item", [False, True])
def test_gaps_move_down_the_gradient(by_item: bool) -> None:
    classes, rng, rate, reg = [2, 1, 3, 2], np.random.default_rng(5), 1e-7, 0.1
    many = 2 + 3 + 6 if by_item else 3
    before, value = 0.3 * rng.standard_normal(many), rng.random(8)

    def half(gaps: Any) -> float:
        errors = targets_of(classes, np.exp(gaps), by_item=by_item) - value
        return float(errors @ errors / 2 + reg / 2 * gaps @ gaps)

    runs = np.concatenate([[0], np.cumsum(classes)])
    place, target, after = np.array([0, 2, 5, 0]) if by_item else np.arange(4), np.empty(8), before.copy()
    given = runs, place, np.arange(many)
    total = KERNELS._targets.py_func(*given, before, by_item, target)
    KERNELS._move_gaps.py_func(*given, after, by_item, target, target - value, total, rate, reg)
    for at in range(many):
        near = before + 1e-5 * np.eye(many)[at], before - 1e-5 * np.eye(many)[at]
        assert (after[at] - before[at]) / rate == pytest.approx((half(near[1]) - half(near[0])) / 2e-5, abs=1e-5)


def book_targets(recipe: SessionCost, classes: list[list[int]], log: dict[Any, float]) -> tuple[Any, Any]:
    """The targets of a session as Eq. 4.10 and 4.14 are written, and a function to move the gaps numerically."""

    def gap(c: int, a: int, b: int) -> float:
        return float(np.exp(log.setdefault((a, b) if recipe.targets == "items" else c, 0.0)))

    def current() -> Any:
        if len(classes) == 1:
            return np.zeros(len(classes[0]))
        mean = [np.mean([gap(c, a, b) for a in classes[c] for b in classes[c + 1]]) for c in range(len(classes) - 1)]
        targets = [1.0] * len(classes[0])
        for c in range(1, len(classes)):
            for i in classes[c]:
                last = np.mean([gap(c - 1, a, i) for a in classes[c - 1]])
                targets.append(float(1 - (sum(mean[: c - 1]) + last) / sum(mean)))
        return np.array(targets)

    def move(value: Any) -> None:
        keys = [(a, b) if recipe.targets == "items" else c
                for c in range(len(classes) - 1) for a in classes[c] for b in classes[c + 1]]  # fmt: skip
        slopes = {}
        for key in set(keys):
            ends = []
            for h in (1e-6, -2e-6):
                log[key] += h
                ends.append(((current() - value) ** 2).sum() / 2)
            log[key] += 1e-6
            slopes[key] = (ends[0] - ends[1]) / 2e-6
        for key, slope in slopes.items():
            log[key] -= recipe.rate * (slope + recipe.reg * log[key])

    return current(), move


def book_error(i: int, classes: list[list[int]], b: dict[int, float], alpha: float) -> float:
    """Eq. 4.6, by the values themselves."""
    whole, n = sum(b.values()), len(b)
    value = {j: b[j] + alpha / max(n - 1, 1) * (whole - b[j]) for j in b}
    own = next(c for c, members in enumerate(classes) if i in members)
    above = [j for members in classes[:own] for j in members]
    below = [j for members in classes[own + 1 :] for j in members]
    return sum(value[j] >= value[i] - 1e-9 for j in below) - sum(value[j] <= value[i] + 1e-9 for j in above)


def by_the_book(recipe: SessionCost, p: Any, q: Any) -> tuple[Any, Any, float]:
    """One user through all their sessions with the update rules of Table 4.2, every item of a session in its turn."""
    log: dict[Any, float] = {}
    alpha, rate, reg = 0.0, recipe.rate, recipe.reg
    columns = [slice(f, f + 1) for f in range(recipe.factors)] if recipe.by_feature else [slice(None)]
    for f in columns:
        for _ in range(recipe.epochs):
            for number, classes in enumerate(CASES):
                if len(classes) == 1 and (recipe.silent == "ignore" or number == 3):
                    continue
                offered = [i for members in classes for i in members]
                target, move = book_targets(recipe, classes, log)
                aims = []
                for x, i in enumerate(offered):
                    b, others = {j: float(p @ q[j]) for j in offered}, [j for j in offered if j != i]
                    share = 1 / max(len(others), 1)
                    cost = share * sum(b[j] for j in others)
                    eps = target[x] - b[i] - alpha * cost
                    aims.append(target[x] - eps)
                    if recipe.targets == "heaviside":
                        eps = book_error(i, classes, b, alpha)
                    alpha += rate * (eps * cost - reg * alpha) if others else 0
                    beside = share * sum((q[j, f] for j in others), 0 * q[i, f])
                    p[f] += rate * (eps * (q[i, f] + alpha * beside) - reg * p[f])
                    q[i, f] += rate * (eps * p[f] - reg * q[i, f])
                    for j in others:
                        q[j, f] += rate * (eps * alpha * share * p[f] - reg * q[j, f])
                if recipe.targets != "heaviside" and len(classes) > 1:
                    move(np.array(aims))
    return p, q, alpha


@pytest.mark.parametrize("by_feature", [True, False])
@pytest.mark.parametrize(
    ("targets", "silent"),
    [("classes", "ignore"), ("classes", "negative"), ("items", "negative"), ("heaviside", "ignore")],
)
def test_one_user_by_the_book(targets: Any, silent: Any, by_feature: bool) -> None:
    recipe = SessionCost(3, 4, rate=0.05, decay=1.0, reg=0.03, targets=targets, silent=silent, by_feature=by_feature)
    parts = comparisons(SESSIONS)
    begin = recipe._start(parts, class_gaps(parts), 0)
    p, q, alpha = by_the_book(recipe, begin["users"][0].astype(float), begin["items"].astype(float))
    model = recipe.fit(SESSIONS)
    assert model.users[0] == pytest.approx(p, rel=1e-3, abs=1e-5)
    assert model.items == pytest.approx(q, rel=1e-3, abs=1e-5)
    assert model.alpha[0] == pytest.approx(alpha, rel=1e-3)


def test_gaps_belong_to_users_and_pairs() -> None:
    parts = comparisons(SESSIONS)
    assert class_gaps(parts).many == 2  # at most three classes
    gaps = item_gaps(parts)
    assert gaps.many == len({(0, 1), (0, 3), (1, 2), (1, 4), (3, 2), (3, 4), (3, 0), (1, 2), (2, 3)})
    assert len(gaps.pair) == 9  # (1, 2) twice
    again = replace(SESSIONS, user=np.array([0, 0, 1, 1, 1, 1]), users=fullrank.Ids(["u", "v"]))
    assert item_gaps(comparisons(again)).many == 9
    assert class_gaps(comparisons(again)).many == 4


def held_out_loss(model: CostFactors) -> float:
    values = model.offer_scores(SPLIT.held_out)
    return pair_errors(SPLIT.held_out, values).pooled()


def popular_loss() -> float:
    item, grade = SPLIT.train.item, SPLIT.train.grade
    popular = np.bincount(item, grade, minlength=60) / np.maximum(np.bincount(item, minlength=60), 1)
    return pair_errors(SPLIT.held_out, popular[SPLIT.held_out.item]).pooled()


@pytest.mark.parametrize(
    "recipe",
    [
        SessionCost(),
        SessionCost(silent="negative"),
        SessionCost(targets="items"),
        replace(SessionCost.as_ackerman(factors=8), rate=0.1),
    ],
    ids=str,
)
def test_better_than_what_is_popular(recipe: SessionCost) -> None:
    losses: list[float] = []
    model = recipe.fit(SPLIT.train, progress=lambda done, of, loss: losses.append(loss))
    assert losses[-1] < 0.8 * losses[0]
    assert popular_loss() < 0.4  # random is 0.5
    assert held_out_loss(model) < popular_loss() - 0.01


def test_heaviside_learns_something_or_stops_with_a_message() -> None:
    """The worst of all, as Ackerman 2012 finds: better than chance, and not always better than what is popular."""
    recipe = SessionCost(factors=5, targets="heaviside", rate=0.003, decay=1.0, reg=0.02)
    losses: list[float] = []
    model = recipe.fit(SPLIT.train, progress=lambda done, of, loss: losses.append(loss))
    assert losses[-1] < 0.8 * losses[0]
    assert held_out_loss(model) < 0.35
    for by_feature in (True, False):
        with pytest.raises(DataError, match=r"the objective became nan in epoch .* use a smaller rate"):
            replace(recipe, rate=0.5, by_feature=by_feature).fit(WORLD.data)


@pytest.mark.identical
@pytest.mark.parametrize("by_feature", [True, False])
@pytest.mark.parametrize("targets", ["classes", "items", "heaviside"])
def test_threads_and_resuming_give_the_same_bytes(
    targets: Any, by_feature: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullrank.models.preferences.session_passes.WORTH", 1000)  # so that several threads do work
    recipe = SessionCost(3, 3, rate=0.003, targets=targets, by_feature=by_feature)
    before, models = threads(), set()
    try:
        for count in (1, 2, 4):
            threads(count)
            model = recipe.fit(WORLD.data, seed=3)
            models.add((model.users.tobytes(), model.items.tobytes(), model.alpha.tobytes()))
    finally:
        threads(before)

    def stop(done: int, of: int, loss: float) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recipe.fit(WORLD.data, seed=3, checkpoint=tmp_path / "c", progress=stop)
    again = recipe.fit(WORLD.data, seed=3, checkpoint=tmp_path / "c")
    assert models == {(again.users.tobytes(), again.items.tobytes(), again.alpha.tobytes())}


def test_silent_sessions() -> None:
    recipe = SessionCost(factors=2)
    assert recipe.counts(SESSIONS) == SessionCounts(ordered=3, alone=2, one_class=1, silent=2)
    split = fullrank.simulate.sessions(users=40, items=30, idle=0.5, seed=2).data
    ignored, negative = (replace(recipe, silent=silent).fit(split) for silent in ("ignore", "negative"))
    shown = split.where(~(split.count_pairs() > 0))
    values = [model.offer_scores(shown).mean() for model in (ignored, negative)]
    assert values[1] < values[0] - 0.1
    idle = Graded.of(session=[1, 1, 2], item=["a", "b", "a"], action=["shown"] * 3, scale=["shown", "bought"])
    with pytest.raises(DataError, match="none of 2 sessions has an order"):
        recipe.fit(idle)
    bought = Graded.of(session=[1, 1], item=["a", "b"], action=["bought"] * 2, scale=["shown", "bought"])
    with pytest.raises(DataError, match="none of 1 sessions has an order"):
        replace(recipe, silent="negative").fit(bought)
    low = replace(recipe, silent="negative", epochs=200, decay=1.0, reg=0.001).fit(idle)
    assert low.offer_scores(idle) == pytest.approx(0, abs=0.1)


def test_silence_alone_has_no_gaps_and_resumes(tmp_path: Path) -> None:
    idle = Graded.of(session=[1, 1, 2], item=["a", "b", "a"], grade=[0, 0, 0])
    recipe = SessionCost(factors=2, epochs=3, silent="negative")
    whole = recipe.fit(idle, checkpoint=tmp_path / "c")
    assert recipe.fit(idle, checkpoint=tmp_path / "c").items.tobytes() == whole.items.tobytes()


def test_sessions_in_any_order_of_users() -> None:
    """Masks of sessions follow them into comparisons: by user, without empty ones."""
    starts, items, users = [0, 1, 1, 3, 4, 6], [0, 0, 1, 2, 0, 2], [2, 0, 0, 1, 0]
    ids = fullrank.Ids.numbered(3)
    cases = Graded(
        np.array(starts), np.array(items, np.int32), np.ones(6, np.float32), np.array(users, np.int32), ids, ids
    )
    assert in_comparisons(cases, np.array([1, 2, 3, 4, 5])).tolist() == [3, 5, 4, 1]
    parts = comparisons(cases)
    assert np.diff(parts.nest.run_row[parts.nest.case_run]).tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("by_feature", [True, False])
def test_users_and_items_never_seen(by_feature: bool) -> None:
    more = replace(SESSIONS, users=fullrank.Ids(["u", "v"]), items=fullrank.Ids([*"abcdefg"]))
    model = SessionCost(factors=2, epochs=2, by_feature=by_feature).fit(more)
    assert np.isfinite(model.scores(np.arange(2, dtype=np.int32))).all()
    assert model.rank_offers("v", ["f", "a"]).cost == pytest.approx([0, 0])  # nobody knows what they give up


def test_somebody_new() -> None:
    model = SessionCost(epochs=60).fit(SPLIT.train)
    again = model.fold_in(SPLIT.train)
    assert held_out_loss(again) < held_out_loss(model) + 0.02
    nothing = np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.float32)
    assert not model.history_scores(*nothing).any()  # one item has no order
    shown = Graded.of(session=[1, 1], item=SPLIT.train.items.names[:2], action=["shown"] * 2, scale=["shown", "bought"])
    same = replace(shown, items=SPLIT.train.items, item=np.array([0, 1]))
    negative = SessionCost(epochs=3, silent="negative").fit(SPLIT.train).fold_in(same)
    assert np.isfinite(negative.users).all()


def test_ratings_are_sessions() -> None:
    data = fullrank.simulate.ratings(users=60, items=50, density=0.15, seed=3).data
    for recipe in (SessionCost(4, 3), SessionCost(3, 2, by_feature=True, targets="items")):
        check_recipe(recipe, fullrank.holdout(data, 0.2, seed=0))


def test_bad_input() -> None:
    with pytest.raises(DataError, match="SessionCost: preferences do not tell what was offered together"):
        SessionCost().fit(Preferences.of(user=[1], better=["a"], worse=["b"]))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="SessionCost: feedback without values"):
        SessionCost().fit(Interactions.of([1, 1], [1, 2]))
    for parameters in (
        {"factors": 0}, {"targets": "pairs"}, {"silent": "loud"}, {"silent": "negative", "targets": "heaviside"},
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=f"'{next(iter(parameters))}' parameter"):
            SessionCost(**parameters)
