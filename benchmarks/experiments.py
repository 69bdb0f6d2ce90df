"""python -m benchmarks.experiments: the figures of docs/experiments.md, by simulated experiments (three minutes)."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.serving.worlds import split_rows

from fullrank.arrays import Bools
from fullrank.serving.betting import paths, weigh
from fullrank.serving.experiments import judge_split

EVEN, FEW = {"a": 0.5, "b": 0.5}, {"a": 0.9, "b": 0.1}
QUANTILES = 1.959964, 0.841621


def sure(rows: dict[str, Any], shares: dict[str, float]) -> Bools:
    """Whether `judge_split` would claim something, after every single person."""
    weighed, bounds = weigh(rows["acted"] / 10, rows["arm"] == "a", shares["a"], (0, 1))
    return np.asarray(paths(weighed, bounds, 0, 0.95) <= 0.05)


def welch(rows: dict[str, Any]) -> Bools:
    """Whether Welch's test would, from ten people in each arm on."""
    x, one = rows["acted"] / 10, rows["arm"] == "a"
    n, mean, error = [], [], []
    with np.errstate(invalid="ignore", divide="ignore"):
        for arm in (one, ~one):
            n.append(np.cumsum(arm))
            mean.append(np.cumsum(x * arm) / n[-1])
            error.append((np.cumsum(x * x * arm) / n[-1] - mean[-1] ** 2) / (n[-1] - 1))
        z = np.abs(mean[0] - mean[1]) / np.sqrt(error[0] + error[1])
    return (z > QUANTILES[0]) & (np.minimum(*n) >= 10)


def alike(shares: dict[str, float], repeats: int = 1000, people: int = 5000) -> dict[str, float]:
    """Shares of experiments without a difference in which one is claimed."""
    claims = np.zeros(3)
    for seed in range(repeats):
        rows = split_rows(people, {"a": 0.2, "b": 0.2}, shares, seed)
        fixed = welch(rows)
        claims += [sure(rows, shares).any(), fixed.any(), fixed[-1]]
    return dict(zip(("bets", "Welch, always", "Welch, once"), claims / repeats, strict=True))


def different(shares: dict[str, float], by: float, repeats: int = 200) -> dict[str, float]:
    """How many people it takes until a difference is sure, and a test that is looked at once."""
    needed = []
    for seed in range(repeats):
        rows = split_rows(40_000, {"a": 0.2, "b": 0.2 + by}, shares, 10_000 + seed)
        claims = sure(rows, shares)
        needed.append(claims.argmax() + 1 if claims.any() else np.inf)
    spread = sum(float((rows["acted"][rows["arm"] == arm] / 10).var()) / share for arm, share in shares.items())
    four_of_five = float(np.quantile(needed, 0.8))
    return {"median": float(np.median(needed)), "80%": four_of_five, "once": sum(QUANTILES) ** 2 * spread / by**2}


def returning(window: float | None, repeats: int = 300) -> float:
    """Share of experiments without a difference in which one is claimed, where people come back."""
    wrong = 0
    for seed in range(repeats):
        rows = split_rows(500, {"a": 0.2, "b": 0.2}, EVEN, seed, lists=6)
        for now in np.linspace(20, rows["time"].max(), 50):
            there = rows["time"] <= now
            until = {name: column[there] for name, column in rows.items()}
            if judge_split(until, EVEN, window=window, now=now).pairs[0].sure:
                wrong += 1
                break
    return wrong / repeats


def main() -> None:
    for shares in (EVEN, FEW):
        print(shares, alike(shares))
        for by in (0.05, 0.03):
            print(shares, by, different(shares, by))
    for window in (None, 50):
        print("people come back, window", window, returning(window))


if __name__ == "__main__":
    main()
