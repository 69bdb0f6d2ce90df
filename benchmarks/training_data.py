"""Who saw what in MovieLens 1M, and a larger world of MovieLens 10M's shape, as files for us and the peers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fullrank
from benchmarks.ranking_data import pattern

USERS, ITEMS, PAIRS = 70_000, 10_000, 10_000_000
FEWEST = 20  # of a user, as MovieLens selects them


def movielens() -> tuple[fullrank.Interactions, str]:
    """All pairs of ML-1M, rated 1 to 5 alike, and where they are from."""
    data, source = pattern()
    return replace(data, value=None, time=None), source


def synthetic(pairs: int = PAIRS) -> fullrank.Interactions:
    """Distinct pairs: most users have few, the median item has a seventh of the mean."""
    rng = np.random.default_rng(10)
    activity = FEWEST + rng.lognormal(3.55, 1.4, USERS)
    popularity = np.minimum(rng.lognormal(0, 2.1, ITEMS), 300)
    found = np.zeros(0, dtype=np.int64)
    while len(found) < pairs:
        draws = int(1.35 * (pairs - len(found))) + 1000
        user = np.repeat(np.arange(USERS), rng.multinomial(draws, activity / activity.sum()))
        total = np.cumsum(popularity)
        item = np.searchsorted(total, rng.random(draws) * total[-1]).clip(max=ITEMS - 1)
        drawn = np.sort(np.concatenate([found, user * ITEMS + item]))
        found = drawn[np.diff(drawn, prepend=-1) > 0]
    found = np.delete(found, rng.choice(len(found), len(found) - pairs, replace=False))
    return interactions(found // ITEMS, found % ITEMS, USERS, ITEMS)


def interactions(user: NDArray[Any], item: NDArray[Any], users: int, items: int) -> fullrank.Interactions:
    ids = fullrank.Ids.numbered(users), fullrank.Ids.numbered(items)
    return fullrank.Interactions(user.astype(np.int32), item.astype(np.int32), None, None, *ids)


def some(data: fullrank.Interactions, share: float) -> fullrank.Interactions:
    """A share of the pairs, by chance, of the same users and items."""
    return data if share == 1 else data.where(np.random.default_rng(0).random(len(data)) < share)


def write(path: Path, train: fullrank.Interactions, model: fullrank.models.kinds.model.Factors | None = None) -> Path:
    """The pairs with their values, if any, and the factors or none, as `peer_scripts/serving.py` reads them."""
    sizes = train.n_users, train.n_items
    left, right = (np.zeros((n, 0), dtype=np.float32) for n in sizes) if model is None else (model.users, model.items)
    nothing = np.zeros(0, dtype=np.int32)
    parts = {"train_user": train.user, "train_item": train.item, "held_user": nothing, "held_item": nothing}
    values = {} if train.value is None else {"train_value": train.value}
    np.savez(path, left=left, right=right, **parts, **values)
    return path


def load(path: str | Path) -> fullrank.Interactions:
    with np.load(path) as file:
        return interactions(file["train_user"], file["train_item"], len(file["left"]), len(file["right"]))
