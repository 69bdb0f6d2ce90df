"""Blocks that let threads work apart cost no quality: plain sequential SGD, pair after pair, is no better."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import fullrank
from fullrank import BPR, MFADG, MFAUC, Interactions
from fullrank.kernels.sgd_pairs import _score, _step
from fullrank.metrics import ap, ndcg


@numba.njit(fastmath=True)
def _plain(start, item, row, users, items, bias, everybody, unseen, cost, rates, reg, seed):  # type: ignore[no-untyped-def]
    """As many pairs as there are relevant items, each drawn from all of them or from all users, any item below it."""
    np.random.seed(seed)
    for _ in range(item.shape[0]):
        if everybody:
            u = np.random.randint(start.shape[0] - 1)
            if start[u] == start[u + 1]:
                continue
            i = item[np.random.randint(start[u], start[u + 1])]
        else:
            e = np.random.randint(item.shape[0])
            u, i = row[e], item[e]
        own = item[start[u] : start[u + 1]]
        high = _score(users, items, bias, u, i)
        for t in range(max(cost.shape[0], 1)):
            j = i
            while j == i or (unseen and own[min(np.searchsorted(own, j), own.shape[0] - 1)] == j):
                j = np.random.randint(items.shape[0])
            x = high - _score(users, items, bias, u, j)
            if cost.shape[0] == 0:
                _step(users, items, bias, u, i, j, np.float32(1 / (1 + math.exp(x))), rates, reg, np.float32(1))
            elif x < 1:
                _step(users, items, bias, u, i, j, cost[t], rates, reg, np.float32(1))
                break


def sequential(recipe: Any, train: Interactions, seed: int) -> Any:
    parameters = recipe.prepare(train, seed).start()
    pairs = recipe.pairs(train)
    given = train.starts.astype(np.int64), train.item, train.user
    for number in range(recipe.epochs):
        rates = np.full(3, recipe.rate_in(number), dtype=np.float32)
        settings = pairs.each > 0, pairs.unseen, pairs.cost, rates, np.float32(pairs.reg), 1000 * seed + number
        _plain(*given, *parameters.values(), *settings)
    return recipe.model(parameters, train)


def quality(data: Interactions, fit: Any, repeats: int) -> Any:
    splits = fullrank.repetitions(partial(fullrank.holdout, data, 0.2), repeats)
    results = [
        fullrank.evaluate(fullrank.rank(fit(split.train, seed), split), [ap, ndcg]).mean().values()
        for seed, split in enumerate(splits)
    ]
    return np.mean([list(one) for one in results], axis=0)


def check_no_worse(recipe: Any, data: Interactions, repeats: int, within: float) -> None:
    blocks = quality(data, lambda train, seed: recipe.fit(train, seed=seed), repeats)
    plain = quality(data, lambda train, seed: sequential(recipe, train, seed), repeats)
    print(type(recipe).__name__, "blocks", blocks, "sequential", plain)  # with pytest -s
    assert (blocks >= (1 - within) * plain).all(), (blocks, plain)


@pytest.mark.papers
@pytest.mark.parametrize("recipe", [BPR(), MFAUC(), MFADG(), MFADG(rate=0.05, reg=0.05, decay=1.0, epochs=12)], ids=str)
def test_movielens_1m(recipe: Any, shared_data: Path) -> None:
    check_no_worse(recipe, fullrank.sources.load(shared_data / "ml-1m").data.relevant(4), 2, 0.01)


@pytest.mark.parametrize("recipe", [BPR(), MFAUC(), MFADG()], ids=str)
def test_movielens_100k(recipe: Any, shared_data: Path) -> None:
    data = fullrank.sources.load(shared_data / "ml-100k").data.relevant(4)
    check_no_worse(replace(recipe, epochs=15), data, 3, 0.02)
