"""Reading 10 million rows against polars doing the same into encoded integers; peak memory.

The peer reads the file and numbers users and items; it neither checks anything nor sorts the rows
nor looks for duplicates, which `fullrank.read` does. Of several ways to say it in polars the fastest counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import fullrank
from benchmarks.measure import best_times

ROWS = 10_000_000
SCHEMA = {"user": pl.Int64, "item": pl.Int64, "rating": pl.Float32, "timestamp": pl.Int64}
TEXT = {**SCHEMA, "user": pl.String, "item": pl.String}


def make(folder: Path, rows: int = ROWS) -> None:
    """Distinct pairs of 200,000 users and 30,000 items, both skewed, in random order."""
    rng = np.random.default_rng(1)
    users, items = 200_000, 30_000
    draws = int(1.6 * rows)
    user = (users * rng.random(draws) ** 1.7).astype(np.int64)
    item = (items * rng.random(draws) ** 1.8).astype(np.int64)
    pair = rng.permutation(np.unique(user * items + item))[:rows]
    user, item = pair // items + 1, pair % items * 7 + 13
    rating, time = rng.integers(1, 11, len(pair)) / 2, rng.integers(10**9, 16 * 10**8, len(pair))
    frame = pl.DataFrame({"user": user, "item": item, "rating": rating, "timestamp": time})
    frame.write_csv(folder / "integers.csv")
    frame.write_parquet(folder / "integers.parquet")
    words = (pl.format("user-{}", pl.col("user")).alias("user"), pl.format("item-{}", pl.col("item")).alias("item"))
    frame.with_columns(words).write_csv(folder / "strings.csv")


def categorical(frame: pl.DataFrame) -> pl.DataFrame:
    ids = pl.col("user", "item").cast(pl.String)
    return frame.with_columns(ids.cast(pl.Categorical(pl.Categories.random())).to_physical())


def joined(frame: pl.DataFrame) -> pl.DataFrame:
    for column in ("user", "item"):
        ids = frame.select(pl.col(column).unique(maintain_order=True)).with_row_index(f"{column}_code")
        frame = frame.join(ids, on=column, how="left", maintain_order="left").drop(column)
    return frame


def ranked(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("user", "item").rank("dense"))


def run() -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        integers, parquet, strings = (folder / file for file in ("integers.csv", "integers.parquet", "strings.csv"))
        peers = {
            integers: {
                "polars, categorical": lambda: categorical(pl.read_csv(integers, schema=TEXT)),
                "polars, join": lambda: joined(pl.read_csv(integers, schema=SCHEMA)),
                "polars, rank": lambda: ranked(pl.read_csv(integers, schema=SCHEMA)),
            },
            parquet: {
                "polars, categorical": lambda: categorical(pl.read_parquet(parquet)),
                "polars, join": lambda: joined(pl.read_parquet(parquet)),
                "polars, rank": lambda: ranked(pl.read_parquet(parquet)),
            },
            strings: {
                "polars, categorical": lambda: categorical(pl.read_csv(strings, schema=TEXT)),
                "polars, join": lambda: joined(pl.read_csv(strings, schema=TEXT)),
            },
        }
        return [measured(path, ways) for path, ways in peers.items()]


def measured(path: Path, peers: dict) -> dict[str, object]:
    times = best_times({"fullrank": lambda: fullrank.read(path), **peers})
    ours = times.pop("fullrank")
    peer = min(times, key=times.__getitem__)
    return {
        "file": path.name,
        "seconds": ours,
        "peer": peer,
        "peer_seconds": times[peer],
        "time_ratio": ours / times[peer],
        **memory(path),
    }


def memory(path: Path) -> dict[str, object]:
    """Peak memory of a fresh process while it reads, over the memory of the resulting columns."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.reading", str(path)], capture_output=True, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def peak_memory(path: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), rows=1000)
        for file in Path(folder).iterdir():
            fullrank.read(file)  # libraries loaded, pools started
    before = status("VmRSS")
    data = fullrank.read(path)
    peak = status("VmHWM") - before
    columns = sum(column.nbytes for column in (data.user, data.item, data.value, data.time) if column is not None)
    return {"columns_mb": columns / 1e6, "peak_mb": peak / 1e6, "memory_ratio": peak / columns}


def status(name: str) -> float:
    """A size in bytes from /proc/self/status (a child's ru_maxrss would include its parent's)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    print(json.dumps(peak_memory(sys.argv[1])))
