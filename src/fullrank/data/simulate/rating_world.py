"""Ratings missing not at random, under Steck's (2010) two assumptions or against them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import Codes, Floats, frozen
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.simulate import shared
from fullrank.data.simulate.shared import Tastes
from fullrank.data.times import MICROSECONDS
from fullrank.errors import check_integer

# Found by a random search for worlds that look like ML-100K; see `ratings`.
QUALITY, PERSONAL = 0.93, 1.05  # deviations of liking, between items and of a user's own taste
GENEROSITY, ACTIVE = 0.47, 0.30  # deviation of liking between users, and its rise per e-fold of activity
COMPLETE = (0.60, 0.155, 0.15, 0.0755, 0.0195)  # shares of the ratings 1..5 if everybody rated everything
SEEN = np.array([0.046, 0.15, 0.275, 0.60, 1], dtype=np.float32)  # c_1 .. c_5


@dataclass(frozen=True, eq=False)
class Selection:
    """How likely each rating is to be observed, relative to the user's others (see `ratings`)."""

    relevant: Floats  # (items,)  exp(-4 violation f_i)
    other: Floats  # (items,)  exp(-skew f_i)
    threshold: int  # the lowest relevant rating

    def __call__(self, rating: NDArray[np.int8], taste: Floats) -> Floats:
        """The weights of one user's ratings: (items,)."""
        interest = np.clip(0.7 + 0.4 * taste, 0.05, 1)  # g
        return np.where(rating >= self.threshold, self.relevant, SEEN[rating - 1] * self.other * interest)


@dataclass(frozen=True, eq=False)
class RatingsWorld:
    """Observed ratings, and the rating every user would give to every item."""

    data: Interactions
    tastes: Tastes = field(repr=False)
    cuts: Floats = field(repr=False)  # the rating is 1 + the number of cuts at or below the liking
    selection: Selection = field(repr=False)

    def truth(self, users: ArrayLike | None = None) -> NDArray[np.int8]:
        """Every rating of these users (or of all), observed or not: (these users, items)."""
        codes = shared.selected(users, self.data.n_users)
        rows = np.empty((len(codes), self.data.n_items), dtype=np.int8)
        for row, (_, _, liking) in zip(rows, self.tastes.each(codes), strict=True):
            row[:] = _rating(liking, self.cuts)
        return rows

    def relevant(self, users: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Which items are relevant to these users (or to all), observed or not: (these users, items)."""
        return self.truth(users) >= self.selection.threshold

    def everything(self) -> Interactions:
        """All that is relevant to anybody, observed or not."""
        user, item = np.nonzero(self.relevant())
        return Interactions(
            user.astype(np.int32), item.astype(np.int32), None, None, self.data.users, self.data.items
        )  # fmt: skip


def ratings(
    users: int = 943,
    items: int = 1682,
    *,
    density: float = 0.06305,
    skew: float = 4.7,
    violation: float = 0.0,
    relevant: int = 5,
    factors: int = 6,
    noise: float = 1.0,
    seed: int = 0,
) -> RatingsWorld:
    """Ratings 1..5 of which those that matter are missing at random within a user, the others more often.

    The complete truth is a liking (see `Tastes`) cut into five ratings, most of them low. A user's n_u
    ratings are observed by a weighted draw without replacement from all items, with weights

        relevant ratings (r >= `relevant`):   exp(-4 violation f_i)
        other ratings:                        c_r exp(-skew f_i) g_ui,   c_1 < ... < c_4 < 1

    where f_i is the share of items better known than i, and g_ui rises with the user's taste for i from
    0.05 to 1. With `violation=0` all relevant items of a user have the weight 1: the observed ones are a
    simple random sample of them (the first assumption of Steck 2010), and each lower rating is missing with a higher
    probability (the second). An item's popularity then comes from how many find it relevant and from how
    known it is to those who do not, never from a choice among relevant ones. With `violation=1` relevant
    items that nobody knows are mostly missing. Times are independent of the items, so the last ratings
    of a user are a random sample too.

    `density` is the expected share of pairs observed, `skew=0` makes all items equally known, `noise` is
    the deviation of the part of liking that no model can learn (taste has 1.05).

    At its defaults the world looks like ML-100K; over the seeds 0 to 19:

                              ML-100K                          simulated
        ratings               100,000                          100,011
        of value 1 .. 5, %    6.1, 11.4, 27.1, 34.2, 21.2      on average 6.4, 11.7, 27.2, 33.8, 20.9
        on the top 1% items   7.6%                             6.8 .. 7.2%
        on the top 10%        42.7%                            42.4 .. 43.2%
        on the top 50%        92.7%                            92.7 .. 93.3%
        gini of the items     0.629                            0.631 .. 0.638
        ratings of a user     20, median 65, at most 737       20, median 69, at most 622
    """
    shared.size(users, items, factors, seed)
    shared.number("density", density, 1e-9, 1)
    shared.number("skew", skew, 0, 20)
    shared.number("violation", violation, 0, 1)
    check_integer("relevant", relevant, 2, 5)
    shared.number("noise", noise, 0, 100)
    who, what = shared.generator(seed, shared.USERS), shared.generator(seed, shared.ITEMS)
    counts = shared.activity(users, density * items, items, who)
    level = GENEROSITY * who.standard_normal(users) + ACTIVE * np.log(counts / counts.mean())
    quality = shared.qualities(items, what)
    obscurity = shared.obscurity(quality, what)
    tastes = shared.tastes(level, QUALITY * quality, personal=PERSONAL, factors=factors, noise=noise, seed=seed)
    selection = Selection(_decay(shared.STRONG * violation, obscurity), _decay(skew, obscurity), relevant)
    cuts = _cuts(tastes)
    return RatingsWorld(_observe(tastes, cuts, selection, counts), tastes, cuts, selection)


def _decay(strength: float, obscurity: NDArray[np.float64]) -> Floats:
    return frozen(np.exp(-strength * obscurity).astype(np.float32))


def _cuts(tastes: Tastes) -> Floats:
    """Where ratings change, so that the complete ratings have the shares COMPLETE."""
    users, items = len(tastes.users), len(tastes.items)
    some = np.arange(0, users, max(1, users * items // shared.BLOCK), dtype=np.int32)
    return frozen(np.quantile(tastes(some), np.cumsum(COMPLETE)[:-1]).astype(np.float32))


def _rating(liking: Floats, cuts: Floats) -> NDArray[np.int8]:
    rating = np.ones(len(liking), dtype=np.int8)
    for cut in cuts:
        rating += liking >= cut
    return rating


def _observe(tastes: Tastes, cuts: Floats, selection: Selection, counts: NDArray[np.int64]) -> Interactions:
    """Draw every user's ratings, one user after another."""
    users, items = len(tastes.users), len(tastes.items)
    everyone, starts = np.arange(users, dtype=np.int32), np.concatenate([[0], np.cumsum(counts)])
    item: Codes = np.empty(starts[-1], dtype=np.int32)
    value, time = np.empty(starts[-1], dtype=np.float32), np.empty(starts[-1], dtype=np.int64)
    for user, (own, taste, liking) in enumerate(tastes.each(everyone)):
        rating, rows = _rating(liking, cuts), slice(starts[user], starts[user + 1])
        keys = own.standard_exponential(items, dtype=np.float32) / selection(rating, taste)
        item[rows] = taken = shared.smallest(keys, int(counts[user]))
        value[rows] = rating[taken]
        time[rows] = shared.moments(len(taken), own)
    who, when = frozen(np.repeat(everyone, counts)), frozen(time.view(MICROSECONDS))
    return Interactions(who, frozen(item), frozen(value), when, Ids.numbered(users), Ids.numbered(items))
