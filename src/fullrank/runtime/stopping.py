"""Being asked to stop: a step that is under way and will be kept is finished first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class _Stopping:
    """How many loops of kept steps are under way, by any thread, and whether somebody asked to stop."""

    lock = Lock()
    steps = 0
    requested = False


def ask_to_stop() -> bool:
    """Ask; True where no step is under way that would be kept, so that whoever asks may end everything at once."""
    _Stopping.requested = True
    return _Stopping.steps == 0


def forget() -> None:
    """Nobody asked."""
    _Stopping.requested = False


@contextmanager
def kept_steps() -> Iterator[None]:
    """A loop of steps that are kept, and that calls `stop_if_asked` between them."""
    with _Stopping.lock:
        _Stopping.steps += 1
    try:
        yield
    finally:
        with _Stopping.lock:
            _Stopping.steps -= 1
    stop_if_asked()  # after the last of them, too


def stop_if_asked() -> None:
    """Between two steps: end here, where that was asked for."""
    if _Stopping.requested:
        raise KeyboardInterrupt
