"""Symmetric positive definite systems of a few dozen unknowns, by Cholesky: a = L L'."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.runtime.compiling import summing_part

Array = NDArray[Any]


@summing_part
def factorise(a: Array) -> None:
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


@summing_part
def substitute(a: Array, x: Array) -> None:
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


@summing_part
def solve_definite(a: Array, x: Array) -> None:
    """a^-1 x into x, for a symmetric positive definite `a` that is overwritten."""
    factorise(a)
    substitute(a, x)
