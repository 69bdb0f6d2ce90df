"""A command that is told to end: what is done is kept, the exit code says so, and the same command goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import fullrank

FULLRANK = [sys.executable, "-c", "from fullrank.cli import main; main()"]


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    fullrank.write(fullrank.simulate.ratings(60, 50, density=0.3).data, path)
    return path


def started(*arguments: object) -> subprocess.Popen[str]:
    command = [*FULLRANK, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until(holds: Callable[[], bool], child: subprocess.Popen[str]) -> None:
    for _ in range(1200):
        if holds():
            return
        assert child.poll() is None, child.communicate()
        time.sleep(0.05)
    child.kill()
    raise AssertionError("nothing happened")


def ended(child: subprocess.Popen[str], number: int = signal.SIGTERM) -> list[str]:
    """The lines on stderr, after the signal."""
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert "Traceback" not in err
    assert child.returncode == 128 + number, err
    assert err.splitlines()[-1] == ("error: terminated." if number == signal.SIGTERM else "error: interrupted.")
    return err.splitlines()


def fit(data: Path, out: Path, epochs: int) -> list[object]:
    return ["fit", data, "--model", "rsvd", "--set", "factors=4", "--set", f"epochs={epochs}", "-o", out]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_fit_goes_on_to_the_same_bytes(ratings: Path, tmp_path: Path, number: int) -> None:
    checkpoint, out = tmp_path / "state", tmp_path / "m.fr"
    child = started(*fit(ratings, out, 1_000_000), "--checkpoint", checkpoint)
    wait_until(checkpoint.exists, child)
    assert "What is done is kept; the same command goes on from there." in ended(child, number)
    assert not out.exists()
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]
    done = epochs_in(checkpoint)
    for target, more in ((out, ["--checkpoint", checkpoint]), (tmp_path / "whole.fr", [])):
        subprocess.run(
            [*FULLRANK, *map(str, [*fit(ratings, target, done + 3), *more])], check=True, capture_output=True
        )
    assert out.read_bytes() == (tmp_path / "whole.fr").read_bytes()


def epochs_in(checkpoint: Path) -> int:
    """Those of the last state that is whole: one may have become the previous before the next was written."""
    from fullrank.models.files import load
    from fullrank.models.training.checkpoint import Checkpoint

    kept = load(
        checkpoint if checkpoint.exists() else Path(f"{checkpoint}.previous"), recipes={"Checkpoint": Checkpoint}
    )
    done: int = kept.recipe.done  # type: ignore[union-attr]
    return done


def test_a_comparison_goes_on_to_the_same_bytes(ratings: Path, tmp_path: Path) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    models = '[[model]]\nrecipe = "Bestseller"\n[[model]]\nrecipe = "RSVD"\nepochs = 1000\nfactors = 4\n'
    plan = tmp_path / "plan.toml"
    plan.write_text(f'[data]\nsource = "{ratings}"\n{models}')
    child = started("compare", plan, "--out", out)
    wait_until(lambda: bool(list((out / "parts").glob("RSVD/state-*"))), child)
    assert "What is done is kept; the same command goes on from there." in ended(child)
    assert [m["name"] for m in json.loads((out / "results.json").read_text())["models"]] == ["Bestseller"]
    kept = {path: path.stat().st_mtime_ns for path in (out / "parts" / "Bestseller").iterdir()}
    for folder in (out, whole):
        subprocess.run([*FULLRANK, "compare", str(plan), "--out", str(folder)], check=True, capture_output=True)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    ours, theirs = (json.loads((folder / "results.json").read_text()) for folder in (out, whole))
    assert (ours["pairs"], ours["verdict"]) == (theirs["pairs"], theirs["verdict"])
    ours, theirs = ((folder / "parts" / "RSVD" / "model.fr").read_bytes() for folder in (out, whole))
    assert ours == theirs


def test_a_search_goes_on(ratings: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    journal = tmp_path / "journal"
    command = [
        "tune",
        ratings,
        "--model",
        "rsvd",
        "--set",
        "factors=4",
        "--set",
        "epochs=3",
        "--journal",
        journal,
        "--json",
    ]
    child = started(*command, "--trials", 100_000)
    wait_until(lambda: journal.exists() and journal.read_text().count("\n") > 3, child)  # a study and some trials
    assert "What is done is kept; the same command goes on from there." in ended(child)
    assert journal.read_text().endswith("\n")


def test_tables_go_on(tmp_path: Path) -> None:
    child = started("reproduce", "krichene2020", "ackerman2012", "--data", tmp_path, "--out", tmp_path / "out")
    wait_until((tmp_path / "out" / "index.html").exists, child)
    assert "What is done is kept; the same command goes on from there." in ended(child)


STUBBORN = """
import time
from fullrank.cli import main, signals
import sys
signals.GRACE = 0.2
def stubborn(*_, **__):
    while True:
        try:
            print("ready", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            print("heard", flush=True)
sys.modules["fullrank.cli.main"].app = stubborn
main([])
"""


@pytest.mark.parametrize("twice", [False, True])
def test_what_does_not_end_is_ended(twice: bool) -> None:
    code = STUBBORN if not twice else STUBBORN.replace("0.2", "1000")
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGTERM)
    if twice:
        assert child.stdout.readline() == "heard\n"
        child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == ((-signal.SIGTERM, "") if twice else (143, "error: terminated.\n"))


def test_the_handler_is_gone_afterwards(capfd: pytest.CaptureFixture[str]) -> None:
    from fullrank.cli import main

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert signal.getsignal(signal.SIGTERM) is before
    assert capfd.readouterr().out.strip() == fullrank.__version__


KILLED = """
import os, signal, sys
from fullrank.runtime import atomic
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
os.fsync = die
atomic.write_bytes(sys.argv[1], b"half of it", overwrite=True)
"""


def killed_in_the_middle(target: Path) -> Path:
    """The file that a killed process leaves in the middle of writing another."""
    target.parent.mkdir(parents=True, exist_ok=True)
    before = set(target.parent.iterdir())
    done = subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = set(target.parent.iterdir()) - before
    return left


def test_what_was_half_written_is_removed_at_the_next_start(ratings: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    left = [killed_in_the_middle(path) for path in (tmp_path / "m.fr", out / "x", out / "parts" / "Bestseller" / "x")]
    mine = tmp_path / ".mine.tmp"
    mine.write_text("precious")
    living, name = fullrank.runtime.atomic._temporary(tmp_path / "other")  # of a process that is at work
    try:
        missing = subprocess.run([*FULLRANK, "fit", "no.csv", "-o", str(tmp_path / "m.fr")], capture_output=True, check=False)  # fmt: skip # noqa: E501
        assert missing.returncode == 66
        assert not left[0].exists()  # before any work
        command = [*FULLRANK, "compare", str(ratings), "--models", "bestseller", "--out", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        assert not [path for path in left if path.exists()]
        assert mine.read_text() == "precious"
        assert Path(name).exists()
    finally:
        os.close(living)
        Path(name).unlink()


def test_ctrl_c_that_a_callback_swallows_ends_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """As compilers call back into Python: what is raised there goes nowhere."""
    import ctypes

    from fullrank.cli.signals import termination
    from fullrank.runtime.stopping import stop_if_asked

    swallowed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: swallowed.append(raised.exc_type))

    @ctypes.CFUNCTYPE(None)
    def back() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    before = signal.getsignal(signal.SIGINT)
    with termination():
        back()
        assert swallowed == [KeyboardInterrupt]
        with pytest.raises(KeyboardInterrupt):
            stop_if_asked()
    assert signal.getsignal(signal.SIGINT) is before
    stop_if_asked()  # nobody asks any more
