"""Trials kept in a file: an interrupted search goes on to the same end."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fullrank import (
    GaussianRank,
    RankLoss,
)
from fullrank.errors import DataError, FullrankError, LockedError, OutputError, ParameterError
from fullrank.models.least_squares.ials import IALS
from fullrank.models.neighbours.ease import EASE
from fullrank.models.pairwise.bpr import BPR
from fullrank.tuning.spaces import Choice, Float
from fullrank.tuning.tune import tune
from tests.tuning.world import SMALL, SPLIT


class Killed(BaseException):
    pass


@pytest.mark.parametrize(("at", "text"), [(0, "1 of 4"), (1, "trial"), (4, "trial 5"), (5, "2 of 4"), (8, "3 of 4")])
def test_an_interrupted_search_goes_on_to_the_same_end(tmp_path, whole, at, text):
    def stop(done, of, best, message):
        if done == at and text in message:
            raise Killed

    path = tmp_path / "trials.log"
    again: list[int] = []
    with pytest.raises(Killed):
        tune(
            IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1),
            SPLIT,
            trials=9,
            space=SMALL,
            journal=path,
            progress=stop,
        )
    resumed = tune(
        IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1),
        SPLIT,
        trials=9,
        space=SMALL,
        journal=path,
        progress=lambda done, *rest: again.append(done),
    )
    assert replace(resumed, seconds=whole.seconds) == whole
    assert min(again) == at  # what was reported is kept


def test_a_journal_cut_anywhere_goes_on_to_the_same_end(tmp_path, whole):
    path = tmp_path / "trials.log"
    tune(IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1), SPLIT, trials=9, space=SMALL, journal=path)
    content = path.read_bytes()
    for size in np.linspace(0, len(content), 14).astype(int).tolist():
        path.write_bytes(content[:size])
        assert (
            tune(
                IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1), SPLIT, trials=9, space=SMALL, journal=path
            ).points
            == whole.points
        )


def test_a_killed_process_leaves_nothing_in_the_way(tmp_path, whole):
    path = tmp_path / "trials.log"
    code = f"""
import os, signal
from fullrank import tune
from fullrank.models.least_squares.ials import IALS
from tests.tuning.world import SMALL, SPLIT
def kill(done, of, best, text):
    if done == 3 and "2 of 4" in text:
        os.kill(os.getpid(), signal.SIGKILL)
recipe = IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1)
tune(recipe, SPLIT, trials=9, space=SMALL, journal={str(path)!r}, progress=kill)
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False, cwd=os.getcwd(), timeout=120)
    assert ended.returncode == -signal.SIGKILL
    begun: list[int] = []
    resumed = tune(
        IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1),
        SPLIT,
        trials=9,
        space=SMALL,
        journal=path,
        progress=lambda done, *rest: begun.append(done),
    )
    assert resumed.points == whole.points
    assert begun[0] == 3


def test_one_journal_for_several_searches_longer_and_shorter_ones(tmp_path, whole):
    path = tmp_path / "trials.log"
    other = tune(EASE(), SPLIT, trials=3, journal=path)
    short = tune(IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1), SPLIT, trials=4, space=SMALL, journal=path)
    assert short.points == whole.points[:4]
    assert (
        tune(
            IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1), SPLIT, trials=9, space=SMALL, journal=path
        ).points
        == whole.points
    )
    size = path.stat().st_size
    assert tune(EASE(), SPLIT, trials=3, journal=path) == other  # with its seconds: nothing was run again
    assert (
        tune(IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1), SPLIT, trials=4, space=SMALL, journal=path)
        == short
    )
    assert path.stat().st_size == size


@pytest.mark.parametrize(
    "changed",
    [
        {"metric": "rr"},
        {"relevant": 4},
        {"seed": 1},
        {"space": {"reg": Float(1.0, 50.0)}},
        {"recipe": EASE(binary=False)},
        {"split": replace(SPLIT, valid=SPLIT.held_out)},
    ],
)
def test_other_searches_do_not_take_over_its_trials(tmp_path, changed):
    path = tmp_path / "trials.log"
    given = {"recipe": EASE(), "split": SPLIT, "trials": 2} | changed
    tune(EASE(), SPLIT, trials=2, journal=path)
    assert tune(**given, journal=path).points == tune(**given).points


def test_failed_and_stopped_trials_are_found_again(tmp_path):
    rates = {"rate": Choice((0.2, 0.21, 0.22, 0.23, 0.24, 1e-9)), "reg": Choice((0.01, -1.0))}
    given = {"recipe": BPR(epochs=12, factors=4), "split": SPLIT, "space": rates, "trials": 12}
    once = tune(**given, journal=tmp_path / "trials.log")
    assert {point.state for point in once.points} == {"complete", "pruned", "failed"}
    assert tune(**given, journal=tmp_path / "trials.log") == once


def test_a_journal_in_use_is_refused(tmp_path):
    path = tmp_path / "trials.log"
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(LockedError, match=r"trials\.log: another search"):
            tune(EASE(), SPLIT, trials=2, journal=path)
    tune(EASE(), SPLIT, trials=2, journal=path)


@pytest.mark.parametrize("content", [b"user,item\n1,2\n", b"hello", b"{}\n", b'{"op_code":0}\n'])
def test_what_is_no_journal_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "trials.log"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"trials\.log: .*remove"):
        tune(EASE(), SPLIT, trials=2, journal=path)
    assert path.read_bytes() == content


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "trials.log"
    tune(EASE(), SPLIT, trials=3, journal=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1][:20] + b"\x00\n", *lines[2:]]))
    with pytest.raises(DataError, match="line 2 is not"):
        tune(EASE(), SPLIT, trials=3, journal=path)


def test_a_journal_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    with pytest.raises(OutputError):
        tune(EASE(), SPLIT, trials=2, journal=tmp_path)
    with pytest.raises(OutputError):
        tune(EASE(), SPLIT, trials=2, journal=tmp_path / "no" / "folder")

    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FullrankError, match="No space left"):
        tune(EASE(), SPLIT, trials=2, journal=tmp_path / "trials.log")


def test_functions_cannot_be_told_apart_in_a_journal(tmp_path):
    own = GaussianRank(loss=RankLoss(lambda r: r, np.ones_like), epochs=1)
    with pytest.raises(ParameterError, match="without functions"):
        tune(own, SPLIT, trials=1, journal=tmp_path / "trials.log")
    assert tune(own, SPLIT, trials=1).points
