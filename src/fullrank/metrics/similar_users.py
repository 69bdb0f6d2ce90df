"""What similar users prefer, where a truth or a prediction leaves it open (Ackerman 2012, chapter 5)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import Doubles, Ints
from fullrank.data.graded import Graded
from fullrank.data.ids import Name
from fullrank.data.preferences import Preferences
from fullrank.errors import DataError, check_integer

Share: TypeAlias = Callable[[Any, Any], float]  # (better, worse) -> share of similar users who prefer so
Shares: TypeAlias = Callable[[Any, Any, Any], ArrayLike]  # the same of (user, better, worse), for columns of codes


class SimilarUsers:
    """Shares of a user's most similar users who prefer one item to another; see `share_from`."""

    def __init__(self, preferences: Preferences, neighbours: int) -> None:
        from scipy.sparse import csr_array

        check_integer("neighbours", neighbours, 1)
        self.users, self.items, self.neighbours = preferences.users, preferences.items, neighbours
        pairs, column = np.unique(_pair(preferences.better, preferences.worse, len(self.items)), return_inverse=True)
        self.pairs: Ints = pairs
        ones = np.ones(len(column), dtype=np.int32)
        shape = (len(self.users), len(pairs))
        self.held: Any = csr_array((ones, (preferences.user, column)), shape=shape)  # users x preferences
        self._counts = lru_cache(maxsize=1024)(self._count)

    def __call__(self, user: ArrayLike, better: ArrayLike, worse: ArrayLike) -> Doubles:
        """The share of each row, by codes; .5 where no similar user prefers either."""
        who, first, second = (np.asarray(codes, dtype=np.int64) for codes in (user, better, worse))
        share = np.full(len(who), 0.5)
        for one in np.unique(who).tolist():
            rows = np.flatnonzero(who == one)
            for_it, against = (self._holders(one, *pair) for pair in _both(first[rows], second[rows]))
            known = for_it + against > 0
            share[rows[known]] = for_it[known] / (for_it + against)[known]
        return share

    def of(self, user: Name) -> Share:
        """The share as a function of two items of the data, for one of its users."""
        code = self.users.code(user)

        def share(better: Name, worse: Name) -> float:
            pair = [self.items.code(item) for item in (better, worse)]
            return float(self([code], pair[:1], pair[1:])[0])

        return share

    def similar(self, user: int) -> NDArray[np.intp]:
        """Users by code, with the most preferences in common; all of those as similar as the last."""
        agreeing = np.asarray((self.held @ self.held[[user]].T).toarray())[:, 0]
        agreeing[user] = 0
        least = np.sort(agreeing)[-min(self.neighbours, len(agreeing))]
        return np.flatnonzero((agreeing > 0) & (agreeing >= least))

    def _count(self, user: int) -> Doubles:
        """How many similar users hold each preference."""
        return np.asarray(self.held[self.similar(user)].sum(axis=0), dtype=np.float64).reshape(-1)

    def _holders(self, user: int, better: Ints, worse: Ints) -> Doubles:
        codes = _pair(better, worse, len(self.items))
        place = np.minimum(np.searchsorted(self.pairs, codes), max(len(self.pairs) - 1, 0))
        if not len(self.pairs):
            return np.zeros(len(codes))
        return np.where(self.pairs[place] == codes, self._counts(user)[place], 0.0)


def share_from(data: Graded | Preferences, neighbours: int = 50) -> SimilarUsers:
    """Who are similar, and what they prefer, from data such as the training part: for the `share` of EDRC.

    Similar are the users with whom somebody has the most preferences in common, `neighbours` of them, more where
    several are as similar as the last and fewer where fewer agree in anything. The share is that of those among them
    who prefer one of the two items to the other. Pairs are listed: some 24 bytes for each preference of the data.

    >>> likes = Preferences.of(user=[1, 1, 2, 2, 3], better=["tea", "tea", "tea", "jam", "milk"],
    ...                        worse=["milk", "jam", "milk", "milk", "tea"])
    >>> share = share_from(likes, neighbours=1).of(1)   # 2 agrees on tea over milk
    >>> share("jam", "milk"), share("milk", "jam"), share("tea", "jam")
    (1.0, 0.0, 0.5)
    """
    return SimilarUsers(data.pairs() if isinstance(data, Graded) else data, neighbours)


def checked_shares(share: Shares, user: Any, better: Any, worse: Any) -> Doubles:
    """What a function gives, one number from 0 to 1 for each row."""
    shares = np.asarray(share(user, better, worse), dtype=np.float64)
    if shares.shape != np.shape(better) or not ((shares >= 0) & (shares <= 1)).all():
        raise DataError("'share' must give a number from 0 to 1 for each pair of items; it does not.")
    return shares


def _pair(better: Any, worse: Any, items: int) -> Ints:
    code: Ints = np.asarray(better, dtype=np.int64) * items + worse
    return code


def _both(one: Ints, other: Ints) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    return (one, other), (other, one)
