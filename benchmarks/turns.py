"""Contestants take turns: a noisy minute hits all of them, and how noisy it was is told."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

ROUNDS, RUNS = 15, 3  # of everybody in turn; in a row
PAUSE = 0.05  # seconds until idle BLAS and OpenMP threads stop spinning
LISTEN = 0.2  # seconds of every round in which only others work

Once: TypeAlias = Callable[[], tuple[float, float]]  # runs once, gives its wall and CPU seconds


class Times(NamedTuple):
    """The best of every round."""

    wall: list[float]
    cpu: list[float]


def in_turn(contestants: Mapping[str, Once], rounds: int = ROUNDS) -> tuple[dict[str, Times], float]:
    """Everybody's best seconds in every round, each in another order, and the share of the machine others took."""
    found = {name: Times([], []) for name in contestants}
    for once in contestants.values():
        once()  # imports, compilation, memory
    order, others = np.random.default_rng(0), []
    for _ in range(rounds):
        time.sleep(2 * PAUSE)
        others.append(busy(LISTEN))
        for name in order.permutation(list(contestants)).tolist():
            time.sleep(PAUSE)
            wall, cpu = zip(*(contestants[name]() for _ in range(RUNS)), strict=True)
            found[name].wall.append(min(wall))
            found[name].cpu.append(min(cpu))
    return found, statistics.mean(others)


def busy(seconds: float) -> float:
    """The share of all cores at work meanwhile."""
    before = _ticks()
    time.sleep(seconds)
    idle, total = (after - then for after, then in zip(_ticks(), before, strict=True))
    return 1 - idle / max(total, 1)


def _ticks() -> tuple[int, int]:
    """Idle ticks, and all, of all cores together."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)


def timed(function: Callable[..., object], given: Callable[[], tuple[Any, ...]] = tuple) -> Once:
    """A contestant in this process; its arguments are made before the clock runs."""

    def once() -> tuple[float, float]:
        arguments = given()
        cpu, start = time.process_time(), time.perf_counter()
        function(*arguments)
        return time.perf_counter() - start, time.process_time() - cpu

    return once


def fastest(times: Mapping[str, Times], among: Iterable[str]) -> str:
    """The one of these with the best wall seconds."""
    return min(among, key=lambda name: min(times[name].wall))


def ratios(upper: Times, lower: Times) -> dict[str, float]:
    """Of best wall seconds, of a middling round, and of CPU seconds, which others at work disturb less."""
    each = (high / low for high, low in zip(upper.wall, lower.wall, strict=True))
    return {
        "ratio": min(upper.wall) / min(lower.wall),
        "median_ratio": statistics.median(each),
        "cpu_ratio": min(upper.cpu) / min(lower.cpu),
    }


def seconds(ours: Times, other: Times) -> dict[str, float]:
    return {
        "seconds": min(ours.wall),
        "other_seconds": min(other.wall),
        "cpu_seconds": min(ours.cpu),
        "other_cpu_seconds": min(other.cpu),
    }
