"""What lists of recommendations look like, whoever likes them: coverage, novelty, diversity, popularity.

Lists are an array (cases, n) of item codes, best first; a short list ends in -1. An item twice in a list is
an error. Measures of a list give one float64 per case, NaN for a list that has too few items for it;
measures of all lists together give one number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import Codes, Doubles, Ints, row_blocks
from fullrank.data.describe import gini
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check
from fullrank.metrics.elementary import log2

Similarity: TypeAlias = Callable[[Codes, Codes], ArrayLike]  # of the items one[i] and other[i], for each i

BLOCK = 1 << 22  # numbers gathered at a time


def counts_of_lists(lists: ArrayLike, n_items: int) -> Ints:
    """How many lists recommend each item."""
    codes = checked_lists(lists, n_items)
    return np.bincount(codes[codes >= 0], minlength=n_items)


def coverage(lists: ArrayLike, n_items: int) -> float:
    """Catalogue coverage: distinct items recommended to anybody / items of the catalogue. Range 0 to 1 (all).

    >>> coverage([[0, 1], [1, 2], [1, -1]], n_items=4)
    0.75
    """
    check("n_items", n_items, n_items > 0, "an integer >= 1")
    return float((counts_of_lists(lists, n_items) > 0).mean())


def exposure_gini(lists: ArrayLike, n_items: int) -> float:
    """Gini coefficient of how often each item of the catalogue is recommended.

        sum_i (2i - n - 1) x_i / (n sum x),   x the counts, ascending

    Range 0 (all equally often) to 1 - 1/n (one item only).

    >>> exposure_gini([[0], [0], [0]], n_items=4)
    0.75
    """
    counts = counts_of_lists(lists, n_items)
    if not counts.any():
        raise DataError("the lists are all empty; recommend something first.")
    return gini(counts)


def personalisation(lists: ArrayLike, n_items: int) -> float:
    """How different people's lists are: 1 - the overlap of two lists, over all pairs of lists.

        1 - sum over pairs |A & B| / sum over pairs min(|A|, |B|)

    Range 0 (the same for everybody) to 1 (nothing in common). An item in c lists is shared by c(c-1)/2
    pairs, so that no pair of lists is looked at.

    >>> personalisation([[0, 1], [1, 2]], n_items=3)
    0.5
    """
    counts = counts_of_lists(lists, n_items)
    lengths = np.sort((np.asarray(lists) >= 0).sum(axis=1))  # ascending: the k-th is the shorter of n-1-k pairs
    possible = int((lengths * np.arange(len(lengths) - 1, -1, -1)).sum())
    if not possible:
        raise DataError("personalisation compares lists with each other; give at least two that are not empty.")
    return 1 - int((counts * (counts - 1) // 2).sum()) / possible


def popularity(train: Interactions) -> Ints:
    """Rows of each item of the catalogue."""
    return train.popularity


def novelty(lists: ArrayLike, popularity: ArrayLike, *, total: float | None = None) -> Doubles:
    """Mean self-information of a list's items, in bits.

        1/|L| sum_{i in L} -log2(popularity_i / total)

    `total` is the sum of popularity (share of all feedback) or, where given, for example the number of
    users (share of users). An item without feedback is taken as one with a single row. Range 0 to
    log2(total); NaN for an empty list.

    >>> novelty([[0, 1], [1, -1]], popularity=[2, 1, 1])
    array([1.5, 2. ])
    """
    counts = _popularity(popularity)
    most = counts.max(initial=0)
    if not most:
        raise DataError("no item has any feedback, so that none is more novel than another; give their popularity.")
    whole = counts.sum() if total is None else float(total)
    check("total", total, whole >= max(most, 1), f"at least the largest popularity, {most:g}")
    return _list_means(lists, log2(whole / np.maximum(counts, 1)))


def mean_popularity(lists: ArrayLike, popularity: ArrayLike) -> Doubles:
    """Average recommendation popularity, ARP.

        1/|L| sum_{i in L} popularity_i

    Range 0 to the largest popularity; NaN for an empty list.

    >>> mean_popularity([[0, 1], [1, -1]], popularity=[4, 1])
    array([2.5, 1. ])
    """
    return _list_means(lists, _popularity(popularity))


def popularity_lift(lists: ArrayLike, train: Interactions, user: ArrayLike) -> Doubles:
    """How much more popular a user's recommendations are than the items they chose themselves.

        (mean popularity of the list - mean popularity of the user's training items) / the latter

    Popularity counts the rows of `train`; `user` gives the user code of each list. Range -1 to infinity,
    0 without popularity bias; NaN for an empty list and for a user without training items.
    """
    counts, users = popularity(train), np.asarray(user)
    if users.shape != (len(np.asarray(lists)),) or users.dtype.kind not in "iu":
        raise DataError(f"expected one user code per list, got {users.dtype} of shape {users.shape}.")
    if len(users) and not (users.min() >= 0 and users.max() < train.n_users):
        raise DataError(f"user codes must be inside 0..{train.n_users - 1}.")
    sums = np.bincount(train.user, counts[train.item], minlength=train.n_users)
    rows = np.bincount(train.user, minlength=train.n_users)
    own = np.divide(sums, rows, out=np.full(train.n_users, np.nan), where=rows > 0)[users]
    lift: Doubles = (mean_popularity(lists, counts) - own) / own
    return lift


def long_tail(popularity: ArrayLike, *, head: float = 0.8) -> NDArray[np.bool_]:
    """Which items are in the long tail: all but the most popular ones that make up `head` of the feedback.

    The head is the fewest items that reach the share, and all that are as popular as the last of them.

    >>> long_tail([6, 2, 1, 1], head=0.5)
    array([False,  True,  True,  True])
    """
    check("head", head, 0 < head < 1, "a number between 0 and 1")
    counts = _popularity(popularity)
    falling = np.sort(counts)[::-1]
    reached = np.cumsum(falling) >= head * falling.sum() * (1 - 1e-12)  # a share that rounds up is reached all the same
    tail: NDArray[np.bool_] = counts < falling[int(reached.argmax())] if len(counts) else reached
    return tail


def long_tail_share(lists: ArrayLike, tail: ArrayLike) -> Doubles:
    """Share of a list's items in the long tail, APLT: |L & tail| / |L|. Range 0 to 1; NaN for an empty list.

    >>> long_tail_share([[0, 1], [2, -1]], long_tail([6, 2, 1, 1]))
    array([0., 1.])
    """
    marked = np.asarray(tail)
    if marked.ndim != 1 or marked.dtype != bool:
        raise DataError(f"the tail must be True or False for each item, got {marked.dtype} of shape {marked.shape}.")
    return _list_means(lists, marked.astype(np.float64))


def diversity(
    lists: ArrayLike, *, vectors: ArrayLike | None = None, similarity: ArrayLike | Similarity | None = None
) -> Doubles:
    """Intra-list diversity: the mean dissimilarity of a list's pairs of items.

        2/(|L|(|L|-1)) sum_{i<j in L} (1 - similarity(i, j))

    Similarity is the cosine of item `vectors` (items, features), a zero vector being like nothing; or a
    symmetric matrix (items, items), or a function of two arrays of codes. Range with cosines 0 (all alike)
    to 2; NaN for a list of fewer than two items.

    >>> diversity([[0, 1], [0, 2]], vectors=[[1, 0], [2, 0], [0, 5]])
    array([0., 1.])
    """
    if (vectors is None) == (similarity is None):
        raise DataError("diversity needs either item vectors or a similarity.")
    if vectors is not None:
        return _cosine_diversity(lists, _matrix(vectors, "vectors"))
    if callable(similarity):
        return _pair_diversity(checked_lists(lists), similarity)
    matrix = _matrix(similarity, "similarity")
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"a similarity matrix has a row and a column for each item, got shape {matrix.shape}.")
    return _pair_diversity(checked_lists(lists, len(matrix)), lambda one, other: matrix[one, other])


def checked_lists(lists: ArrayLike, n_items: int | None = None) -> Codes:
    """Lists as codes (cases, n), or an error that names the case."""
    codes = np.asarray(lists)
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise DataError(f"lists must be item codes of shape (cases, n), got {codes.dtype} of shape {codes.shape}.")
    inside = (codes >= -1) & (codes < (2**31 - 1 if n_items is None else n_items))
    if not inside.all():
        case, at = (int(index) for index in np.unravel_index(inside.argmin(), codes.shape))
        limit = "an item code" if n_items is None else f"a code inside 0..{n_items - 1}"
        raise DataError(f"list {case}: {codes[case, at]} is not {limit}; short lists end in -1.")
    gap = (codes[:, :-1] == -1) & (codes[:, 1:] != -1)
    if gap.any():
        raise DataError(f"list {int(gap.any(axis=1).argmax())} has -1 before an item; only the end is padded.")
    ordered = np.sort(codes, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        case = int(twice.any(axis=1).argmax())
        item = int(ordered[case, 1:][twice[case]][0])
        raise DataError(f"list {case} recommends item {item} twice; each item may be in a list once.")
    return codes.astype(np.int32, copy=False)


def _popularity(popularity: ArrayLike) -> Doubles:
    counts = np.asarray(popularity)
    if counts.ndim != 1 or counts.dtype.kind not in "fiu" or not (np.isfinite(counts) & (counts >= 0)).all():
        raise DataError("popularity must be one count of 0 or more for each item of the catalogue.")
    return counts.astype(np.float64)


def _matrix(values: Any, what: str) -> Doubles:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise DataError(f"{what} must be a matrix of finite numbers with a row for each item.")
    return matrix


def _list_means(lists: ArrayLike, values: Doubles) -> Doubles:
    """Mean value of each list's items."""
    codes = checked_lists(lists, len(values))
    lengths = (codes >= 0).sum(axis=1)
    sums = np.where(codes >= 0, np.append(values, 0.0)[codes], 0.0).sum(axis=1)
    means: Doubles = np.divide(sums, lengths, out=np.full(len(codes), np.nan), where=lengths > 0)
    return means


def _cosine_diversity(lists: ArrayLike, vectors: Doubles) -> Doubles:
    """From |sum of a list's unit vectors|^2, which adds up the cosines of all its ordered pairs."""
    codes = checked_lists(lists, len(vectors))
    norms = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    units = np.divide(vectors, norms, out=np.zeros(vectors.shape), where=norms > 0)
    units = np.append(units, np.zeros((1, units.shape[1])), axis=0)  # -1 is nothing
    cosines = np.empty(len(codes))
    for part in row_blocks(len(codes), max(1, BLOCK // max(codes.shape[1] * units.shape[1], 1))):
        block = units[codes[part]]  # (cases, n, features)
        cosines[part] = (block.sum(axis=1) ** 2).sum(axis=1) - (block**2).sum(axis=(1, 2))
    return _dissimilarity(codes, cosines / 2)


def _pair_diversity(codes: Codes, similarity: Similarity) -> Doubles:
    alike = np.zeros(len(codes))
    for at in range(codes.shape[1]):
        for other in range(at + 1, codes.shape[1]):
            both = np.flatnonzero(codes[:, other] >= 0)  # then the one before it is an item too
            values = np.asarray(similarity(codes[both, at], codes[both, other]), dtype=np.float64)
            if values.shape != both.shape or not np.isfinite(values).all():
                raise DataError("a similarity must give one finite number for each pair of items.")
            alike[both] += values
    return _dissimilarity(codes, alike)


def _dissimilarity(codes: Codes, alike: Doubles) -> Doubles:
    lengths = (codes >= 0).sum(axis=1)
    pairs = lengths * (lengths - 1) / 2
    means: Doubles = np.divide(pairs - alike, pairs, out=np.full(len(codes), np.nan), where=pairs > 0)
    return means
