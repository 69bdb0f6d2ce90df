"""What only a fresh process can tell: the first call with nothing compiled, and peak memory."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import fullrank
from benchmarks.ranking_data import METRICS, load
from benchmarks.reading import status

MIB = 1 << 20
COLUMNS = ("start", "above", "tied", "pool", "relevant_above", "item", "user", "grade", "weight", "full")


def first_call(path: str) -> dict[str, float]:
    """Seconds of the first ranking and evaluation in this process, and of later ones."""
    model, split = load(path)
    cases = fullrank.cases_of(split)
    seconds = []
    for _ in range(8):
        start = time.perf_counter()
        fullrank.evaluate(fullrank.rank(model, cases), METRICS)
        seconds.append(time.perf_counter() - start)
    return {"first": seconds[0], "warm": min(seconds[1:])}


def peak_memory(path: str, copies: str) -> dict[str, float]:
    """MiB above model and data while ranking and evaluating, and those of the ranks that come out of it."""
    tiny = fullrank.leave_last(fullrank.simulate.implicit(40, 60, seed=0).data)
    factors = np.random.default_rng(0).random((100, 4), dtype=np.float32)
    fullrank.evaluate(fullrank.rank((factors[:40], factors[40:]), tiny), METRICS)  # libraries loaded, kernels compiled
    model, split = load(path, int(copies))
    cases = fullrank.cases_of(split)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed must not count as there already
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    ranks = fullrank.rank(model, cases)
    ranked = status("VmHWM") - before
    result = fullrank.evaluate(ranks, METRICS)
    both = status("VmHWM") - before
    columns = [getattr(ranks, name) for name in COLUMNS]
    distinct = {id(column): column.nbytes for column in columns if column is not None}
    return {
        "users": len(cases),
        "rank_peak_mib": ranked / MIB,
        "peak_mib": both / MIB,
        "ranks_mib": sum(distinct.values()) / MIB,
        "values_mib": result.values.nbytes / MIB,
    }


def alone(*arguments: str, **environment: str) -> dict[str, float]:
    """What a fresh process found."""
    command = [sys.executable, "-m", "benchmarks.ranking_alone", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compilation(path: Path, threads: int) -> dict[str, float]:
    """The first call without and with compiled kernels in the cache, less a warm one."""
    with tempfile.TemporaryDirectory() as cache:
        cold, cached = (
            alone("first_call", str(path), NUMBA_CACHE_DIR=cache, FULLRANK_THREADS=str(threads)) for _ in range(2)
        )
    return {
        "seconds": cold["first"] - cold["warm"],
        "cached_seconds": cached["first"] - cached["warm"],
        "warm_seconds": min(cold["warm"], cached["warm"]),
    }


if __name__ == "__main__":
    print(json.dumps({"first_call": first_call, "peak_memory": peak_memory}[sys.argv[1]](*sys.argv[2:])))
