"""Being asked to stop: a step that is under way and will be kept is finished first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class _Stopping:
    """How many loops of kept steps are under way, and whether somebody asked to stop."""

    steps = 0
    asked = False


def ask_to_stop() -> bool:
    """Ask; True where no step is under way that would be kept, so that whoever asks may end everything at once."""
    _Stopping.asked = True
    return _Stopping.steps == 0


def forget() -> None:
    """Nobody asked."""
    _Stopping.asked = False


@contextmanager
def kept_steps() -> Iterator[None]:
    """A loop of steps that are kept, and that calls `stop_if_asked` between them."""
    _Stopping.steps += 1
    try:
        yield
    finally:
        _Stopping.steps -= 1


def stop_if_asked() -> None:
    """Between two steps: end here, where that was asked for."""
    if _Stopping.asked:
        raise KeyboardInterrupt
