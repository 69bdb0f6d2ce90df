"""fullrank warmup"""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from fullrank.cli.printing import print_result


def warmup(json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False) -> None:
    """Compile the kernels once, so that the first real work does not wait for it."""
    from rich.console import Console
    from rich.progress import Progress

    from fullrank.kernels.warmup import KERNELS
    from fullrank.kernels.warmup import warmup as compile_all

    start = time.monotonic()
    console = Console(stderr=True)
    with Progress(console=console, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("compiling", total=len(KERNELS))
        for place, name in enumerate(compile_all()):
            progress.update(task, completed=place, description=f"compiling {name}")
        progress.update(task, completed=len(KERNELS))
    print_result({"kernels": len(KERNELS), "seconds": round(time.monotonic() - start, 2)}, json)
