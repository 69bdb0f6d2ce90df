"""What only a fresh process can tell of training: the first fit with nothing compiled, and peak memory."""

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

import fullrank
from benchmarks.ranking_alone import MIB
from benchmarks.reading import status
from benchmarks.training_data import load
from fullrank.models.least_squares.ials import IALS


def tiny() -> fullrank.Interactions:
    return fullrank.simulate.implicit(40, 60, seed=0).data


def first_fit(solver: str) -> dict[str, float]:
    """Seconds of the first fit in this process, and of later ones."""
    data, seconds = tiny(), []
    for _ in range(8):
        start = time.perf_counter()
        IALS(solver=solver).fit(data)
        seconds.append(time.perf_counter() - start)
    return {"first": seconds[0], "warm": min(seconds[1:])}


def peak_memory(path: str, factors: str, solver: str) -> dict[str, float]:
    """MiB above the columns of users and items, and those of the factors and of the pairs by user and by item."""
    IALS(int(factors), sweeps=1, solver=solver).fit(tiny())  # libraries loaded, kernels compiled
    data = load(path)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed must not count as there already
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    model = IALS(int(factors), sweeps=2, solver=solver).fit(data)
    peak = (status("VmHWM") - before) / MIB
    own = (model.users.nbytes + model.items.nbytes) / MIB
    rows = (2 * 8 * len(data) + 8 * (data.n_users + data.n_items + 2)) / MIB  # 4 byte code, 4 byte value, starts
    return {"above_mib": peak - own - rows, "peak_mib": peak, "factors_mib": own, "csr_twice_mib": rows}


def alone(*arguments: str, **environment: str) -> dict[str, float]:
    """What a fresh process found."""
    command = [sys.executable, "-m", "benchmarks.training_alone", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compilation(solver: str, threads: int) -> dict[str, float]:
    """The first fit without and with compiled kernels in the cache, less a warm one."""
    with tempfile.TemporaryDirectory() as cache:
        cold, cached = (
            alone("first_fit", solver, NUMBA_CACHE_DIR=cache, FULLRANK_THREADS=str(threads)) for _ in range(2)
        )
    return {
        "seconds": cold["first"] - cold["warm"],
        "cached_seconds": cached["first"] - cached["warm"],
        "warm_seconds": min(cold["warm"], cached["warm"]),
    }


if __name__ == "__main__":
    print(json.dumps({"first_fit": first_fit, "peak_memory": peak_memory}[sys.argv[1]](*sys.argv[2:])))
