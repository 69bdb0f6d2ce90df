"""Who is judged on what: the cases of an evaluation, shared by all models that are compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, frozen, owned
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError, check, check_integer

Exclude: TypeAlias = Literal["train"] | Interactions | None
Threshold: TypeAlias = float | NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Cases:
    """Users with held-out relevant items, those items, and the items each one has seen.

    Case c is of user `user[c]`; its relevant items are item[start[c]] .. item[start[c+1]-1], sorted.
    `seen` and `more` are CSR lists by user: what is excluded from the candidates (train, validation).
    """

    user: Codes
    start: NDArray[np.int64]
    item: Codes
    grade: NDArray[np.float32] | None
    users: Ids
    items: Ids
    seen: tuple[NDArray[Any], Codes]
    more: tuple[NDArray[Any], Codes]
    excluded: str
    relevant: str
    split: str
    skipped: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def drawn(self, n: int, seed: int = 0) -> Cases:
        """n of these cases drawn at random: for very large evaluations, sample users, never items.

        A mean over them is unbiased, and `Result.interval` tells what the sample leaves open.
        """
        check_integer("n", n, 1)
        if n >= len(self):
            return self
        keep = np.sort(np.random.default_rng([seed, len(self)]).choice(len(self), n, replace=False))
        drawn = f"estimated from {n:,} of {len(self):,} cases, drawn at random"
        return replace(self.at(keep), notes=(*self.notes, drawn))

    def at(self, keep: NDArray[Any]) -> Cases:
        """These cases (their numbers), in this order."""
        sizes = np.diff(self.start)[keep]
        rows = np.repeat(self.start[keep] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        return replace(
            self,
            user=frozen(self.user[keep]),
            start=np.append(0, np.cumsum(sizes)),
            item=frozen(self.item[rows]),
            grade=None if self.grade is None else frozen(self.grade[rows]),
        )

    def __len__(self) -> int:
        return len(self.user)


def cases_of(split: Split[Interactions], relevant: Threshold = None, exclude: Exclude = "train") -> Cases:
    """The cases of a split: users with held-out items that are relevant (value at or above a threshold).

    `exclude="train"` takes what a user has in train, validation and visible parts out of the candidates,
    also where it was rated low, unless the split keeps repeats: then everything stays in, as with None (as Steck 2010);
    Interactions exclude those.
    """
    held = split.held_out.relevant(relevant)
    if not len(held):
        what = (
            "no held-out interaction" if not len(split.held_out) else f"none of {len(split.held_out):,} held-out values"
        )
        raise DataError(f"{what} is relevant at {relevant}; lower the threshold, or hold out more.")
    counts = np.bincount(held.user, minlength=held.n_users)
    judged = np.flatnonzero(counts)
    lists, excluded = excluded_lists(split, exclude)
    skipped = {}
    without = int((np.bincount(split.held_out.user, minlength=held.n_users) > 0).sum()) - len(judged)
    if without:
        skipped["held-out items, none relevant"] = without
    if split.repeats is not None and split.repeats.users and not split.overlaps:
        skipped["held-out events, all of items they had before"] = split.repeats.users
    return Cases(
        user=frozen(judged.astype(np.int32)),
        start=np.concatenate([[0], np.cumsum(counts[judged])]),
        item=held.item,
        grade=held.value,
        users=held.users,
        items=held.items,
        seen=lists[0],
        more=lists[1],
        excluded=excluded,
        relevant="all held out" if relevant is None or held.value is None else f"value >= {relevant}",
        split=split.how,
        skipped=skipped,
    )


def excluded_lists(split: Split[Interactions], exclude: Exclude) -> tuple[list[Any], str]:
    """Two CSR lists of excluded items by user, and their name."""
    nothing = frozen(np.zeros(len(split.train.users) + 1, dtype=np.int64)), frozen(np.zeros(0, dtype=np.int32))
    if exclude is None or (exclude == "train" and split.overlaps):
        return [nothing, nothing], "nothing"
    if isinstance(exclude, Interactions):
        if exclude.users != split.train.users or exclude.items != split.train.items:
            raise DataError("the interactions to exclude have other users or items than the split; use its own ids.")
        return [_lists(exclude), nothing], f"{len(exclude):,} given interactions"
    check("exclude", exclude, exclude == "train", "'train', None or Interactions")
    others = [part for part in (split.valid, split.visible) if part is not None and len(part)]
    if len(others) > 1:
        from fullrank.data.split.parts import joined

        others = [joined(others)]
    return [_lists(split.train), _lists(others[0]) if others else nothing], "train"


def _lists(data: Interactions) -> tuple[NDArray[Any], Codes]:
    return owned(data.starts, np.int64), data.item  # read-only, as the kernels were compiled for
