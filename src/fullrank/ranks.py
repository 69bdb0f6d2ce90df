"""The hub: where held-out relevant items stand among the candidates. Every measure of a ranking reads this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import Doubles, Ints, frozen, owned
from fullrank.errors import DataError

if TYPE_CHECKING:
    import polars as pl

PER_ROW = ("above", "tied", "relevant_above", "item", "grade", "unlisted")
COLUMNS = (*PER_ROW, "pool", "user", "weight", "full", "listed", "shortened")
OPTIONAL: dict[str, Any] = {
    "relevant_above": np.int64, "item": np.int32, "grade": np.float32, "unlisted": np.bool_,
    "user": np.int32, "weight": np.float64, "full": np.int64, "listed": np.int64, "shortened": np.bool_,
}  # fmt: skip


@dataclass(frozen=True)
class About:
    """How ranks came about: what every result made of them must tell."""

    model: str = ""
    candidates: str = "everything"  # or "100 sampled", "offered"
    sampled: int = 0  # candidates drawn per case at most, 0: all of them
    replace: bool = False  # drawn with replacement
    seed: int = 0  # of the draw
    pairs: bool = False  # each relevant item is a case by itself: other relevant items are candidates
    excluded: str = "train"
    relevant: str = ""
    split: str = ""
    longest: int = 0  # items in the longest of the lists that were ranked, 0: all candidates were
    skipped: dict[str, int] = field(default_factory=dict)  # cases left out, by reason
    fallback: dict[str, int] = field(default_factory=dict)  # cases ranked by what is popular, by reason
    irregular: dict[str, int] = field(default_factory=dict)  # what was wrong with lists, and what became of it
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Ranks:
    """For every held-out relevant item, how many irrelevant candidates score higher, and how many the same.

    Case c holds rows start[c] .. start[c+1]-1, one per relevant item. `pool` counts a case's irrelevant
    candidates, `full` those there are in all (more, where they were sampled; to be given then). `relevant_above` counts
    the relevant items of the case that score strictly higher; where it is not given it follows from the rest,
    and relevant items with nothing between them count as tied.

    Of lists that end somewhere, `unlisted` marks relevant items that are in none: they stand last here, and
    `fullrank.evaluation.bounds` tells what else may be. `listed` counts the irrelevant candidates in a case's list, and
    a list is `shortened` where something was taken out of it.

    >>> ranks = Ranks(start=[0, 2], above=[1, 3], tied=[0, 0], pool=[8])   # - R - - R - - - - -
    >>> ranks.positions()
    array([2., 5.])
    """

    start: Any
    above: Any
    tied: Any
    pool: Any
    relevant_above: Any = None
    item: Any = None
    user: Any = None
    grade: Any = None
    weight: Any = None
    full: Any = None
    unlisted: Any = None
    listed: Any = None
    shortened: Any = None
    about: About = field(default_factory=About)

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("start", "above", "tied", "pool"):
            put(self, name, owned(np.asarray(getattr(self, name)), np.int64))
        cases, rows = len(self.start) - 1, len(self.above)
        self._check(cases, rows)
        for name, dtype in OPTIONAL.items():
            column = getattr(self, name)
            if column is not None:
                array = owned(np.asarray(column), dtype)
                expected = rows if name in PER_ROW else cases
                if array.shape != (expected,):
                    raise DataError(f"ranks: {name} has shape {array.shape}, expected ({expected},).")
                put(self, name, array)
        if self.relevant_above is None:
            put(self, "relevant_above", frozen(self._relevant_above()))
        if self.weight is None:
            put(self, "weight", frozen(np.ones(cases)))
        if self.full is None:
            self._check_exact()
            put(self, "full", self.pool)
        if ((self.pool == 0) & (self.full > 0)).any():
            case = int(((self.pool == 0) & (self.full > 0)).argmax())
            raise DataError(f"ranks: case {case} has none sampled of {self.full[case]} candidates; draw at least one.")

    def _check(self, cases: int, rows: int) -> None:
        sizes = np.diff(self.start)
        if cases < 0 or self.start[0] != 0 or self.start[-1] != rows or (sizes < 1).any():
            raise DataError("ranks: starts must rise from 0 to the number of rows, with a row in every case.")
        if self.tied.shape != (rows,) or self.pool.shape != (cases,):
            raise DataError(f"ranks: expected {rows} ties and {cases} pools, got {self.tied.shape}, {self.pool.shape}.")
        wrong = (self.above < 0) | (self.tied < 0) | (self.above + self.tied > np.repeat(self.pool, sizes))
        if wrong.any():
            row = int(wrong.argmax())
            raise DataError(f"ranks: row {row} counts more candidates above and tied than its pool has.")

    def _check_exact(self) -> None:
        if self.about.sampled:
            raise DataError(f"ranks: {self.about.sampled} sampled, but of how many candidates? Give full=, per case.")

    def _relevant_above(self) -> Ints:
        """Relevant items above each: by `above`, then those without ties (they beat what ties).

        Those alike share a place: with nothing between them, any order is as likely.
        """
        key = 2 * self.above + (self.tied > 0)
        order = np.lexsort((key, self.case))
        higher = np.empty(len(order), dtype=np.int64)
        higher[order] = np.arange(len(order)) - self.start[:-1][self.case[order]]
        same = np.zeros(len(order), dtype=bool)  # share the place of the first of them
        same[1:] = (key[order][1:] == key[order][:-1]) & (self.case[order][1:] == self.case[order][:-1])
        first = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
        higher[order] = higher[order][first]
        return higher

    @cached_property
    def sizes(self) -> Ints:
        """Relevant items of every case."""
        return frozen(np.diff(self.start))

    @cached_property
    def case(self) -> NDArray[np.intp]:
        """The case of every row."""
        return frozen(np.repeat(np.arange(len(self)), np.diff(self.start)))

    @cached_property
    def candidates(self) -> Ints:
        """Candidates of every case, relevant or not."""
        return frozen(self.pool + self.sizes)

    @cached_property
    def all_above(self) -> Ints:
        """Candidates that score higher than each row's item, relevant or not."""
        return frozen(self.above + self.relevant_above)

    @cached_property
    def tied_relevant(self) -> Ints:
        """Relevant items of the case with each row's score, itself included."""
        count = np.ones(len(self.above), dtype=np.int64)
        ordered = self.per_case(self.relevant_above) == self.sizes * (self.sizes - 1) // 2  # every pair of them
        if not ordered.all():
            rows = np.flatnonzero(~ordered[self.case])
            key = self.case[rows] * (int(self.sizes.max()) + 1) + self.relevant_above[rows]
            _, group, size = np.unique(key, return_inverse=True, return_counts=True)
            count[rows] = size[group]
        return frozen(count)

    @cached_property
    def tie_size(self) -> Ints:
        """Candidates with each row's score, itself included: they fill positions all_above+1 .. all_above+tie_size."""
        return frozen(self.tied + self.tied_relevant)

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """Cases ranked among all their candidates, though a sample may have been meant: they are exact."""
        return frozen((self.full == 0) | (self.full == self.pool) & (not self.about.replace))

    def positions(self) -> Doubles:
        """The expected position of every relevant item in its case's list, from 1."""
        return self._positions

    def full_positions(self) -> Doubles:
        """The same among all candidates there are: where they were sampled, an unbiased estimate.

            1 + (above + tied/2) full/pool + other relevant items above, ties of them one half

        >>> Ranks(start=[0, 2], above=[1, 2], tied=[0, 0], pool=[4], full=[40], relevant_above=[0, 1]).full_positions()
        array([11., 22.])
        """
        scale = (self.full / np.maximum(self.pool, 1))[self.case]
        return np.asarray((self.above + self.tied / 2) * scale + self.relevant_above + (self.tied_relevant + 1) / 2)

    @cached_property
    def _positions(self) -> Doubles:
        return frozen(self.all_above + (self.tie_size + 1) / 2)

    def per_case(self, row_values: ArrayLike) -> Doubles:
        """The sum over the rows of every case."""
        values = np.asarray(row_values, dtype=np.float64)
        return values if len(values) == len(self) else np.add.reduceat(values, self.start[:-1])

    def to_frame(self) -> pl.DataFrame:
        """A row per relevant item; user, item and grade (as codes and values) where they are known."""
        import polars as pl

        columns = {
            "case": self.case, "user": None if self.user is None else self.user[self.case], "item": self.item,
            "above": self.above, "tied": self.tied, "relevant_above": self.relevant_above,
            "position": self.positions(), "pool": self.pool[self.case], "grade": self.grade,
        }  # fmt: skip
        return pl.DataFrame({name: column for name, column in columns.items() if column is not None})

    def some(self, cases: slice) -> Ranks:
        """These cases in a row, sharing memory."""
        first, end, _ = cases.indices(len(self))
        rows = slice(int(self.start[first]), int(self.start[end]))
        of = {name: (rows if name in PER_ROW else cases) for name in COLUMNS}
        columns = {name: None if getattr(self, name) is None else getattr(self, name)[of[name]] for name in COLUMNS}
        return Ranks(start=self.start[first : end + 1] - rows.start, **columns, about=self.about)

    def at(self, cases: NDArray[Any]) -> Ranks:
        """These cases (their numbers), in this order.

        >>> Ranks(start=[0, 2, 3], above=[1, 3, 7], tied=[0, 0, 0], pool=[8, 9]).at(np.array([1])).above
        array([7])
        """
        sizes = self.sizes[cases]
        start = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(self.start[cases] - start[:-1], sizes) + np.arange(start[-1])
        of = {name: (rows if name in PER_ROW else cases) for name in COLUMNS}
        columns = {name: None if getattr(self, name) is None else getattr(self, name)[of[name]] for name in COLUMNS}
        return Ranks(start=start, **columns, about=self.about)

    @staticmethod
    def concat(parts: Sequence[Ranks]) -> Ranks:
        """Shards of one evaluation as one: cases of each in turn."""
        if not parts:
            raise DataError("no ranks to put together.")
        ends = np.cumsum([0, *(part.start[-1] for part in parts)])
        columns: dict[str, Any] = {}
        for name in COLUMNS:
            each = [getattr(part, name) for part in parts]
            columns[name] = None if any(column is None for column in each) else np.concatenate(each)
        start = np.concatenate([[0], *(part.start[1:] + end for part, end in zip(parts, ends, strict=False))])
        sampled = (part.about for part in parts if not part.whole.all())
        return Ranks(start=start, **columns, about=next(sampled, parts[0].about))

    def __len__(self) -> int:
        return len(self.start) - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranks) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("start", *COLUMNS)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Ranks({len(self):,} cases, {len(self.above):,} relevant items among {self.about.candidates})"
