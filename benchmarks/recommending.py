"""Lists of 20 for 100,000 people to a parquet file: people a second, and where the time goes.

64 factors, 20,000 items, 50 seen items each, after loading the model; string ids, as shops have them. Everything is
measured in turn in one run.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import fullrank
from benchmarks.measure import best_times
from fullrank.models.kinds.factors import Factors

PEOPLE, ITEMS, FACTORS, SEEN, N = 100_000, 20_000, 64, 50, 20
AT_LEAST = 20_000  # people a second
LABELS = 18


def run() -> list[dict[str, Any]]:
    model = _model()
    about = _about(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lists"

        def write(suffix: str, rules: fullrank.Rules | None = None) -> None:
            fullrank.write_recommendations(model, path.with_suffix(suffix), n=N, rules=rules, overwrite=True)

        half = fullrank.Rules(where="half = 1", items=about)
        everybody = fullrank.Split(model.train, model.train.where(np.zeros(len(model.train), dtype=bool)))
        ways = {
            "lists alone (top)": lambda: fullrank.top(model, everybody, N),
            "to parquet": lambda: write(".parquet"),
            "to csv": lambda: write(".csv"),
            "half of the catalogue, to parquet": lambda: write(".parquet", half),
        }
        best = best_times(ways, repeats=3)
        slow = {
            "at most 3 of a label, to parquet": fullrank.Rules(most={"label": 3}, items=about),
            "mmr:0.3 by labels, to parquet": fullrank.Rules(diversify="mmr:0.3:label", items=about),
            "mmr:0.3 by vectors, to parquet": fullrank.Rules(diversify="mmr:0.3:vectors"),
            "calibrated:0.5, to parquet": fullrank.Rules(diversify="calibrated:0.5:label", items=about),
        }
        for name, rules in slow.items():
            start = time.perf_counter()
            write(".parquet", rules)
            best[name] = time.perf_counter() - start
    return [_row(name, seconds) for name, seconds in best.items()]


def _row(name: str, seconds: float) -> dict[str, Any]:
    row = {"setting": f"{PEOPLE:,} people, {ITEMS:,} items, {FACTORS} factors, n={N}", "measure": name}
    row |= {"seconds": seconds, "people_a_second": PEOPLE / seconds}
    return row | ({"target": f">= {AT_LEAST:,}", "met": PEOPLE / seconds >= AT_LEAST} if name == "to parquet" else {})


def _model() -> Factors:
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((n, FACTORS), dtype=np.float32) for n in (PEOPLE, ITEMS))
    item = np.sort(rng.integers(0, ITEMS - SEEN, (PEOPLE, SEEN)), axis=1) + np.arange(SEEN)  # each once, rising
    user = np.repeat(np.arange(PEOPLE, dtype=np.int32), SEEN)
    ids = (fullrank.Ids([f"{kind}-{number:07}" for number in range(n)]) for kind, n in (("u", PEOPLE), ("i", ITEMS)))
    train = fullrank.Interactions(user, item.ravel().astype(np.int32), None, None, *ids)
    return Factors(left, right, train, fullrank.IALS(factors=FACTORS))


def _about(model: Factors) -> fullrank.Attributes:
    rng = np.random.default_rng(1)
    labels = tuple(tuple(f"l{code}" for code in rng.choice(LABELS, 2, replace=False)) for _ in range(ITEMS))
    half = tuple(str(number % 2) for number in range(ITEMS))
    return fullrank.Attributes(model.train.items, {"label": labels, "half": half})
