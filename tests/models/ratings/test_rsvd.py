"""RSVD against plain formulas: gradients, one step, sequential descent, Funk's features, fold-in, faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fullrank
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ParameterError
from fullrank.kernels.random import shuffle, stream
from fullrank.metrics.ratings import rmse
from fullrank.models.ratings.passes import batch_size
from fullrank.models.ratings.rsvd import RSVD
from fullrank.models.ratings.svdpp import SVDpp

EVERY: list[Any] = [RSVD(factors=4, epochs=5), RSVD.as_funk(3, 2, rate=0.01), SVDpp(factors=4, epochs=5), SVDpp.as_funk(3, 2, rate=0.01)]  # fmt: skip # noqa: E501


@pytest.fixture(scope="module")
def data() -> Interactions:
    return fullrank.simulate.ratings(users=300, items=80, density=0.25, seed=2).data


def cost(p: Any, q: Any, bu: float, bi: float, r: float, reg: float) -> float:
    """(r - b_u - b_i - <p, q>)^2 + reg (b_u^2 + b_i^2 + |p|^2 + |q|^2)."""
    return float((r - bu - bi - p @ q) ** 2 + reg * (bu**2 + bi**2 + p @ p + q @ q))


def slopes(function: Any, x: NDArray[np.float64], h: float = 1e-5) -> NDArray[np.float64]:
    """Numerical derivatives."""
    return np.array([(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(len(x))])


def test_a_step_is_half_a_gradient_step() -> None:
    """Of the user at once; the item follows at what the user's vector has become."""
    one, rate, reg = Interactions.of([0], [0], [4.0]), 0.05, 0.3
    recipe = RSVD(factors=3, rate=rate, reg=reg)
    rounds = recipe.prepare(one, 5)
    before = rounds.start()
    before["user_bias"][:], before["items"][:, -1] = 0.4, -0.2
    after = {name: array.copy() for name, array in before.items()}
    loss = rounds.run(after, 0)
    p, q, bu, bi = before["users"][0], before["items"][0, :3], 0.4, -0.2
    x = np.concatenate([p, q, [bu, bi]]).astype(float)
    gradient = slopes(lambda x: cost(x[:3], x[3:6], x[6], x[7], 0.0, reg), x)
    stepped = x - rate / 2 * gradient
    assert loss == pytest.approx((0 - bu - bi - p @ q) ** 2, rel=1e-5)  # the mean, 4, is taken off
    assert after["users"][0] == pytest.approx(stepped[:3], abs=1e-6)
    assert after["user_bias"][0] == pytest.approx(stepped[6], abs=1e-6)
    assert after["items"][0, 3] == pytest.approx(stepped[7], abs=1e-6)
    g = 0 - bu - bi - p @ q
    assert after["items"][0, :3] == pytest.approx(q + rate * (g * stepped[:3] - reg * q), abs=1e-6)
    analytic = np.concatenate([-2 * g * q + 2 * reg * p, -2 * g * p + 2 * reg * q, [-2 * g + 2 * reg * bu, -2 * g + 2 * reg * bi]])  # fmt: skip # noqa: E501
    assert gradient == pytest.approx(analytic, abs=1e-5)


@pytest.mark.parametrize("history", [False, True])
def test_a_pass_is_the_plain_loop_against_frozen_items(history: bool) -> None:
    """With a history every y_j is changed for every rating here, as SVD++ is written down; the kernel does it once."""
    rng, rate, reg, n = np.random.default_rng(1), 0.1, 0.2, 7
    one = Interactions.of([0] * n, range(n), rng.integers(1, 6, n))
    recipe: Any = SVDpp(factors=3, rate=rate, reg=reg) if history else RSVD(factors=3, rate=rate, reg=reg)
    parameters = recipe.prepare(one, 0).start()
    p, q, y = (parameters[name].astype(float) if name in parameters else np.zeros((n, 3)) for name in ("users", "items", "history"))  # fmt: skip # noqa: E501
    p, bu, target = p[0].copy(), 0.0, one.value - np.mean(one.value)
    order = np.arange(n)
    shuffle(np.uint64(stream(9, 4, 0)), order)
    pulls = np.zeros(n)
    for i in order:
        x = p + y.sum(axis=0) / np.sqrt(n) * history
        pulls[i] = g = target[i] - bu - x @ q[i, :3] - q[i, 3]
        p += rate * (g * q[i, :3] - reg * p)
        y += rate * (g * q[i, :3] / np.sqrt(n) - reg * y)
        bu += rate * (g - reg * bu)
    x = p + y.sum(axis=0) / np.sqrt(n) * history
    recipe.prepare(one, 9).run(parameters, 4)
    assert parameters["users"][0] == pytest.approx(p, abs=1e-5)
    assert parameters["user_bias"][0] == pytest.approx(bu, abs=1e-5)
    assert parameters["items"] == pytest.approx(q + rate * (np.outer(pulls, [*x, 1]) - reg * q), abs=1e-5)
    if history:
        assert parameters["history"] == pytest.approx(y, abs=1e-5)


def plain(train: Interactions, recipe: RSVD, seed: int = 0) -> Any:
    """Sequential descent over all ratings in random order, with nothing frozen: predictions of all pairs."""
    parameters = recipe.prepare(train, seed).start()
    p, q, bu = (parameters[name].astype(float) for name in ("users", "items", "user_bias"))
    mu, rng, f = float(np.mean(train.value)), np.random.default_rng(seed), recipe.factors
    for _ in range(recipe.epochs):
        for r in rng.permutation(len(train)):
            u, i = train.user[r], train.item[r]
            g = train.value[r] - mu - bu[u] - q[i, f] - p[u] @ q[i, :f]
            bu[u] += recipe.rate * (g - recipe.reg * bu[u])
            pull = np.append(p[u], 1)
            p[u] += recipe.rate * (g * q[i, :f] - recipe.reg * p[u])
            q[i] += recipe.rate * (g * pull - recipe.reg * q[i])
    return mu + bu[:, None] + q[:, f] + p @ q[:, :f].T


def error(scores: Any, held: Interactions) -> float:
    return rmse(held.value, scores[held.user, held.item])


def test_batches_are_as_good_as_sequential_descent(data: Interactions) -> None:
    split = fullrank.holdout(data, 0.2, seed=0)
    recipe = RSVD(factors=4, epochs=15, rate=0.02, reg=0.05)
    assert 1 < batch_size(split.train, recipe.rate, 1.0, history=False) < 150  # there are batches, of several users
    ours = error(recipe.fit(split.train).scores(np.arange(300)), split.held_out)
    assert ours == pytest.approx(error(plain(split.train, recipe), split.held_out), rel=0.01)
    assert ours < 0.98 * np.std(split.held_out.value)


@pytest.mark.parametrize("scale", [20.0, 1000.0])
def test_the_scale_of_ratings_does_not_matter(scale: float, data: Interactions) -> None:
    """With a rate and a start to match: |p|^2 and |q|^2 grow like the ratings."""
    scaled = Interactions.of(data.user, data.item, data.value * np.float32(scale))
    for recipe in (RSVD(factors=3, epochs=20, reg=0.02), RSVD.as_funk(3, rate=0.005)):
        other = replace(recipe, rate=recipe.rate / max(scale, 1), reg=recipe.reg * scale, init=recipe.init * scale**0.5)
        there = other.fit(scaled).scores(np.arange(300))[data.user, data.item] / scale
        assert rmse(data.value, there) < np.std(data.value)


def test_funk_learns_one_feature_after_the_other(data: Interactions) -> None:
    recipe, states = RSVD.as_funk(factors=3, epochs=4, rate=0.01), []
    recipe.fit(data, progress=lambda done, of, loss: states.append((done, of, loss)))
    assert [done for done, _, _ in states] == list(range(1, 13))
    assert states[0][1] == recipe.length.of == 12
    rounds = recipe.prepare(data, 0)
    parameters = rounds.start()
    assert (parameters["users"] == np.float32(0.1)).all()
    for number in range(5):
        loss = rounds.run(parameters, number)
    assert (parameters["items"][:, 2] == np.float32(0.1)).all()  # the last one waits
    assert (parameters["items"][:, 1] != np.float32(0.1)).any()
    one = {name: array.astype(float) for name, array in parameters.items()}
    predicted = (one["users"][data.user] * one["items"][data.item]).sum(axis=1)
    assert loss == pytest.approx(np.mean((data.value - predicted) ** 2), rel=0.05)  # the later feature counts with .01


@pytest.mark.identical
@pytest.mark.parametrize("recipe", EVERY, ids=str)
def test_threads_do_not_matter(recipe: Any, data: Interactions) -> None:
    before, models = fullrank.threads(), []
    try:
        for count in (1, 2, 4):
            fullrank.threads(count)
            models.append(bytes_of(recipe.fit(data, seed=4)))
    finally:
        fullrank.threads(before)
    assert models[0] == models[1] == models[2]
    assert models[0] != bytes_of(recipe.fit(data, seed=5)) or recipe.factors == 3


def bytes_of(model: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in vars(model).items() if isinstance(array, np.ndarray)}


class StopError(Exception):
    """Thrown in the middle of a fit."""


@pytest.mark.parametrize("recipe", EVERY, ids=str)
def test_an_interrupted_fit_ends_with_the_same_bytes(recipe: Any, data: Interactions, tmp_path: Path) -> None:
    def stopping(at: int) -> Any:
        def progress(done: int, of: int, loss: float) -> None:
            if done == at:
                raise StopError

        return progress

    whole = bytes_of(recipe.fit(data, seed=3))
    for at in (2, 4, 5):  # each goes on from the one before
        with pytest.raises(StopError):
            recipe.fit(data, seed=3, checkpoint=tmp_path / "x", progress=stopping(at))
    assert bytes_of(recipe.fit(data, seed=3, checkpoint=tmp_path / "x")) == whole


def test_a_longer_fit_goes_on_from_a_shorter_one(data: Interactions, tmp_path: Path) -> None:
    recipe = RSVD(factors=4, epochs=3)
    recipe.fit(data, checkpoint=tmp_path / "x")
    longer = replace(recipe, epochs=5)
    assert bytes_of(longer.fit(data, checkpoint=tmp_path / "x")) == bytes_of(longer.fit(data))


def test_somebody_new_is_their_ridge_regression(data: Interactions) -> None:
    recipe = RSVD(factors=4, epochs=20, rate=0.02, reg=0.05)
    model = recipe.fit(data)
    items, values = data.item[data.starts[7] : data.starts[8]], data.value[data.starts[7] : data.starts[8]]
    vector = model.fold_in(items, values)
    q, bias = model.items[items, :5].astype(float), model.items[items, 5]
    left = values - model.offset - bias
    best = np.linalg.solve(q.T @ q + recipe.reg * len(items) * np.eye(5), q.T @ left)
    assert vector == pytest.approx([*best, 1], abs=1e-4)
    assert np.corrcoef(model.history_scores(items, values), model.scores([7])[0])[0, 1] > 0.9


@pytest.mark.parametrize("recipe", [RSVD(factors=4, reg=0.02), RSVD.as_funk(4, rate=0.01)], ids=str)
def test_new_items_find_their_level(recipe: RSVD, data: Interactions) -> None:
    model = recipe.fit(data)
    users = data.users.names[:200]
    more = Interactions.of(np.tile(users, 2), np.repeat([1001, 1002], 200), np.repeat([5.0, 1.0], 200))
    updated = fullrank.update(model, more)
    scores = updated.scores(np.arange(300))
    good, bad = (scores[:, updated.train.items.code(name)] for name in (1001, 1002))
    assert good.mean() > 4
    assert bad.mean() < 2
    known = updated.train.items.codes(model.train.items.names)
    assert updated.items[known].tobytes() == model.items.tobytes()


@pytest.mark.parametrize("recipe", EVERY, ids=str)
def test_small_and_dull_worlds(recipe: Any) -> None:
    cases = {
        "one rating": Interactions.of([1], [1], [3.0]),
        "one user": Interactions.of([1] * 9, range(9), range(1, 10)),
        "one item": Interactions.of(range(9), [1] * 9, range(1, 10)),
        "constant": Interactions.of([1, 1, 2, 2], [1, 2, 1, 2], [4.0] * 4),
        "nobody": Interactions.of([1, 1, 2], [1, 2, 1], [4.0, 1.0, 2.0]).catalogue(users=[0, 9], items=[0, 9]),
    }
    for name, train in cases.items():
        model = recipe.fit(train)
        scores = model.scores(np.arange(train.n_users))
        assert np.isfinite(scores).all(), name
        if name == "constant" and not recipe.by_feature:
            assert scores == pytest.approx(np.full((2, 2), 4.0), abs=0.1)
        if name == "nobody" and not recipe.by_feature:  # nothing but the mean and the item's bias
            assert scores[0] == pytest.approx(scores[3], abs=1e-6)
            assert scores[1:3, 0] - scores[0, 0] == pytest.approx(scores[1:3, 3] - scores[0, 3])


@pytest.mark.parametrize("recipe", EVERY, ids=str)
def test_refusals(recipe: Any, data: Interactions) -> None:
    name = type(recipe).__name__
    unary = Interactions.of([1, 2], [1, 2])
    with pytest.raises(DataError, match=f"{name} needs ratings: the data has no values"):
        recipe.fit(unary)
    with pytest.raises(
        DataError, match=rf"{name}: the objective became (nan|inf) in epoch \d+ at rate 50; use a smaller"
    ):
        replace(recipe, rate=50.0).fit(data)
    for wrong in ({"rate": 0}, {"reg": -1}, {"factors": 0}, {"init": 0}, {"by_feature": 1}, {"decay": 2}):
        with pytest.raises(ParameterError, match=f"The '{next(iter(wrong))}' parameter must be"):
            replace(recipe, **wrong)


def test_it_stops_where_a_judge_says(data: Interactions) -> None:
    split = fullrank.holdout(data, 0.2, seed=0)
    scores: list[float] = []

    def judge(model: Any) -> float:
        scores.append(-error(model.scores(np.arange(300)), split.held_out))
        return scores[-1]

    model = RSVD(factors=8, epochs=200, rate=0.05, reg=0.0).fit(split.train, judge=judge)
    assert len(scores) < 60
    assert error(model.scores(np.arange(300)), split.held_out) == pytest.approx(-max(scores))
