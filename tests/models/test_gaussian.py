"""Training of people by what they did: one step by the formula, negatives, threads, interruptions, own losses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import GaussianRank, HistoryBPR, RankLoss, SoftmaxNegatives, SquaredNegatives
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ModelFileError, ParameterError
from fullrank.kernels.batches import add_to_rows
from fullrank.kernels.history import SQUARED, history_gradients
from fullrank.kernels.threads import threads
from fullrank.models import history
from fullrank.models.rank_loss import NDCG

RECIPES: list[Any] = [
    GaussianRank(factors=5, epochs=3, activation="probit"),
    GaussianRank(factors=5, epochs=3, loss="ndcg"),
    GaussianRank(factors=5, epochs=3, loss="ndcg", listwise=True, sampler="popularity"),
    HistoryBPR(factors=5, epochs=3),
    SoftmaxNegatives(factors=5, epochs=3, dropout=0.0),
    SquaredNegatives(factors=5, epochs=3, negatives=0.5),
]


@pytest.fixture(scope="module")
def data() -> Interactions:
    return fullrank.simulate.ratings(users=700, items=90, density=0.1, seed=2).data


def one_batch(code: Any, start: Any, n_items: int, *, dropout: float = 0.0, sampler: Any = None) -> dict[str, Any]:
    """What the kernel leaves of all users, with 4 negatives each."""
    rng = np.random.default_rng(3)
    users, n, start = len(start) - 1, len(code), np.asarray(start)
    found: dict[str, Any] = {name: (rng.standard_normal((n_items, 6)) / 2).astype(np.float32) for name in "pq"}
    offset = start + 4 * np.arange(users + 1)
    entries, kept = (
        (*np.empty((2, size), dtype=np.int32), *np.zeros((2, size), dtype=np.float32)) for size in (offset[-1], n)
    )
    found |= {
        "entries": entries,
        "kept": kept,
        "offset": offset,
        "weight": np.linspace(0.5, 2, users, dtype=np.float32),
    }
    found |= {name: np.empty((users, 6), dtype=np.float32) for name in ("v", "back")} | {"total": np.empty(users)}
    number = np.array([dropout, 0.02, 0.3, 1, 0.8, 0.1], dtype=np.float32)
    everything = np.arange(n_items, dtype=np.int32), np.ones(n_items), np.zeros(n_items, dtype=np.int64)
    draw = everything if sampler is None else sampler
    rows = start.copy(), np.asarray(code, dtype=np.int32)
    for array in rows:
        array.flags.writeable = False
    history_gradients(
        0, users, np.arange(users, dtype=np.int32), offset, start, *rows, found["weight"], found["p"], found["q"],
        SQUARED, number, np.zeros((2, 2), dtype=np.float32), draw, 5, 6, np.zeros(n_items, dtype=np.uint8),
        entries, kept, found["v"], found["back"], found["total"],
    )  # fmt: skip
    return found


@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_a_step_by_the_formula(dropout: float) -> None:
    """S4 Algorithm 1, with both steps damped and users weighted, in float64."""
    start, code = [0, 5, 8], [0, 2, 3, 7, 9, 1, 2, 8]
    found = one_batch(code, start, 10, dropout=dropout)
    p, q = found["p"].astype(float), found["q"].astype(float)
    new_p, new_q = p.copy(), q.copy()
    rate, reg, stiff = 0.1, 0.02, 0.8
    for b in range(2):
        rows, at = slice(start[b], start[b + 1]), slice(found["offset"][b], found["offset"][b + 1])
        own, items, by = code[rows], found["entries"][0][at], float(found["weight"][b])
        kept = [j for j in found["kept"][0][rows] if j >= 0]
        assert set(kept) <= set(own)
        assert len(kept) == len(own) or dropout > 0
        share = 1 / (np.sqrt(len(own)) * (1 - dropout))
        v = share * q[kept].sum(axis=0)
        assert found["v"][b] == pytest.approx(v, abs=1e-5)
        target = np.arange(len(items)) < len(own)
        err = by * (target - p[items] @ v)
        assert found["total"][b] == pytest.approx(np.sum((err / by) ** 2) / 2, rel=1e-4)
        calm = 1 + rate * stiff * by * (v @ v)
        for i, e, positive in zip(items, err, target, strict=True):
            new_p[i] += rate * (e * v / calm - by * reg * positive * new_p[i])
        back = err @ p[items] / (1 + rate * stiff * by * (p[items] ** 2).sum())
        assert found["back"][b] == pytest.approx(back, abs=1e-5)
        for j in kept:
            new_q[j] += rate * (share * back - by * reg * len(own) * new_q[j])
    step: Any = np.float32(rate)
    add_to_rows(*found["entries"], found["v"], step, found["p"], 0, 10)
    add_to_rows(*found["kept"], found["back"], step, found["q"], 0, 10)
    assert found["p"] == pytest.approx(new_p, abs=1e-5)
    assert found["q"] == pytest.approx(new_q, abs=1e-5)


def test_the_gradient_is_that_of_the_objective() -> None:
    """Without damping and dropout: err v and share back are -dL/dp and -dL/dq of all users together."""
    start, code = np.array([0, 5, 8]), np.array([0, 2, 3, 7, 9, 1, 2, 8])
    found = one_batch(code, start, 10)

    def objective(p: Any, q: Any) -> float:
        total = 0.0
        for b in range(2):
            items = found["entries"][0][found["offset"][b] : found["offset"][b + 1]]
            own = code[start[b] : start[b + 1]]
            s = p[items] @ q[own].sum(axis=0) / np.sqrt(len(own))
            total += found["weight"][b] * np.sum((s - (np.arange(len(items)) < len(own))) ** 2) / 2
        return total

    p, q = found["p"].astype(float), found["q"].astype(float)
    moved_p, moved_q = np.zeros_like(p), np.zeros_like(q)
    for b in range(2):  # undamped
        rate, stiff, by = 0.1, 0.8, float(found["weight"][b])
        items = found["entries"][0][found["offset"][b] : found["offset"][b + 1]]
        v, errs = found["v"][b].astype(float), found["entries"][2][found["offset"][b] : found["offset"][b + 1]]
        np.add.at(moved_p, items, np.outer(errs * (1 + rate * stiff * by * (v @ v)), v))
        back = found["back"][b] * (1 + rate * stiff * by * (p[items] ** 2).sum())
        moved_q[code[start[b] : start[b + 1]]] += back / np.sqrt(start[b + 1] - start[b])
    for rows, moved, which in ((p, moved_p, 0), (q, moved_q, 1)):
        for place in np.ndindex(*rows.shape):
            both = [p.copy(), q.copy()], [p.copy(), q.copy()]
            both[0][which][place] += 1e-5
            both[1][which][place] -= 1e-5
            assert moved[place] == pytest.approx(-(objective(*both[0]) - objective(*both[1])) / 2e-5, abs=1e-5)


def test_negatives_are_none_of_the_user_s_own() -> None:
    found = one_batch([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1], [0, 10, 12], 10)
    everything, two = found["entries"][0][10:14], found["entries"][0][16:20]
    assert (everything == -1).all()  # somebody who has everything
    assert (two > 1).all()
    code = np.zeros(3000, dtype=np.int32)
    table = np.arange(1, 4, dtype=np.int32), np.array([1.0, 0.5, 1.0]), np.array([0, 2, 0])
    drawn = one_batch(code, np.arange(3001), 4, sampler=table)["entries"][0].reshape(-1, 5)[:, 1:]
    assert np.bincount(drawn.ravel()) / drawn.size == pytest.approx([0, 1 / 3, 1 / 6, 1 / 2], abs=0.02)


@pytest.mark.identical
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_the_same_bytes_for_any_number_of_threads_and_again(recipe: Any, data: Interactions, tmp_path: Path) -> None:
    before, found = threads(), []
    try:
        for count in (1, 2, 4):
            threads(count)
            model = recipe.fit(data, seed=5)
            found.append(model.items.tobytes() + model.history.tobytes())
    finally:
        threads(before)
    path = tmp_path / "fit.checkpoint"
    for epochs in (1, 3):
        model = replace(recipe, epochs=epochs).fit(data, seed=5, checkpoint=path)
    found.append(model.items.tobytes() + model.history.tobytes())
    assert len(set(found)) == 1
    assert recipe.fit(data, seed=6).items.tobytes() not in found[0]


def test_batches_do_what_single_users_do(data: Interactions, monkeypatch: pytest.MonkeyPatch) -> None:
    split = fullrank.holdout(data, 0.1, seed=1)
    values = []
    for largest in (64, 1):
        monkeypatch.setattr(history, "LARGEST", largest)
        ranks = fullrank.rank(GaussianRank(factors=8).fit(split.train), split)
        values.append(fullrank.evaluate(ranks, [fullrank.metrics.ndcg, fullrank.metrics.auc]).mean())
    for name in values[0]:
        assert values[0][name] == pytest.approx(values[1][name], rel=0.02)


def test_an_own_loss(data: Interactions, tmp_path: Path) -> None:
    named = GaussianRank(factors=4, epochs=2, loss="ndcg", listwise=True)
    own = replace(named, loss=RankLoss(lambda r: 7 * NDCG.value(r), lambda r: 7 * NDCG.slope(r)))
    model = own.fit(data)
    assert model.items == pytest.approx(named.fit(data).items, abs=1e-5)
    with pytest.raises(ModelFileError, match=r"loss=RankLoss\(.*cannot be kept in a file"):
        fullrank.save(model, tmp_path / "model.fr")


def test_positives_from_a_threshold(data: Interactions) -> None:
    low = GaussianRank(factors=4, epochs=2, relevant=3).fit(data)
    only = GaussianRank(factors=4, epochs=2).fit(data.relevant(3))
    assert low.items.tobytes() == only.items.tobytes()
    assert low.scores(np.arange(700)).tobytes() == only.scores(np.arange(700)).tobytes()


def test_too_large_a_rate_is_told(data: Interactions) -> None:
    for recipe in RECIPES:
        with pytest.raises(DataError, match=r"the objective became .* in epoch 1 at rate 1e\+30; use a smaller rate"):
            replace(recipe, rate=1e30).fit(data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "recall"}, "'loss' parameter must be 'auc', 'ndcg' or a RankLoss. Got 'recall'"),
        ({"loss": ["auc"]}, "'loss' parameter"),
        ({"activation": "relu"}, "'activation' parameter must be one of probit, logistic, quad, rankSE"),
        ({"activation": "quad", "listwise": True}, "'activation' parameter must be 'logistic' where listwise=True"),
        ({"listwise": 1}, "'listwise' parameter"),
        ({"width": 0}, "'width' parameter must be a number > 0"),
        ({"level": 0.5}, "'level' parameter must be a number >= 1"),
        ({"prior": -1}, "'prior' parameter must be a number >= 0"),
        ({"dropout": 1}, r"'dropout' parameter must be a number in \[0, 1\)"),
        ({"balance": 1.5}, r"'balance' parameter must be a number in \[0, 1\]"),
        ({"negatives": 0}, "'negatives' parameter must be a number > 0"),
        ({"negatives": "many"}, "'negatives' parameter must be a number >= 0"),
        ({"sampler": "best"}, "'sampler' parameter"),
    ],
)
def test_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        GaussianRank(**parameters)
