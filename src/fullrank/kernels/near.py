"""How near scores are to canonical ones; apart from the kernels, so that naming it compiles nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

Array = NDArray[Any]


class Near(NamedTuple):
    """What turns a block of products s by BLAS into canonical scores.

        |s_uj - <p_u, q_j>| <= tau_u reach_j + slack_u,   in whatever order s was added up

    and scores further apart than that stay apart when the offset of u is added. Without items (0 rows), s are the
    canonical scores themselves, and all the rest is 0.
    """

    vectors: Array  # (rows, factors): p
    items: Array  # (items, factors): q
    reach: Array  # (items,): |q|, in the type of s
    tau: Array  # (rows,), in the type of s
    slack: Array  # (rows,)
    offset: Array  # (rows,)
    furthest: float  # the largest reach
    unit: float  # what rounding to the type of s may add, relative
