"""Who saw what in MovieLens 1M, or a world of its shape; split two ways, with factors fitted to each train part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

import fullrank
from fullrank import metrics

USERS, ITEMS, FACTORS = 6040, 3706, 64
SPLITS = {
    "one held out": lambda data: fullrank.leave_last(data, 1),
    "20% held out": lambda data: fullrank.holdout(data, 0.2, seed=0),
}
UNCUT = [metrics.rr, metrics.ap, metrics.ndcg, metrics.atop]  # also over the whole ranking
METRICS = [
    *(found @ 10 if found.cut else found for found in metrics.RANKED.values() if found is not metrics.graded_ndcg),
    *UNCUT,
]

Model = tuple[NDArray[np.float32], NDArray[np.float32]]


def pattern() -> tuple[fullrank.Interactions, str]:
    """The interactions, without their values, and where they are from."""
    try:
        return fullrank.sources.load("ml-1m").data, "ml-1m"
    except fullrank.FullrankError:
        world = fullrank.simulate.implicit(USERS, ITEMS, density=0.1117, observed=0.4, skew=1.5, seed=0)
        return world.data, "simulated, of ml-1m's shape"


def write(folder: Path) -> tuple[dict[str, Path], str]:
    """A file for every setting, read by us, by the peers and by fresh processes alike."""
    data, source = pattern()
    files = {}
    for number, (setting, split_of) in enumerate(SPLITS.items()):
        split = split_of(data)
        left, right = factors(split.train)
        files[setting] = folder / f"{number}.npz"
        parts = {"train": split.train, "held": split.held_out}
        codes = {f"{name}_{axis}": getattr(part, axis) for name, part in parts.items() for axis in ("user", "item")}
        np.savez(files[setting], left=left, right=right, **codes)
    return files, source


def factors(train: fullrank.Interactions) -> Model:
    """Truncated singular vectors of the 0/1 matrix: scores spread as a fitted model's are."""
    seen = train.by_user().astype(np.float32, copy=True)
    seen.data[:] = 1
    left, scale, right = svds(seen, FACTORS, v0=np.ones(min(seen.shape), dtype=np.float32))
    root = np.sqrt(scale)
    return np.ascontiguousarray(left * root, dtype=np.float32), np.ascontiguousarray(right.T * root, dtype=np.float32)


def load(path: str | Path, copies: int = 1) -> tuple[Model, fullrank.Split[fullrank.Interactions]]:
    """The factors and the split of a setting; with `copies` every user is there several times."""
    with np.load(path) as file:
        train, held = ((file[f"{part}_user"], file[f"{part}_item"]) for part in ("train", "held"))
        model = np.tile(file["left"], (copies, 1)), file["right"]
    return model, fullrank.Split(_copied(*train, copies), _copied(*held, copies))


def _copied(user: NDArray[np.int32], item: NDArray[np.int32], copies: int) -> fullrank.Interactions:
    shift = USERS * np.arange(copies, dtype=np.int32)[:, None]
    ids = fullrank.Ids.numbered(USERS * copies), fullrank.Ids.numbered(ITEMS)
    return fullrank.Interactions((shift + user).ravel(), np.tile(item, copies), None, None, *ids)
