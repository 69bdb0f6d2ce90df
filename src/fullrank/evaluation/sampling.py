"""What sampling candidates does to ranks and metrics, in closed form (Krichene and Rendle 2020, section 4).

Sections and equations are those of that paper.

Of the n-1 irrelevant candidates of a relevant item at rank r, r-1 are above it. Of m drawn uniformly, the number
above it is binomial (drawn with replacement) or hypergeometric (without), and the sampled rank is one more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import Doubles, Ints, frozen
from fullrank.errors import ParameterError, check, check_integer
from fullrank.metrics.metric import CutOff, Metric
from fullrank.metrics.relevance import ap, hit_rate, recall, rr
from fullrank.ranks import Ranks

Prior: TypeAlias = Callable[[Ints, int], ArrayLike]  # weights of the exact ranks given, among n

BLOCK = 1 << 18  # ranks, or cells of a distribution, worked on at once
DEGREE = 16  # polynomials per panel: probabilities are then right to some 1e-13
SHORT = 64  # panels up to this length are taken rank by rank
LONGEST = 1 << 16
UNHEARD = 1e-10  # sampled ranks less probable than this under the prior are not corrected


def at(metric: Metric, rank: ArrayLike, n: ArrayLike) -> Doubles:
    """The metric of cases with one relevant item, at `rank` among n candidates; the two broadcast.

    >>> at(rr, [1, 2, 4], 10)
    array([1.  , 0.5 , 0.25])
    """
    rank, n = np.broadcast_arrays(np.asarray(rank, dtype=np.int64), np.asarray(n, dtype=np.int64))
    ranks, sizes = rank.reshape(-1), n.reshape(-1)
    measured = np.empty(rank.size)
    for low in range(0, rank.size, BLOCK):
        part = slice(low, low + BLOCK)
        measured[part] = _alone(metric, ranks[part] - 1, sizes[part] - 1)
    return measured.reshape(rank.shape)


def values(metric: Metric, n: int) -> Doubles:
    """M(1..n): the metric as a function of the rank of a single relevant item among n candidates (Eq. 7-13)."""
    check_integer("n", n, 1)
    measured = np.empty(n)
    for low in range(0, n, BLOCK):
        above = np.arange(low, min(low + BLOCK, n))
        measured[low : low + BLOCK] = _alone(metric, above, np.full(len(above), n - 1))
    return measured


def _alone(metric: Metric, above: Ints, pool: Ints) -> Doubles:
    none = np.zeros(len(above), dtype=np.int64)
    return metric(Ranks(start=np.arange(len(above) + 1), above=above, tied=none, pool=pool, relevant_above=none))


def rank_distribution(n: int, m: int, replace: bool = False, ranks: ArrayLike | None = None) -> Doubles:
    """p(sampled rank i | exact rank r) for i = 1..m+1, a row per exact rank: all of 1..n unless given (section 4.3).

    >>> rank_distribution(5, 2, replace=True, ranks=[1, 2, 5])
    array([[1.    , 0.    , 0.    ],
           [0.5625, 0.375 , 0.0625],
           [0.    , 0.    , 1.    ]])
    """
    _check_sizes(n, m, replace)
    rank = np.arange(1, n + 1) if ranks is None else _checked_ranks(ranks, n)
    return count_distribution(rank - 1, np.full(len(rank), n - 1), m, replace)


def count_distribution(above: ArrayLike, pool: ArrayLike, m: int, replace: bool = False) -> Doubles:
    """p(j of m drawn are above) for j = 0..m, where `above` of `pool` are; a row per pair.

    From ratios of neighbours, summed in logarithms and normalised, so that no factorial is ever taken:

        p(j+1)/p(j) = (m-j)/(j+1) x above/below,     or  (m-j)/(j+1) x (above-j)/(below-m+j+1)  without replacement
    """
    high = np.asarray(above, dtype=np.float64)[:, None]
    low = np.asarray(pool, dtype=np.float64)[:, None] - high
    step = np.arange(m, dtype=np.float64)
    if replace:
        first, last = np.where(low == 0, m, 0), np.where(high == 0, 0, m)
        odds = high / np.maximum(low, 1) + 0 * step
    else:
        first, last = np.maximum(m - low, 0), np.minimum(high, m)
        odds = (high - step) / np.maximum(low - m + step + 1, 1)
    inside = (step >= first) & (step < last)
    odds = np.log(np.where(inside, odds * ((m - step) / (step + 1)), 1.0))
    chance = np.concatenate([np.zeros_like(high), np.cumsum(odds, axis=1)], axis=1)
    place = np.arange(m + 1)
    chance[(place < first) | (place > last)] = -np.inf
    chance = np.exp(chance - chance.max(axis=1, keepdims=True))
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


def expected(metric: Metric, m: int, n: int, ranks: ArrayLike | None = None, replace: bool = False) -> Doubles:
    """E[M(sampled rank)] at every exact rank 1..n, or at those given (Eq. 16).

    Closed forms where they are simple (AUC; with replacement recall and reciprocal rank), else the sum over the
    m+1 sampled ranks. Such a sum is smooth in the exact rank, whatever the metric: where all of 1..n are asked
    for, it is taken at a few ranks of each panel and interpolated between them (to 1e-12).
    """
    _check_sizes(n, m, replace)
    closed = _closed_form(metric, replace)
    if closed is not None:
        rank = np.arange(1, n + 1) if ranks is None else _checked_ranks(ranks, n)
        return closed(rank, m, n, metric.k)
    table = values(metric, m + 1)
    if ranks is not None:
        return _sum_over_samples(table, _checked_ranks(ranks, n), n, replace)
    means = np.empty(n)
    for low, high in panels(n, m, replace):
        if high - low <= SHORT:
            means[low:high] = _sum_over_samples(table, np.arange(low + 1, high + 1), n, replace)
        else:
            nodes, basis = polynomials(high - low)
            at_nodes = _sum_over_samples(table, low + nodes + 1, n, replace)
            means[low:high] = basis @ np.linalg.solve(basis[nodes], at_nodes)
    return means


def panels(n: int, m: int, replace: bool = False) -> Iterator[tuple[int, int]]:
    """Ranges low..high-1 of candidates above, in each of which the distribution is nearly a polynomial of them.

    The share above, on the scale arcsin sqrt, is measured with a standard deviation of 1/(2 sqrt m) wherever
    it is (times that of drawing without replacement): panels are two of these wide.
    """
    left = 1.0 if replace else (n - 1 - m) / max(n - 2, 1)
    width = np.sqrt(max(left, 0.0) / max(m, 1))
    count = int(min(np.ceil(np.pi / 2 / max(width, 1e-9)), n))
    edges = np.rint(n * np.sin(np.linspace(0, np.pi / 2, count + 1)) ** 2).astype(np.int64)
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        for begin in range(low, high, LONGEST):
            yield begin, min(begin + LONGEST, high)


@lru_cache(maxsize=8)
def polynomials(length: int) -> tuple[Ints, Doubles]:
    """Nodes in a panel, and the Legendre polynomials up to DEGREE-1 on all of it."""
    chebyshev = np.cos(np.pi * (np.arange(DEGREE) + 0.5) / DEGREE)
    nodes = np.rint((chebyshev + 1) / 2 * (length - 1)).astype(np.int64)
    basis = np.polynomial.legendre.legvander(np.linspace(-1.0, 1.0, length), DEGREE - 1)
    return frozen(nodes), frozen(np.asarray(basis, dtype=np.float64))


class Part(NamedTuple):
    """A panel of exact ranks, in the orthonormal basis of its polynomials; rank by rank where that is None."""

    low: int
    high: int
    basis: Doubles | None  # (polynomials kept, DEGREE)


@dataclass(frozen=True, eq=False)
class Channel:
    """What m sampled candidates tell about ranks 1..n, for a prior p(r) over these (Eq. 23, corrected).

        A[r, s] = sqrt(p(r)) p(s|r),     reach[s] = sum_r p(r) p(s|r)

    A has n rows; on a panel its columns are polynomials, so that its projections on their orthonormal basis
    lose nothing: `rows` has some hundreds of rows, for any n, prior and metric.
    """

    n: int
    m: int
    prior: Prior | None
    parts: tuple[Part, ...]
    rows: Doubles  # (projections, m+1)

    def project(self, targets: Doubles, shifts: tuple[int, ...] = (0,)) -> Doubles:
        """b[r] = sqrt(p(r)) targets[r + shift] in the basis of `rows`, a column per shift."""
        projections = []
        for low, high, basis in self.parts:
            weight = self._weight(low, high)
            some = np.column_stack([targets[low + shift : high + shift] for shift in shifts])
            if basis is None:
                projections.append(np.sqrt(weight)[:, None] * some)
            else:
                projections.append(basis @ (polynomials(high - low)[1].T @ (weight[:, None] * some)))
        return np.concatenate(projections)

    def _weight(self, low: int, high: int) -> Doubles:
        return _weights(self.prior, low, high, self.n) / self.mass

    @cached_property
    def mass(self) -> float:
        """The sum of the prior's weights."""
        blocks = range(0, self.n, BLOCK)
        return float(sum(_weights(self.prior, low, min(low + BLOCK, self.n), self.n).sum() for low in blocks))

    @cached_property
    def reach(self) -> Doubles:
        """The probability of every sampled rank."""
        return np.asarray(self.project(np.broadcast_to(1.0, (self.n,)))[:, 0] @ self.rows)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Sampled ranks that the prior gives a chance."""
        return np.asarray(self.reach > UNHEARD)

    @cached_property
    def svd(self) -> tuple[Doubles, Doubles, Doubles]:
        """Of A diag(reach)^-1/2 over the known sampled ranks: singular values in [0, 1], the first is 1."""
        u, s, v = np.linalg.svd(self.rows[:, self.known] / np.sqrt(self.reach[self.known]), full_matrices=False)
        return u, s, v


@lru_cache(maxsize=32)
def channel(n: int, m: int, replace: bool = False, prior: Prior | None = None) -> Channel:
    """The channel of m candidates sampled from n-1; kept, since it serves all metrics and methods."""
    _check_sizes(n, m, replace)
    bare = Channel(n, m, prior, (), np.empty((0, m + 1)))
    parts, rows = [], []
    for low, high in panels(n, m, replace):
        weight = bare._weight(low, high)
        if not weight.any():
            continue
        if high - low <= SHORT:
            basis, block = None, np.sqrt(weight)[:, None] * rank_distribution(n, m, replace, np.arange(low, high) + 1)
        else:
            nodes, polynomial = polynomials(high - low)
            scale, turn = _spread(high - low, None if prior is None else weight)
            scale = scale * np.sqrt(weight[0]) if prior is None else scale
            chances = rank_distribution(n, m, replace, low + nodes + 1)
            basis, block = turn / scale, scale * (turn @ np.linalg.solve(polynomial[nodes], chances))
        parts.append(Part(low, high, basis))
        rows.append(block)
    return Channel(n, m, prior, tuple(parts), np.concatenate(rows))


def _spread(length: int, weight: Doubles | None) -> tuple[Doubles, Doubles]:
    """S and Y' of sqrt(W) V = Q S Y', for polynomials V and W = diag(weight).

    The columns of Q are the orthonormal basis of a panel: Q'A = S Y'C where A = sqrt(W) V C, and Q'b = S^-1 Y'V'W M.
    """
    if weight is None:
        return _even_spread(length)
    _, s, y = np.linalg.svd(np.linalg.qr(np.sqrt(weight)[:, None] * polynomials(length)[1], mode="r"))
    kept = s > 1e-13 * s[0]
    return s[kept, None], y[kept]


@lru_cache(maxsize=64)
def _even_spread(length: int) -> tuple[Doubles, Doubles]:
    return _spread(length, np.ones(length))


def _weights(prior: Prior | None, low: int, high: int, n: int) -> Doubles:
    """The prior's weights of ranks low+1 .. high."""
    if prior is None:
        return np.ones(high - low)
    weights = np.broadcast_to(np.asarray(prior(np.arange(low + 1, high + 1), n), dtype=np.float64), (high - low,))
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError(f"The 'prior' must give finite weights >= 0; it does not for ranks {low + 1} to {high}.")
    return weights


def _sum_over_samples(table: Doubles, rank: Ints, n: int, replace: bool) -> Doubles:
    """Sum over sampled ranks of their probability times their value, in blocks of exact ranks."""
    m = len(table) - 1
    rows = max(1, BLOCK // (m + 1))
    parts = [rank[low : low + rows] for low in range(0, len(rank), rows)]
    sums = [count_distribution(part - 1, np.full(len(part), n - 1), m, replace) @ table for part in parts]
    return np.concatenate(sums) if sums else np.empty(0)


def _closed_form(metric: Metric, replace: bool) -> Callable[[Ints, int, int, CutOff], Doubles] | None:
    """The closed form of the expectation, if there is one that beats the sum."""
    if metric.survives_sampling:
        return lambda rank, m, n, k: _expected_linear(metric, rank, m, n)
    if replace and metric.function in (recall.function, hit_rate.function):
        return _expected_recall
    if replace and metric.function in (ap.function, rr.function) and metric.k is None:
        return _expected_reciprocal
    return None


def _expected_linear(metric: Metric, rank: Ints, m: int, n: int) -> Doubles:
    """AUC is unbiased, however candidates are drawn (section 4.4.1); so is, once estimated, what is linear in the rank.

    Mean rank, ATOP and mean percentile are estimates of what they are among all n.
    """
    return at(metric, rank, n) if m > 0 else np.full(len(rank), values(metric, 1)[0])


def _expected_recall(rank: Ints, m: int, n: int, k: CutOff) -> Doubles:
    """The binomial distribution function at k-1 (Eq. 18)."""
    from scipy.special import bdtr

    if k is None or k > m:
        return np.ones(len(rank))
    return np.asarray(bdtr(k - 1, m, (rank - 1) / (n - 1)), dtype=np.float64)


def _expected_reciprocal(rank: Ints, m: int, n: int, k: CutOff) -> Doubles:
    """E[1/sampled rank] = (1 - AUC^(m+1)) (n-1) / ((r-1)(m+1)), and 1 at r = 1 (Eq. 19)."""
    share = (rank - 1) / max(n - 1, 1)
    with np.errstate(divide="ignore"):  # log 0: nothing is below the last rank
        total = -np.expm1((m + 1) * np.log1p(-share))
    return np.asarray(np.divide(total, share * (m + 1), out=np.ones(len(rank)), where=share > 0))


def _checked_ranks(ranks: ArrayLike, n: int) -> Ints:
    rank = np.asarray(ranks, dtype=np.int64)
    inside = (rank >= 1) & (rank <= n)
    check("ranks", rank[~inside].tolist() if not inside.all() else ranks, bool(inside.all()), f"from 1 to n={n}")
    return rank


def _check_sizes(n: int, m: int, replace: bool) -> None:
    check_integer("n", n, 1)
    check_integer("m", m, 0)
    at_most = "0 where there is nothing to draw" if n == 1 else f"at most n-1 = {n - 1} without replacement"
    check("m", m, m < n or (replace and n > 1), at_most)
