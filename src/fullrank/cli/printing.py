"""Results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fullrank.runtime.formatting import show


def print_result(result: Mapping[str, Any], as_json: bool) -> None:
    """A result as JSON, or as lines a person reads."""
    if as_json:
        print_json(result)
    else:
        print("\n".join(lines(result)))


def print_json(result: Mapping[str, Any]) -> None:
    """A result for a program."""
    print(json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False))


@contextmanager
def bar() -> Iterator[Callable[[str, float], None] | None]:
    """What is running and how long it will take: a bar in a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<42}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=1.0)
        yield lambda text, share: progress.update(task, completed=share, description=text)


def lines(result: Mapping[str, Any], indent: str = "") -> list[str]:
    """A nested mapping as aligned lines.

    >>> print("\\n".join(lines({"rows": 100000, "values": {"1": 5, "2": 6}})))
    rows    100,000
    values  1 5, 2 6
    """
    width = max((len(name) for name in result), default=0)
    rows: list[str] = []
    for name, value in result.items():
        if isinstance(value, Mapping) and "kind" in value:  # a part with a description of its own
            rows += [f"{indent}{name}", *lines(value, indent + "  ")]
        else:
            rows.append(f"{indent}{name:<{width}}  {show(value)}")
    return rows


def note(message: str) -> None:
    """Something to know that is no result."""
    print(message, file=sys.stderr)


def note_data(name: str, data: Any) -> None:
    """What was read, and what became of its rows on the way."""
    note(f"{name}: {data}")
    intake = getattr(data, "intake", None)
    if intake is not None and intake.rows:
        note(f"{name}: {intake}")


@contextmanager
def resumable(kept: bool = True) -> Iterator[None]:
    """Work that may be interrupted: where it is kept, whoever does it is told how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        if kept:
            note("What is done is kept; the same command goes on from there.")
        raise
