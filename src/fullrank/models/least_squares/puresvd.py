"""PureSVD: missing pairs count as 0, and the closest matrix of low rank predicts (Cremonesi, Koren & Turrin 2010)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Csr, Floats, Lists, checked_codes, frozen, lists, row_blocks
from fullrank.data.interactions import Interactions
from fullrank.errors import check, check_integer
from fullrank.models.kinds.factors import Factors, FoldParts, SideName
from fullrank.models.kinds.linear import pair_scores
from fullrank.models.positives import Relevant, check_relevant, positive_pairs, positives
from fullrank.models.protocols import Recipe, need_feedback
from fullrank.runtime.threads import in_parallel, one_blas_thread

ROWS = 256  # multiplied at a time
BLOCK = 1 << 12  # rows of vectors in float64 at a time


@dataclass(frozen=True)
class PureSVD(Recipe[Interactions, Factors]):
    """The first right singular vectors Q of X, where what was not observed is 0; a user is x_u Q.

        X = U S Q'  (its `factors` largest singular values)        score(u, i) = <x_u Q, q_i>

    X is 1 where somebody took an item (`binary`), or holds the values; 1 where there are no values.
    Q is found by randomised block Krylov iteration (Musco & Musco 2015, Alg. 2): the best vectors in the space of
    X'X G, (X'X)^2 G, ... up to the power `sweeps`, where G is random and has half as many columns as Q and 8 more.
    On MovieLens 1M every singular value is then right to 3e-4. The largest component of each vector is positive.
    """

    #: Number of singular vectors, 1 to 4096, at most the number of users or items: more follow the data more closely.
    factors: int = 16
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None
    #: Whether whatever counts is 1; False: values count, as in feedback where more is better.
    binary: bool = True
    #: Powers of X'X, from 2: more are nearer to the singular vectors and take longer.
    sweeps: int = 8

    def __post_init__(self) -> None:
        check_integer("factors", self.factors, 1, 4096)
        check_integer("sweeps", self.sweeps, 2)
        check("binary", self.binary, isinstance(self.binary, bool), "True or False")
        check_relevant(self)

    def fit(self, train: Interactions, seed: int = 0) -> Factors:
        """Q, and x_u Q for every user; rows are independent and BLAS has one thread, so threads change no bit."""
        check_integer("seed", seed, 0)
        need_feedback(self, train)
        most = min(train.n_users, train.n_items)
        check("factors", self.factors, self.factors <= most, f"at most {most}, the number of users or items here")
        rows = positives(self, train)
        users, items = singular_vectors(rows, self.factors, self.sweeps, seed, binary=self.binary)
        return Factors(users, items, train, self)

    def vectors(self, fixed: Factors, against: SideName, pairs: Csr) -> Floats:
        """New users X are X Q, as known ones are; new items Y are Y P / S^2 where P = X Q: of least squares."""
        other = fixed.side(against)
        checked_codes(pairs.indices, len(other), against[:-1])
        rows = lists(positive_pairs(self.relevant, fixed.train, pairs, by="user" if against == "items" else "item"))
        image = _product(rows, self.binary, other)
        if against == "items":
            return image
        length2 = np.square(other, dtype=np.float64).sum(axis=0)
        return (image / np.where(length2 > 0, length2, np.inf)).astype(np.float32)

    def fold_parts(self, fixed: Factors, item: int, pairs: Csr) -> FoldParts:
        """x_uj <q_j, q_item>: what each of the pairs of somebody (one row, those that count) adds."""
        target = np.full(len(pairs.indices), item, dtype=np.int32)
        products = pair_scores(fixed.items, pairs.indices, fixed.items, target)
        return FoldParts(products * (1 if self.binary else pairs.data))


def singular_vectors(
    rows: Interactions, factors: int, sweeps: int, seed: int, *, binary: bool
) -> tuple[Floats, Floats]:
    """X Q and Q: nearly the first singular vectors of these pairs, more nearly with more sweeps."""
    width = min(factors // 2 + 8, rows.n_users, rows.n_items)
    by_user, by_item = lists(rows.by_user()), lists(rows.by_item())
    vectors = np.random.default_rng(seed).standard_normal((rows.n_items, width), dtype=np.float32)
    powers = []
    with one_blas_thread():
        for _ in range(sweeps):
            image = _orthonormal(_product(by_user, binary, vectors))  # (users, width)
            vectors = _orthonormal(_product(by_item, binary, image))  # (items, width)
            powers.append(vectors)
        space = _orthonormal(np.concatenate(powers, axis=1))  # (items, sweeps * width)
        items = _singular(_product(by_user, binary, space), space)[:, :factors]
    return _product(by_user, binary, items), items


def _product(rows: Lists, binary: bool, vectors: Floats) -> Floats:
    """A sparse matrix times vectors."""
    from fullrank.kernels.cooccurrence import add_dense

    n = len(rows[0]) - 1
    codes, given = frozen(np.arange(n, dtype=np.int32)), frozen(np.ascontiguousarray(vectors).view())
    out = np.empty((n, vectors.shape[1]), dtype=np.float32)

    def work(first: int) -> None:
        some = slice(first, first + ROWS)
        add_dense(codes[some], *rows, binary, given, out[some])

    in_parallel(work, range(0, n, ROWS))
    return out


def _orthonormal(vectors: Floats) -> Floats:
    """Orthonormal columns that span the same space: vectors R^-1, some rows at a time."""
    triangle = _triangle(vectors)
    sizes = np.abs(np.diag(triangle))
    if len(vectors) < vectors.shape[1] or sizes.min() <= 1e-10 * sizes.max():  # they span less than their number
        return np.linalg.qr(vectors.astype(np.float64))[0].astype(np.float32)
    return _times(vectors, np.asarray(np.linalg.inv(triangle), dtype=np.float64))


def _triangle(vectors: Floats) -> NDArray[np.float64]:
    """R of vectors = Q R, from the R of blocks of rows."""
    parts = [np.linalg.qr(vectors[some].astype(np.float64), mode="r") for some in row_blocks(len(vectors), BLOCK)]
    return np.asarray(np.linalg.qr(np.concatenate(parts), mode="r"))


def _times(vectors: Floats, matrix: NDArray[np.float64]) -> Floats:
    """vectors @ matrix in float64, some rows at a time."""
    out = np.empty((len(vectors), matrix.shape[1]), dtype=np.float32)
    for some in row_blocks(len(vectors), BLOCK):
        out[some] = vectors[some].astype(np.float64) @ matrix
    return out


def _singular(image: Floats, space: Floats) -> Floats:
    """Orthonormal columns turned so that their images under X (given) are orthogonal, the longest first."""
    _, _, turn = np.linalg.svd(_triangle(image))
    turned = _times(space, np.asarray(turn.T, dtype=np.float64))
    largest = np.abs(turned).argmax(axis=0)
    turned *= np.where(turned[largest, np.arange(turned.shape[1])] < 0, -1, 1).astype(np.float32)
    return turned
