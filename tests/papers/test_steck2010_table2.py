"""Steck 2010, Table 2 on MovieLens 1M, what always runs of it; `fullrank reproduce steck2010-table2` has all rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullrank import AllRank
from fullrank.reproduction.papers.steck2010.protocol import MOVIELENS, measure
from fullrank.reproduction.workspace import Workspace


def test_the_two_ends_of_the_table(shared_data: Path) -> None:
    """The row that matters, and the one it is compared with: AllRank has the worse RMSE and the better ATOP."""
    workspace = Workspace(shared_data)
    best = measure(workspace, MOVIELENS, AllRank(missing_weight=0.05, missing_value=2, reg=0.05))
    assert best["test"] == pytest.approx(0.933, abs=0.005)
    assert best["rmse"] == pytest.approx(1.218, abs=0.02)
    worse = measure(workspace, MOVIELENS, AllRank(missing_weight=0, missing_value=2, reg=0.06))
    assert worse["test"] <= 0.88
    assert worse["rmse"] < 0.92 < best["rmse"]
