"""Ranks, dense matrices and metrics that the tests of sampling and its corrections share."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.ranks import Ranks

approx = pytest.approx


# corrected metrics of ranks


def sampled_ranks(cases: int = 400, m: int = 50, seed: int = 0) -> Ranks:
    rng = np.random.default_rng(seed)
    full = rng.integers(900, 2500, size=cases)
    above = rng.integers(0, m + 1, size=cases)
    tied = rng.integers(0, m + 1 - above)
    return Ranks(np.arange(cases + 1), above, tied, np.full(cases, m), full=full)
