"""A search that others are compared with."""

from __future__ import annotations

import pytest

from fullrank.models.least_squares.ials import IALS
from fullrank.tuning.tune import Tuned, tune
from tests.tuning.world import SMALL, SPLIT


@pytest.fixture(scope="module")
def whole() -> Tuned:
    return tune(IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1), SPLIT, trials=9, space=SMALL)
