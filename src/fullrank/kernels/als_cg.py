"""Rows of one factor matrix for a fixed other one, nearer by some steps of conjugate gradients.

The equation and its legend are those of `fullrank.kernels.als`: [diag(base) + sum_j d_j q_j q_j'] x = sum_j c_j q_j.
In the eigenbasis of the other side's Gram matrix its diagonal is a good preconditioner: three steps a sweep do what
exact solves do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.als import gather_pairs
from fullrank.runtime.compiling import summing_kernel

Array = NDArray[Any]


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
        gather_pairs(first, n, index, value, weight, terms, other, b, d, c)
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
