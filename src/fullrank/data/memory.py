"""Whether a job fits into memory, asked before it starts."""

from __future__ import annotations

import sys
from pathlib import Path

from fullrank.errors import StorageError

ADDRESS_SPACE = 1.3e9  # bytes


def check_fits(needed: float, what: str) -> None:
    """Refuse a job that needs more bytes than there are, with both numbers."""
    free = available()
    if free is not None and needed > free:
        raise StorageError(
            f"{what} need about {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free; use a larger machine."
        )


def check_address_space() -> None:
    """Refuse to start under a limit (ulimit -v) in which polars could not reserve its arenas: it would abort."""
    free = _address_space()
    if free is not None and free < ADDRESS_SPACE:
        raise StorageError(
            f"the limit of address space leaves {free / 1e9:.1f} GB, and reading reserves about "
            f"{ADDRESS_SPACE / 1e9:.1f} GB (much less is used); raise it with ulimit -v."
        )


def available() -> float | None:
    """Bytes this process may still use: free memory, or less under a limit; None where unknown."""
    limits = [free for free in (_meminfo(), _address_space()) if free is not None]
    return min(limits, default=None)


def _meminfo() -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _address_space() -> float | None:
    if sys.platform == "win32":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return float(limit)
    return float(max(0, limit - pages * resource.getpagesize()))
