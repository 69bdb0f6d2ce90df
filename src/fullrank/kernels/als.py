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

from fullrank.kernels.compiling import summing_kernel

Array = NDArray[Any]

FEW, MANY = 120, 1024  # pairs of a row in one product: with few factors, BLAS has a faster kernel for few
SMALL = 64


@summing_kernel
def _gather(
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


@summing_kernel
def _cholesky(a: Array) -> None:
    """The lower triangle of a = L L' in place: four rows and two columns at a time, which share what they load."""
    n = a.shape[0]
    for j in range(0, n, 4):
        four = j + 4 <= n
        for i in range(0, j if four else 0, 2):
            s0, s1, s2, s3 = a[j, i], a[j + 1, i], a[j + 2, i], a[j + 3, i]
            u0, u1, u2, u3 = a[j, i + 1], a[j + 1, i + 1], a[j + 2, i + 1], a[j + 3, i + 1]
            for k in range(i):
                y, z = a[i, k], a[i + 1, k]
                x0, x1, x2, x3 = a[j, k], a[j + 1, k], a[j + 2, k], a[j + 3, k]
                s0 -= x0 * y
                s1 -= x1 * y
                s2 -= x2 * y
                s3 -= x3 * y
                u0 -= x0 * z
                u1 -= x1 * z
                u2 -= x2 * z
                u3 -= x3 * z
            one, two, below = 1 / a[i, i], 1 / a[i + 1, i + 1], a[i + 1, i]
            s0, s1, s2, s3 = s0 * one, s1 * one, s2 * one, s3 * one
            a[j, i], a[j + 1, i], a[j + 2, i], a[j + 3, i] = s0, s1, s2, s3
            a[j, i + 1], a[j + 1, i + 1] = (u0 - s0 * below) * two, (u1 - s1 * below) * two
            a[j + 2, i + 1], a[j + 3, i + 1] = (u2 - s2 * below) * two, (u3 - s3 * below) * two
        for r in range(j, min(j + 4, n)):
            for i in range(j if four else 0, r + 1):
                s = a[r, i]
                for k in range(i):
                    s -= a[r, k] * a[i, k]
                a[r, i] = s / a[i, i] if i < r else np.sqrt(max(s, a.dtype.type(1e-30)))


@summing_kernel
def _solve(a: Array, x: Array) -> None:
    """a^-1 x into x, for a symmetric positive definite `a` that is overwritten."""
    _cholesky(a)
    _substitute(a, x)


@summing_kernel
def _substitute(a: Array, x: Array) -> None:
    """(L L')^-1 x into x, for L in the lower triangle of `a`."""
    n = a.shape[0]
    for j in range(n):
        s = x[j]
        for k in range(j):
            s -= a[j, k] * x[k]
        x[j] = s / a[j, j]
    for j in range(n - 1, -1, -1):
        x[j] /= a[j, j]
        s = x[j]
        for k in range(j):
            x[k] -= a[j, k] * s


@summing_kernel
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
        _gather(begin, m, index, value, weight, terms, other, b, d, c)
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
        if n < f and _gather(first, n, index, value, weight, terms, other, b, d, c):
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
            _solve(small, c[:n])
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
            _solve(matrix, x)
        total = 0.0
        for a in range(f):
            total -= rhs[a] * x[a]
        loss[i] = total


@summing_kernel
def step_rows(
    start: Array, index: Array, value: Array, weight: Array, terms: Array, eigen: Array, ridge: Array,
    other: Array, out: Array, loss: Array, low: int, high: int, steps: int,
) -> None:  # fmt: skip
    """Some steps of conjugate gradients from where `out` is, preconditioned by the diagonal; four pairs at a time.

    A step lowers x'Ax - 2 b'x by alpha r'z, so that its value comes for free.
    """
    f = other.shape[1]
    longest = 0
    for i in range(low, high):
        longest = max(longest, start[i + 1] - start[i])
    b = np.empty((longest + 3, f), dtype=other.dtype)
    d, c = np.empty(longest + 3, dtype=other.dtype), np.empty(longest + 3, dtype=other.dtype)
    base, inverse = np.empty(f, dtype=other.dtype), np.empty(f, dtype=other.dtype)
    r, p, ap = np.empty(f, dtype=other.dtype), np.empty(f, dtype=other.dtype), np.empty(f, dtype=other.dtype)
    zero = other.dtype.type(0)
    for i in range(low, high):
        first, n = start[i], start[i + 1] - start[i]
        x = out[i]
        if n == 0:
            x[:] = 0
            loss[i] = 0
            continue
        _gather(first, n, index, value, weight, terms, other, b, d, c)
        for k in range(n, n + 3):  # rows of nothing, so that four at a time fit
            d[k], c[k] = 0, 0
            b[k, :] = 0
        for a in range(f):
            base[a] = max(terms[0] * eigen[a] + ridge[i], other.dtype.type(1e-12))
            p[a], r[a], inverse[a] = x[a], zero, base[a]
        gain = 0.0  # b'x
        for k in range(0, n, 4):
            s0, s1, s2, s3 = zero, zero, zero, zero
            for a in range(f):
                s0 += b[k, a] * p[a]
                s1 += b[k + 1, a] * p[a]
                s2 += b[k + 2, a] * p[a]
                s3 += b[k + 3, a] * p[a]
            d0, d1, d2, d3 = d[k], d[k + 1], d[k + 2], d[k + 3]
            gain += c[k] * s0 + c[k + 1] * s1 + c[k + 2] * s2 + c[k + 3] * s3
            s0, s1, s2, s3 = c[k] - d0 * s0, c[k + 1] - d1 * s1, c[k + 2] - d2 * s2, c[k + 3] - d3 * s3
            for a in range(f):
                y0, y1, y2, y3 = b[k, a], b[k + 1, a], b[k + 2, a], b[k + 3, a]
                r[a] += s0 * y0 + s1 * y1 + s2 * y2 + s3 * y3
                inverse[a] += d0 * y0 * y0 + d1 * y1 * y1 + d2 * y2 * y2 + d3 * y3 * y3
        rz, xr = zero, zero
        for a in range(f):
            r[a] -= base[a] * p[a]
            xr += p[a] * r[a]
            inverse[a] = 1 / inverse[a]
            p[a] = r[a] * inverse[a]
            rz += r[a] * p[a]
        value_now = -gain - xr
        for _ in range(steps):
            if not rz > 1e-20:
                break
            for a in range(f):
                ap[a] = base[a] * p[a]
            for k in range(0, n, 4):
                s0, s1, s2, s3 = zero, zero, zero, zero
                for a in range(f):
                    s0 += b[k, a] * p[a]
                    s1 += b[k + 1, a] * p[a]
                    s2 += b[k + 2, a] * p[a]
                    s3 += b[k + 3, a] * p[a]
                s0, s1, s2, s3 = s0 * d[k], s1 * d[k + 1], s2 * d[k + 2], s3 * d[k + 3]
                for a in range(f):
                    ap[a] += s0 * b[k, a] + s1 * b[k + 1, a] + s2 * b[k + 2, a] + s3 * b[k + 3, a]
            pap = zero
            for a in range(f):
                pap += p[a] * ap[a]
            alpha = rz / pap
            value_now -= alpha * rz
            new = zero
            for a in range(f):
                x[a] += alpha * p[a]
                r[a] -= alpha * ap[a]
                new += r[a] * r[a] * inverse[a]
            beta = new / rz
            rz = new
            for a in range(f):
                p[a] = r[a] * inverse[a] + beta * p[a]
        loss[i] = value_now
