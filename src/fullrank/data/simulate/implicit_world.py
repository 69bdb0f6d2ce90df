"""Implicit feedback: a random part of what is relevant, Lim et al.'s (2015) model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Floats, frozen
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.simulate import shared
from fullrank.data.simulate.shared import Tastes
from fullrank.data.times import MICROSECONDS, Times


@dataclass(frozen=True, eq=False)
class ImplicitWorld:
    """Observed feedback, and everything that is relevant to each user.

    `weight[i]` says how likely a relevant item i is to be observed, relative to the user's others.
    """

    data: Interactions  # O_u, without values
    complete: Interactions  # P_u, without values and times
    tastes: Tastes = field(repr=False)
    weight: Floats = field(repr=False)  # (items,)


def implicit(
    users: int = 1000,
    items: int = 2000,
    *,
    density: float = 0.05,
    observed: float = 0.4,
    skew: float = 1.0,
    violation: float = 0.0,
    factors: int = 8,
    noise: float = 1.0,
    seed: int = 0,
) -> ImplicitWorld:
    """Every user has a relevant set P_u; the observed O_u is a simple random sample of it (Lim et al. 2015).

    P_u holds the k_u items the user likes best (see `Tastes`), at least one; k_u is skewed, on average the
    share `density` of all items. Of these about the share `observed`, at least one, is drawn without
    replacement with the weights exp(-4 violation f_i), where f_i is the share of items better known than i.
    With `violation=0` all weights are 1: an item is popular because many like it. With `violation=1` it
    is mostly the known ones that are seen.

    `skew` is the deviation of what everybody likes, where a user's own taste has 1 and `noise` its own;
    with `skew=0` no item is more popular than another but by chance.
    """
    shared.size(users, items, factors, seed)
    shared.number("density", density, 1e-9, 1)
    shared.number("observed", observed, 1e-9, 1)
    shared.number("skew", skew, 0, 4)
    shared.number("violation", violation, 0, 1)
    shared.number("noise", noise, 0, 100)
    who, what = shared.generator(seed, shared.USERS), shared.generator(seed, shared.ITEMS)
    counts = shared.activity(users, density * items, items, who)
    quality = shared.qualities(items, what)
    tastes = shared.tastes(np.zeros(users), skew * quality, personal=1.0, factors=factors, noise=noise, seed=seed)
    obscure = shared.obscurity(quality, what)
    weight = frozen(np.exp(-shared.STRONG * violation * obscure).astype(np.float32))
    data, complete = _draw(tastes, weight, counts, observed)
    return ImplicitWorld(data, complete, tastes, weight)


def _draw(
    tastes: Tastes, weight: Floats, counts: NDArray[np.int64], observed: float
) -> tuple[Interactions, Interactions]:
    """Every user's observed and relevant items."""
    everyone = np.arange(len(counts), dtype=np.int32)
    seen, when, all_of_them = [], [], []
    for (own, _, liking), count in zip(tastes.each(everyone), counts.tolist(), strict=True):
        relevant = shared.smallest(-liking, count)
        keys = own.standard_exponential(count, dtype=np.float32) / weight[relevant]
        seen.append(relevant[shared.smallest(keys, max(1, own.binomial(count, observed)))])
        when.append(shared.moments(len(seen[-1]), own))
        all_of_them.append(relevant)
    time = np.concatenate(when).view(MICROSECONDS)
    return _interactions(seen, time, len(weight)), _interactions(all_of_them, None, len(weight))


def _interactions(sets: list[Codes], time: Times | None, items: int) -> Interactions:
    user = np.repeat(np.arange(len(sets), dtype=np.int32), [len(one) for one in sets])
    return Interactions(user, np.concatenate(sets), None, time, Ids.numbered(len(sets)), Ids.numbered(items))
