"""Steck 2015, Table 1 on MovieLens 1M, and its batches; `fullrank reproduce steck2015-table1` has all rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import GaussianRank, Split
from fullrank.models.asymmetric import amf
from fullrank.reproduction.papers.steck2015.table1 import DATA, MEASURES, ROWS, split
from fullrank.reproduction.workspace import Workspace

HEAD, AUC = slice(0, 3), 5  # places among the measures


def measure(recipe: Any, parts: Split) -> Any:
    ranks = fullrank.rank(recipe.fit(parts.train), parts)
    return np.array(list(fullrank.evaluate(ranks, MEASURES).mean().values()))


def test_what_the_loss_decides(shared_data: Path) -> None:
    """A few epochs toward nDCG give more at the head and less AUC than toward AUC."""
    parts = split(Workspace(shared_data), DATA, 0)
    short = {"epochs": 8, "negatives": 1.0, "decay": 0.8}
    head = measure(GaussianRank(loss="ndcg", listwise=True, width=1.5, **short), parts)
    whole = measure(GaussianRank(listwise=True, **short), parts)
    assert (head[HEAD] > whole[HEAD] + 0.001).all()
    assert head[2] > 0.19
    assert head[AUC] < whole[AUC] - 0.03
    assert whole[AUC] > 0.935


@pytest.mark.papers
@pytest.mark.parametrize("row", ["AUC pointwise", "nDCG listwise"])
def test_batches_do_what_single_users_do(shared_data: Path, row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 1% of plain SGD, user after user, with as many updates."""
    parts = split(Workspace(shared_data), DATA, 0)
    recipe = replace(ROWS[row], negatives=1.0, epochs=20, decay=0.9)
    batches = measure(recipe, parts)
    monkeypatch.setattr(amf, "LARGEST", 1)
    assert batches[1:] == pytest.approx(measure(recipe, parts)[1:], rel=0.01)
