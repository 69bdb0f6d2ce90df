"""SVD++: its pass is tested beside RSVD's; here histories, new people, and what it gains."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank.data.interactions import Interactions
from fullrank.metrics.ratings import rmse
from fullrank.models.ratings.epochs import summed
from fullrank.models.ratings.passes import batch_size
from fullrank.models.ratings.svdpp import SVDpp
from fullrank.models.training.checkpoint import Checkpointer


@pytest.fixture(scope="module")
def data() -> Interactions:
    return fullrank.simulate.ratings(users=300, items=80, density=0.25, seed=2).data


def plain(train: Interactions, recipe: SVDpp) -> Any:
    """Sequential descent as it is written down, every y_j of a user changed for every rating; float64, slow."""
    parameters = recipe.prepare(train, 0).start()
    p, q, y, bu = (parameters[name].astype(float) for name in ("users", "items", "history", "user_bias"))
    values: Any = train.value
    mu, rng, f = float(np.mean(values)), np.random.default_rng(0), recipe.factors
    mine = [train.item[train.starts[u] : train.starts[u + 1]] for u in range(train.n_users)]
    root = np.sqrt(np.maximum(np.diff(train.starts), 1))
    for _ in range(recipe.epochs):
        for r in rng.permutation(len(train)):
            u, i = train.user[r], train.item[r]
            x = p[u] + y[mine[u]].sum(axis=0) / root[u]
            g = values[r] - mu - bu[u] - q[i, f] - x @ q[i, :f]
            bu[u] += recipe.rate * (g - recipe.reg * bu[u])
            p[u] += recipe.rate * (g * q[i, :f] - recipe.reg * p[u])
            y[mine[u]] += recipe.rate * (g * q[i, :f] / root[u] - recipe.reg * y[mine[u]])
            q[i] += recipe.rate * (g * np.append(x, 1) - recipe.reg * q[i])
    x = p + np.array([y[items].sum(axis=0) for items in mine]) / root[:, None]
    return mu + bu[:, None] + q[:, f] + x @ q[:, :f].T


def test_batches_are_as_good_as_sequential_descent(data: Interactions) -> None:
    split = fullrank.holdout(data, 0.2, seed=0)
    recipe, held = SVDpp(factors=4, epochs=8, rate=0.02, reg=0.05), split.held_out
    assert 1 < batch_size(split.train, recipe.rate, 1.0, history=True) < 50
    scores = recipe.fit(split.train).scores(np.arange(300))
    ours, plainly = (rmse(held.value, s[held.user, held.item]) for s in (scores, plain(split.train, recipe)))
    assert ours == pytest.approx(plainly, rel=0.01)


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.03])
def test_histories_that_are_alike_do_not_overshoot(rate: float) -> None:
    """Everybody rated everything: a whole batch would move the same sum by as many steps as it has users."""
    rng = np.random.default_rng(0)
    value = 3 + np.sign(rng.standard_normal((200, 1)) * rng.standard_normal(30))
    data = Interactions.of(np.repeat(np.arange(200), 30), np.tile(np.arange(30), 200), value.ravel())
    for recipe in (SVDpp(factors=2, rate=rate, epochs=20), SVDpp.as_funk(2, rate=rate)):
        losses: list[float] = []
        recipe.fit(data, progress=lambda done, of, loss, to=losses: to.append(loss))
        assert losses[-1] <= losses[0]


def test_a_user_is_also_what_they_rated(data: Interactions) -> None:
    recipe = SVDpp(factors=4, epochs=3)
    model = recipe.fit(data)
    own = model.users + summed(data, model.history)
    expected = own @ model.items.T + model.bias + model.user_bias[:, None] + model.offset
    assert model.scores(np.arange(300)) == pytest.approx(expected, abs=1e-5)
    items = data.item[data.starts[7] : data.starts[8]]
    new = model.history_scores(items, np.ones(len(items), dtype=np.float32))
    assert new == pytest.approx(summed(data, model.history)[7] @ model.items.T + model.bias + model.offset, abs=1e-5)


def test_killed_and_resumed(data: Interactions, tmp_path: Path) -> None:
    path = tmp_path / "fit.checkpoint"
    code = f"""
import fullrank
data = fullrank.simulate.ratings(users=300, items=80, density=0.25, seed=2).data
fullrank.SVDpp(factors=5, epochs=100000).fit(data, seed=3, checkpoint={os.fspath(path)!r})
"""
    child = subprocess.Popen([sys.executable, "-c", code])
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not path.with_name(path.name + ".previous").exists():
            time.sleep(0.01)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    recipe = SVDpp(factors=5)
    restored = Checkpointer(path, recipe, data, 3, recipe.length).restore(recipe.prepare(data, 3).start())
    assert restored is not None
    longer = SVDpp(factors=5, epochs=restored[0].done + 2)
    resumed, straight = longer.fit(data, seed=3, checkpoint=path), longer.fit(data, seed=3)
    for name in ("users", "items", "history", "bias", "user_bias"):
        assert getattr(resumed, name).tobytes() == getattr(straight, name).tobytes()
