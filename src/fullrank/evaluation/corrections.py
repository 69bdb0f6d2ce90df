"""Metrics of sampled ranks, corrected towards those of the full ranking (S1 section 5).

A correction replaces the metric M by a table of m+1 values, one for each sampled rank s, chosen so that

    sum_r p(r) ( (E[table | r] - M(r))^2 + gamma Var[table | r] )                              (S1 Eq. 24)

is small for a prior p of the exact ranks r: little bias for gamma 0, a small mean squared error for gamma 1. With

    A[r, s] = sqrt(p(r)) p(s|r),   b[r] = sqrt(p(r)) M(r),   c[s] = sum_r p(r) p(s|r)          (S1 Eq. 23, corrected)

the best table is ((1-gamma) A'A + gamma diag(c))^-1 A'b (S1 Eq. 25).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fullrank.data.canonical import frozen
from fullrank.errors import DataError, ParameterError, check, is_number
from fullrank.evaluation.sampling import Channel, Prior, at, channel, values
from fullrank.kernels.threads import one_blas_thread
from fullrank.metrics.metric import CutOff, Metric
from fullrank.ranks import Floats, Ints, Ranks

Lookup: TypeAlias = Callable[[Ints, Ints, Ints], Floats]  # (candidates, relevant before, above) -> value

EXACT = 1e-13  # how well A is known, measured
TRUSTED = 1e-6  # rounding may move the values of a table by this much, relative to the metric's largest
NODES = (2, 3, 5, 9, 17)  # sizes per interval at which tables are solved for, more and more
SETTLED = 1e-10  # the weight of variance that decides between tables of the same bias
LARGEST = 5_000  # samples for which tables are solved


@dataclass(frozen=True)
class RankEstimate:
    """The metric at the unbiased estimate of the rank, 1 + (n-1)(s-1)/m (S1 Eq. 20), rounded down.

    `interpolate` takes a mean of the metric at the two ranks around the estimate instead.
    """

    interpolate: bool = False

    def __str__(self) -> str:
        return "rank estimate"


@dataclass(frozen=True)
class LeastSquares:
    """The table of least bias (S1 Eq. 21). Its variance grows beyond all use with m; see `BiasVariance`."""

    prior: Any = None  # p(r): None for uniform; an array of weights for ranks 1, 2, ...; a function of (ranks, n)
    close: ClassVar[float] = 1e-6  # how well tables are interpolated between sizes, relative to their largest value

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", _prior(self.prior))

    def __str__(self) -> str:
        return "ls"

    def solve(self, given: Channel, target: Floats, size: float, falling: bool) -> Floats:
        return _balanced(given, target, size, 0.0)


@dataclass(frozen=True)
class Constrained:
    """The table of least bias among those that never reward a worse sampled rank (S1's CLS).

    Such tables have kinks as n grows, hence `close`; their expectations are right to 1e-5.
    """

    prior: Any = None
    close: ClassVar[float] = 1e-3

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", _prior(self.prior))

    def __str__(self) -> str:
        return "cls"

    def solve(self, given: Channel, target: Floats, size: float, falling: bool) -> Floats:
        sign = 1 if falling else -1
        return sign * _monotone(given, sign * target)


@dataclass(frozen=True)
class BiasVariance:
    """The table of least bias^2 + gamma variance (S1 Eq. 25).

    gamma="auto" is 1/sqrt(cases). The variance of a mean falls as 1/cases. Were all cases at one rank, its mean
    squared error were bias^2 + variance/cases: gamma 1/cases. Were their ranks drawn from the prior, biases would
    cancel as the noise does: gamma 1. Real ranks are in between, how far differs from model to model, and models
    must share one gamma to be compared: we take the geometric middle. At S1's 6040 cases it is .013, and among the
    gammas of S1's Table 3 .01 has the least mean squared error for all its models and metrics.
    """

    gamma: float | Literal["auto"] = "auto"
    prior: Any = None
    close: ClassVar[float] = 1e-6

    def __post_init__(self) -> None:
        inside = is_number(self.gamma) and 0 <= float(self.gamma) <= 1
        check("gamma", self.gamma, inside or self.gamma == "auto", "a number from 0 to 1, or 'auto'")
        object.__setattr__(self, "prior", _prior(self.prior))

    def __str__(self) -> str:
        return f"bv {self.gamma if isinstance(self.gamma, str) else format(self.gamma, 'g')}"

    def resolved(self, cases: int) -> BiasVariance:
        """With a number for gamma."""
        return replace(self, gamma=1 / np.sqrt(max(cases, 1))) if self.gamma == "auto" else self

    def solve(self, given: Channel, target: Floats, size: float, falling: bool) -> Floats:
        return _balanced(given, target, size, float(self.gamma))


Tabled: TypeAlias = LeastSquares | Constrained | BiasVariance
Method: TypeAlias = RankEstimate | Tabled
rank_estimate, least_squares, constrained, bias_variance = RankEstimate, LeastSquares, Constrained, BiasVariance


@dataclass(frozen=True, eq=False)
class Weights:
    """A prior given as an array: the weight of rank r is weights[r-1]."""

    weights: Floats

    def __call__(self, ranks: Ints, n: int) -> Floats:
        """The weights of these ranks."""
        if n > len(self.weights):
            raise ParameterError(f"The 'prior' has weights for {len(self.weights)} ranks, and a case has {n}.")
        return self.weights[ranks - 1]


def _prior(given: Any) -> Prior | None:
    if given is None or callable(given):
        return given  # type: ignore[no-any-return]
    return Weights(np.array(given, dtype=np.float64).reshape(-1))


def _balanced(given: Channel, target: Floats, size: float, gamma: float) -> Floats:
    """The table that minimises (1-gamma) |A t - b|^2 + gamma sum_s c[s] (t[s] - posterior mean)^2.

    This is Eq. 24 plus a constant. In x = sqrt(c) (t - posterior mean), by singular values s of A c^-1/2 (at most 1):
    x = V (1-gamma) s / ((1-gamma) s^2 + gamma) U'(b - A posterior mean). To first order, an error e of A moves x
    by e (|x|/sqrt(d) + |residual|/d), with d the least of these denominators: beyond TRUSTED it is refused.
    """
    root = np.sqrt(given.reach[given.known])[:, None]
    rows = given.rows[:, given.known]
    mean = rows.T @ target / root**2
    u, s, v = given.svd
    divisor = (1 - gamma) * s**2 + gamma
    if not divisor.min() > 0:
        raise _unreliable(given, np.inf)
    gap = target - rows @ mean
    x = v.T @ (((1 - gamma) * s / divisor)[:, None] * (u.T @ gap))
    table = mean + x / root
    rest = np.linalg.norm(target - rows @ table, axis=0)
    error = (1 - gamma) * EXACT * (np.linalg.norm(x, axis=0) / np.sqrt(divisor.min()) + rest / divisor.min())
    if error.max(initial=0.0) > TRUSTED * size:
        raise _unreliable(given, float(error.max()) / size)
    return _spread_out(given, table)


def _unreliable(given: Channel, error: float) -> ParameterError:
    return ParameterError(
        f"the table for {given.m} of {given.n - 1:,} candidates is lost in rounding (up to {error:.0e} of the metric); "
        f"use bias_variance with gamma >= {EXACT / TRUSTED:.0e}, constrained(), or fewer samples."
    )


def _monotone(given: Channel, target: Floats) -> Floats:
    """The table t that minimises |A t - b|^2 with t[1] >= t[2] >= ...

    t is a constant plus steps d >= 0, each adding to all places up to its own. The constant is free: what is
    left after projecting it out is a non-negative least squares problem, solved exactly on the triangle of A.
    Among tables that rounding cannot tell apart, the one of least variance is meant (SETTLED).
    """
    from scipy.optimize import nnls

    column, root = int(given.known.sum()), np.sqrt(given.reach[given.known])[:, None]
    mean = given.rows[:, given.known].T @ target / root
    settled = np.sqrt(SETTLED) * np.column_stack([np.diag(root[:, 0]), mean])
    rows = np.vstack([np.column_stack([given.rows[:, given.known], target]), settled])
    rows = np.asarray(np.linalg.qr(rows, mode="r"))
    steps, goals = np.cumsum(rows[:, :column], axis=1), rows[:, column:]  # A times each step
    one = steps[:, -1:]  # A times the constant
    norm = float(one[:, 0] @ one[:, 0])
    apart = steps[:, :-1] - one * (one.T @ steps[:, :-1] / norm)
    tables = []
    for goal in goals.T:
        away = goal - one[:, 0] * (one[:, 0] @ goal / norm)
        down = nnls(apart, away, maxiter=30 * (given.m + 1))[0] if column > 1 else np.zeros(0)
        level = one[:, 0] @ (goal - steps[:, :-1] @ down) / norm
        tables.append(level + np.append(np.cumsum(down[::-1])[::-1], 0.0))
    return _spread_out(given, np.column_stack(tables))


def _spread_out(given: Channel, table: Floats) -> Floats:
    """Tables as rows over all sampled ranks, NaN where the prior gives no chance."""
    found = np.full((table.shape[1], given.m + 1), np.nan)
    found[:, given.known] = table.T
    return found


@lru_cache(maxsize=256)
@one_blas_thread()
def tables(metric: Metric, method: Tabled, n: int, m: int, replace: bool, shifts: tuple[int, ...] = (0,)) -> Floats:
    """The corrected values of the sampled ranks 1..m+1 of one item among n-1 irrelevant candidates, m of them sampled.

    A row per shift: the number of relevant items before the item, which move it down the list.

    >>> from fullrank.metrics import rr
    >>> tables(rr, BiasVariance(0.1), 100, 4, False).round(3)
    array([[ 0.298, -0.094,  0.019,  0.028,  0.008]])
    """
    check("m", m, m <= LARGEST, f"at most {LARGEST:,} for a table of corrections: use rank_estimate() or everything")
    given = channel(n, m, replace, method.prior)
    targets = values(metric, n + max(shifts))
    size = float(max(targets.max(), -targets.min()))
    return frozen(method.solve(given, given.project(targets, shifts), size, metric.best >= metric.worst))


@dataclass(frozen=True)
class Solve:
    """Tables as a function of n."""

    metric: Metric
    method: Tabled
    m: int
    replace: bool
    shifts: tuple[int, ...]

    def __call__(self, n: int) -> Floats:
        """The tables of a size."""
        return tables(self.metric, self.method, n, self.m, self.replace, self.shifts)


class Interval(NamedTuple):
    """Tables for some sizes n, to interpolate those between in log n; one size serves itself only."""

    nodes: Ints
    tables: Floats  # (nodes, shifts, m+1)

    @staticmethod
    def of(solve: Solve, nodes: list[int]) -> Interval:
        return Interval(np.array(nodes), np.stack([solve(n) for n in nodes]))

    def blend(self, n: Ints) -> Floats:
        """How much of each node's table goes into those of sizes n: barycentric interpolation."""
        own = np.log(self.nodes)
        away = np.log(n)[:, None] - own
        there = away == 0
        share = 1 / (np.where(there, 1.0, away) * (np.eye(len(own)) + own[:, None] - own).prod(axis=1))
        share = np.where(there.any(axis=1)[:, None], there, share / share.sum(axis=1, keepdims=True))
        return np.asarray(share)


@lru_cache(maxsize=64)
def _covering(solve: Solve, low: int, high: int) -> tuple[Interval, ...]:
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
    return (*_covering(solve, low, middle), *_covering(solve, middle, high))


def _looked_up(intervals: tuple[Interval, ...], full: Ints, before: Ints, above: Ints) -> Floats:
    """Entries of tables, for arrays that broadcast and share their first axis."""
    sizes, row = np.unique(full.reshape(len(full), -1)[:, 0] + 1, return_inverse=True)
    place = np.searchsorted([interval.nodes[-1] for interval in intervals], sizes)
    found = np.empty(np.broadcast_shapes(full.shape, before.shape, above.shape))
    for number, interval in enumerate(intervals):
        rows = place[row] == number
        if rows.any():
            blend = np.zeros((len(sizes), len(interval.nodes)))
            blend[place == number] = interval.blend(sizes[place == number])
            blend = blend[row[rows]].T.reshape(-1, int(rows.sum()), *[1] * (found.ndim - 1))
            picked = (interval.tables[node, before[rows], above[rows]] for node in range(len(blend)))
            found[rows] = sum(share * some for share, some in zip(blend, picked, strict=True))
    return found


def lookup(metric: Metric, method: Method | None, m: int, full: Ints, *, deepest: int, replace: bool) -> Lookup:
    """The value of an item: a function of (irrelevant candidates, relevant items before it, sampled ones above it).

    `full` holds all numbers of candidates to come, `deepest` is the largest number of relevant items before one.
    Without a method, the uncorrected metric among the m sampled.
    """
    if method is None:
        return lambda full, before, above: at(metric, above + before + 1, m + 1 + deepest)
    if isinstance(method, RankEstimate):
        return lambda full, before, above: _estimated(metric, method, m, full, before, above, deepest)
    solve = Solve(metric, method, m, replace, tuple(range(deepest + 1)))
    sizes = (np.unique(full) + 1).tolist()
    few = len(sizes) <= NODES[-1]
    intervals = tuple(Interval.of(solve, [n]) for n in sizes) if few else _covering(solve, sizes[0], sizes[-1])
    return lambda full, before, above: _looked_up(intervals, full, before, above)


def _estimated(
    metric: Metric, method: RankEstimate, m: int, full: Ints, before: Ints, above: Ints, deepest: int
) -> Floats:
    estimate, rest = np.divmod(full * above, m)
    size = full + 1 + deepest
    lower = at(metric, estimate + before + 1, size)
    if not method.interpolate:
        return lower
    return lower + rest / m * (at(metric, estimate + (rest > 0) + before + 1, size) - lower)


class Slots(NamedTuple):
    """Places that relevant items may take: several per item where ties leave it open, with their probabilities."""

    case: Ints
    before: Ints
    above: Ints
    weight: Floats


def slots(ranks: Ranks, block: int = 1 << 20) -> Iterator[Slots]:
    """The places of all relevant items, some cases at a time."""
    groups = ranks.groups
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
        above = groups.start[one] - groups.before[one] + passed
        yield Slots(groups.case[one], groups.before[one] + turn, above, weight)


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
    lambda before: before + 1,  # of precisions: AP
    lambda before: before == 0,  # of the first relevant item: reciprocal rank, hit rate
)


def by_items(metric: Metric, ranks: Ranks, full: Ints, value: Callable[[Slots], Floats]) -> Floats:
    """A metric of cases from values of their items: base + scale x sum over items of factor x value.

    For a case with one relevant item it is the item's value. Else the metrics that we know are such sums, for one
    of three FORMS; base and scale (the metric's own denominator) are found from the best and the worst ranking.
    """
    factor = _form(metric) if ranks.sizes.max(initial=1) > 1 else FORMS[0]
    sums = np.zeros(len(ranks))
    for part in slots(ranks):
        sums += np.bincount(part.case, part.weight * factor(part.before) * value(part), minlength=len(ranks))
    return _scaled(metric, ranks, full, factor, sums)


def _scaled(metric: Metric, ranks: Ranks, full: Ints, factor: Factor, sums: Floats) -> Floats:
    if ranks.sizes.max(initial=1) == 1:
        return sums
    most, none = np.repeat(full, ranks.sizes), np.zeros(len(ranks.case), dtype=np.int64)
    before, size = np.arange(len(none)) - ranks.start[ranks.case], most + int(ranks.sizes.max())
    best, worst = (metric(Ranks(start=ranks.start, above=above, tied=none, pool=full)) for above in (none, most))
    highest, lowest = (ranks.per_case(factor(before) * at(metric, above + before + 1, size)) for above in (none, most))
    gap = highest - lowest
    scale = np.divide(best - worst, gap, out=np.zeros(len(ranks)), where=gap != 0)
    return np.asarray(worst + scale * (sums - lowest))


@lru_cache(maxsize=256)
def _form(metric: Metric) -> Factor:
    """Which sum over items a metric is, found by trying."""
    random = np.random.default_rng(0)
    sizes, pool = np.repeat([2, 3, 5], 20), random.integers(5, 60, size=60)
    above = random.integers(0, np.repeat(pool, sizes) + 1)
    start = np.concatenate([[0], np.cumsum(sizes)])
    ranks = Ranks(start=start, above=above, tied=np.zeros(len(above)), pool=pool)
    exact = metric(ranks)
    for factor in FORMS:
        sums = ranks.per_case(
            factor(ranks.before) * at(metric, above + ranks.before + 1, np.repeat(pool, sizes) + int(sizes.max()))
        )
        if np.allclose(_scaled(metric, ranks, pool, factor, sums), exact, rtol=1e-9, atol=1e-9):
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

    def __call__(self, ranks: Ranks, k: CutOff = None) -> Floats:
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

        def value(part: Slots) -> Floats:
            size = full[part.case]
            found = np.empty(len(size))
            everything = whole[part.case]
            position = (part.above + part.before + 1)[everything]
            found[everything] = at(self.metric, position, size[everything] + 1 + deepest)
            for m, look in kinds.items():
                rows = ~everything & (ranks.pool[part.case] == m)
                found[rows] = look(size[rows], part.before[rows], part.above[rows])
            return found

        found = by_items(self.metric, ranks, full, value)
        if np.isnan(found).any():
            raise DataError(
                f"{self.metric}, {self.method}: case {int(np.isnan(found).argmax())} has a sampled rank to which "
                "the prior gives no chance; use a prior with some weight on every rank."
            )
        return found

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
        return f"{self.metric} from {ranks.about.sampled or int(ranks.pool.max(initial=0))}, {self.method}"

    def notes(self, ranks: Ranks) -> tuple[str, ...]:
        """What to keep in mind when reading these numbers."""
        title = self.title(ranks)
        prior = getattr(self.method, "prior", None)
        found = [f"{title}: corrected for sampling, nearer to the full ranking's value but not free of bias"]
        if not isinstance(self.method, RankEstimate):
            found.append(f"{title}: for {'exact ranks all equally likely' if prior is None else 'the prior given'}")
        if ranks.sizes.max(initial=1) > 1:
            found.append(f"{title}: relevant items of a case are corrected one by one, as if sampled independently")
        return tuple(found)


def corrected(
    metric: Metric, method: Method, *, full: int | ArrayLike | None = None, replace: bool | None = None
) -> Metric:
    """The metric for sampled ranks, corrected towards its value on the full ranking (S1 section 5).

    >>> from fullrank.metrics import recall
    >>> sampled = Ranks(start=[0, 1, 2], above=[0, 4], tied=[0, 0], pool=[100, 100], full=[3700, 3500])
    >>> metric = corrected(recall @ 10, bias_variance(0.1))
    >>> str(metric), metric(sampled).round(3)
    ('recall@10, bv 0.1', array([0.553, 0.035]))
    """
    function = Correction(metric, method, replace, full)
    return Metric(f"{metric}, {method}", function, None, metric.ubm, "", metric.best, metric.worst)
