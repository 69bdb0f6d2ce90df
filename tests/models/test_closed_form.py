"""Recipes with a closed form: bestseller lists, EASE, PureSVD, each against its formula."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

import fullrank
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ParameterError, StorageError
from fullrank.metrics import rr
from fullrank.models.kinds.model import Model
from fullrank.models.least_squares import puresvd
from fullrank.models.least_squares.puresvd import PureSVD
from fullrank.models.neighbours import inverse
from fullrank.models.neighbours.bestseller import Bestseller
from fullrank.models.neighbours.ease import EASE
from fullrank.models.neighbours.personal import PersonalFrequency
from fullrank.models.positives import ALLOWED
from fullrank.testing.checkerboard import checkerboard


def feedback(users: int = 70, items: int = 40, share: float = 0.2, seed: int = 0) -> Interactions:
    """Random ratings; the last item has none."""
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((users, items - 1)) < share)
    value = rng.integers(1, 6, len(user))
    return Interactions.of(user, item, value, users=Ids.numbered(users), items=Ids.numbered(items))


def arrays(model: Any) -> list[bytes]:
    names = [name for name in ("users", "items", "similar", "weights", "unexplained") if hasattr(model, name)]
    return [getattr(model, name).tobytes() for name in names]


# bestseller lists


def test_bestsellers_by_hand() -> None:
    data = Interactions.of([1, 2, 3, 1, 2], ["a", "a", "a", "b", "c"], [5, 1, 3, 4, 5], items=Ids(["a", "b", "c", "d"]))
    models = {by: Bestseller(by, 5).fit(data) for by in ("mean", "count", "relevant")}  # type: ignore[arg-type]
    assert models["mean"].items[:3].tolist() == [3, 4, 5]
    assert models["mean"].items[3] < 3
    assert models["count"].items.tolist() == [3, 1, 1, 0]
    assert models["relevant"].items.tolist() == [1, 0, 1, 0]
    assert Bestseller("relevant", relevant=4).fit(data).items.tolist() == [1, 1, 1, 0]
    assert models["mean"].scores([0, 2]).tolist() == [models["mean"].items.tolist()] * 2  # type: ignore[arg-type]
    assert models["count"].history_scores(np.array([0]), np.ones(1)).tolist() == [3, 1, 1, 0]  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1e12, -3.0, 0.0, 1e-12, 1e12])
def test_items_without_ratings_come_last_whatever_the_scale(value: float) -> None:
    scores = Bestseller("mean").fit(Interactions.of([1], [1], [value], items=Ids([1, 2]))).items
    assert scores[1] < scores[0]
    assert np.isfinite(scores).all()


def test_bestsellers_of_plain_events() -> None:
    data = Interactions.of([1, 2, 1], [1, 1, 2])
    for by in ("count", "relevant"):
        assert Bestseller(by).fit(data).items.tolist() == [2, 1]  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no values to take the mean of; use by='count'"):
        Bestseller("mean").fit(data)


# EASE


@pytest.mark.parametrize(("reg", "binary", "tile"), list(product((0.5, 100.0), (True, False), (256, 7, 40, 1))))
def test_ease_is_its_formula(reg: float, binary: bool, tile: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inverse, "TILE", tile)
    data = feedback()
    x = data.by_user().toarray().astype(np.float64)
    if binary:
        x = (x > 0).astype(np.float64)
    p = np.linalg.inv(x.T @ x + reg * np.eye(data.n_items))
    b = np.eye(data.n_items) - p @ np.diag(1 / np.diag(p))
    model = EASE(reg, binary).fit(data)
    np.testing.assert_allclose(model.similar, b, rtol=1e-5, atol=1e-7)
    assert not np.diag(model.similar).any()
    np.testing.assert_allclose(model.scores(np.arange(data.n_users)), x @ b, atol=1e-4)


def test_ease_minimises_its_objective() -> None:
    """No small change of B off the diagonal makes |X - XB|^2 + reg |B|^2 smaller."""
    data = feedback(30, 8)
    x = (data.by_user().toarray() > 0).astype(np.float64)
    b = EASE(3.0).fit(data).similar.astype(np.float64)

    def objective(weights: NDArray[np.float64]) -> float:
        return float(((x - x @ weights) ** 2).sum() + 3 * (weights**2).sum())

    rng = np.random.default_rng(0)
    for _ in range(50):
        step = 0.01 * rng.standard_normal(b.shape) * ~np.eye(8, dtype=bool)
        assert objective(b + step) > objective(b)


def test_ease_refuses_what_cannot_fit_or_be_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    twins = Interactions.of([1, 1, 2, 2], [1, 2, 1, 2], [1e6, 1e6, 1e6, 1e6])
    with pytest.raises(DataError, match="singular to working precision; use a larger 'reg'"):
        EASE(1e-9, binary=False).fit(twins)
    monkeypatch.setattr("fullrank.runtime.memory.available", lambda: 1000.0)
    there = r"\(there are 70 people and 40 items\) need about .*"
    with pytest.raises(
        StorageError, match=rf"EASE: weights of 40 x 40 items {there}; use ItemCF or IALS, whose memory"
    ):
        EASE().fit(feedback())
    with pytest.raises(StorageError, match=rf"EASE: weights of 70 x 70 people {there}; use solver='auto', or"):
        EASE(solver="dual").fit(feedback())


# PureSVD


@pytest.mark.parametrize("relevant", [None, 4.0])
def test_puresvd_has_the_singular_values_of_the_matrix(relevant: float | None) -> None:
    data = feedback(300, 200, 0.1)
    x = data.by_user().toarray().astype(np.float64)
    if relevant is not None:
        x = (x >= relevant).astype(np.float64)
    model = PureSVD(20, relevant, binary=relevant is not None).fit(data)
    left, values, right = svds(x, k=20, random_state=0)
    order = np.argsort(-values)
    np.testing.assert_allclose(np.linalg.norm(model.users, axis=0), values[order], rtol=2e-3)
    np.testing.assert_allclose(model.items.T @ model.items, np.eye(20), atol=1e-5)
    np.testing.assert_allclose(model.users, x @ model.items, atol=1e-4)
    first = order[:3]  # well separated from the others
    best = left[:, first] * values[first] @ right[first]
    np.testing.assert_allclose(model.users[:, :3] @ model.items[:, :3].T, best, atol=0.02 * np.abs(best).max())


def test_puresvd_of_full_rank_is_the_matrix() -> None:
    data = feedback(30, 20, 0.5)
    model = PureSVD(20, binary=False).fit(data)
    np.testing.assert_allclose(model.scores(np.arange(30)), data.by_user().toarray(), atol=1e-4)


@pytest.mark.parametrize("factors", [5, 20, 60])
def test_puresvd_of_a_small_catalogue(factors: int) -> None:
    """Where the powers have more columns than there are items."""
    data = fullrank.simulate.ratings(80, 60, density=0.3).data
    model = PureSVD(factors=factors, binary=False).fit(data)
    exact = np.linalg.svd(data.by_user().toarray(), compute_uv=False)[:factors]
    assert np.linalg.norm(model.users, axis=0) == pytest.approx(exact, rel=1e-3)


def test_puresvd_of_a_matrix_of_lower_rank() -> None:
    split = checkerboard(20)
    whole = split.whole()  # of rank 2
    model = PureSVD(5).fit(whole)
    np.testing.assert_allclose(model.scores(np.arange(20)), whole.by_user().toarray(), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(model.users, axis=0), [10, 10, 0, 0, 0], atol=1e-4)


def test_puresvd_turns_the_largest_component_up() -> None:
    for seed in range(3):
        items = PureSVD(6).fit(feedback(seed=seed), seed=seed).items
        assert (items[np.abs(items).argmax(axis=0), np.arange(6)] > 0).all()


@pytest.mark.parametrize("relevant", [None, 3.0])
def test_puresvd_takes_in_new_users_and_items(relevant: float | None) -> None:
    data = feedback()
    model = PureSVD(8, relevant, binary=relevant is not None).fit(data)
    assert data.value is not None
    for user in (0, 5):
        mine = data.user == user
        assert model.fold_in(data.item[mine], data.value[mine]).tobytes() == model.users[user].tobytes()
        scores = model.history_scores(data.item[mine], data.value[mine])
        assert scores.tobytes() == model.scores([user])[0].tobytes()  # type: ignore[arg-type]
    rows = data.item == 3
    folded = model.fold_in_item(data.user[rows], data.value[rows])
    np.testing.assert_allclose(folded, model.items[3], atol=0.02)  # exact once the vectors are
    with pytest.raises(DataError, match=r"item code 40 is outside 0\.\.39"):
        model.fold_in(np.array([40]), np.ones(1))  # type: ignore[arg-type]


def test_puresvd_refuses_more_factors_than_there_are_dimensions() -> None:
    with pytest.raises(
        ParameterError, match="The 'factors' parameter must be at most 40, the number of users or items"
    ):
        PureSVD(41).fit(feedback())
    with pytest.raises(DataError, match="no value is at or above 9; lower `relevant`"):
        PureSVD(2, relevant=9).fit(feedback())


def test_puresvd_of_plain_events() -> None:
    data = feedback()
    events = Interactions.of(data.user, data.item, users=data.users, items=data.items)
    assert arrays(PureSVD(5).fit(events)) == arrays(PureSVD(5, relevant=0).fit(data))
    assert arrays(PureSVD(5, binary=False).fit(events)) == arrays(PureSVD(5).fit(data))
    with pytest.raises(DataError, match="the data has no values to be relevant at"):
        PureSVD(5, relevant=3).fit(events)


# all of them


@pytest.mark.parametrize(
    "recipe", [EASE(10), EASE(10, binary=False), EASE(10, solver="dual"), PureSVD(2), PureSVD(2, relevant=4)]
)
def test_finds_the_missing_square(recipe: Any) -> None:
    for split in (checkerboard(50, value=5), checkerboard(51, value=4)):
        assert (rr(fullrank.rank(recipe.fit(split.train), split)) == 1).all()


@pytest.mark.identical
@pytest.mark.parametrize(
    "recipe",
    [
        Bestseller("mean"),
        EASE(5),
        EASE(5, binary=False),
        EASE(5, False, solver="dual"),
        PureSVD(7),
        PureSVD(7, 3),
    ],
)
def test_same_bytes_for_any_threads_and_rows(recipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inverse, "TILE", 16)
    monkeypatch.setattr(puresvd, "ROWS", 8)
    before, data = fullrank.threads(), feedback()
    shuffled = np.random.default_rng(3).permutation(len(data))
    assert data.value is not None
    again = Interactions.of(
        data.user[shuffled], data.item[shuffled], data.value[shuffled], users=data.users, items=data.items
    )
    expected = arrays(recipe.fit(data, seed=1))
    try:
        for threads in (1, 2, 4):
            fullrank.threads(threads)
            model = recipe.fit(again, seed=1)
            assert arrays(model) == expected
            assert isinstance(model, Model)
    finally:
        fullrank.threads(before)


@pytest.mark.parametrize(
    ("recipe", "wrong", "must_be"),
    [
        (Bestseller, {"by": "fame"}, "'mean', 'count' or 'relevant'. Got 'fame'"),
        (Bestseller, {"relevant": float("inf")}, f"{ALLOWED}. Got inf"),
        (EASE, {"reg": 0}, "a number > 0. Got 0"),
        (EASE, {"reg": float("nan")}, "a number > 0. Got nan"),
        (EASE, {"binary": 1}, "True or False. Got 1"),
        (EASE, {"solver": "both"}, "'auto', 'primal' or 'dual'. Got 'both'"),
        (PersonalFrequency, {"popularity": -1}, "a number >= 0. Got -1"),
        (PersonalFrequency, {"popularity": float("inf")}, "a number >= 0. Got inf"),
        (PureSVD, {"factors": 0}, "an integer from 1 to 4096. Got 0"),
        (PureSVD, {"factors": 2.0}, "an integer from 1 to 4096. Got 2.0"),
        (PureSVD, {"sweeps": 1}, "an integer >= 2. Got 1"),
        (PureSVD, {"relevant": "5"}, f"{ALLOWED}. Got '5'"),
    ],
)
def test_bad_parameters(recipe: Any, wrong: dict[str, Any], must_be: str) -> None:
    with pytest.raises(ParameterError) as error:
        recipe(**wrong)
    assert str(error.value) == f"The '{next(iter(wrong))}' parameter must be {must_be} instead."


@pytest.mark.parametrize("recipe", [Bestseller(), PersonalFrequency(), EASE(), PureSVD(2)])
def test_no_feedback_is_refused(recipe: Any) -> None:
    data = feedback()
    with pytest.raises(DataError, match="there is no feedback to train on"):
        recipe.fit(data.where(np.zeros(len(data), dtype=bool)))
