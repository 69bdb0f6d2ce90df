"""Which of several models people do better with, from a traffic split or from interleaved lists, and how sure that is.

Whoever watches an experiment and ends it when it looks good is right more rarely than a test for a fixed number of
people says. So everything here stays valid however often one looks: see `betting`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from math import fsum
from typing import Any

import numpy as np

from fullrank.arrays import Doubles
from fullrank.errors import DataError, check, is_number
from fullrank.serving.assigning import assign, check_shares, flips
from fullrank.serving.betting import judge_mean, refute, weigh
from fullrank.serving.interleaving import Interleaved, credit, interleave
from fullrank.serving.judged import Arm, Judged, Lead
from fullrank.serving.people import People, check_columns, gather, has, numbers
from fullrank.serving.words import lead, sum_up

__all__ = ["Arm", "Interleaved", "Judged", "Lead", "assign", "credit", "flips", "interleave", "judge_interleaving",
           "judge_split"]  # fmt: skip

UNLIKELY = 0.999  # level at which numbers of people contradict the shares
RETURNING = (
    "People come back, and what they do later changes outcomes that were counted before: the sureness is approximate "
    "when one looks often. With a window every person counts once, when it is over."
)


def judge_split(
    rows: Any, shares: Mapping[str, float], *, bounds: tuple[float, float] = (0.0, 1.0), level: float = 0.95,
    window: float | None = None, now: Any = None,
) -> Judged:  # fmt: skip
    """A/B: people are dealt to arms, and the outcome of each is the share of offers acted on, or the mean value.

    Of two arms with shares π and 1 - π, whoever comes as the t-th with outcome x counts as

        d_t = (x - c_t) / π  in the first arm,  -(x - c_t) / (1 - π)  in the second,

    where c_t is the mean of everybody before. Its expectation is the difference of the arms, whatever people are like
    and however they change with time, and it is bounded: so bets on it are fair where the arms are alike.

    Parameters
    ----------
    rows
        A frame or a dict of columns: `user`, `arm`, and `shown` and `acted` (how many), or `value`. A person may have
        several rows. They are taken in the order of `time` (seconds or datetimes), or as they stand without.
    shares
        By which people were dealt, as in `assign`; of an experiment whose shares were moved give the rows since then.
    bounds
        Within which every outcome lies; needed for a value that may be below 0 or above 1.
    level
        At which a difference is sure; with several pairs of arms it holds for all of them together (Bonferroni).
    window
        Seconds from a person's first row in which what they do counts. Whoever's window is not over at `now` (by
        default the latest time) is not counted yet. Without it everything counts that is there.
    now
        See `window`: seconds or a datetime, as in `time`.
    """
    _check_level(level)
    check_shares(shares)
    shares = {name: share for name, share in shares.items() if share > 0}
    low, high = _checked_bounds(bounds)
    people = gather(rows, _outcome(rows, low, high), window, now)
    unknown = sorted({str(arm) for arm in people.arm} - set(shares))
    if unknown:
        raise DataError(f"arm {unknown[0]!r} has no share; the shares are of {', '.join(shares)}.")
    arms = [_arm(name, people.outcome[people.arm == name]) for name in shares]
    pairs = list(combinations(shares, 2))
    each = 1 - (1 - level) / max(len(pairs), 1)
    judged = [_contrast(people, one, two, shares, bounds=(low, high), level=each) for one, two in pairs]
    doubts = _doubts(people, shares) + ([RETURNING] if people.returning else [])
    return Judged("split", level, tuple(arms), tuple(judged), sum_up(arms, judged), people.left_out, tuple(doubts))


def judge_interleaving(
    rows: Any, *, one: str = "one", two: str = "two", level: float = 0.95, window: float | None = None, now: Any = None,
) -> Judged:  # fmt: skip
    """Two models in the same lists: of each person the share of lists that one won, minus those that two won.

    A list is won by the team with more clicks (Radlinski, Kurup and Joachims 2008), and by nobody where both have as
    many. Teams are drawn by a coin, so between equal models the expectation is 0 for everybody.

    Parameters
    ----------
    rows
        A frame or a dict of columns, a row for every list: `user`, and the clicks of both teams, `one` and `two`, as
        `credit` counts them; `time` as in `judge_split`.
    one, two
        The names of the models.
    level, window, now
        As in `judge_split`.
    """
    _check_level(level)
    check("two", two, one != two, "another name than `one`")
    check_columns(rows, "user", "one", "two")
    won = np.sign(numbers(rows, "one") - numbers(rows, "two"))
    alike = {"user": rows["user"], "arm": np.zeros(len(won))} | ({"time": rows["time"]} if has(rows, "time") else {})
    people = gather(alike, (won, np.ones(len(won))), window, now)
    first, second = (gather(alike, ((won == s) * 1.0, np.ones(len(won))), window, now).outcome for s in (1, -1))
    arms = [_arm(one, first), _arm(two, second)]
    pair = _lead(one, two, people.outcome, (-1.0, 1.0), level, _mean(people.outcome))
    doubts = (RETURNING,) if people.returning else ()
    return Judged("interleaving", level, tuple(arms), (pair,), sum_up(arms, [pair]), people.left_out, doubts)


def _outcome(rows: Any, low: float, high: float) -> tuple[Doubles, Doubles]:
    """The columns whose sums by person are divided, both checked."""
    check_columns(rows, "user", "arm")
    if has(rows, "value"):
        check_columns(rows, "user", "value")
        above = numbers(rows, "value")
        below, worst = np.ones(len(above)), (above < low) | (above > high)
    else:
        check_columns(rows, "user", "shown", "acted")
        above, below = numbers(rows, "acted"), numbers(rows, "shown")
        worst = (below <= 0) | (above < low * below) | (above > high * below)
    if worst.any():
        row = int(worst.argmax())
        raise DataError(
            f"row {row}: {above[row]:g} of {below[row]:g} is not between {low:g} and {high:g}; set `bounds`."
        )
    return above, below


def _contrast(
    people: People, one: str, two: str, shares: Mapping[str, float], *, bounds: tuple[float, float], level: float
) -> Lead:
    """Two arms of a split, among the people of these two."""
    inside = (people.arm == one) | (people.arm == two)
    x, is_one = people.outcome[inside], people.arm[inside] == one
    share = shares[one] / (shares[one] + shares[two])
    weighed, within = weigh(x, is_one, share, bounds)
    both = is_one.any() and not is_one.all()
    difference = _mean(x[is_one]) - _mean(x[~is_one]) if both else 0.0
    return _lead(one, two, weighed, within, level, difference)


def _lead(one: str, two: str, outcome: Doubles, bounds: tuple[float, float], level: float, difference: float) -> Lead:
    low, high, p, still = judge_mean(outcome, bounds, 0.0, level)
    sure = (low > 0 and difference > 0) or (high < 0 and difference < 0)  # by bets and by plain means
    more = still if difference and (sure or still) else None
    pair = Lead(one, two, len(outcome), difference, low, high, p, sure, more, "")
    return replace(pair, sentence=lead(pair))


def _doubts(people: People, shares: Mapping[str, float]) -> list[str]:
    """Where people are not dealt as the shares say, by the same bets."""
    doubts = []
    for name, share in shares.items():
        there = (people.arm == name).astype(np.float64)
        if share < 1 and refute(share, there, UNLIKELY) < 1 - UNLIKELY:
            doubts.append(
                f"{name} has {there.mean():.1%} of the people where {share:.1%} were to be expected: they were not "
                "dealt by these shares, or some are missing, and the arms cannot be compared."
            )
    return doubts


def _arm(name: str, outcome: Doubles) -> Arm:
    return Arm(name, len(outcome), _mean(outcome) if len(outcome) else None)


def _mean(values: Doubles) -> float:
    return fsum(values.tolist()) / max(len(values), 1)


def _check_level(level: float) -> None:
    check("level", level, is_number(level) and 0 < level < 1, "a number between 0 and 1")


def _checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    low, high = bounds
    check("bounds", bounds, is_number(low) and is_number(high) and -np.inf < low < high < np.inf, "two rising numbers")
    return float(low), float(high)
