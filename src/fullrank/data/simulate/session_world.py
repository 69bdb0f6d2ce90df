"""Sessions: what was offered together, and what was clicked and bought, by Ackerman's (2012) opportunity cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import CODE, Codes, Doubles, Floats, checked_codes, frozen
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.simulate import shared
from fullrank.data.times import MICROSECONDS, Times
from fullrank.errors import check

SCALE = ("shown", "clicked", "bought")
CLICKED, BOUGHT = 0.25, 0.08  # shares of offers whose value would suffice
EVERYBODY, EASILY = 0.7, 0.5  # deviations of what everybody likes and of how easily users like; taste has 1

Leaning: TypeAlias = Callable[[int, int], Doubles]


@dataclass(frozen=True, eq=False)
class SessionsWorld:
    """Sessions with actions, and the benefits and opportunity costs behind them."""

    data: Graded
    users: Floats = field(repr=False)  # (users, 2 + factors)
    items: Floats = field(repr=False)  # (items, 2 + factors)
    alpha: Doubles = field(repr=False)  # (users,)

    def benefits(self, users: ArrayLike | None = None) -> Floats:
        """b_ui = users_u · items_i of these users (or of all): (these users, items)."""
        scores: Floats = shared.products(self.users[shared.selected(users, len(self.users))], self.items)
        return scores

    def values(self, user: int, offers: ArrayLike) -> Doubles:
        """What each of these offers is worth to a user among the others (Ackerman 2012, Eq. 4.5); see `sessions`."""
        (code,) = shared.selected([user], len(self.users))
        items = checked_codes(np.asarray(offers), len(self.items), "item")
        check("offers", offers, 0 < len(np.unique(items)) == len(items), "one or more distinct items")
        return _in_context(self.benefits([code])[0, items], self.alpha[code], np.array([0, len(items)]))


def sessions(
    users: int = 500,
    items: int = 300,
    *,
    sessions: tuple[int, int] = (5, 15),
    offers: tuple[int, int] = (4, 10),
    alpha: tuple[float, float] = (0.2, 0.8),
    idle: float = 0.2,
    skew: float = 3.0,
    lean: float = 0.0,
    factors: int = 8,
    noise: float = 0.5,
    seed: int = 0,
) -> SessionsWorld:
    """Users see a few items at a time and act by what each is worth among the others (Ackerman 2012):

        value_{ui|O} = b_ui + α_u / (|O| - 1) Σ_{j in O, j ≠ i} b_uj,   b_ui = users_u · items_i

    An offer is bought, or only clicked, where value + `noise` ε (standard normal) is above one of two
    levels, the same for all sessions; the best of a session is at least clicked. The share `idle` of
    sessions, those whose best is worth least, see no action at all. So within a session a better action
    means a higher value up to noise, and a session without action means that nothing in it was good.

    Every user has as many sessions, every session as many offers, and every user an α, as drawn uniformly
    from the ranges `sessions`, `offers` and `alpha` (below 1, so that a better item is never worth less).
    Offers are drawn without replacement with weights exp(-skew f_i), where f_i is the share of items
    better known than i. With `lean` > 0 some people, and of everybody some sessions, are shown mostly what
    they like and others what they do not: weights are multiplied by exp(lean z b̃_ui), where b̃_ui is the benefit
    in standard deviations of the user's and z a sum of halves of the user and the session, standard normal.
    """
    shared.size(users, items, factors, seed)
    shared.span("sessions", sessions, 1, 10_000, integers=True)
    shared.span("offers", offers, 1, items, integers=True)
    shared.span("alpha", alpha, -10, 0.999, integers=False)
    shared.number("idle", idle, 0, 1)
    shared.number("skew", skew, 0, 20)
    shared.number("lean", lean, 0, 20)
    shared.number("noise", noise, 0, 100)
    who, what = shared.generator(seed, shared.USERS), shared.generator(seed, shared.ITEMS)
    level, cost = 1 + EASILY * who.standard_normal(users), who.uniform(*alpha, users)
    quality = shared.qualities(items, what)
    tastes = shared.tastes(level, EVERYBODY * quality, personal=1.0, factors=factors, noise=0, seed=seed)
    weight = np.exp(-skew * shared.obscurity(quality, what))
    leaning = _leaning(tastes, lean, seed) if lean else None
    user, offered, time, luck = _offer(weight, leaning, users, sessions, offers, seed)
    start = np.concatenate([[0], np.cumsum([len(one) for one in offered])])
    item, who_sees = np.concatenate(offered), np.repeat(user, np.diff(start))
    benefit = np.einsum("of,of->o", tastes.users[who_sees], tastes.items[item])
    value = _in_context(benefit, cost[who_sees], start) + noise * luck
    data = Graded(
        start, item, _grades(value, start, idle), user, Ids.numbered(users), Ids.numbered(items),
        time=time, names=Ids.numbered(len(user)), scale=SCALE,
    )  # fmt: skip
    return SessionsWorld(data, tastes.users, tastes.items, frozen(cost))


def _leaning(tastes: shared.Tastes, lean: float, seed: int) -> Leaning:
    """By how much more the items of each session of a user are shown: (sessions, items)."""

    def of(user: int, many: int) -> Doubles:
        own, benefit = shared.generator(seed, shared.EACH, user, 1), tastes.items @ tastes.users[user].astype(float)
        z = (own.standard_normal() + own.standard_normal(many)) / np.sqrt(2)
        shown: Doubles = np.exp(lean * np.outer(z, (benefit - benefit.mean()) / max(float(benefit.std()), 1e-9)))
        return shown

    return of


def _offer(
    weight: Doubles, leaning: Leaning | None, users: int, sessions: tuple[int, int], offers: tuple[int, int], seed: int
) -> tuple[Codes, list[Codes], Times, Doubles]:
    """User, offers and time of every session, and the luck of every offer, one user after another."""
    sets: list[Codes] = []
    counts, times, luck = [], [], []
    for user in range(users):
        own = shared.generator(seed, shared.EACH, user)
        sizes = own.integers(*offers, size=own.integers(*sessions, endpoint=True), endpoint=True)
        weights = np.tile(weight, (len(sizes), 1)) if leaning is None else weight * leaning(user, len(sizes))
        sets += [
            shared.smallest(own.standard_exponential(len(weight)) / some, n)
            for some, n in zip(weights, sizes.tolist(), strict=True)
        ]
        counts.append(len(sizes))
        times.append(shared.FIRST_DAY + np.sort(own.integers(shared.WINDOW, size=len(sizes))))
        luck.append(own.standard_normal(sizes.sum()))
    who = np.repeat(np.arange(users, dtype=CODE), counts)
    return who, sets, np.concatenate(times).view(MICROSECONDS), np.concatenate(luck)


def _in_context(benefit: NDArray[np.floating], alpha: Doubles | float, start: NDArray[np.int64]) -> Doubles:
    """b_i + α / (|O| - 1) Σ_{j ≠ i} b_j for offer sets start[s] .. start[s+1]-1; sums are exact."""
    own, sizes = benefit.astype(np.float64), np.diff(start)
    others = np.repeat(np.add.reduceat(own, start[:-1]), sizes) - own
    value: Doubles = own + alpha * others / np.maximum(np.repeat(sizes, sizes) - 1, 1)
    return value


def _grades(value: Doubles, start: NDArray[np.int64], idle: float) -> Floats:
    """0 shown, 1 clicked, 2 bought."""
    sizes = np.diff(start)
    best = np.maximum.reduceat(value, start[:-1])
    active = np.ones(len(best), dtype=bool)
    active[np.argsort(best, kind="stable")[: round(idle * len(best))]] = False
    click, buy = np.quantile(value, [1 - CLICKED, 1 - BOUGHT])
    clicked = (value >= click) | (value == np.repeat(best, sizes))
    grade: Floats = (clicked.astype(np.float32) + (value >= buy)) * np.repeat(active, sizes)
    return grade
