"""Opportunity cost, globally: the exact fit against enumerated pairs, offers, people who are new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullrank
from fullrank import Graded, Interactions, OpportunityCost, Preferences
from fullrank.errors import DataError, ParameterError
from fullrank.kernels.random import shuffle, stream
from fullrank.models.preferences.comparisons import comparisons
from fullrank.models.preferences.features import PARTS
from fullrank.models.preferences.opportunity import sweep

SESSIONS = Graded.of(
    session=[1, 1, 1, 2, 2, 3, 3, 3, 3, 4],
    item=["a", "b", "c", "a", "d", "b", "c", "d", "e", "a"],
    grade=[2, 1, 0, 0, 1, 1, 1, 0, 3, 1],
    user=["u", "u", "u", "u", "u", "v", "v", "v", "v", "v"],
)
CYCLE = Preferences.of(user=[1, 1, 1, 2], better=["a", "b", "c", "a"], worse=["b", "c", "a", "c"])


def enumerated(pairs: Preferences, parameters: dict[str, Any], reg: float) -> float:
    """The objective as it is written: two squares for every pair, 2 reg for all that is in it."""
    p, q, alpha = (parameters[name].astype(np.float64) for name in ("users", "items", "alpha"))
    user, better, worse = p[pairs.user], q[pairs.better], q[pairs.worse]
    b_i, b_j, a = (user * better).sum(1), (user * worse).sum(1), alpha[pairs.user]
    fit = (1 - b_i - a * b_j) ** 2 + (b_j + a * b_i) ** 2
    size = (user**2).sum(1) + a**2 + (better**2).sum(1) + (worse**2).sum(1)
    return float((fit + 2 * reg * size).sum())


def random_ratings(seed: int, users: int = 7, items: int = 9, rows: int = 60) -> Interactions:
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, users, rows), rng.integers(0, items, rows), rng.integers(1, 5, rows)
    return Interactions.of(*columns, duplicates="max")


def begun(feedback: Any, factors: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "users": rng.standard_normal((len(feedback.users), factors)),
        "items": rng.standard_normal((len(feedback.items), factors)),
        "alpha": rng.standard_normal(len(feedback.users)),
    }


def check_descent(feedback: Any, pairs: Preferences, factors: int, reg: float, seed: int) -> dict[str, Any]:
    parameters = begun(feedback, factors, seed)
    parts, before = comparisons(feedback, np.float64), enumerated(pairs, parameters, reg)
    assert parts.pairs == len(pairs)
    for _ in range(5):
        objective = sweep(parts, parameters, reg)
        assert objective == pytest.approx(enumerated(pairs, parameters, reg), rel=1e-9)
        assert objective <= before * (1 + 1e-12)
        before = objective
    return parameters


@given(seed=st.integers(0, 999), factors=st.integers(1, 5), reg=st.sampled_from([0.01, 0.1, 1.0]))
@settings(max_examples=30, deadline=None)
def test_the_objective_is_that_of_enumerated_pairs_and_never_rises(seed: int, factors: int, reg: float) -> None:
    data = random_ratings(seed)
    pairs = data.graded().pairs()
    if len(pairs):
        check_descent(data, pairs, factors, reg, seed)
        check_descent(pairs, pairs, factors, reg, seed)


def test_sessions_count_each_for_itself() -> None:
    """A pair that two sessions of a user agree on counts twice, so pairs are listed case by case."""
    alone = [SESSIONS.where(np.arange(len(SESSIONS)) == case).pairs() for case in range(len(SESSIONS))]
    parameters, parts = begun(SESSIONS, 3, 0), comparisons(SESSIONS, np.float64)
    assert parts.pairs == sum(map(len, alone))
    for _ in range(3):
        objective = sweep(parts, parameters, 0.1)
        assert objective == pytest.approx(sum(enumerated(pairs, parameters, 0.1) for pairs in alone), rel=1e-9)


def test_a_cycle_is_fitted() -> None:
    check_descent(CYCLE, CYCLE, 2, 0.1, 1)
    model = OpportunityCost(factors=2).fit(CYCLE)
    assert np.isfinite(model.scores([0, 1])).all()


def test_the_limit_is_a_stationary_point() -> None:
    data = random_ratings(3)
    pairs, parts, parameters = data.graded().pairs(), comparisons(data, np.float64), begun(data, 2, 3)
    for _ in range(3000):
        sweep(parts, parameters, 0.1)
    for name, array in parameters.items():
        for place in np.ndindex(array.shape):
            slopes = []
            for h in (1e-5, -1e-5):
                moved = {key: value.copy() for key, value in parameters.items()}
                moved[name][place] += h
                slopes.append(enumerated(pairs, moved, 0.1))
            assert (slopes[0] - slopes[1]) / 2e-5 == pytest.approx(0, abs=1e-4)


def test_ratings_and_their_pairs_give_the_same_model() -> None:
    data = random_ratings(5)
    one, other = (OpportunityCost(factors=3).fit(each) for each in (data, data.graded().pairs()))
    assert one.items == pytest.approx(other.items, abs=1e-4)
    assert one.alpha == pytest.approx(other.alpha, abs=1e-4)


def test_the_order_is_that_of_all_pairwise_comparisons() -> None:
    data = random_ratings(7, rows=80)
    model = OpportunityCost(factors=4, reg=0.002, sweeps=40).fit(data)
    model = type(model)(model.users, model.items, np.linspace(-2, 2, data.n_users), data, model.recipe)
    for user in range(data.n_users):
        b, a = model.items @ model.users[user], model.alpha[user]
        before = b[:, None] + a * b > b[None, :] + a * b[:, None]  # r_ui|j > r_uj|i
        scores = model.scores([user])[0]
        assert (before == (scores[:, None] > scores + 1e-7)).all() or np.isclose(a, 1)
        for i, j in ((0, 1), (2, 5)):
            names = [data.items.name(i), data.items.name(j)]
            first = model.rank_offers(data.users.name(user), names).items[0]
            assert first == names[1 if before[j, i] else 0]


def test_an_offer_is_explained() -> None:
    model = OpportunityCost(factors=2).fit(SESSIONS)
    valued = model.rank_offers("u", ["d", "a", "b"])
    assert valued.value == sorted(valued.value, reverse=True)
    assert valued.value == pytest.approx(np.add(valued.benefit, valued.cost))
    b = dict(zip(valued.items, valued.benefit, strict=True))
    alpha = model.alpha[model.train.users.code("u")]
    assert valued.cost[valued.items.index("a")] == pytest.approx(alpha * (b["d"] + b["b"]) / 2)
    alone = model.rank_offers("u", ["c"])
    assert alone.cost == [0.0]
    assert alone.value == alone.benefit
    for wrong in ([], ["a", "a"]):
        with pytest.raises(DataError, match="an offer has each item once"):
            model.rank_offers("u", wrong)
    with pytest.raises(DataError, match="'nobody'"):
        model.rank_offers("nobody", ["a"])


def test_offers_have_the_scores_of_the_catalogue_and_are_measured() -> None:
    model = OpportunityCost(factors=2).fit(SESSIONS)
    values = model.offer_scores(SESSIONS)
    whole = model.scores(SESSIONS.user[SESSIONS.case])[np.arange(len(SESSIONS.item)), SESSIONS.item]
    assert values == pytest.approx(whole, abs=1e-6)
    ranks = fullrank.rank(model, SESSIONS)
    assert len(ranks) == 3  # the fourth offers one item


def test_somebody_new() -> None:
    data = random_ratings(11, users=30, items=12, rows=300)
    model = OpportunityCost(factors=3, sweeps=60).fit(data)
    again = model.fold_in(data)  # as if all were new
    assert again.users == pytest.approx(model.users, abs=5e-3)
    assert again.alpha == pytest.approx(model.alpha, abs=2e-2)
    rows = slice(int(data.starts[4]), int(data.starts[5]))
    assert data.value is not None
    assert model.history_scores(data.item[rows], data.value[rows]) == pytest.approx(again.scores([4])[0], abs=1e-4)
    pairs = data.where(data.user == 4).graded().pairs()
    assert model.fold_in(pairs).scores([4])[0] == pytest.approx(again.scores([4])[0], abs=1e-4)
    with pytest.raises(DataError, match="other items than the model"):
        model.fold_in(SESSIONS)


def test_bad_input() -> None:
    with pytest.raises(DataError, match="no user prefers anything"):
        OpportunityCost().fit(Interactions.of([1, 1, 2], [1, 2, 1], [3, 3, 3]))
    with pytest.raises(DataError, match="without values gives no preferences"):
        OpportunityCost().fit(Interactions.of([1, 1], [1, 2]))
    for parameters in ({"reg": 0}, {"factors": 0}, {"sweeps": 0}):
        with pytest.raises(ParameterError, match=f"'{next(iter(parameters))}' parameter"):
            OpportunityCost(**parameters)


def test_movielens_100k(shared_data: Path) -> None:
    """One fold: Ackerman's procedure reached .279 here with 25 features, plain factorisation .324."""
    split = next(iter(fullrank.folds(fullrank.sources.load(shared_data / "ml-100k").data, 5)))
    model, pairs = OpportunityCost(factors=25).fit(split.train), split.held_out.graded().pairs()
    users = model.users * (1 - model.alpha)[:, None]
    better, worse = ((users[pairs.user] * model.items[side]).sum(1) for side in (pairs.better, pairs.worse))
    assert np.mean((better < worse) + 0.5 * (better == worse)) < 0.265


def in_a_circle(grades: list[int], number: int) -> list[tuple[int, int]]:
    """The preferences of one case in the order of pass `number`: best first, shuffled, each with the d-th after it."""
    rows = sorted(range(len(grades)), key=lambda item: -grades[item])
    circle, n = np.arange(len(rows)), len(rows)
    ordered = [grades[row] for row in rows]
    if len(set(grades)) == 2 and 1 in (ordered.count(ordered[0]), ordered.count(ordered[-1])):  # one against the rest
        hub = 0 if ordered.count(ordered[0]) == 1 else n - 1
        circle[[0, hub]] = circle[[hub, 0]]
        shuffle(np.uint64(stream(0, number, 0)), circle[1:])
        pairs = [(rows[circle[0]], rows[one]) for one in circle[1:]]
        return [(one, other) if grades[one] > grades[other] else (other, one) for one, other in pairs]
    shuffle(np.uint64(stream(0, number, 0)), circle)
    pairs = []
    for d in [d for part in range(PARTS) for d in range(1 + part, n // 2 + 1, PARTS)]:
        for k in range(n if 2 * d < n else d):
            one, other = rows[circle[k]], rows[circle[(k + d) % n]]
            if grades[one] != grades[other]:
                pairs.append((one, other) if grades[one] > grades[other] else (other, one))
    return pairs


def by_the_book(grades: list[int], recipe: OpportunityCost) -> tuple[Any, Any, float]:
    """Ackerman's Algorithm 1 for one user, with the two updates of section 3.6 or the one of Heaviside loss."""
    p, q, alpha = np.full(recipe.factors, 0.1), np.full((len(grades), recipe.factors), 0.1), 0.0
    rate, reg = recipe.rate, recipe.reg
    for number in range(recipe.factors * recipe.sweeps):
        f = number // recipe.sweeps
        for better, worse in in_a_circle(grades, number):
            updates = [(better, worse, 1.0), (worse, better, 0.0)]
            for i, j, target in updates[: 1 if recipe.solver == "heaviside" else 2]:
                b_i, b_j = p @ q[i], p @ q[j]
                eps = target - (b_i + alpha * b_j)
                if recipe.solver == "heaviside":
                    eps = float(b_i + alpha * b_j <= b_j + alpha * b_i)
                alpha += rate * (eps * b_j - reg * alpha)
                p[f] += rate * (eps * (q[i, f] + alpha * q[j, f]) - reg * p[f])
                q[i, f] += rate * (eps * p[f] - reg * q[i, f])
                q[j, f] += rate * (eps * alpha * p[f] - reg * q[j, f])
    return p, q, alpha


@pytest.mark.parametrize(("solver", "near"), [("sgd", 1e-4), ("heaviside", 1e-3)])  # ties fall by rounding
@pytest.mark.parametrize("grades", [[3, 1, 2, 3, 1], [1, 1, 2, 3, 4, 2], [1, 2, 1, 1], [2, 1, 2, 2, 2], [1, 2]])
def test_the_published_procedure_as_printed(grades: list[int], solver: Any, near: float) -> None:
    all_pairs = {(i, j) for i in range(len(grades)) for j in range(len(grades)) if grades[i] > grades[j]}
    assert sorted(in_a_circle(grades, 5)) == sorted(all_pairs)  # each once
    recipe = OpportunityCost(factors=3, reg=0.02, sweeps=4, solver=solver, rate=0.05)
    model = recipe.fit(Interactions.of(["u"] * len(grades), range(len(grades)), grades))
    p, q, alpha = by_the_book(grades, recipe)
    assert model.users[0] == pytest.approx(p, rel=near)
    assert model.items == pytest.approx(q, rel=near)
    assert model.alpha[0] == pytest.approx(alpha, rel=near)


def test_the_published_procedure_learns_and_resumes(tmp_path: Path) -> None:
    data = fullrank.simulate.ratings(users=60, items=40, density=0.3, seed=1).data
    recipe = OpportunityCost(factors=2, reg=0.01, sweeps=5, solver="sgd", rate=0.01)
    losses: list[float] = []
    whole = recipe.fit(data, progress=lambda done, of, loss: losses.append(loss))
    assert len(losses) == recipe.length.of == 10
    assert losses[-1] < 0.8 * losses[0]

    def stop(done: int, of: int, loss: float) -> None:
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recipe.fit(data, checkpoint=tmp_path / "c", progress=stop)
    again = recipe.fit(data, checkpoint=tmp_path / "c")
    assert (again.users.tobytes(), again.alpha.tobytes()) == (whole.users.tobytes(), whole.alpha.tobytes())


def test_a_checkpoint_belongs_to_the_grades_too(tmp_path: Path) -> None:
    recipe, path = OpportunityCost(factors=2, sweeps=2), tmp_path / "c"
    recipe.fit(SESSIONS, checkpoint=path)
    other = type(SESSIONS)(SESSIONS.start, SESSIONS.item, SESSIONS.grade[::-1].copy(), SESSIONS.user, SESSIONS.users, SESSIONS.items)  # fmt: skip # noqa: E501
    with pytest.raises(DataError, match="of another fit: data differs"):
        recipe.fit(other, checkpoint=path)
    recipe.fit(SESSIONS, checkpoint=path)


def test_heaviside_stops_with_a_message() -> None:
    data = fullrank.simulate.ratings(users=60, items=40, density=0.3, seed=1).data
    with pytest.raises(DataError, match=r"the objective became nan in sweep .* use a smaller rate"):
        OpportunityCost(factors=2, solver="heaviside", rate=0.5).fit(data)


@pytest.mark.parametrize("form", ["ratings", "sessions", "preferences"])
def test_a_pass_of_the_published_procedure_meets_every_preference_once(form: str) -> None:
    """With next to no rate nothing moves, and every preference has the loss of the start: lists come as many stars."""
    ratings = random_ratings(5, users=9, items=12, rows=90)
    pairs = ratings.graded().pairs()
    rng = np.random.default_rng(1)
    feedback = {"ratings": ratings, "sessions": SESSIONS, "preferences": pairs.where(rng.random(len(pairs)) < 0.6)}[
        form
    ]
    losses: list[float] = []
    recipe = OpportunityCost(4, sweeps=1, rate=1e-12, reg=1e-12, solver="sgd")
    recipe.fit(feedback, progress=lambda *at: losses.append(at[-1]))
    b = 4 * 0.1**2
    assert losses == pytest.approx([(1 - b) ** 2 + b**2] * 4, rel=1e-5)
