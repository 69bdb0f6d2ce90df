"""How many threads work, and BLAS held to one inside each."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeAlias, TypeVar

from fullrank.errors import ParameterError, check_integer

Turn: TypeAlias = Callable[[Callable[[Any], object], Iterable[Any]], None]
Task = TypeVar("Task")
Done = TypeVar("Done")

_chosen: int | None = None


def threads(n: int | None = None) -> int:
    """The number of threads fullrank uses; with `n` it is set for this process.

    Default: FULLRANK_THREADS, or all cores. Results are the same for any number.
    """
    global _chosen  # noqa: PLW0603 (the one setting there is)
    if n is not None:
        check_integer("n", n, 1)
        _chosen = n
    if _chosen is not None:
        return _chosen
    setting = os.environ.get("FULLRANK_THREADS")
    if setting is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not setting.isdigit() or int(setting) < 1:
        raise ParameterError(f"FULLRANK_THREADS must be an integer >= 1. Got {setting!r} instead.")
    return int(setting)


def in_parallel(work: Callable[[Task], Done], tasks: Iterable[Task]) -> list[Done]:
    """The results of `work` for every task, in their order, by several threads that release the GIL."""
    todo = list(tasks)
    workers = min(threads(), len(todo))
    if workers <= 1:
        return [work(task) for task in todo]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, todo))


@contextmanager
def team() -> Iterator[Turn]:
    """`in_parallel` for many short turns: threads that stay, and the calling one works too.

    Two tasks of 27 microseconds took 71 to 95 together, by a pool 121 to 142.
    """
    orders: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
    reports: SimpleQueue[BaseException | None] = SimpleQueue()
    others: list[Thread] = []

    def turn(work: Callable[[Any], object], tasks: Iterable[Any]) -> None:
        left = deque(tasks)
        helpers = min(len(left), threads()) - 1
        while len(others) < helpers:  # called in when they are first needed
            others.append(Thread(target=_life, args=(orders, reports), daemon=True))
            others[-1].start()

        def pull() -> None:
            while left:
                try:
                    task = left.popleft()
                except IndexError:  # another thread was faster
                    return
                work(task)

        for _ in range(helpers):
            orders.put(pull)
        try:
            pull()
        finally:
            faults = [fault for fault in (reports.get() for _ in range(helpers)) if fault is not None]
        if faults:
            raise faults[0]

    try:
        yield turn
    finally:
        for _ in others:
            orders.put(None)
        for other in others:
            other.join()


def _life(orders: SimpleQueue[Any], reports: SimpleQueue[Any]) -> None:
    """Of a thread of a team: do what is asked, report what went wrong."""
    while (order := orders.get()) is not None:
        try:
            order()
            reports.put(None)
        except BaseException as fault:  # the calling thread raises it
            reports.put(fault)


def in_order(work: Callable[[Task], Done], tasks: Iterable[Task]) -> Iterator[tuple[Task, Done]]:
    """Every task with its result, in order; several threads work a few tasks ahead, never more."""
    ahead: deque[tuple[Task, Future[Done]]] = deque()
    with ThreadPoolExecutor(threads()) as pool:
        try:
            for task in tasks:
                ahead.append((task, pool.submit(work, task)))
                if len(ahead) > threads():
                    first, future = ahead.popleft()
                    yield first, future.result()
            while ahead:
                first, future = ahead.popleft()
                yield first, future.result()
        finally:
            for _, future in ahead:
                future.cancel()


class _OneThread:
    """How many are inside, and what BLAS was set to before the first of them."""

    def __init__(self) -> None:
        self.lock, self.inside = Lock(), 0
        self.before: list[tuple[Any, int]] = []

    def enter(self) -> None:
        with self.lock:
            if not self.inside:
                self.before = [(library, library.num_threads) for library in _libraries()]
                for library, _ in self.before:
                    _set(library, 1)
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                for library, count in self.before:
                    _set(library, count)


_one_thread = _OneThread()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS with one thread: our own threads are the parallel ones, and its sums have one order.

    The setting is the process's. It may be entered by several threads at once and left in any order: it holds until
    the last of them is out, and what was there before comes back then.
    """
    _one_thread.enter()
    try:
        yield
    finally:
        _one_thread.leave()


def _set(library: Any, count: int) -> None:
    """Set it, whoever we are: since 3.8, threadpoolctl lets one thread set OpenBLAS and ignores all others."""
    let_go = getattr(library, "clear_controlling_thread", lambda force: None)
    let_go(force=True)
    library.set_num_threads(count)
    let_go(force=True)


@cache
def _libraries() -> list[Any]:
    import scipy.linalg  # noqa: F401 (its BLAS must be loaded to be seen)
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
