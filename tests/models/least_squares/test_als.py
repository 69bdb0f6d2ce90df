"""Alternating least squares: against dense solves, by its objective, its gradient and its invariances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import fullrank
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ParameterError
from fullrank.models.kinds.factors import Factors
from fullrank.models.least_squares.allrank import AllRank
from fullrank.models.least_squares.allrank_binary import AllRankBinary
from fullrank.models.least_squares.als import Terms, half_sweep, side, solve, sweep
from fullrank.models.least_squares.alternation import small_normal
from fullrank.models.least_squares.ials import IALS
from fullrank.models.least_squares.rotation import rotate
from fullrank.models.training.loop import TrainingLoop
from fullrank.models.training.state import State, Training
from fullrank.runtime.threads import threads

RECIPES = [
    AllRank(factors=4, sweeps=6),
    AllRank(factors=4, missing_weight=0.0, sweeps=6),
    AllRank(factors=4, missing_weight=1.0, sweeps=6),
    AllRank(factors=4, weight={1: 0.5, 2: 1, 3: 1, 4: 2, 5: 3}, sweeps=6),
    AllRank(factors=4, weight=0.01, missing_weight=0.5, sweeps=6),  # observed pairs weigh less than missing ones
    AllRankBinary(factors=4, relevant=4, sweeps=6),
    IALS(factors=4, sweeps=6),
    IALS(factors=4, weighted=True, frequency=0.5, sweeps=6),
    IALS(factors=4, confidence=2.0, reg=0.1, frequency=0.0, sweeps=6),
]


@pytest.fixture
def restored_threads() -> Iterator[None]:
    before = threads()
    yield
    threads(before)


def ratings(users: int = 30, items: int = 20, density: float = 0.3, seed: int = 0) -> Interactions:
    """Ratings 1..5, with a user and an item that have none."""
    rng = np.random.default_rng(seed)
    matrix = np.where(rng.random((users, items)) < density, rng.integers(1, 6, (users, items)), 0)
    matrix[3], matrix[:, 2] = 0, 0
    user, item = np.nonzero(matrix)
    ids = {"users": fullrank.Ids.numbered(users), "items": fullrank.Ids.numbered(items)}
    return Interactions.of(user, item, matrix[user, item].astype(float), **ids)


def dense(recipe: object, data: Interactions) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Weights and targets of all pairs, and the ridge of users and items, from the papers' definitions."""
    values = data.by_user().toarray().astype(np.float64)
    seen = values > 0
    if isinstance(recipe, AllRank):
        table = recipe.weight if isinstance(recipe.weight, dict) else dict.fromkeys(range(1, 6), recipe.weight)
        weight = np.where(
            seen, np.vectorize(lambda v: table.get(int(v), 0), otypes=[float])(values), recipe.missing_weight
        )
        target = np.where(seen, values - recipe.missing_value, 0)
        return weight, target, recipe.reg * weight.sum(axis=1), recipe.reg * weight.sum(axis=0)
    if isinstance(recipe, AllRankBinary):
        hit = values >= recipe.relevant
        weight = np.where(hit, 1, recipe.missing_weight)
        return weight, hit * 1.0, recipe.reg * weight.sum(axis=1), recipe.reg * weight.sum(axis=0)
    assert isinstance(recipe, IALS)
    counts = seen.sum(axis=1), seen.sum(axis=0)
    if recipe.confidence is not None:
        weight, target, missing = np.where(seen, 1 + recipe.confidence * values, 1), seen * 1.0, 1.0
    else:
        gain = np.where(seen, values if recipe.weighted else 1, 0)
        missing = recipe.missing_weight
        weight = gain + missing
        target = np.divide(gain, weight)
    ridge = [
        recipe.reg * (n + missing * m) ** recipe.frequency for n, m in zip(counts, values.shape[::-1], strict=True)
    ]
    return weight, target, ridge[0], ridge[1]


def objective(recipe: object, data: Interactions, users: np.ndarray, items: np.ndarray) -> float:
    weight, target, ridge_users, ridge_items = dense(recipe, data)
    error = weight * (target - users.astype(np.float64) @ items.T.astype(np.float64)) ** 2
    constant = 0.0
    if isinstance(recipe, IALS) and recipe.confidence is None:  # (s - 1)^2 g + w_m s^2: complete the square
        gain = weight - recipe.missing_weight
        constant = float((gain - weight * target**2).sum())
    penalty = ridge_users @ (users.astype(np.float64) ** 2).sum(axis=1)
    penalty += ridge_items @ (items.astype(np.float64) ** 2).sum(axis=1)
    return float(error.sum() + penalty + constant)


@pytest.mark.parametrize("solver", ["exact", "cg"])
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_the_objective_is_the_paper_s_and_never_rises(recipe: object, solver: str) -> None:

    data, reports = ratings(), []
    recipe = replace(recipe, solver=solver)  # type: ignore[type-var]
    model = recipe.fit(data, seed=1, progress=lambda *now: reports.append(now))  # type: ignore[attr-defined]
    values = [value for _, _, value in reports]
    assert [step for step, of, _ in reports] == [1, 2, 3, 4, 5, 6]
    assert values[-1] == pytest.approx(objective(recipe, data, model.users, model.items), rel=1e-5)
    assert all(later <= earlier * (1 + 1e-5) for earlier, later in pairwise(values))
    if recipe.weight != 0.01 if isinstance(recipe, AllRank) else True:  # else nothing is the best
        assert values[-1] < 0.99 * values[0]


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_rows_equal_a_dense_weighted_ridge_solve(recipe: object) -> None:
    """In float64, to 1e-6: users against items and items against users."""
    data = ratings(seed=2)
    rng = np.random.default_rng(0)
    weight, target, ridge_users, ridge_items = dense(recipe, data)
    rows_that_count = data.relevant(getattr(recipe, "relevant", None))
    for matrix, w, t, ridge in (
        (rows_that_count.by_user(), weight, target, ridge_users),
        (rows_that_count.by_item(), weight.T, target.T, ridge_items),
    ):
        for factors in (3, 40):  # rows longer and shorter than that
            other = rng.standard_normal((matrix.shape[1], factors))
            rows = recipe.side(matrix)  # type: ignore[attr-defined]
            rows = rows._replace(ridge=rows.ridge.astype(np.float64))
            solved = solve(rows, recipe.terms, rotate(other))  # type: ignore[attr-defined]
            for row in range(matrix.shape[0]):
                left = (other.T * w[row]) @ other + ridge[row] * np.eye(factors)
                if not matrix.indptr[row + 1] - matrix.indptr[row]:
                    assert not solved[row].any()
                elif ridge[row] > 0:
                    expected = np.linalg.solve(left, other.T @ (w[row] * t[row]))
                    assert solved[row] == pytest.approx(expected, rel=1e-5, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(
    users=st.integers(1, 8),
    items=st.integers(1, 8),
    factors=st.integers(1, 9),
    missing=st.sampled_from([0.0, 0.1, 1.0]),
    seed=st.integers(0, 999),
)
def test_any_shape_reaches_a_stationary_point(users: int, items: int, factors: int, missing: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = csr_array(np.where(rng.random((users, items)) < 0.5, rng.integers(1, 6, (users, items)), 0).astype("f4"))
    terms = Terms(missing, d0=-missing, d1=1.0, c1=1.0)
    sides = [side(m.tocsr(), np.full(m.shape[0], 0.3), dtype=np.float64) for m in (matrix, matrix.T)]
    first = {
        "users": small_normal(users, factors, seed, 0, np.float64),
        "items": small_normal(items, factors, seed, 1, np.float64),
    }
    if not matrix.nnz:
        return
    for _ in range(400):
        sweep(sides[0], sides[1], terms, first["users"], first["items"], "exact")
    final = first
    weight = np.where(matrix.toarray() > 0, 1, missing)
    error = weight * (final["users"] @ final["items"].T - matrix.toarray())
    gradient = error @ final["items"] + 0.3 * final["users"]
    assert np.abs(gradient).max() < 1e-3
    gradient = error.T @ final["users"] + 0.3 * final["items"]
    assert np.abs(gradient).max() < 1e-2


@pytest.mark.usefixtures("restored_threads")
@pytest.mark.parametrize(
    "recipe", [*RECIPES[:1], *RECIPES[6:7], AllRankBinary(factors=3, loss="logistic", sweeps=2)], ids=str
)
def test_same_bytes_for_any_threads_and_row_order(recipe: object) -> None:
    data = ratings(400, 300, 0.1)
    shuffled = np.random.default_rng(1).permutation(len(data))
    other = Interactions.of(
        data.user[shuffled],
        data.item[shuffled],
        data.value[shuffled],
        users=data.users,
        items=data.items,  # type: ignore[index]
    )
    models = set()
    for count, given_data in ((1, data), (2, data), (4, other)):
        threads(count)
        model = recipe.fit(given_data, seed=3)  # type: ignore[attr-defined]
        models.add(model.users.tobytes() + model.items.tobytes())
    assert len(models) == 1
    assert recipe.fit(data, seed=4).users.tobytes() not in next(iter(models))  # type: ignore[attr-defined]


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_fold_in_gives_a_user_of_the_training_data_their_own_vector(recipe: object) -> None:

    data = ratings(60, 40)
    model = replace(recipe, solver="exact").fit(data)  # type: ignore[type-var]
    for user in (0, 7, 20):
        rows = slice(data.starts[user], data.starts[user + 1])
        assert model.fold_in(data.item[rows], data.value[rows]) == pytest.approx(model.users[user], abs=2e-5)  # type: ignore[index]
    rows = slice(*data.by_item().indptr[4:6])
    column = data.by_item()
    known = model.fold_in_item(column.indices[rows], column.data[rows])
    assert known.shape == (4,)
    assert np.isfinite(known).all()


def test_logistic_rows_are_at_their_minimum() -> None:
    data = ratings(40, 30)
    recipe = AllRankBinary(factors=3, loss="logistic", relevant=4, sweeps=60, missing_weight=0.1, reg=0.05)
    objectives: list[float] = []
    model = recipe.fit(data, progress=lambda step, of, value: objectives.append(value))
    assert all(later <= earlier + 1e-4 for earlier, later in pairwise(objectives))
    hit = data.by_user().toarray() >= 4
    weight = np.where(hit, 1, 0.1)
    score = (model.users @ model.items.T).astype(np.float64)
    value = (weight * (np.logaddexp(0, score) - hit * score)).sum()
    value += 0.025 * (weight.sum(axis=1) @ (model.users**2).sum(axis=1))
    value += 0.025 * (weight.sum(axis=0) @ (model.items**2).sum(axis=1))
    assert objectives[-1] == pytest.approx(value, rel=1e-4)
    slope = weight * (1 / (1 + np.exp(-score)) - hit)
    gradient = slope @ model.items + 0.05 * weight.sum(axis=1)[:, None] * model.users
    assert np.abs(gradient).max() < 5e-3
    assert model.fold_in(data.item[:3], data.value[:3]).shape == (3,)  # type: ignore[index]


def test_three_steps_are_as_good_as_exact_solves() -> None:
    data = fullrank.simulate.ratings(users=300, items=200, density=0.1, seed=5).data
    exact, cg = ([], [])
    AllRank(factors=16, solver="exact").fit(data, progress=lambda *now: exact.append(now[2]))
    AllRank(factors=16, solver="cg").fit(data, progress=lambda *now: cg.append(now[2]))
    assert cg[-1] == pytest.approx(exact[-1], rel=2e-3)


def test_a_half_sweep_only_turns_the_other_side() -> None:
    data = ratings()
    users, items = small_normal(30, 4, 0, 0), small_normal(20, 4, 0, 1)
    products = users @ items.T
    turned_users, turned_items = users.copy(), items.copy()
    recipe = IALS(factors=4)
    half_sweep(recipe.side(data.by_user()), recipe.terms, turned_items, turned_users, "cg")
    assert turned_items @ turned_items.T == pytest.approx(items @ items.T, abs=1e-6)
    assert np.abs(users @ turned_items.T - products).max() > 1e-4  # another basis


def test_early_stopping_and_judging() -> None:
    data = ratings(60, 40)
    steps: list[int] = []
    AllRank(factors=3, sweeps=200).fit(data, tolerance=1e-3, progress=lambda step, of, value: steps.append(step))
    assert 3 < len(steps) < 100
    scores = iter([0.1, 0.5, 0.4, 0.3, 0.9])
    kept = AllRank(factors=3, sweeps=50).fit(data, judge=lambda model: next(scores), patience=2)
    two = AllRank(factors=3, sweeps=2).fit(data)
    assert kept.users.tobytes() == two.users.tobytes()


@pytest.mark.parametrize(
    ("recipe", "parameters", "message"),
    [
        (AllRank, {"factors": 0}, "'factors' parameter must be an integer from 1 to 4096. Got 0"),
        (AllRank, {"factors": "10"}, "'factors' parameter .* Got '10'"),
        (AllRank, {"reg": -1}, "'reg' parameter must be a number >= 0. Got -1"),
        (AllRank, {"missing_weight": float("nan")}, "'missing_weight' parameter"),
        (AllRank, {"missing_value": float("inf")}, "'missing_value' parameter"),
        (AllRank, {"weight": {5: -1}}, "'weight' parameter"),
        (AllRank, {"sweeps": 0}, "'sweeps' parameter"),
        (AllRank, {"solver": "lu"}, "'solver' parameter must be 'auto', 'exact' or 'cg'"),
        (AllRankBinary, {"loss": "hinge"}, "'loss' parameter"),
        (IALS, {"frequency": 3}, "'frequency' parameter"),
        (IALS, {"confidence": 0}, "'confidence' parameter"),
    ],
)
def test_bad_parameters(recipe: type, parameters: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        recipe(**parameters)


def test_bad_data() -> None:
    events = Interactions.of([1, 2], [1, 2])
    with pytest.raises(DataError, match="AllRank needs ratings"):
        AllRank().fit(events)
    with pytest.raises(DataError, match="use relevant=None"):
        AllRankBinary(relevant=4).fit(events)
    with pytest.raises(DataError, match="no value is at or above 9"):
        AllRankBinary(relevant=9).fit(ratings())
    with pytest.raises(DataError, match="lacks rating 1; it has"):
        AllRank(weight={5: 1}).fit(ratings())
    with pytest.raises(DataError, match="no feedback to train on"):
        IALS().fit(events.where(np.zeros(2, dtype=bool)))
    with pytest.raises(ParameterError, match="'seed' parameter"):
        IALS().fit(events, seed=-1)
    course = TrainingLoop(IALS(), ratings(), Training())
    with pytest.raises(DataError, match="IALS: the objective became nan in sweep 3; use more regularisation"):
        course.watch(State({}, 3, float("nan")))
    with pytest.raises(DataError, match="IALS: users became NaN or infinite"):
        Factors(np.full((30, 2), np.nan), np.zeros((20, 2)), ratings(), IALS())
