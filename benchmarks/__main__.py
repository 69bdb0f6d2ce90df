"""python -m benchmarks [NAME ...]: run the measurements, print them, keep them in benchmarks/results."""

from __future__ import annotations

import json
import platform
import sys
from importlib import import_module, metadata
from pathlib import Path

NAMES = [
    "fuzz", "reading", "ranking", "ranking_large", "training", "stochastic", "preferences", "defaults", "recommending",
    "ingest", "serving",
]  # fmt: skip
LIBRARIES = ["numpy", "polars", "numba", "scipy"]


def main() -> None:
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    for name in sys.argv[1:] or NAMES:
        rows = import_module(f"benchmarks.{name}").run()
        versions = {library: metadata.version(library) for library in LIBRARIES}
        found = {"benchmark": name, "python": platform.python_version(), "versions": versions, "rows": rows}
        (results / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
        for row in rows:
            print(
                "  ".join(
                    f"{key}={value:.3g}" if isinstance(value, float) else f"{value}" for key, value in row.items()
                )
            )


if __name__ == "__main__":
    main()
