"""How long runs take turns, who the peers in training are, and what a comparison tells."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.peers import Peer, PeerError, Worker, installed
from benchmarks.ranking import QUIET
from benchmarks.ranking_floor import THREADS
from benchmarks.turns import ROUNDS, RUNS, Once, Times, in_turn, ratios, seconds

FEWEST = 3  # rounds
PEERS = (
    Peer("irspack", "0.5.2", "train_irspack.py"),
    Peer("implicit", "0.7.3", "train_implicit.py"),
    Peer("cmfrec", "3.5.1.post14", "train_cmfrec.py"),
)
UNDECLARED = {"cmfrec": "threadpoolctl"}  # imported, but not among its requirements

Row = dict[str, Any]

__all__ = ["PEERS", "THREADS", "Row", "against", "started", "taking_turns", "verdict"]


def started(peer: Peer, folder: Path, stack: ExitStack, blas_threads: int = 1) -> Worker | str:
    """A worker with one BLAS thread, as implicit recommends for training, or why there is none."""
    try:
        python = installed(peer)
        if peer.name in UNDECLARED:
            quiet = ["--quiet", "--disable-pip-version-check"]
            subprocess.run([python, "-m", "pip", "install", *quiet, UNDECLARED[peer.name]], check=False)
        worker = Worker(peer, blas_threads, folder)
    except (PeerError, OSError) as error:
        return str(error)
    stack.callback(worker.close)
    return worker


def taking_turns(ways: Mapping[str, Once], seconds: float, fewest: int = FEWEST) -> tuple[dict[str, Times], float]:
    """Rounds for about so long: of several runs each where these are short, of one where they are long."""
    first = {name: once() for name, once in ways.items()}
    cost = sum(wall for wall, _ in first.values())
    if seconds > 5 * RUNS * cost:
        return in_turn(ways, rounds=min(ROUNDS, int(seconds / (RUNS * cost))))
    rounds = max(fewest, int(seconds / cost)) if cost < math.inf else fewest
    return in_turn({name: _once_a_round(once, first[name]) for name, once in ways.items()}, rounds)


def _once_a_round(once: Once, found: tuple[float, float]) -> Once:
    """Runs at the first of every `RUNS` calls, after one to warm up that is done already."""
    calls = 0

    def thrifty() -> tuple[float, float]:
        nonlocal calls, found
        if calls % RUNS == 1:
            found = once()
        calls += 1
        return found

    return thrifty


def against(ours: Times, other: Times, target: str, others: float) -> Row:
    """Our time over another's, and whether that is as wanted."""
    row: Row = ratios(ours, other)
    if target:
        row["target"] = target
    return {**row, **seconds(ours, other), "rounds": len(ours.wall), **verdict(row, others)}


def verdict(row: Row, others: float) -> Row:
    """Whether the ratio is low enough, as far as the machine was quiet enough to tell."""
    told: Row = {"others": others}
    if "target" not in row:
        return told
    if others > QUIET:
        return {**told, "met": f"unclear: others took {others:.0%} of the machine"}
    return {**told, "met": row["ratio"] <= float(row["target"].split()[1])}
