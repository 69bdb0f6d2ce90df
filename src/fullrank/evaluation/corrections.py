"""Sampled metrics as they would be on the full ranking: tables by size of a pool, and their use.

Krichene and Rendle 2020, section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fullrank.arrays import Doubles, Ints, frozen
from fullrank.errors import DataError, ParameterError, check
from fullrank.evaluation.methods import (
    BiasVariance,
    Method,
    RankEstimate,
    Tabled,
    checked_method,
)
from fullrank.evaluation.sampling import at, channel, values
from fullrank.evaluation.tie_groups import tie_groups
from fullrank.metrics.metric import CutOff, Metric
from fullrank.ranks import Ranks
from fullrank.runtime.threads import one_blas_thread

Lookup: TypeAlias = Callable[[Ints, Ints, Ints], Doubles]  # (candidates, relevant above, above) -> value

NODES = (2, 3, 5, 9, 17)  # sizes per interval at which tables are solved for, more and more
LARGEST = 5_000  # samples for which tables are solved


@lru_cache(maxsize=256)
@one_blas_thread()
def tables(metric: Metric, method: Tabled, n: int, m: int, replace: bool, shifts: tuple[int, ...] = (0,)) -> Doubles:
    """The corrected values of the sampled ranks 1..m+1 of one item among n-1 irrelevant candidates, m of them sampled.

    A row per shift: the number of relevant items above the item, which move it down the list.

    >>> from fullrank.metrics import rr
    >>> tables(rr, BiasVariance(0.1), 100, 4, False).round(3)
    array([[ 0.298, -0.094,  0.019,  0.028,  0.008]])
    """
    check("m", m, m <= LARGEST, f"at most {LARGEST:,} for a table of corrections: use rank_estimate() or everything")
    given = channel(n, m, replace, method.prior)
    targets = values(metric, n + max(shifts))
    size = float(max(targets.max(), -targets.min()))
    return frozen(method.solve(given, given.project(targets, shifts), size, metric.best, metric.worst))


@dataclass(frozen=True)
class Solve:
    """Tables as a function of n."""

    metric: Metric
    method: Tabled
    m: int
    replace: bool
    shifts: tuple[int, ...]

    def __call__(self, n: int) -> Doubles:
        """The tables of a size."""
        return tables(self.metric, self.method, n, self.m, self.replace, self.shifts)


class Interval(NamedTuple):
    """Tables for some sizes n, to interpolate those between in log n; one size serves itself only."""

    nodes: Ints
    tables: Doubles  # (nodes, shifts, m+1)

    @staticmethod
    def of(solve: Solve, nodes: list[int]) -> Interval:
        return Interval(np.array(nodes), np.stack([solve(n) for n in nodes]))

    def blend(self, n: Ints) -> Doubles:
        """How much of each node's table goes into those of sizes n: barycentric interpolation."""
        own = np.log(self.nodes)
        away = np.log(n)[:, None] - own
        there = away == 0
        share = 1 / (np.where(there, 1.0, away) * (np.eye(len(own)) + own[:, None] - own).prod(axis=1))
        share = np.where(there.any(axis=1)[:, None], there, share / share.sum(axis=1, keepdims=True))
        return np.asarray(share)


@lru_cache(maxsize=64)
def _cover(solve: Solve, low: int, high: int) -> tuple[Interval, ...]:
    """Intervals from low to high. Tables change smoothly with n (monotone ones with kinks): an interval gets more
    nodes, then is cut in two, until the last nodes added were foreseen by the others.
    """
    known = Interval.of(solve, [low])
    for count in NODES:
        places = (1 - np.cos(np.pi * np.arange(count) / (count - 1))) / 2  # Chebyshev's, in log n
        nodes = np.unique(np.rint(low * (high / low) ** places).astype(np.int64))
        finer = Interval.of(solve, nodes.tolist())
        foreseen = np.tensordot(known.blend(nodes), known.tables, axes=1)
        error = np.nan_to_num(np.abs(foreseen - finer.tables)).max(axis=(0, 2))
        close = error <= solve.method.close * np.nan_to_num(np.abs(finer.tables)).max(axis=(0, 2))
        if close.all() or len(nodes) > high - low:
            return (finer,)
        known = finer
    middle = int(nodes[len(nodes) // 2])
    return (*_cover(solve, low, middle), *_cover(solve, middle, high))


def _look_up(intervals: tuple[Interval, ...], full: Ints, relevant_above: Ints, above: Ints) -> Doubles:
    """Entries of tables, for arrays that broadcast and share their first axis."""
    sizes, row = np.unique(full.reshape(len(full), -1)[:, 0] + 1, return_inverse=True)
    place = np.searchsorted([interval.nodes[-1] for interval in intervals], sizes)
    entries = np.empty(np.broadcast_shapes(full.shape, relevant_above.shape, above.shape))
    for number, interval in enumerate(intervals):
        rows = place[row] == number
        if rows.any():
            blend = np.zeros((len(sizes), len(interval.nodes)))
            blend[place == number] = interval.blend(sizes[place == number])
            blend = blend[row[rows]].T.reshape(-1, int(rows.sum()), *[1] * (entries.ndim - 1))
            picked = (interval.tables[node, relevant_above[rows], above[rows]] for node in range(len(blend)))
            entries[rows] = sum(share * some for share, some in zip(blend, picked, strict=True))
    return entries


def lookup(metric: Metric, method: Method | None, m: int, full: Ints, *, deepest: int, replace: bool) -> Lookup:
    """The value of an item: a function of (irrelevant candidates, relevant items above it, sampled ones above it).

    `full` holds all numbers of candidates to come, `deepest` is the largest number of relevant items above one.
    Without a method, the uncorrected metric among the m sampled.
    """
    if method is None:
        return lambda full, relevant_above, above: at(metric, above + relevant_above + 1, m + 1 + deepest)
    if isinstance(method, RankEstimate):
        return lambda full, relevant_above, above: _estimate(metric, method, m, full, relevant_above, above, deepest)
    solve = Solve(metric, method, m, replace, tuple(range(deepest + 1)))
    sizes = (np.unique(full) + 1).tolist()
    few = len(sizes) <= NODES[-1]
    intervals = tuple(Interval.of(solve, [n]) for n in sizes) if few else _cover(solve, sizes[0], sizes[-1])
    return lambda full, relevant_above, above: _look_up(intervals, full, relevant_above, above)


def _estimate(
    metric: Metric, method: RankEstimate, m: int, full: Ints, relevant_above: Ints, above: Ints, deepest: int
) -> Doubles:
    estimate, rest = np.divmod(full * above, m)
    size = full + 1 + deepest
    lower = at(metric, estimate + relevant_above + 1, size)
    if not method.interpolate:
        return lower
    return lower + rest / m * (at(metric, estimate + (rest > 0) + relevant_above + 1, size) - lower)


class Slots(NamedTuple):
    """Places that relevant items may take: several per item where ties leave it open, with their probabilities."""

    case: Ints
    relevant_above: Ints
    above: Ints
    weight: Doubles


def slots(ranks: Ranks, block: int = 1 << 20) -> Iterator[Slots]:
    """The places of all relevant items, some cases at a time."""
    groups = tie_groups(ranks)
    count = groups.relevant * (groups.others + 1)
    cuts = np.flatnonzero(np.diff(np.cumsum(count) // block)) + 1
    for part in np.split(np.arange(len(count)), cuts):
        one = np.repeat(part, count[part])
        entry = np.arange(len(one)) - np.repeat(np.cumsum(count[part]) - count[part], count[part])
        others, relevant = groups.others[one], groups.relevant[one]
        turn, passed = np.divmod(entry, others + 1)
        weight = 1 / (others + 1.0)
        several = (relevant > 1) & (others > 0)
        weight[several] = _chance(*(column[several] for column in (relevant, others, turn, passed)))
        above = groups.start[one] - groups.relevant_above[one] + passed
        yield Slots(groups.case[one], groups.relevant_above[one] + turn, above, weight)


def _chance(relevant: Ints, others: Ints, turn: Ints, passed: Ints) -> Any:
    """In a tie group, the probability that so many others come before the relevant item of that turn (from 0).

    C(x+j, j) C(o-x+r-1-j, r-1-j) / C(o+r, r): for a single relevant item 1/(o+1).
    """
    from scipy.special import gammaln

    def choose(top: Ints, bottom: Ints) -> Any:
        return gammaln(top + 1) - gammaln(bottom + 1) - gammaln(top - bottom + 1)

    rest = relevant - 1 - turn
    ways = choose(passed + turn, turn) + choose(others - passed + rest, rest)
    return np.exp(ways - choose(others + relevant, relevant))


Factor: TypeAlias = Callable[[Ints], Any]
FORMS: tuple[Factor, ...] = (
    np.ones_like,  # a sum over positions: recall, nDCG, AUC ...
    lambda relevant_above: relevant_above + 1,  # of precisions: AP
    lambda relevant_above: relevant_above == 0,  # of the first relevant item: reciprocal rank, hit rate
)


def by_items(metric: Metric, ranks: Ranks, full: Ints, value: Callable[[Slots], Doubles]) -> Doubles:
    """A metric of cases from values of their items: base + scale x sum over items of factor x value.

    For a case with one relevant item it is the item's value. Else the metrics that we know are such sums, for one
    of three FORMS; base and scale (the metric's own denominator) are found from the best and the worst ranking.
    """
    factor = _form(metric) if ranks.sizes.max(initial=1) > 1 else FORMS[0]
    sums = np.zeros(len(ranks))
    for part in slots(ranks):
        sums += np.bincount(part.case, part.weight * factor(part.relevant_above) * value(part), minlength=len(ranks))
    return _scale(metric, ranks, full, factor, sums)


def _scale(metric: Metric, ranks: Ranks, full: Ints, factor: Factor, sums: Doubles) -> Doubles:
    if ranks.sizes.max(initial=1) == 1:
        return sums
    most, none = np.repeat(full, ranks.sizes), np.zeros(len(ranks.case), dtype=np.int64)
    relevant_above, size = np.arange(len(none)) - ranks.start[ranks.case], most + int(ranks.sizes.max())
    best, worst = (metric(Ranks(start=ranks.start, above=above, tied=none, pool=full)) for above in (none, most))
    highest, lowest = (
        ranks.per_case(factor(relevant_above) * at(metric, above + relevant_above + 1, size)) for above in (none, most)
    )
    gap = highest - lowest
    scale = np.divide(best - worst, gap, out=np.zeros(len(ranks)), where=gap != 0)
    return np.asarray(worst + scale * (sums - lowest))


@lru_cache(maxsize=256)
def _form(metric: Metric) -> Factor:
    """Which sum over items a metric is, found by trying."""
    random = np.random.default_rng(0)
    sizes, pool = np.repeat([2, 3, 5], 20), random.integers(5, 60, size=60)
    start = np.concatenate([[0], np.cumsum(sizes)])
    case = np.repeat(np.arange(60), sizes)
    above = random.integers(0, pool[case] + 1)
    above = above[np.lexsort((above, case))]
    ranks = Ranks(
        start=start, above=above, tied=0 * above, pool=pool, relevant_above=np.arange(len(case)) - start[case]
    )
    exact = metric(ranks)
    for factor in FORMS:
        sums = ranks.per_case(
            factor(ranks.relevant_above) * at(metric, above + ranks.relevant_above + 1, pool[case] + int(sizes.max()))
        )
        if np.allclose(_scale(metric, ranks, pool, factor, sums), exact, rtol=1e-9, atol=1e-9):
            return factor
    raise ParameterError(
        f"{metric} is not a sum over relevant items that we know how to correct; hold out one item per case, "
        "or rank among everything."
    )


@dataclass(frozen=True)
class Correction:
    """A metric of sampled ranks corrected towards that of the full ranking: in expectation nearer to it, but noisier.

    `full` (irrelevant candidates of each case before sampling) and `replace` (drawn with replacement) are given
    where the ranks do not say. With several relevant items in a case, each is corrected as if sampled alone: this
    adds no bias, as expectations add up, but the variance that gamma weighs leaves out that they share a sample.
    Ties are taken in expectation over their order.
    """

    metric: Metric
    method: Method
    replace: bool | None = None
    full: int | ArrayLike | None = field(default=None, compare=False, repr=False)

    def __call__(self, ranks: Ranks, k: CutOff = None) -> Doubles:
        """The corrected value of every case."""
        again = self._again(ranks)
        full = self._candidates(ranks, again)
        method = self.method.resolved(len(ranks)) if isinstance(self.method, BiasVariance) else self.method
        whole = (ranks.pool == full) & (not again) | (full == 0)
        deepest = int(ranks.sizes.max(initial=1)) - 1
        kinds: dict[int, Lookup] = {}
        for m in np.unique(ranks.pool[~whole]).tolist():
            sizes = full[~whole & (ranks.pool == m)]
            kinds[m] = lookup(self.metric, method, m, sizes, deepest=deepest, replace=again)

        def value(part: Slots) -> Doubles:
            size = full[part.case]
            item_values = np.empty(len(size))
            everything = whole[part.case]
            position = (part.above + part.relevant_above + 1)[everything]
            item_values[everything] = at(self.metric, position, size[everything] + 1 + deepest)
            for m, look in kinds.items():
                rows = ~everything & (ranks.pool[part.case] == m)
                item_values[rows] = look(size[rows], part.relevant_above[rows], part.above[rows])
            return item_values

        case_values = by_items(self.metric, ranks, full, value)
        if np.isnan(case_values).any():
            raise DataError(
                f"{self.metric}, {self.method}: case {int(np.isnan(case_values).argmax())} has a sampled rank to which "
                "the prior gives no chance; use a prior with some weight on every rank."
            )
        return case_values

    def _again(self, ranks: Ranks) -> bool:
        """Whether candidates were drawn with replacement."""
        return bool(getattr(ranks.about, "replace", False)) if self.replace is None else self.replace

    def _candidates(self, ranks: Ranks, again: bool) -> Ints:
        given = ranks.full if self.full is None else np.asarray(self.full, dtype=np.int64)
        full = np.broadcast_to(given, (len(ranks),))
        if self.full is None and not ranks.about.sampled and (full == ranks.pool).all():
            raise DataError(
                f"{self.metric}, {self.method}: these ranks do not say how many candidates they were sampled from; "
                "use ranks of rank(..., Sampled(m)), or give full=."
            )
        wrong = (ranks.pool == 0) & (full > 0) | (ranks.pool > full) & (not again)
        if wrong.any():
            case = int(wrong.argmax())
            raise DataError(f"{self.metric}: case {case} has {ranks.pool[case]} sampled of {full[case]} candidates.")
        return full

    def title(self, ranks: Ranks) -> str:
        """The name of a column: recall@10 from 100, bv 0.1."""
        if self.full is None and ranks.whole.all():
            return f"{self.metric}, {self.method}"  # nothing to correct
        return f"{self.metric} from {ranks.about.sampled or int(ranks.pool.max(initial=0))}, {self.method}"

    def notes(self, ranks: Ranks) -> tuple[str, ...]:
        """What to keep in mind when reading these numbers."""
        title = self.title(ranks)
        if self.full is None and ranks.whole.all():
            return (f"{title}: all candidates were ranked, so there was nothing to correct",)
        prior = getattr(self.method, "prior", None)
        notes = [f"{title}: corrected for sampling, nearer to the full ranking's value but not free of bias"]
        if not isinstance(self.method, RankEstimate):
            notes.append(f"{title}: for {'exact ranks all equally likely' if prior is None else 'the prior given'}")
        if ranks.sizes.max(initial=1) > 1:
            notes.append(f"{title}: relevant items of a case are corrected one by one, as if sampled independently")
        return tuple(notes)


def corrected(
    metric: Metric, method: Method, *, full: int | ArrayLike | None = None, replace: bool | None = None
) -> Metric:
    """The metric for sampled ranks, corrected towards its value on the full ranking.

    Krichene and Rendle 2020, section 5.

    The flag `unbiased` is off: a correction leaves some bias.

    >>> from fullrank.evaluation.methods import bias_variance
    >>> from fullrank.metrics import recall
    >>> sampled = Ranks(start=[0, 1, 2], above=[0, 4], tied=[0, 0], pool=[100, 100], full=[3700, 3500])
    >>> metric = corrected(recall @ 10, bias_variance(0.1))
    >>> str(metric), metric(sampled).round(3)
    ('recall@10, bv 0.1', array([0.553, 0.035]))
    """
    function = Correction(metric, checked_method(method), replace, full)
    return Metric(f"{metric}, {method}", function, None, False, "", metric.best, metric.worst, whole=True)
