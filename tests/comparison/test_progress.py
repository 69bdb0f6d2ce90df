"""How far a comparison is: every phase speaks, and no share falls."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import fullrank
from fullrank import AllRank, ItemCF
from fullrank.comparison.compare import compare
from fullrank.comparison.progress import MEASURED, PHASES, Steps
from tests.comparison.world import FEW, WORLD

WHAT = ("tuning", "fitting")
Calls = list[tuple[str, float]]


def collect(*given: Any, **options: Any) -> Calls:
    calls: Calls = []
    compare(*given, progress=lambda text, share: calls.append((text, share)), **options)
    return calls


def rises(calls: Calls) -> bool:
    return all(one <= two for (_, one), (_, two) in pairwise(calls)) and calls[-1][1] == pytest.approx(1.0)


def test_every_phase_speaks_and_no_share_falls() -> None:
    calls = collect(WORLD.data, FEW, split="holdout:0.3", truth=WORLD.everything, sampled=20)
    texts = [text for text, _ in calls]
    assert rises(calls)
    for name in FEW:
        for what in ("fitting", "ranking, ", "looking at its lists", "done"):
            assert any(text.startswith(f"{name}: {what}") for text in texts), (name, what)
    assert "AllRank: fitting, 2 of 3" in texts
    assert "comparing: metrics of models, 3 of 3" in texts
    assert [t for t in texts if "pairs of" in t] == [f"comparing: {PHASES[1]} {i} of 6" for i in range(7)]
    assert [t for t in texts if "sampling" in t] == [f"comparing: {PHASES[2]} {i} of 60" for i in range(61)]
    assert texts[-1] == "comparing: intervals of models, 3 of 3"
    assert max(share for text, share in calls if not text.startswith("comparing")) == pytest.approx(MEASURED)
    assert len({share for _, share in calls}) > 60  # it moves


def test_tuning_comes_before_fitting() -> None:
    pytest.importorskip("optuna")
    recipes = {"AllRank": AllRank(factors=4, sweeps=3), "ItemCF": ItemCF()}
    calls = collect(WORLD.data, recipes, split="holdout:0.3", tune=2, sampled=20)
    assert rises(calls)
    texts = [text for text, _ in calls]
    tuning, fitting = (next(n for n, t in enumerate(texts) if f"AllRank: {what}, 2 of" in t) for what in WHAT)
    assert tuning < fitting
    assert calls[tuning][1] < calls[fitting][1]


def test_sessions_and_single_models_end_as_well() -> None:
    assert rises(collect(fullrank.simulate.sessions(30, 20, seed=1).data, ["Bestseller", "RSVD"]))
    assert rises(collect(WORLD.data, ["Bestseller"]))


def test_a_fit_that_begins_again_takes_nothing_back() -> None:
    shares: list[float] = []
    steps = Steps(["one", "two"], lambda text, share: shares.append(share))
    with steps.of("one"):
        steps.fitting(9, 10, 0.0)
        steps.fitting(1, 10, 0.0)
    assert shares == sorted(shares)
    assert shares[1] == shares[2] > 0
