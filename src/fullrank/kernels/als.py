"""Rows of one factor matrix for a fixed other one: weighted least squares over all pairs, observed or missing.

In the eigenbasis of the other side's Gram matrix, Q'Q = E diag(e) E', row i with observed pairs j in S_i solves

    [diag(base_i) + sum_j d_j q_j q_j'] x_i = sum_j c_j q_j,        base_i = w_m e + ridge_i

so that all missing pairs together cost f operations instead of f^2. Legend: f factors, n observed pairs of the row,
w_m weight of a missing pair, B the q_j gathered (n, f). An observed pair of weight w and target t has d = w - w_m and
c = w t; `terms` (w_m, d0, d1, d2, c0, c1) give them from its value v and its own weight g (1 where none is given):
d = d0 + g (d1 + d2 v), c = g (c0 + c1 v).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.cholesky import solve_definite
from fullrank.runtime.compiling import summing_kernel, summing_part

Array = NDArray[Any]

FEW, MANY = 120, 1024  # pairs of a row in one product: with few factors, BLAS has a faster kernel for few
SMALL = 64


@summing_part
def gather_pairs(
    first: int, n: int, index: Array, value: Array, weight: Array, terms: Array, other: Array,
    b: Array, d: Array, c: Array,
) -> bool:  # fmt: skip
    """Fill B, d and c for a row; whether all d are positive."""
    positive = True
    for k in range(n):
        v = value[first + k]
        g = weight[first + k] if weight.shape[0] > 0 else np.float32(1)
        d[k] = terms[1] + g * (terms[2] + terms[3] * v)
        c[k] = g * (terms[4] + terms[5] * v)
        positive &= d[k] > 0
        j = index[first + k]
        for a in range(other.shape[1]):
            b[k, a] = other[j, a]
    return positive


@summing_part
def _normal(
    first: int, n: int, index: Array, value: Array, weight: Array, terms: Array, other: Array,
    b: Array, scaled: Array, d: Array, c: Array, part: Array, matrix: Array, rhs: Array,
) -> None:  # fmt: skip
    """sum d q q' and sum c q of a row, as many of its pairs at a time as `b` holds."""
    f = other.shape[1]
    matrix[:] = 0
    rhs[:] = 0
    for begin in range(first, first + n, b.shape[0]):
        m = min(b.shape[0], first + n - begin)
        gather_pairs(begin, m, index, value, weight, terms, other, b, d, c)
        for k in range(m):
            for a in range(f):
                rhs[a] += c[k] * b[k, a]
                scaled[k, a] = d[k] * b[k, a]
        np.dot(b[:m].T, scaled[:m], part)
        for a in range(f):
            for z in range(f):
                matrix[a, z] += part[a, z]


@summing_kernel
def solve_rows(
    start: Array, index: Array, value: Array, weight: Array, terms: Array, eigen: Array, ridge: Array,
    other: Array, out: Array, loss: Array, low: int, high: int,
) -> None:  # fmt: skip
    """The minimum of rows low .. high-1 into `out`, and x'Ax - 2 b'x of each into `loss`.

    A row with fewer pairs than factors is solved in the space of its pairs, with D = diag(base), S = d^1/2 B D^-1/2:

        x = D^-1/2 S' (I + S S')^-1 d^-1/2 c
    """
    f = other.shape[1]
    pairs = FEW if f <= SMALL else MANY
    most = max(f, pairs)
    b, scaled = np.empty((most, f), dtype=other.dtype), np.empty((pairs, f), dtype=other.dtype)
    d, c = np.empty(most, dtype=other.dtype), np.empty(most, dtype=other.dtype)
    flat, part = np.empty(f * f, dtype=other.dtype), np.empty((f, f), dtype=other.dtype)
    base, rhs = np.empty(f, dtype=other.dtype), np.empty(f, dtype=other.dtype)
    for i in range(low, high):
        first, n = start[i], start[i + 1] - start[i]
        x = out[i]
        if n == 0:
            x[:] = 0
            loss[i] = 0
            continue
        for a in range(f):
            base[a] = max(terms[0] * eigen[a] + ridge[i], other.dtype.type(1e-12))
        if n < f and gather_pairs(first, n, index, value, weight, terms, other, b, d, c):
            for a in range(f):
                base[a] = 1 / np.sqrt(base[a])
                rhs[a] = 0
            for k in range(n):
                root = np.sqrt(d[k])
                for a in range(f):
                    rhs[a] += c[k] * b[k, a]
                    b[k, a] *= root * base[a]
                c[k] /= root
            small = flat[: n * n].reshape(n, n)
            np.dot(b[:n], b[:n].T, small)
            for k in range(n):
                small[k, k] += 1
            solve_definite(small, c[:n])
            x[:] = 0
            for k in range(n):
                for a in range(f):
                    x[a] += c[k] * b[k, a]
            for a in range(f):
                x[a] *= base[a]
        else:
            matrix = flat.reshape(f, f)
            _normal(first, n, index, value, weight, terms, other, b[:pairs], scaled, d, c, part, matrix, rhs)
            for a in range(f):
                matrix[a, a] += base[a]
                x[a] = rhs[a]
            solve_definite(matrix, x)
        total = 0.0
        for a in range(f):
            total -= rhs[a] * x[a]
        loss[i] = total
