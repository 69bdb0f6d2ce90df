"""How a command ends when it is asked to: at once by Ctrl-C; by SIGTERM after the step that is under way and kept.

The exit codes are 130 and 143.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from fullrank.runtime.stopping import ask_to_stop, forget

CODE = 128 + signal.SIGTERM
GRACE = 8.0  # seconds to finish; files are whole at every moment


@dataclass
class Terminated:
    """Whether the signal came."""

    yes: bool = False


@contextmanager
def termination() -> Iterator[Terminated]:
    """While a command runs: the first SIGTERM ends it after a step that is kept, or at once; the second kills.

    What does not end within some seconds (a long step of compiled code) is ended. Ctrl-C is remembered besides: in the
    middle of compiling, callbacks of the compiler swallow it, and then the next step ends.
    """
    state = Terminated()
    if threading.current_thread() is not threading.main_thread():  # no other may set a handler
        yield state
        return

    came, ended = threading.Event(), threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        state.yes = True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        came.set()
        if ask_to_stop():
            raise KeyboardInterrupt

    def watch() -> None:  # started now: a handler must not start a thread, its locks may be held
        came.wait()
        if not ended.wait(GRACE):
            os.write(2, b"error: terminated.\n")
            os._exit(CODE)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        ask_to_stop()
        raise KeyboardInterrupt

    forget()
    before = signal.signal(signal.SIGTERM, end)
    asked = signal.getsignal(signal.SIGINT)
    if asked is signal.default_int_handler:  # where it is ignored, it stays so
        signal.signal(signal.SIGINT, interrupt)
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield state
    finally:
        forget()
        ended.set()
        came.set()
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, asked)
