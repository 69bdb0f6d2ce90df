"""Item-based collaborative filtering in the order of time: what somebody took lately says most about what is next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.arrays import Array, Codes
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, check_integer, is_number
from fullrank.models.kinds.item_sequences import ItemSequences, moments
from fullrank.models.neighbours.cooccurrence import check_near, even_runs, joined
from fullrank.models.neighbours.sequences import Sequences
from fullrank.models.positives import Relevant, check_relevant, positive_rows, positives
from fullrank.models.protocols import Recipe, need_feedback
from fullrank.runtime.threads import in_parallel


@dataclass(frozen=True)
class RecentItemCF(Recipe[Interactions, ItemSequences]):
    """Items that stand near each other in histories, summed over a user's, those taken lately first and foremost.

        s_ji = sum over users v with both of c_v(j, i) / (sqrt(n_j n_i) + shrink)
        c_v(j, i) = (1 - nearness)^(d - 1), d places apart; times backward where i came before j
        score(u, i) = sum over u's items j of (1 - recency)^p s_ji, p places before u's last

    Old items of a history fade as in Ding and Li (2005), pairs count by order and distance as in the sequential rules
    of Ludewig and Jannach (2018). `RecentItemCF(recency=1, nearness=1, backward=0)` counts what directly followed the
    last item. n_i is how many people took item i. It needs times, but only their order counts, and only among what
    counts as positive. Items of one moment share the mean of their places: they are 0 apart, count 1 and have no order.
    Pairs that count less than 2^-24 are left out. The defaults are from a short search on Amazon video games and
    MovieLens 1M: recall@10 of the last item .124 and .248, of plain cosines .057 and .090 (docs/models.md).
    """

    #: The share of its weight that an item loses with every place it is further back, from 0 (all count alike) to 1
    #: (only the last moment counts).
    recency: float = 0.2
    #: The share of its weight that a pair of items loses with every place it is further apart, from 0 (the whole
    #: history counts alike) to 1 (only what stands side by side). It saves time too: far pairs are not visited.
    nearness: float = 0.1
    #: What a pair counts for the item that came first, from 0 (only what followed counts) to 1 (order does not matter).
    backward: float = 0.25
    #: Of every item only so many that follow it most profit, from 1; ties at the last place share what is left.
    neighbours: int = 100
    #: Added to the denominator, from 0: pairs that few people took lose.
    shrink: float = 30.0
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None

    def __post_init__(self) -> None:
        for name in ("recency", "nearness", "backward"):
            given = getattr(self, name)
            check(name, given, is_number(given) and 0 <= given <= 1, "a number from 0 to 1")
        check_integer("neighbours", self.neighbours, 1)
        check("shrink", self.shrink, is_number(self.shrink) and 0 <= self.shrink < np.inf, "a number >= 0")
        check_relevant(self)

    def fit(self, train: Interactions, seed: int = 0) -> ItemSequences:
        """Count what stands near what; there is no chance in it: `seed` changes nothing."""
        need_feedback(self, train)
        if train.time is None:
            raise DataError("RecentItemCF: the data has no times to order histories by; read them, or use ItemCF.")
        return self.fit_in_order(train, moments(train.user, train.time.view(np.int64)))

    def fit_in_order(self, train: Interactions, moment: Codes) -> ItemSequences:
        """The same where no more is known of the times than which moment of its user's every row is of."""
        rows = positives(self, train)
        sequences = Sequences.of(rows, moment[positive_rows(self.relevant, train)])
        return ItemSequences(self._followers(sequences), moment, train, self, float(self.recency))

    def _followers(self, sequences: Sequences) -> Any:
        """Sparse, row j and column i."""
        fade, n = sequences.fade(self.nearness), len(sequences)
        steps = sequences.steps(fade)
        check_near("RecentItemCF", steps, len(sequences.by_item[1]), self.neighbours)
        k, backward, shrink = min(self.neighbours, n), float(self.backward), float(self.shrink)

        def work(part: tuple[int, int]) -> list[tuple[Array, ...]]:
            followers = sequences.followers(*part, k, fade=fade, backward=backward, shrink=shrink)
            return [
                (sizes, which.copy(), np.sqrt(square).astype(np.float32) * chance)
                for sizes, which, square, chance in followers
            ]

        return joined(in_parallel(work, even_runs(steps)), n)
