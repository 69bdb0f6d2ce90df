"""How many threads work, and BLAS held to one inside each."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from fullrank.errors import ParameterError, check_integer

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
    wanted = os.environ.get("FULLRANK_THREADS")
    if wanted is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not wanted.isdigit() or int(wanted) < 1:
        raise ParameterError(f"FULLRANK_THREADS must be an integer >= 1. Got {wanted!r} instead.")
    return int(wanted)


def in_parallel(work: Callable[[Task], Done], tasks: Iterable[Task]) -> list[Done]:
    """The results of `work` for every task, in their order, by several threads that release the GIL."""
    todo = list(tasks)
    workers = min(threads(), len(todo))
    if workers <= 1:
        return [work(task) for task in todo]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, todo))


@contextmanager
def team() -> Iterator[Callable[[Callable[[Task], object], Iterable[Task]], object]]:
    """`in_parallel` for many short turns: the threads are started once; a turn ends when all its tasks have."""
    workers = threads()
    if workers == 1:
        yield lambda work, tasks: [work(task) for task in tasks]
        return
    with ThreadPoolExecutor(workers) as pool:
        yield lambda work, tasks: list(pool.map(work, tasks))


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


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS with one thread: our own threads are the parallel ones. Restored afterwards."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401 (its BLAS must be loaded to be seen)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
