"""Simulated experiments whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np


def split_rows(
    people: int, means: dict[str, float], shares: dict[str, float], seed: int, *, lists: int = 1
) -> dict[str, Any]:
    """Everybody has a willingness of their own around the mean of their arm, and sees `lists` lists of ten offers."""
    rng = np.random.default_rng(seed)
    arm = rng.choice(list(shares), people, p=list(shares.values()))
    mean = np.array([means[name] for name in arm])
    willing = rng.beta(5 * mean, 5 * (1 - mean))
    user = np.tile(np.arange(people), lists)
    time = np.repeat(np.arange(lists) * 0.3 * people, people) + user
    acted = rng.binomial(10, willing[user])
    return {"user": user, "arm": arm[user], "shown": np.full(len(user), 10), "acted": acted, "time": time * 1.0}


def most_by_chance(share: float, n: int) -> int:
    """So many of n cases or fewer are seen 999 times out of 1,000 where each has this chance."""
    from scipy.stats import binom

    return int(binom.ppf(0.999, n, share))
