"""Interrupted fits go on and end with the same bytes (FAULTS T1, T2, T7-T12)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, LockedError, ModelFileError, OutputError
from fullrank.models.asymmetric.gaussian import GaussianRank
from fullrank.models.least_squares.allrank import AllRank
from fullrank.models.least_squares.allrank_binary import AllRankBinary
from fullrank.models.least_squares.ials import IALS
from fullrank.models.pairwise.bpr import BPR
from fullrank.models.pairwise.mfadg import MFADG, MFAUC
from fullrank.models.training.checkpoint import Checkpointer
from fullrank.runtime import stopping
from fullrank.runtime.atomic import locked

RECIPES: list[Any] = [
    AllRank(factors=5, sweeps=6),
    AllRank(factors=5, sweeps=6, solver="exact"),
    IALS(factors=5, sweeps=6),
    AllRankBinary(factors=3, relevant=4, loss="logistic", sweeps=6),
    BPR(factors=4, epochs=6),
    MFAUC(factors=4, epochs=6),
    MFADG(factors=4, epochs=6, gamma=5),
]


@pytest.fixture(scope="module")
def data() -> Interactions:
    return fullrank.simulate.ratings(users=80, items=60, density=0.2, seed=2).data


class StopError(Exception):
    """Thrown by a callback in the middle of a fit."""


def stopping_at(sweep: int) -> Any:
    def progress(now: int, of: int, objective: float) -> None:
        if now == sweep:
            raise StopError

    return progress


def shortened(recipe: Any, rounds: int) -> Any:
    return replace(recipe, **{recipe.length.name: rounds})


def bytes_of(model: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in vars(model).items() if isinstance(array, np.ndarray)}


@pytest.mark.identical
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_a_resumed_fit_ends_with_the_same_bytes(recipe: Any, data: Interactions, tmp_path: Path) -> None:
    whole, path = recipe.fit(data, seed=3), tmp_path / "fit.checkpoint"
    rounds = recipe.length.of
    for now in range(1, rounds + 1):
        with pytest.raises(StopError):  # before the checkpoint of that round is written
            recipe.fit(data, seed=3, checkpoint=path, progress=stopping_at(now))
        restored = Checkpointer(path, recipe, data, 3, recipe.length).restore({})
        assert (restored[0].done if restored else 0) == now - 1
        if now < rounds:
            shortened(recipe, now).fit(data, seed=3, checkpoint=path)
    again = recipe.fit(data, seed=3, checkpoint=path)
    assert bytes_of(again) == bytes_of(whole)
    steps: list[int] = []
    done = recipe.fit(data, seed=3, checkpoint=path, progress=lambda now, of, value: steps.append(now))
    assert steps == []  # nothing was left to do (T10)
    assert bytes_of(done) == bytes_of(whole)


@pytest.mark.identical
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.parametrize("scores", [[1, 5, 4, 3, 2, 1], [3, 2, 4, 4, 9, 1]], ids=["falling", "rising late"])
def test_the_best_state_survives_an_interruption(recipe: Any, scores: list[float], data: Interactions, tmp_path: Path) -> None:  # fmt: skip # noqa: E501
    def judging() -> Any:
        values = iter(scores)
        return lambda model: next(values)

    whole, path = recipe.fit(data, seed=3, judge=judging()), tmp_path / "fit.checkpoint"
    for stop in (1, 2, 3):
        judge = judging()
        done = 0 if stop == 1 else stop - 1
        for _ in range(done):
            judge(None)
        with pytest.raises(StopError):
            recipe.fit(data, seed=3, judge=judge, checkpoint=path, progress=stopping_at(stop + 1))
    judge = judging()
    for _ in range(3):
        judge(None)
    assert bytes_of(recipe.fit(data, seed=3, judge=judge, checkpoint=path)) == bytes_of(whole)
    assert bytes_of(recipe.fit(data, seed=3, judge=judge, checkpoint=path)) == bytes_of(whole)  # it had ended


def written(path: Path) -> int:
    """When; 0 where it is not there, which it is not for a moment while another is written."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize(
    "recipe", [AllRank(factors=5), MFADG(factors=5, gamma=5, decay=1.0), GaussianRank(factors=5, decay=1.0)], ids=str
)
def test_killed_at_any_moment(recipe: Any, data: Interactions, tmp_path: Path) -> None:
    path = tmp_path / "fit.checkpoint"
    code = f"""
import fullrank
from fullrank import *
data = fullrank.simulate.ratings(users=80, items=60, density=0.2, seed=2).data
({shortened(recipe, 100000)!r}).fit(data, seed=3, checkpoint={str(path)!r})
"""
    for wait in (0.0, 0.02, 0.05):
        child = subprocess.Popen([sys.executable, "-c", code])
        try:
            deadline = time.monotonic() + 60
            before = written(path)
            while time.monotonic() < deadline and written(path) <= before:
                time.sleep(0.01)
            time.sleep(wait)
        finally:
            child.send_signal(signal.SIGKILL)
            child.wait()
    restored = Checkpointer(path, recipe, data, 3, recipe.length).restore({})
    assert restored is not None
    done = shortened(recipe, restored[0].done)
    (tmp_path / ".fit.checkpoint.xyz.fullrank.tmp").write_bytes(b"half of it")
    assert bytes_of(done.fit(data, seed=3, checkpoint=path)) == bytes_of(done.fit(data, seed=3))
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_a_damaged_checkpoint_falls_back_on_the_one_before(data: Interactions, tmp_path: Path) -> None:
    recipe, path = AllRank(factors=5, sweeps=4), tmp_path / "fit.checkpoint"
    whole = recipe.fit(data, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.warns(RuntimeWarning, match=r"fit.checkpoint is damaged; going on from .*previous"):
        again = recipe.fit(data, checkpoint=path)
    assert again.users.tobytes() == whole.users.tobytes()
    path.write_bytes(b"x")
    (tmp_path / "fit.checkpoint.previous").write_bytes(b"y")
    with pytest.raises(ModelFileError, match="no checkpoint can be used"):
        recipe.fit(data, checkpoint=path)


def test_another_fit_is_refused(data: Interactions, tmp_path: Path) -> None:
    recipe, path = AllRank(factors=5, sweeps=2), tmp_path / "fit.checkpoint"
    recipe.fit(data, checkpoint=path)
    for what, other, seed, rows in (
        ("recipe", AllRank(factors=5, reg=0.2, sweeps=2), 0, data),
        ("seed", recipe, 1, data),
        ("data", recipe, 0, data.where(data.user > 0)),
    ):
        with pytest.raises(DataError, match=f"of another fit: {what} differs"):
            other.fit(rows, seed=seed, checkpoint=path)
    more = replace(recipe, sweeps=5).fit(data, checkpoint=path)
    assert more.users.tobytes() == AllRank(factors=5, sweeps=5).fit(data).users.tobytes()


def test_two_fits_do_not_share_a_checkpoint(data: Interactions, tmp_path: Path) -> None:
    recipe, path = AllRank(factors=5, sweeps=2), tmp_path / "fit.checkpoint"
    with locked(path), pytest.raises(LockedError, match=f"locked by process {os.getpid()}"):
        recipe.fit(data, checkpoint=path)
    assert LockedError.exit_code == 75
    recipe.fit(data, checkpoint=path)


def test_a_place_that_cannot_be_written_is_refused_before_training(data: Interactions, tmp_path: Path) -> None:
    steps: list[int] = []
    with pytest.raises(OutputError, match="there is no folder"):
        AllRank().fit(data, checkpoint=tmp_path / "no" / "x", progress=lambda *now: steps.append(1))
    with pytest.raises(OutputError, match="is a folder"):
        AllRank().fit(data, checkpoint=tmp_path, progress=lambda *now: steps.append(1))
    assert steps == []


def test_whoever_asks_to_stop_waits_for_the_step_under_way(data: Interactions, tmp_path: Path) -> None:
    recipe, path = AllRank(factors=3, sweeps=5), tmp_path / "state"
    assert stopping.ask_to_stop()  # nothing is under way: end at once
    stopping.forget()
    answers: list[bool] = []

    def report(done: int, of: int, objective: float) -> None:
        if done == 2:  # the sweep is done and not kept yet
            answers.append(stopping.ask_to_stop())

    try:
        with pytest.raises(KeyboardInterrupt):
            recipe.fit(data, checkpoint=path, progress=report)
    finally:
        stopping.forget()
    assert answers == [False]
    rest: list[int] = []
    model = recipe.fit(data, checkpoint=path, progress=lambda done, of, objective: rest.append(done))
    assert rest == [3, 4, 5]
    assert model.users.tobytes() == recipe.fit(data).users.tobytes()
