"""BPR, MF-AUC and MF-ADG: gradients, draws, blocks, threads, fold-in, faults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullrank
from fullrank import BPR, MFADG, MFAUC, Interactions
from fullrank.errors import DataError, ParameterError
from fullrank.kernels.random import drawn, stream
from fullrank.kernels.sgd_pairs import _step, deal, pair_cell
from fullrank.metrics import auc, rr
from fullrank.models.pairwise import blocks
from fullrank.models.pairwise.blocks import Cells, Pairs
from fullrank.models.pairwise.mfadg import costs
from fullrank.models.stochastic.samplers import alias, weights
from fullrank.recommending.recommend import recommend
from fullrank.recommending.update import update
from fullrank.runtime.threads import threads
from fullrank.testing.checkerboard import checkerboard

RECIPES: list[Any] = [BPR(factors=6, epochs=5), MFAUC(factors=6, epochs=5), MFADG(factors=6, epochs=5, gamma=5)]


@pytest.fixture(scope="module")
def data() -> Interactions:
    """Some items only the last users have."""
    data = fullrank.simulate.ratings(users=90, items=70, density=0.15, seed=2).data
    return data.where((data.user >= 70) | (data.item >= 3))


@pytest.fixture
def many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "FEWEST", 8)


@pytest.mark.parametrize("loss", ["logistic", "violator"])
def test_a_step_goes_down_the_numerical_gradient(loss: str) -> None:
    rng = np.random.default_rng(0)
    p, one, other = rng.standard_normal((3, 5))
    biases, reg, cost = rng.standard_normal(2), 0.3, 0.7

    def objective(theta: Any) -> float:
        user, i, j, (b_i, b_j) = theta[:5], theta[5:10], theta[10:15], theta[15:]
        x = user @ i + b_i - user @ j - b_j
        fit = np.log1p(np.exp(-x)) if loss == "logistic" else cost * (1 - x)
        return float(fit + reg / 2 * np.square(theta[:15]).sum())

    theta = np.concatenate([p, one, other, biases])
    x = p @ one + biases[0] - p @ other - biases[1]
    weight = 1 / (1 + np.exp(x)) if loss == "logistic" else cost
    users, items, bias = p[None].copy(), np.stack([one, other]), biases.copy()
    _step(users, items, bias, 0, 0, 1, weight, np.ones(3), reg, 1.0)
    moved = np.concatenate([users.ravel(), items.ravel(), bias]) - theta
    h = 1e-6
    numeric = [(objective(theta + h * e) - objective(theta - h * e)) / (2 * h) for e in np.eye(17)]
    assert moved == pytest.approx(-np.array(numeric), abs=1e-5)


@given(items=st.integers(2, 10**6), gamma=st.floats(1, 1e9))
@settings(max_examples=200, deadline=None)
def test_the_number_of_draws_is_never_zero(items: int, gamma: float) -> None:
    gamma = max(gamma, items / 10**5)
    cost = costs(items, gamma)
    assert len(cost) == max(1, int((items - 1) / gamma))
    assert cost[0] == pytest.approx(1 - 1 / np.log2(items + 1))  # found at once: n = 1, not 0
    assert (cost > 0).all()
    assert (np.diff(cost) <= 0).all()
    assert (cost < 1).all()


@pytest.mark.parametrize("cell", range(5))
def test_a_step_weighs_by_the_draws_it_took(cell: int) -> None:
    """One user with item 0; all others are far below it but item 7, which is drawn sooner or later."""
    bias, cost = np.full(20, -5, dtype=np.float32), np.linspace(1, 0.1, 400, dtype=np.float32)
    bias[[0, 7]] = 0
    others, chance, instead = np.arange(20, dtype=np.int32), np.ones(20), np.zeros(20, dtype=np.int64)
    key, count, draws = np.uint64(stream(3, 1, cell)), 1, []  # the first number chooses the relevant item
    while not draws or draws[-1] != 7:
        draws.append(int(drawn(key, np.uint64(count), chance, instead)))
        count += 1
    took = sum(j != 0 for j in draws)
    rows = np.zeros((1, 1), dtype=np.float32), np.zeros((20, 1), dtype=np.float32), bias
    given = np.zeros(1, np.int32), 0, np.zeros(1, np.int32), np.array([[0, 1]]), others, chance, instead
    rates, one = np.full(3, 0.5, dtype=np.float32), np.float32(1)
    loss, pairs = pair_cell(*given, 0.0, False, cost, 3, 1, cell, *rows, rates, np.float32(0), one)  # type: ignore[arg-type]
    assert (bias[0], bias[7]) == pytest.approx((0.5 * cost[took - 1], -0.5 * cost[took - 1]))
    assert (loss, pairs) == (pytest.approx(cost[took - 1]), 1)
    assert (np.delete(bias, [0, 7]) == -5).all()


def counted(rows: Interactions, pairs: Pairs, epochs: int) -> Any:
    """How often every item was above less how often below, from biases alone: every pair is a violator of weight 1."""
    start, items = rows.starts.astype(np.int64), np.zeros((rows.n_items, 1), dtype=np.float32)
    cells = Cells(start, rows.item, weights(pairs.sampler, rows), pairs)
    state = {"users": np.zeros((rows.n_users, 1), "f4"), "items": items, "bias": np.zeros(rows.n_items, "f4")}
    for number in range(epochs):
        cells.epoch(state, 3, number, np.full(3, 2.0**-20, dtype=np.float32))
    return state["bias"].astype(np.float64) * 2**20


@pytest.mark.usefixtures("many_blocks")
def test_every_relevant_item_once_or_every_user_as_often() -> None:
    """40 users, items 0-39 are relevant to somebody, items 40-79 to nobody: only these are drawn."""
    rng = np.random.default_rng(5)
    user = np.repeat(np.arange(40), np.arange(1, 41) % 7 + 1)
    item = np.concatenate([rng.choice(40, (u + 1) % 7 + 1, replace=False) for u in range(40)])
    rows = Interactions.of(user, item, items=fullrank.Ids(range(80)), users=fullrank.Ids(range(40)))
    sampler = tuple([0.0] * 40 + [1.0, 3.0] * 20)
    one, times = np.ones(1, dtype=np.float32), 400
    once = counted(rows, Pairs(0.0, False, one, 0.0, True, sampler), times)
    assert once[:40].tolist() == (times * np.bincount(rows.item, minlength=40)).tolist()
    share = -once[40:] / times / len(rows)
    assert share.sum() == pytest.approx(1, abs=1e-9)
    assert share[1::2].sum() / share[0::2].sum() == pytest.approx(3, rel=0.15)
    often = counted(rows, Pairs(3.0, False, one, 0.0, True, sampler), times)
    expected = np.zeros(40)
    np.add.at(expected, rows.item, 3 / np.diff(rows.starts)[rows.user])
    assert often[:40] / times == pytest.approx(expected, rel=0.15)
    assert often[:40].sum() / times == pytest.approx(3 * 40, rel=0.02)


def test_alias_tables_draw_by_weight() -> None:
    weight = np.array([0.0, 1.0, 4.0, 0.0, 5.0, 0.25])
    some, chance, other = alias(weight, np.arange(6, dtype=np.int32))
    assert some.tolist() == [1, 2, 4, 5]
    share = chance / 4
    np.add.at(share, other, (1 - chance) / 4)
    assert share == pytest.approx(weight[some] / weight.sum())


def test_every_pair_is_dealt_to_one_cell() -> None:
    rng = np.random.default_rng(1)
    start = np.array([0, 3, 3, 9, 20])
    item = np.concatenate([np.sort(rng.choice(30, n, replace=False)) for n in np.diff(start)]).astype(np.int32)
    item.flags.writeable = False
    people, position = np.array([2, 0, 3, 1], dtype=np.int32), rng.permutation(30)
    block_of = np.sort(rng.integers(0, 3, 30))
    begin = np.concatenate([[0], np.cumsum(np.diff(start)[people])])
    dealt, place = np.empty(20, dtype=np.int32), np.empty((4, 4), dtype=np.int64)
    start.flags.writeable = False
    deal(start, item, people, position, block_of, begin, dealt, place, 0, 4)
    for slot, user in enumerate(people):
        own = position[item[start[user] : start[user + 1]]]
        assert (place[slot, 0], place[slot, 3]) == (begin[slot], begin[slot + 1])
        for block in range(3):
            part = dealt[place[slot, block] : place[slot, block + 1]]
            assert part.tolist() == own[block_of[own] == block].tolist()


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.usefixtures("many_blocks")
def test_the_same_bytes_for_any_number_of_threads(recipe: Any, data: Interactions) -> None:
    before, models = threads(), set()
    try:
        for count in (1, 2, 3, 4):
            threads(count)
            model = recipe.fit(data, seed=1)
            models.add((model.users.tobytes(), model.items.tobytes()))
    finally:
        threads(before)
    assert len(models) == 1
    assert recipe.fit(data, seed=2).users.tobytes() != model.users.tobytes()


@pytest.mark.parametrize("recipe", [BPR(8, 0.001), MFAUC(8, 0.01), MFADG(8, 0.01, unseen=True)], ids=str)
def test_blocks_and_somebody_new_find_the_missing_square(recipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "FEWEST", 10)
    split = checkerboard(50, value=5.0)
    model = recipe.fit(split.train)
    assert (rr(fullrank.rank(model, split)) == 1).all()
    folded = recipe.vectors(model, "items", split.train.by_user())
    stranger = fullrank.rank(lambda users: folded[users] @ model.items.T, split)
    assert rr(stranger).mean() > 0.95
    history = [split.train.items.name(int(i)) for i in split.train.item[: split.train.starts[1]]]
    assert recommend(model, history=history, n=1).items == recommend(model, split.train.users.name(0), n=1).items


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_new_feedback_is_folded_in(recipe: Any, data: Interactions) -> None:
    known = data.user < 70
    old, new = data.where(known), data.where(~known)
    named = data.users.names[new.user], data.items.names[new.item]
    before = replace(recipe, epochs=20).fit(Interactions.of(data.users.names[old.user], data.items.names[old.item]))
    model = update(before, Interactions.of(*named))
    assert (model.train.n_users, model.train.n_items) == (len(np.unique(data.user)), len(np.unique(data.item)))
    assert model.train.n_items > before.train.n_items
    scores = model.scores(model.train.users.codes(np.unique(named[0])))
    assert np.isfinite(scores).all()
    seen = Interactions.of(*named, items=model.train.items)
    ranks = fullrank.rank(scores, fullrank.Split(seen.where(np.zeros(len(seen), dtype=bool)), seen))
    assert auc(ranks).mean() > 0.75  # what was folded in stands above the rest


def test_without_bias_there_is_no_column_more(data: Interactions) -> None:
    assert BPR(factors=5, epochs=1).fit(data).items.shape == (70, 6)
    assert BPR(factors=5, epochs=1, bias=False).fit(data).items.shape == (70, 5)


def test_popular_items_are_drawn_more_often(data: Interactions) -> None:
    count = np.bincount(data.item, minlength=70)
    plain, popular = (BPR(6, epochs=15, sampler=sampler).fit(data) for sampler in ("uniform", "popularity"))
    slopes = [np.polyfit(count, model.items[:, -1], 1)[0] for model in (plain, popular)]
    assert slopes[0] > 1.5 * slopes[1]


def test_small_and_odd_data() -> None:
    for recipe in RECIPES:
        one = recipe.fit(Interactions.of([1, 2], [7, 7]))  # one item: nothing to draw
        assert np.isfinite(one.scores([0, 1])).all()
        everything = Interactions.of(np.repeat([1, 2, 3], 5), np.tile(np.arange(5), 3))
        assert np.isfinite(recipe.fit(everything).scores([0])).all()  # nobody has an item less
        quiet = Interactions.of([1], [2], users=fullrank.Ids([0, 1]), items=fullrank.Ids([1, 2, 3]))
        assert np.isfinite(recipe.fit(quiet).scores([0, 1])).all()
        with pytest.raises(DataError, match="no feedback to train on"):
            recipe.fit(everything.where(np.zeros(15, dtype=bool)))


@pytest.mark.parametrize("recipe", [BPR(rate=1e30, reg=1), MFAUC(rate=1e30, reg=1), MFADG(rate=1e30, reg=1)], ids=str)
def test_divergence_names_epoch_rate_and_remedy(recipe: Any, data: Interactions) -> None:
    with pytest.raises(DataError, match=r"objective became (nan|inf) in epoch \d+ at rate .*; use a smaller rate"):
        recipe.fit(data)


@pytest.mark.parametrize(
    ("recipe", "parameters", "message"),
    [
        (BPR, {"factors": 0}, "'factors' parameter"),
        (BPR, {"rate": 0}, "'rate' parameter of BPR|'rate' parameter"),
        (BPR, {"decay": 1.5}, "'decay' parameter"),
        (BPR, {"epochs": "10"}, "'epochs' parameter"),
        (BPR, {"bias": 1}, "'bias' parameter"),
        (BPR, {"sampler": "often"}, "'sampler' parameter must be 'uniform', 'popularity' or a tuple"),
        (BPR, {"sampler": (1.0, -1.0)}, "'sampler' parameter"),
        (MFADG, {"gamma": 0}, "'gamma' parameter"),
        (MFADG, {"reg": -1}, "'reg' parameter"),
        (MFAUC, {"unseen": None}, "'unseen' parameter"),
        (MFAUC, {"relevant": "4"}, "'relevant' parameter"),
    ],
)
def test_bad_parameters(recipe: type, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        recipe(**parameters)


def test_bad_data(data: Interactions) -> None:
    with pytest.raises(DataError, match="MFADG: no value is at or above 9; lower `relevant`"):
        MFADG(relevant=9).fit(data)
    with pytest.raises(DataError, match="BPR: the data has no values to be relevant at; use relevant=None"):
        BPR(relevant=4).fit(Interactions.of([1], [1]))
    with pytest.raises(DataError, match="there are 2 weights for 70 items"):
        BPR(sampler=(1.0, 2.0)).fit(data)
