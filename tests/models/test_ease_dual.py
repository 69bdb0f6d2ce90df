"""EASE as weights of people on people: the same scores as by weights of items on items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fullrank
from fullrank import EASE
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.sources import lastfm_2k, movielens_100k
from fullrank.errors import DataError, ModelFileError
from fullrank.models.kinds.dual_item_item import DualItemItem
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.neighbours import ease, inverse
from tests.models.storage.model_files import Parts


def feedback(users: int = 30, items: int = 90, share: float = 0.15, seed: int = 0) -> Interactions:
    """Random ratings; the last item and two users have none."""
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((users, items - 1)) < share)
    some = ~np.isin(user, (4, users - 1))
    value = rng.integers(1, 6, len(user))
    return Interactions.of(user[some], item[some], value[some], users=Ids.numbered(users), items=Ids.numbered(items))


def dense(data: Interactions, binary: bool, relevant: float | None) -> NDArray[np.float64]:
    x = data.by_user().toarray().astype(np.float64)
    x[x < (relevant or 0)] = 0
    return (x > 0).astype(np.float64) if binary else x


@pytest.mark.parametrize("tile", [256, 7, 1])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(("reg", "relevant"), [(0.5, None), (60.0, None), (3.0, 4.0)])
def test_scores_are_those_of_the_formula(
    reg: float, relevant: float | None, binary: bool, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inverse, "TILE", tile)
    monkeypatch.setattr(ease, "ITEMS", tile)
    data = feedback()
    x = dense(data, binary, relevant)
    p = np.linalg.inv(x.T @ x + reg * np.eye(data.n_items))
    b = np.eye(data.n_items) - p @ np.diag(1 / np.diag(p))
    model = EASE(reg, binary, relevant).fit(data)
    assert isinstance(model, DualItemItem)
    np.testing.assert_allclose(model.unexplained, reg * np.diag(p), rtol=1e-5)
    np.testing.assert_allclose(model.scores(np.arange(data.n_users)), x @ b, atol=2e-5)  # type: ignore[arg-type]
    values = np.random.default_rng(1).integers(1, 6, 4).astype(np.float32)
    new = np.zeros(data.n_items)
    new[[3, 50, 7, 89]] = np.where(values >= (relevant or 0), np.ones(4) if binary else values, 0)
    scores = model.history_scores(np.array([3, 50, 7, 89]), values)  # type: ignore[arg-type]
    np.testing.assert_allclose(scores, new @ b, atol=2e-5)


def test_the_smaller_side_is_solved() -> None:
    wide, tall = feedback(), feedback(90, 30)
    assert isinstance(EASE().fit(wide), DualItemItem)
    assert isinstance(EASE().fit(tall), ItemItem)
    assert isinstance(EASE(solver="primal").fit(wide), ItemItem)
    assert isinstance(EASE(solver="dual").fit(tall), DualItemItem)
    few = tall.where(tall.user < 20)  # of 90 users 20 did anything
    assert isinstance(EASE().fit(few), DualItemItem)
    assert len(EASE().fit(few).weights) == 19  # type: ignore[union-attr]


def test_somebody_known_is_scored_like_somebody_new_who_did_the_same() -> None:
    data = feedback()
    for binary in (True, False):
        model = EASE(20, binary).fit(data)
        for user in (0, 7, 4):
            mine = data.user == user
            assert data.value is not None
            new = model.history_scores(data.item[mine], data.value[mine])
            np.testing.assert_allclose(new, model.scores([user])[0], atol=1e-6)  # type: ignore[arg-type]


def test_whom_nothing_counts_of_has_no_scores() -> None:
    data = feedback()
    model = EASE(20).fit(data)
    assert not model.scores([4, 29])[:, :].any()  # type: ignore[arg-type]
    assert model.scores([0, 29, 1])[[0, 2]].tobytes() == model.scores([0, 1]).tobytes()  # type: ignore[arg-type]
    assert fullrank.recommend(model, 29).fallback == "popular"


def test_no_score_depends_on_who_is_beside() -> None:
    data = feedback(47)
    model = EASE(20, binary=False).fit(data)
    whole = model.scores(np.arange(47))  # type: ignore[arg-type]
    for size in (1, 2, 3, 4, 5, 11):
        parts = [model.scores(np.arange(first, min(first + size, 47))) for first in range(0, 47, size)]  # type: ignore[arg-type]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_singular() -> None:
    twins = Interactions.of([1, 1, 2, 2], [1, 2, 1, 2], [1e6, 1e6, 1e6, 1e6])
    with pytest.raises(DataError, match="singular to working precision; use a larger 'reg'"):
        EASE(1e-9, binary=False, solver="dual").fit(twins)


def test_a_file_whose_parts_do_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.fr"
    fullrank.save(EASE(20).fit(feedback()), path)
    for name, array, why in (
        ("weights", np.zeros((30, 30), dtype=np.float32), "do not fit 28 people and 90 items"),
        ("weights", np.zeros((28, 29), dtype=np.float32), "tensor 'weights' is F32 of shape"),
        ("unexplained", np.zeros(90, dtype=np.float32), "must be > 0"),
    ):
        parts = Parts.of(path.read_bytes())
        other = tmp_path / "other.fr"
        other.write_bytes(parts.put(name, array).bytes())
        with pytest.raises(ModelFileError, match=why):
            fullrank.load(other)


@pytest.mark.parametrize("reg", [5.0, 500.0])
@pytest.mark.parametrize("source", [movielens_100k, lastfm_2k])
def test_as_by_items_on_real_data(source: Any, reg: float) -> None:
    try:
        data = source().data
    except fullrank.FullrankError as error:
        pytest.skip(str(error))
    some = data.popularity_order[data.item] < 2000  # the catalogue too: the primal takes minutes for all of Last.fm
    data = Interactions.of(data.user[some], data.item[some], data.value[some])
    everybody = np.arange(0, data.n_users, 5, dtype=np.int32)
    one, other = EASE(reg, solver="dual").fit(data), EASE(reg, solver="primal").fit(data)
    expected = other.scores(everybody)
    np.testing.assert_allclose(one.scores(everybody), expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    mine = slice(data.starts[50], data.starts[51])
    new = one.history_scores(data.item[mine], data.value[mine])
    np.testing.assert_allclose(new, other.scores([50])[0], rtol=0, atol=1e-4 * np.abs(expected).max())  # type: ignore[arg-type]
