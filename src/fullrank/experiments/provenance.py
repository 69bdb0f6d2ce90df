"""What a comparison was made of and with: fingerprints, versions, seed, threads."""

from __future__ import annotations

import hashlib
import platform
from typing import Any

import fullrank.kernels.threads as threading
from fullrank.data.split import Split
from fullrank.models.checkpoint import mark
from fullrank.models.manifest import this_version

LIBRARIES = ("numpy", "scipy", "numba", "polars", "optuna")


def fingerprint_of_split(split: Split[Any]) -> str:
    """The same for splits with the same parts."""
    return hashlib.sha256(" ".join(mark(part) for part in split.parts).encode()).hexdigest()


def provenance(data: Any, split: Split[Any], seed: int) -> dict[str, Any]:
    """The manifest of a comparison, without its times."""
    return {
        "fullrank": this_version(),
        "python": platform.python_version(),
        "libraries": {name: found for name in LIBRARIES if (found := _version(name))},
        "machine": f"{platform.system()} {platform.machine()}",
        "data": mark(data),
        "split": fingerprint_of_split(split),
        "seed": seed,
        "threads": threading.threads(),
    }


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""
