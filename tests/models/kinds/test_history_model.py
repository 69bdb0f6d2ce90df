"""Models in which a person is what they did: scores, new people, new feedback, files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ModelFileError
from fullrank.models.kinds.history_factors import HistoryFactors
from fullrank.models.kinds.linear import exact_scores_of


@dataclass(frozen=True)
class Anything:
    """A recipe that is only a name and a threshold."""

    relevant: float | None = None


@pytest.fixture(scope="module")
def data() -> Interactions:
    return fullrank.simulate.ratings(users=40, items=30, density=0.3, seed=5).data


def made(data: Interactions, relevant: float | None = None, *, full: bool = True) -> HistoryFactors:
    rng = np.random.default_rng(2)
    rows: Any = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    own = {"users": rows(40, 6), "bias": rows(30), "user_bias": rows(40), "offset": 0.5} if full else {}
    return HistoryFactors(rows(30, 6), rows(30, 6), data, Anything(relevant), **own)


@pytest.mark.parametrize("relevant", [None, 3.0])
@pytest.mark.parametrize("full", [True, False])
def test_scores_by_the_definition(data: Interactions, relevant: float | None, full: bool) -> None:
    model = made(data, relevant, full=full)
    whole = model.scores(np.arange(40))
    for user in range(40):
        rows = slice(data.starts[user], data.starts[user + 1])
        items = data.item[rows]
        if relevant is not None:
            items = items[data.value[rows] >= relevant]  # type: ignore[index]
        vector = model.history[items].astype(float).sum(axis=0) / np.sqrt(max(len(items), 1))
        if full:
            expected = model.items @ (vector + model.users[user]) + model.bias + model.user_bias[user] + 0.5  # type: ignore[index]
        else:
            expected = model.items @ vector
        assert whole[user] == pytest.approx(expected, abs=2e-5)
        assert model.scores(np.array([user]))[0] == pytest.approx(whole[user], abs=1e-5)
        exact = exact_scores_of(model, np.array([user], dtype=np.int32))
        assert exact.tobytes() == exact_scores_of(model, np.arange(40, dtype=np.int32))[user].tobytes()


def test_somebody_new_is_the_sum_alone(data: Interactions) -> None:
    model = made(data, 3.0, full=False)
    known = model.people(np.arange(40, dtype=np.int32))
    for user in (0, 17):
        rows = slice(data.starts[user], data.starts[user + 1])
        new = model.newcomer(data.item[rows], data.value[rows])  # type: ignore[arg-type, index]
        assert new.vectors[0].tobytes() == known.vectors[user].tobytes()
        scores = model.history_scores(data.item[rows], data.value[rows])  # type: ignore[arg-type, index]
        assert scores == pytest.approx(model.scores(np.array([user]))[0], abs=1e-5)
    with pytest.raises(DataError, match="a history of 2 items has 1 values"):
        model.fold_in(np.array([0, 1]), np.ones(1, dtype=np.float32))
    with pytest.raises(DataError, match="outside"):
        model.fold_in(np.array([30]), np.ones(1, dtype=np.float32))


def test_files_and_lists(data: Interactions, tmp_path: Path) -> None:
    for n, model in enumerate((made(data), made(data, full=False))):
        path = tmp_path / f"{n}.fr"
        fullrank.save(model, path, recipes={"Anything": Anything})
        again = fullrank.load(path, recipes={"Anything": Anything})
        assert again.scores(np.arange(40)).tobytes() == model.scores(np.arange(40)).tobytes()
        assert type(again) is HistoryFactors
        assert fullrank.recommend(again, data.users.name(3)) == fullrank.recommend(model, data.users.name(3))
        assert fullrank.recommend(again, history=[data.items.name(3)]).fallback == ""
    broken = HistoryFactors(np.ones((30, 2)), np.ones((30, 3)), data, Anything())
    with pytest.raises(ModelFileError, match="tensor 'history' is F32 of shape"):
        fullrank.save(broken, tmp_path / "broken.fr", recipes={"Anything": Anything})
    with pytest.raises(DataError, match="history became NaN"):
        HistoryFactors(np.ones((30, 2)), np.full((30, 2), np.nan), data, Anything())


def test_users_follow_new_feedback(data: Interactions) -> None:
    model = made(data)
    more = Interactions.of([data.users.name(0), 10**6], [data.items.name(2), 10**7], [5, 5])
    updated = fullrank.update(model, more)
    assert (updated.train.n_users, updated.train.n_items) == (41, 31)
    old = updated.train.users.codes(data.users.names)
    unchanged = updated.scores(old[1:])[:, updated.train.items.codes(data.items.names)]
    assert unchanged == pytest.approx(model.scores(np.arange(1, 40)), abs=1e-6)
    new_user, new_item = updated.train.users.code(10**6), updated.train.items.code(10**7)
    assert not updated.items[new_item].any()
    scores = updated.scores(np.array([new_user]))[0]
    assert scores == pytest.approx(updated.bias + 0.5, abs=1e-6)  # type: ignore[operator]
    assert updated.scores(old[:1])[0, new_item] == pytest.approx(model.user_bias[0] + 0.5)  # type: ignore[index]
    assert fullrank.recommend(updated, 10**6, n=3).fallback == ""
