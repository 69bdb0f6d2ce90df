"""The best items for many users at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, frozen
from fullrank.data.ids import Ids, Name
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.data.write import names_of
from fullrank.errors import check_integer
from fullrank.evaluation.blocks import Held, Take, Work, over_blocks
from fullrank.evaluation.cases import Exclude, excluded_lists
from fullrank.evaluation.fallback import popular, unknown
from fullrank.evaluation.scoring import name_of, scorer

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False, repr=False)
class TopN:
    """Lists of items, best first, -1 where there are no more; of equal scores the more popular item is first."""

    user: Codes
    item: NDArray[np.int32]  # (users, n)
    score: NDArray[np.float64]
    users: Ids
    items: Ids

    def names(self, row: int) -> list[Name]:
        """The items of one list by name."""
        return [self.items.name(int(item)) for item in self.item[row] if item >= 0]

    def to_frame(self) -> pl.DataFrame:
        """A row per user and rank (from 1), best first, with the names of user and item and the score."""
        import polars as pl

        row, place = np.nonzero(self.item >= 0)
        return pl.DataFrame({
            "user": names_of(self.users, self.user[row]), "rank": place + 1,
            "item": names_of(self.items, self.item[row, place]), "score": self.score[row, place],
        })  # fmt: skip

    @staticmethod
    def together(lists: Sequence[TopN]) -> TopN:
        """Lists of which later ones take the place of earlier ones for the same user."""
        first, *rest = lists
        if not rest:
            return first
        item, score = first.item.copy(), first.score.copy()
        place = np.full(len(first.users), -1)
        place[first.user] = np.arange(len(first))
        for more in rest:
            item[place[more.user]], score[place[more.user]] = more.item, more.score
        return TopN(first.user, frozen(item), frozen(score), first.users, first.items)

    def __len__(self) -> int:
        return len(self.user)

    def __repr__(self) -> str:
        return f"TopN({self.item.shape[1]} items for {len(self):,} users)"


def top(
    model: Any,
    split: Split[Interactions],
    n: int = 10,
    *,
    users: NDArray[Any] | None = None,
    exclude: Exclude = "train",
    block: int | None = None,
) -> TopN:
    """The n best items for these users (codes; all without them), without what they have seen."""
    data = split.train
    who = frozen(np.arange(data.n_users, dtype=np.int32) if users is None else np.array(users, dtype=np.int32))
    (seen, more), _ = excluded_lists(split, exclude)

    def fill(scored: Any, some: Codes) -> TopN:
        lists, work = lists_to_fill(scored, some, data.users, data.items, (*seen, *more), n)
        given = scorer(scored, data.n_users, data.n_items)
        over_blocks(given, some, data.users, data.n_items, [work], name=name_of(scored), block=block)
        return lists

    lists, new = fill(model, who), unknown(model, who)
    return TopN.together([lists, fill(popular(model.train), frozen(who[new]))]) if new.any() else lists


def lists_to_fill(model: Any, who: Codes, users: Ids, items: Ids, hidden: tuple[Any, ...], n: int) -> tuple[TopN, Work]:
    """Lists for these users, and the work that fills them from tiles of scores."""
    check_integer("n", n, 1)
    from fullrank.kernels.topn import top_tile

    best, worth, order = np.empty((len(who), n), dtype=np.int32), np.empty((len(who), n)), list_order(model, len(items))

    def work(some: slice, held: Held) -> Take:
        given: tuple[Any, ...] = (who[some], *hidden, order, best[some], worth[some])
        return lambda begin, scores, near: top_tile(begin, scores, near, *given)

    return TopN(who, frozen(best.view()), frozen(worth.view()), users, items), work


def list_order(model: Any, n_items: int) -> Codes:
    """Which of equal scores comes first: by popularity where the training data is known, else by code."""
    train = getattr(model, "train", None)
    return frozen(np.arange(n_items, dtype=np.int32)) if train is None else train.popularity_order
