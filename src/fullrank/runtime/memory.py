"""Whether a job fits into memory, asked before it starts; what to say where it did not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from fullrank.errors import StorageError

ADDRESS_SPACE = 1.3e9  # bytes polars reserves: itself, its threads and their arenas


def check_fits(needed: float, what: str, remedy: str = "use a larger machine") -> None:
    """Refuse a job that needs more bytes than there are, with both numbers."""
    free = available()
    if free is not None and needed > free:
        raise StorageError(
            f"{what} need about {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free{_under_limit()}; {remedy}."
        )


class _Arenas:
    """Whether polars has reserved its arenas: what was reserved once need not be free again."""

    reserved = False


def check_address_space() -> None:
    """Refuse to start under a limit (ulimit -v) in which polars could not reserve its arenas: it would abort."""
    free = _address_space()
    if free is None or _Arenas.reserved:
        return
    if free < ADDRESS_SPACE:
        raise StorageError(
            f"the limit of address space leaves {free / 1e9:.1f} GB, and reading reserves about "
            f"{ADDRESS_SPACE / 1e9:.1f} GB (much less is used); raise it with ulimit -v."
        )
    import polars as pl

    pl.read_csv(b"1,2\n", has_header=False)  # starts its threads
    _Arenas.reserved = True


def available() -> float | None:
    """Bytes this process may still use: free memory, or less under a limit; None where unknown."""
    limits = [free for free in (_meminfo(), _address_space()) if free is not None]
    return min(limits, default=None)


def explain(error: MemoryError) -> str:
    """One sentence for memory that ran out: what was asked for and what there is, where that is known.

    >>> explain(MemoryError("Unable to allocate 7.3 TiB for an array"))  # doctest: +ELLIPSIS
    'not enough memory: 7.3 TiB were asked for at once... GB are free...; use less data or a larger machine.'
    """
    free, size = available(), re.search(r"allocate ([\d.]+ \w+)", str(error))
    parts = [f"{size[1]} were asked for at once"] if size else []
    parts += [f"{free / 1e9:.1f} GB are free{_under_limit()}"] if free is not None else []
    details = f": {', and '.join(parts)}" if parts else ""
    return f"not enough memory{details}; use less data or a larger machine."


def _meminfo() -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _limit() -> float | None:
    """Of address space, where there is one."""
    if sys.platform == "win32":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else float(limit)


def _under_limit() -> str:
    limit = _limit()
    return "" if limit is None else f" (the limit of address space is {limit / 1e9:.1f} GB)"


def _address_space() -> float | None:
    limit = _limit()
    if limit is None or sys.platform == "win32":
        return None
    import resource

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return limit
    return max(0.0, limit - pages * resource.getpagesize())
