"""Lists that any system made: for every person the items it recommends, best first, perhaps with scores."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Doubles, Ints, frozen, owned
from fullrank.data.columns import encode_names
from fullrank.data.ids import Ids, Name, is_canonical_integer
from fullrank.data.intake import Intake
from fullrank.errors import DataError

if TYPE_CHECKING:
    import polars as pl

By: TypeAlias = Literal["score", "rank", "order"]


@dataclass(frozen=True, eq=False, repr=False)
class OutsideLists:
    """Lists of items by person, best first, over ids of their own; nothing is known of what is not listed.

    Higher scores are better. Of lists that came with ranks the score is -rank, of lists that came in their order that
    of their places: `by` tells which. Read them with `fullrank.read_lists`, or give columns:

    >>> lists = OutsideLists.of(["ann", "ann", "bob"], ["tea", "jam", "tea"], rank=[2, 1, 1])
    >>> lists, lists.names(0)
    (OutsideLists(3 rows, 2 people, lists of up to 2 items by rank), ['jam', 'tea'])
    """

    user: Codes  # (rows,), sorted
    item: Codes  # (rows,), of each user best first
    score: Doubles  # (rows,)
    users: Ids
    items: Ids
    by: By = "score"
    intake: Intake = field(default_factory=Intake)

    @classmethod
    def of(
        cls,
        user: Iterable[Name] | NDArray[Any],
        item: Iterable[Name] | NDArray[Any],
        *,
        rank: Any = None,
        score: Any = None,
    ) -> OutsideLists:
        """From columns of names in any row order, with a rank (1 is best) or a score (higher is better) for each.

        Without either the order of the rows is that of the lists. A rank is taken as it is, whatever scores say.
        """
        (user_codes, users), (item_codes, items) = encode_names(user, None), encode_names(item, None)
        return ordered(user_codes, item_codes, users, items, rank=rank, score=score, intake=Intake(len(user_codes)))

    @cached_property
    def start(self) -> Ints:
        """The list of user u is rows start[u] .. start[u+1]-1."""
        return frozen(np.searchsorted(self.user, np.arange(len(self.users) + 1)))

    @property
    def longest(self) -> int:
        """How many items the longest list has."""
        return int(np.diff(self.start).max(initial=0))

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same lists."""
        digest = hashlib.sha256()
        for column in (self.user, self.item, self.score):
            digest.update(np.ascontiguousarray(column).tobytes())
        for ids in (self.users, self.items):
            digest.update("\0".join(map(str, ids.names.tolist())).encode())
        return digest.hexdigest()

    def names(self, user: int) -> list[Name]:
        """The items of one user (code) by name."""
        return [self.items.name(int(item)) for item in self.item[self.start[user] : self.start[user + 1]]]

    def to_frame(self) -> pl.DataFrame:
        """A row per user and rank (from 1), best first, with the names of user and item and the score."""
        import polars as pl

        from fullrank.data.write import names_of

        rank = np.arange(len(self.user)) - self.start[self.user] + 1
        return pl.DataFrame({
            "user": names_of(self.users, self.user), "item": names_of(self.items, self.item), "rank": rank,
            "score": self.score,
        })  # fmt: skip

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        return (
            f"OutsideLists({len(self.user):,} rows, {len(self):,} people, lists of up to {self.longest:,} items "
            f"by {self.by})"
        )


def ordered(
    user: Codes, item: Codes, users: Ids, items: Ids, *, rank: Any = None, score: Any = None, intake: Intake
) -> OutsideLists:
    """Rows in any order as lists, best first; rows that are equally good stay in the order they came in."""
    by: By = "score" if rank is None else "rank"
    if rank is None and score is None:
        by, worth = "order", -np.arange(len(user), dtype=np.float64)
    else:
        worth = _numbers("score", score) if rank is None else -_numbers("rank", rank)
    if len(worth) != len(user) or len(item) != len(user):
        raise DataError(f"lists of {len(user):,} users have {len(item):,} items and {len(worth):,} {by}s; give each.")
    order = np.lexsort((-worth, user))
    if by == "rank" and score is not None:
        intake = _doubt_scores(user[order], worth[order], _numbers("score", score)[order], intake)
    columns = owned(user[order], np.int32), owned(item[order], np.int32), owned(worth[order], np.float64)
    return OutsideLists(*columns, users, items, by, intake)


def _numbers(what: str, column: Any) -> Doubles:
    numbers = np.asarray(column, dtype=np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.isfinite(numbers).argmin())
        raise DataError(f"{what} {numbers[row]} of row {row} is not finite; leave the row out, or correct it.")
    return numbers


def _doubt_scores(user: Codes, worth: Doubles, score: Doubles, intake: Intake) -> Intake:
    """A doubt where scores order items otherwise than ranks do."""
    turned = (user[1:] == user[:-1]) & (worth[1:] < worth[:-1]) & (score[1:] > score[:-1])
    if not turned.any():
        return intake
    people = len(np.unique(user[1:][turned]))
    doubt = f"scores rise with the rank in the lists of {people:,} people; the ranks were taken, scores were not"
    return replace(intake, doubts=(*intake.doubts, doubt))


def match(ids: Ids, onto: Ids) -> Codes:
    """The codes that names have among others, -1 where they are not; "7" and 7 are one where one side has no strings.

    >>> match(Ids(["7", "x"]), Ids([5, 7])).tolist()
    [1, -1]
    """
    names: list[Any] = ids.names.tolist()
    if ids.are_strings and not onto.are_strings:
        names = [int(name) if is_canonical_integer(name) else name for name in names]
    elif onto.are_strings and not ids.are_strings:
        names = [str(name) for name in names]
    return onto.codes(names, missing=-1)
