"""Training of people by what they did: gradients of printed objectives, negatives, threads, own losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
import pytest

import fullrank
from fullrank import GaussianRank, HistoryBPR, RankLoss, SoftmaxNegatives, SquaredNegatives
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ModelFileError, ParameterError
from fullrank.kernels.sgd_history import SQUARED, history_gradients
from fullrank.models.asymmetric import amf
from fullrank.models.asymmetric.rank_loss import NDCG
from fullrank.runtime.threads import threads

Loss: TypeAlias = Callable[[Any, float, int], float]  # scores of positives, of the negative, how often it was drawn

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
    batch: dict[str, Any] = {name: (rng.standard_normal((n_items, 6)) / 2).astype(np.float32) for name in "pq"}
    offset = start + 4 * np.arange(users + 1)
    entries, kept = (
        (*np.empty((2, size), dtype=np.int32), *np.zeros((2, size), dtype=np.float32)) for size in (offset[-1], n)
    )
    batch |= {
        "entries": entries,
        "kept": kept,
        "offset": offset,
        "weight": np.linspace(0.5, 2, users, dtype=np.float32),
    }
    batch |= {name: np.empty((users, 6), dtype=np.float32) for name in ("v", "back")} | {"total": np.empty(users)}
    number = np.array([dropout, 0.02, 0.3, 1, 0.8, 0.1], dtype=np.float32)
    everything = np.arange(n_items, dtype=np.int32), np.ones(n_items), np.zeros(n_items, dtype=np.int64)
    draw = everything if sampler is None else sampler
    rows = start.copy(), np.asarray(code, dtype=np.int32)
    for array in rows:
        array.flags.writeable = False
    history_gradients(
        0, users, np.arange(users, dtype=np.int32), offset, start, *rows, batch["weight"], batch["p"], batch["q"],
        SQUARED, number, np.zeros((2, 2), dtype=np.float32), draw, 5, 6, np.zeros(n_items, dtype=np.uint8),
        entries, kept, batch["v"], batch["back"], batch["total"],
    )  # fmt: skip
    return batch


def scores(p: Any, q: Any, own: list[int]) -> Any:
    """s_ui of all items for somebody with these positives (Steck 2015, section 2)."""
    return p @ q[own].sum(axis=0) / math.sqrt(len(own))


def gaussian(width: float, prior: float, cost: Callable[[float], float]) -> Loss:
    """Steck 2015, Eq. 18: what positives cost at their scores, and what holds negatives at 0."""
    return lambda positive, negative, m: (
        sum(width * cost(s / width) for s in positive) + m * prior / 2 * max(negative, 0) ** 2
    )


def squared(positive: Any, negative: float, m: int) -> float:
    return sum((s - 1) ** 2 for s in positive) / 2 + m * negative**2 / 2


def softmax(positive: Any, negative: float, m: int) -> float:
    others = N - len(positive)
    return sum(-math.log(math.exp(s) / (math.exp(s) + others * math.exp(negative))) for s in positive)


def bpr(positive: Any, negative: float, m: int) -> float:
    return sum(m / len(positive) * math.log(1 + math.exp(negative - s)) for s in positive)


def dcg_cost(x: float) -> float:
    """-DCG at the rank that a logistic curve gives, over its steepest slope in the upper half of the list."""

    def cost(x: float) -> float:
        return -1 / math.log2(max(N / (1 + math.exp(4 * x)), 1) + 1)

    grid = np.linspace(0, math.log(N - 1) / 4 - 1e-4, 20_000)
    steepest = max((cost(x - 1e-6) - cost(x + 1e-6)) / 2e-6 for x in grid)
    return cost(x) / steepest


N = 12
DATA = Interactions.of([1] * 5 + [2] * 3, [0, 2, 3, 7, 9, 1, 2, 8], items=Ids.numbered(N))
ONLY = 11  # the one item that is ever drawn, and nobody has
DRAWN = tuple(float(item == ONLY) for item in range(N))
PRINTED: list[tuple[Any, Loss]] = [
    (GaussianRank(activation="probit"), gaussian(1, 0.3, lambda x: 1 - NormalDist().cdf(x * math.sqrt(2 * math.pi)))),
    (GaussianRank(width=3.0, prior=0.8), gaussian(3, 0.8, lambda x: 1 - 1 / (1 + math.exp(-4 * x)))),
    (GaussianRank(activation="rankSE"), gaussian(1, 0.3, lambda x: max(1 - x, 0) ** 2 / 2)),
    (GaussianRank(loss="ndcg", level=1.0), gaussian(1, 0.3, dcg_cost)),
    (SquaredNegatives(), squared),
    (SoftmaxNegatives(), softmax),
    (HistoryBPR(), bpr),
]


@pytest.mark.parametrize(("recipe", "loss"), PRINTED, ids=lambda part: str(part) if is_dataclass(part) else "")
def test_an_epoch_goes_down_the_gradient_of_the_printed_objective(recipe: Any, loss: Loss) -> None:
    """All numbers of P and Q, in the limit of a small rate, against differences of the objective as printed."""
    recipe = replace(recipe, factors=4, dropout=0.0, negatives=3.0, sampler=DRAWN, reg=0.05, balance=0.5)
    rng = np.random.default_rng(5)
    before = {name: (rng.standard_normal((N, 4)) / 3).astype(np.float32) for name in ("items", "history")}
    assert scores(*before.values(), [0, 2, 3, 7, 9])[ONLY] > 0.01  # so that a prior has something to do

    def objective(p: Any, q: Any) -> float:
        total = 0.0
        for own in ([0, 2, 3, 7, 9], [1, 2, 8]):
            s, n = scores(p, q, own), len(own)
            shrunk = recipe.reg / 2 * ((p[own] ** 2).sum() + n * (q[own] ** 2).sum())
            total += (n / 4) ** -recipe.balance * (loss(s[own], s[ONLY], 3 * n) + shrunk)  # 4: the mean of n
        return float(total)

    def speed(rate: float) -> Any:
        after = {name: array.copy() for name, array in before.items()}
        replace(recipe, rate=rate).prepare(DATA, 0).run(after, 0)
        return np.stack([(after[name].astype(float) - before[name]) / rate for name in before])

    limit = 2 * speed(1e-3) - speed(2e-3)
    both = np.stack([array.astype(float) for array in before.values()])
    for place in np.ndindex(both.shape):
        step = np.zeros_like(both)
        step[place] = 1e-5
        slope = (objective(*(both + step)) - objective(*(both - step))) / 2e-5
        assert limit[place] == pytest.approx(-slope, abs=2e-3), place


def test_no_rate_is_large_enough_to_overshoot() -> None:
    """The limit of a large rate, with what the user has still as it was: exactly at the targets, 1 and 0."""
    recipe = SquaredNegatives(factors=4, dropout=0.0, negatives=1.0, sampler=DRAWN, reg=0.0, rate=1e6)
    rng = np.random.default_rng(3)
    parameters = {name: rng.standard_normal((N, 4)).astype(np.float32) for name in ("items", "history")}
    v = parameters["history"][5].copy()
    recipe.prepare(Interactions.of([1], [5], items=Ids.numbered(N)), 0).run(parameters, 0)
    assert parameters["items"][[5, ONLY]] @ v == pytest.approx([1, 0], abs=1e-4)


def test_dropout_leaves_v_as_it_is_on_average() -> None:
    users, own = 4000, [0, 2, 3, 7]
    batch = one_batch(own * users, 4 * np.arange(users + 1), 10, dropout=0.4)
    assert (batch["kept"][0] >= 0).mean() == pytest.approx(0.6, abs=0.02)
    assert set(batch["kept"][0]) == {-1, *own}
    assert batch["v"].mean(axis=0) == pytest.approx(batch["q"][own].sum(axis=0) / 2, abs=0.03)


def test_negatives_are_none_of_the_user_s_own() -> None:
    batch = one_batch([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1], [0, 10, 12], 10)
    everything, two = batch["entries"][0][10:14], batch["entries"][0][16:20]
    assert (everything == -1).all()  # somebody who has everything
    assert (two > 1).all()
    code = np.zeros(3000, dtype=np.int32)
    table = np.arange(1, 4, dtype=np.int32), np.array([1.0, 0.5, 1.0]), np.array([0, 2, 0])
    drawn = one_batch(code, np.arange(3001), 4, sampler=table)["entries"][0].reshape(-1, 5)[:, 1:]
    assert np.bincount(drawn.ravel()) / drawn.size == pytest.approx([0, 1 / 3, 1 / 6, 1 / 2], abs=0.02)


@pytest.mark.identical
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_the_same_bytes_for_any_number_of_threads_and_again(recipe: Any, data: Interactions, tmp_path: Path) -> None:
    before, files = threads(), []
    try:
        for count in (1, 2, 4):
            threads(count)
            model = recipe.fit(data, seed=5)
            files.append(model.items.tobytes() + model.history.tobytes())
    finally:
        threads(before)
    path = tmp_path / "fit.checkpoint"
    for epochs in (1, 3):
        model = replace(recipe, epochs=epochs).fit(data, seed=5, checkpoint=path)
    files.append(model.items.tobytes() + model.history.tobytes())
    assert len(set(files)) == 1
    assert recipe.fit(data, seed=6).items.tobytes() not in files[0]


def test_batches_do_what_single_users_do(data: Interactions, monkeypatch: pytest.MonkeyPatch) -> None:
    split = fullrank.holdout(data, 0.1, seed=1)
    values = []
    for largest in (64, 1):
        monkeypatch.setattr(amf, "LARGEST", largest)
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
