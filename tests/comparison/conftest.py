from __future__ import annotations

import pytest

from fullrank.comparison.compare import compare
from fullrank.comparison.comparison import Comparison
from tests.comparison.world import FEW, WORLD


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(WORLD.data, FEW, split="holdout:0.3", truth=WORLD.everything, sampled=20)
