"""What every pair of a row adds to the product of the solved row with a vector: fold-in, taken apart.

    x = A^-1 sum_j c_j q_j,   A = w_m Q'Q + ridge I + sum_j d_j q_j q_j':    <x, t> = sum_j c_j <q_j, A^-1 t>

The row is a sum over its pairs, with weights that the same pairs give (Hu, Koren and Volinsky 2008, section 5); d and
c are those of `fullrank.kernels.als`.
"""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Array, Doubles
from fullrank.models.least_squares.als import Side, Terms
from fullrank.models.least_squares.rotation import Rotated

LEAST = 1e-12  # of the diagonal, as in `kernels.als.solve_rows`


def solved_parts(row: Side, terms: Terms, fixed: Rotated, target: Array) -> Doubles:
    """c_j <q_j, A^-1 target> of every pair of the one row, in float64; `target` is rotated as the fixed side is."""
    value, weight = row.value.astype(np.float64), row.weight.astype(np.float64) if len(row.weight) else 1.0
    d = terms.d0 + weight * (terms.d1 + terms.d2 * value)
    c = weight * (terms.c0 + terms.c1 * value)
    known = fixed.vectors[row.column].astype(np.float64)  # (pairs, factors)
    base = np.maximum(terms.missing * fixed.eigen.astype(np.float64) + float(row.ridge[0]), LEAST)
    solved = np.linalg.solve((known.T * d) @ known + np.diag(base), target.astype(np.float64))
    parts: Doubles = c * (known @ solved)
    return parts
