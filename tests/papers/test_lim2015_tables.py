"""Tables of Lim et al. 2015 on MovieLens 100K; `fullrank reproduce lim2015` has them on three larger data sets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import fullrank
from fullrank import MFADG, MFAUC, Split
from fullrank.reproduction.papers.lim2015.protocol import measure_part


def means(recipe: Any, splits: list[Split], part: str) -> dict[str, float]:
    results = [measure_part(recipe.fit(split.train, seed=seed), split, part) for seed, split in enumerate(splits)]
    return {name: float(np.mean([one[name] for one in results])) for name in results[0]}


def test_measures_of_missing_data(shared_data: Path) -> None:
    """Table 2, where validation has half as many relevant items as the test, and most of Table 1."""
    data = fullrank.sources.load(shared_data / "ml-100k").data.relevant(4)
    splits = list(fullrank.repetitions(partial(fullrank.holdout, data, 0.2, valid=0.1), 4))
    toward_adg = MFADG(epochs=15)
    valid, test = (means(toward_adg, splits, part) for part in ("valid", "held_out"))
    change = {name: valid[name] / test[name] - 1 for name in test}
    assert abs(change["atop"]) < 0.025, change
    assert abs(change["adg"]) < 0.025, change
    assert abs(change["recall@10"]) < 0.1, change
    assert change["ap"] < -0.15, change
    assert change["ndcg"] < -0.15, change
    gain, area = means(toward_adg, splits[:2], "held_out"), means(MFAUC(epochs=15), splits[:2], "held_out")
    assert gain["adg"] > area["adg"]
    assert gain["ap"] > area["ap"]
