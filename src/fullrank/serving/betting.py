"""Means of bounded outcomes, judged by betting (Waudby-Smith and Ramdas 2024): right whenever one looks.

Somebody who thinks that the mean is above m bets on every outcome before it is seen, a share of the capital that
depends on earlier outcomes only. If the mean is m, the game is fair: the capital is at any time above 2/α with a chance
of at most α/2 (Ville's inequality), however often and for whatever reason one looks. A second player bets on the mean
being below. What neither has refuted is the interval. Nothing is assumed of the outcomes but their bounds.
"""

from __future__ import annotations

from math import fsum
from typing import NamedTuple

import numpy as np

from fullrank.arrays import Bools, Doubles
from fullrank.metrics.elementary import LOG2_E, exp2, log2

MOST = 0.5  # of the capital that can be lost in one bet
STEPS = 48  # halvings: an end of an interval is right to 2^-48 of its range
LONGEST = 1e12  # people
WIDTH = 256  # products that run beside each other


class Sureness(NamedTuple):
    """The interval of a mean, how sure it is that it is not `null`, and how many more people would make it so.

    `p` is valid at any time: under the null it is ever at or below α with a chance of at most α. `still` is None where
    no number of people would be enough at the present mean.
    """

    low: float
    high: float
    p: float
    still: int | None


def judge_mean(outcome: Doubles, bounds: tuple[float, float], null: float, level: float) -> Sureness:
    """Outcomes of people in the order in which they came, all within `bounds`."""
    low, high = bounds
    x, middle = (outcome - low) / (high - low), (null - low) / (high - low)
    bets, bar = stakes(x, level), 1 - float(log2(1 - level))
    won = _won(x, bets, middle)
    above = _end(x, bets, bar)
    below = 1 - _end(1 - x, bets, bar)
    still = 0 if won >= bar else _still(x, bets, middle, bar)
    return Sureness(low + above * (high - low), low + below * (high - low), _p(won), still)


def refute(share: float, chosen: Doubles, level: float) -> float:
    """`p` of `judge_mean` alone: how well a share fits what was chosen (0 or 1)."""
    return _p(_won(chosen, stakes(chosen, level), share))


def weigh(x: Doubles, is_one: Bools, share: float, bounds: tuple[float, float]) -> tuple[Doubles, tuple[float, float]]:
    """Outcomes of two arms as one column whose expectation is the difference of the arms, and its bounds.

    (x - c) / share in the first, -(x - c) / (1 - share) in the second, c the mean of everybody before.
    """
    low, high = bounds
    before = ((low + high) / 2 + np.concatenate([[0.0], np.cumsum(x)[:-1]])[: len(x)]) / np.arange(1, len(x) + 1)
    weighed: Doubles = np.where(is_one, 1 / share, -1 / (1 - share)) * (x - before)
    widest = (high - low) / min(share, 1 - share)
    return weighed, (-widest, widest)


def stakes(x: Doubles, level: float) -> Doubles:
    """What is bet on each outcome, by the variance v of those before it: √(2 ln(2/α) / (v t ln(t + 1))).

    These are the predictable plug-in stakes of Waudby-Smith and Ramdas (2024), which start at mean 1/2, variance 1/4.
    """
    t = np.arange(1.0, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], variance[:-1]])[: len(x)]
    return _stake(before, t, 1 - float(log2(1 - level)))


def paths(outcome: Doubles, bounds: tuple[float, float], null: float, level: float) -> Doubles:
    """`p` of `judge_mean` after every single person: what somebody would have seen who always looked."""
    low, high = bounds
    x, middle = (outcome - low) / (high - low), (null - low) / (high - low)
    bets = stakes(x, level)
    sides = ((x, middle), (1 - x, 1 - middle))
    won = np.maximum(*(np.cumsum(log2(_factors(side, bets, m))) for side, m in sides))
    p: Doubles = np.minimum(1, 2 * exp2(-won))
    return p


def _won(x: Doubles, bets: Doubles, m: float) -> float:
    """log2 of the capital of the luckier player."""
    return max(_capital(x, bets, m), _capital(1 - x, bets, 1 - m))


def _p(won: float) -> float:
    return min(1.0, 2 * float(exp2(-won)))


def _stake(variance: Doubles | float, t: Doubles, bar: float) -> Doubles:
    stake: Doubles = np.sqrt(2 * bar / (variance * t * log2(t + 1)))  # logarithms to any base: their ratio counts
    return stake


def _factors(x: Doubles, bets: Doubles, m: float) -> Doubles:
    """By what each outcome multiplies the capital of who bets that the mean is above m; falls as m rises."""
    factors: Doubles = 1 + np.minimum(bets, MOST / m) * (x - m)
    return factors


def _capital(x: Doubles, bets: Doubles, m: float) -> float:
    """log2 of what is there in the end, with the same bits on every machine: products of mantissas, whole exponents."""
    mantissa, exponent = np.frexp(_factors(x, bets, m))
    padded = np.ones(-(-len(x) // WIDTH) * WIDTH)
    padded[: len(x)] = mantissa
    rows = padded.reshape(-1, WIDTH)  # a product of 1,000 mantissas is above 2^-1000
    logs = [log2(np.multiply.reduce(rows[at : at + 1000], axis=0)) for at in range(0, len(rows), 1000)]
    return float(exponent.sum()) + fsum(value for log in logs for value in log.tolist())


def _end(x: Doubles, bets: Doubles, bar: float) -> float:
    """The largest m that the bets have refuted; 0 if they have refuted none."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        m = (low + high) / 2
        low, high = (m, high) if _capital(x, bets, m) >= bar else (low, m)
    return low


def _still(x: Doubles, bets: Doubles, m: float, bar: float) -> int | None:
    """How many more people, if they are like those who came: a bet of b wins b d - b² (v + d²) / 2 in the mean."""
    d, n = fsum((x - m).tolist()) / max(len(x), 1), len(x)
    if not d:
        return None
    x, m = (x, m) if d > 0 else (1 - x, 1 - m)
    variance = (0.25 + fsum(((x - m - abs(d)) ** 2).tolist())) / (n + 1)
    grid = np.unique(np.rint(np.geomspace(1, LONGEST, 4000)))  # people to come
    stake = np.minimum(_stake(variance, n + grid, bar), MOST / m)
    wins = (stake * abs(d) - stake**2 * (variance + d * d) / 2) * LOG2_E
    capital = _capital(x, bets, m) + np.cumsum(wins * np.diff(grid, prepend=0))
    enough = np.flatnonzero(capital >= bar)
    return int(grid[enough[0]]) if len(enough) else None
