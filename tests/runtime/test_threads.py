"""Threads that work in turns: every task once, faults told, nothing left running."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from fullrank.runtime.threads import in_order, in_parallel, team, threads


@pytest.fixture(params=[1, 2, 4])
def count(request: pytest.FixtureRequest) -> Iterator[int]:
    before = threads()
    yield threads(request.param)
    threads(before)


def test_every_task_once_in_every_turn(count: int) -> None:
    running = threading.active_count()
    with team() as turn:
        for size in (0, 1, 2, 3, 17):
            done: list[int] = []
            turn(done.append, range(size))
            assert sorted(done) == list(range(size))
        assert threading.active_count() == running + count - 1
    assert threading.active_count() == running


@pytest.mark.parametrize("faulty", [0, 1, 5])
def test_a_fault_is_raised_when_the_turn_is_over(count: int, faulty: int) -> None:
    busy: set[int] = set()

    def work(task: int) -> None:
        busy.add(task)
        time.sleep(0.001)
        busy.discard(task)
        if task == faulty:
            raise IndexError(f"task {task}")

    with team() as turn:
        with pytest.raises(IndexError, match=f"task {faulty}"):
            turn(work, range(6))
        assert not busy
        turn(work, range(6, 9))  # and the team goes on


def test_results_in_the_order_of_tasks(count: int) -> None:
    assert in_parallel(lambda task: task * task, range(20)) == [n * n for n in range(20)]
    assert list(in_order(lambda task: -task, range(20))) == [(n, -n) for n in range(20)]
