"""Comparisons that are interrupted, killed, damaged, locked, or put together again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import fullrank
from fullrank import AllRank, Bestseller, ItemCF
from fullrank.comparison.compare import Interrupted, compare
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.merge import merge
from fullrank.errors import DataError, LockedError, StorageError
from fullrank.models.feedback import fit
from tests.comparison.world import FEW, WORLD, timeless


def test_interrupted_anywhere_it_ends_the_same(comparison: Comparison, tmp_path: Path) -> None:
    whole = compare(WORLD.data, FEW, split="holdout:0.3", truth=WORLD.everything, sampled=20)
    assert timeless(whole.to_json()) == timeless(comparison.to_json())
    told: list[str] = []
    for stop in (1, 4, 8, 12):

        def progress(text: str, share: float, stop: int = stop) -> None:
            told.append(text)
            if len(told) == stop:
                raise KeyboardInterrupt

        told.clear()
        with pytest.raises(KeyboardInterrupt) as caught:
            compare(
                WORLD.data, FEW, split="holdout:0.3", truth=WORLD.everything, sampled=20, out=tmp_path,
                progress=progress,
            )  # fmt: skip
        if isinstance(caught.value, Interrupted):
            partial = caught.value.comparison.results
            assert "interrupted" in partial.trust[0].text
            assert 0 < len(partial.models) < 3
            assert json.loads((tmp_path / "results.json").read_text()) == partial.to_json()
    told.clear()
    again = compare(
        WORLD.data, FEW, split="holdout:0.3", truth=WORLD.everything, sampled=20, out=tmp_path,
        progress=lambda text, share: told.append(text),
    )  # fmt: skip
    assert not any(text.startswith("Bestseller: ranking") for text in told)  # done before
    assert timeless(again.to_json()) == timeless(comparison.to_json())
    with pytest.raises(fullrank.FullrankError, match=r"holds a comparison of other data or another split"):
        compare(WORLD.data, FEW, split="holdout:0.3", sampled=20, seed=1, out=tmp_path)
    other = compare(WORLD.data, FEW, split="holdout:0.3", sampled=20, seed=1, out=tmp_path, overwrite=True)
    assert timeless(other.to_json()) != timeless(comparison.to_json())


KILLED = """
import sys, fullrank
from fullrank.comparison.compare import compare
world = fullrank.simulate.ratings(150, 200, seed=3)
recipes = {"Bestseller": fullrank.Bestseller(by="relevant"), "AllRank": fullrank.AllRank(factors=6, sweeps=3)}
recipes |= {"RSVD": fullrank.RSVD(factors=4, epochs=400)}
print("begun", flush=True)
compare(world.data, recipes, split="holdout:0.3", sampled=20, out=sys.argv[1])
print("ended", flush=True)
"""


def test_killed_and_restarted_it_ends_the_same(tmp_path: Path) -> None:
    def run(folder: Path, wait: float | None) -> None:
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if wait is not None:
            time.sleep(wait)
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()

    run(tmp_path / "whole", None)
    for wait in (0.3, 0.8, 1.4):
        run(tmp_path / "killed", wait)
    run(tmp_path / "killed", None)
    one, two = (timeless(json.loads((tmp_path / f / "results.json").read_text())) for f in ("whole", "killed"))
    assert one == two
    assert not list((tmp_path / "killed").rglob("state*"))


def test_a_part_that_is_damaged_is_made_again(tmp_path: Path) -> None:
    options: dict[str, Any] = {"split": "holdout:0.3", "sampled": 20, "out": tmp_path}
    first = compare(WORLD.data, FEW, **options)
    (tmp_path / "parts" / "AllRank" / "ranks.npz").write_bytes(b"PK broken")
    (tmp_path / "parts" / "ItemCF" / "part.json").write_text("{")
    assert timeless(compare(WORLD.data, FEW, **options).to_json()) == timeless(first.to_json())


def test_what_another_comparison_left_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while a part was replaced, or in the middle of a fit of something else."""
    recipes = {"AllRank": AllRank(factors=6, sweeps=3)}
    options: dict[str, Any] = {"split": "holdout:0.3", "sampled": 20, "out": tmp_path, "overwrite": True}
    first = compare(WORLD.data, recipes, **options)

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("fullrank.comparison.runs.save", killed)
        with pytest.raises(KeyboardInterrupt):
            compare(WORLD.data, recipes, seed=1, **options)
    assert timeless(compare(WORLD.data, recipes, **options).to_json()) == timeless(first.to_json())

    def stopped(text: str, share: float) -> None:
        if "2 of 3" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(WORLD.data, recipes, seed=2, progress=stopped, **options)
    assert list(tmp_path.rglob("state-*"))
    again = compare(WORLD.data, recipes, seed=3, **options)
    assert again.results.models[0].failed is None
    assert not list(tmp_path.rglob("state-*"))


def test_two_at_a_time_in_one_folder_are_refused(tmp_path: Path) -> None:
    def again(text: str, share: float) -> None:
        compare(WORLD.data, {"ItemCF": ItemCF()}, out=tmp_path)

    with pytest.raises(LockedError, match="locked by process"):
        compare(WORLD.data, FEW, out=tmp_path, progress=again)


def test_a_model_that_fails_is_told_and_the_others_go_on() -> None:
    bad = {"Bestseller": Bestseller(), "AllRank": AllRank(factors=4), "RSVD": fullrank.RSVD(rate=1e6)}
    comparison = compare(WORLD.data, bad, split="holdout:0.3")
    failed = {model.name: model.failed for model in comparison.results.models}
    assert failed["AllRank"] is None
    assert "objective became" in failed["RSVD"]
    assert any(note.level == "warning" and "RSVD failed" in note.text for note in comparison.results.trust)
    assert "RSVD" in str(comparison)
    with pytest.raises(DataError, match="no model could be fitted; the first failed because: RSVD"):
        compare(WORLD.data, {"RSVD": fullrank.RSVD(rate=1e6)}, split="holdout:0.3")


def test_a_lock_or_a_full_disk_is_no_fault_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise StorageError("no space left")

    options: dict[str, Any] = {"split": "holdout:0.3", "out": tmp_path}
    with monkeypatch.context() as patch:
        patch.setattr("fullrank.comparison.measuring.fit", full)
        with pytest.raises(StorageError):
            compare(WORLD.data, ["Bestseller", "ItemCF"], **options)

    def broken(recipe: Any, *rest: Any, **more: Any) -> Any:
        if isinstance(recipe, ItemCF):
            raise DataError("not today")
        return fit(recipe, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr("fullrank.comparison.measuring.fit", broken)
        comparison = compare(WORLD.data, ["Bestseller", "ItemCF"], **options)
        assert [model.failed for model in comparison.results.models] == [None, "not today"]
    again = compare(WORLD.data, ["Bestseller", "ItemCF"], **options)
    assert [model.failed for model in again.results.models] == [None, None]  # what failed is tried again


def test_comparisons_of_one_split_merge(tmp_path: Path) -> None:
    options: dict[str, Any] = {"split": "holdout:0.3", "truth": WORLD.everything, "sampled": 20}
    whole = compare(WORLD.data, FEW, **options)
    some = list(FEW)
    compare(WORLD.data, {name: FEW[name] for name in some[:2]}, out=tmp_path / "a", **options)
    compare(WORLD.data, {name: FEW[name] for name in some[2:]}, out=tmp_path / "b", **options)
    comparison = merge([tmp_path / "a", tmp_path / "b"]).results
    for part in ("verdict", "models", "pairs", "examples", "truth", "sampled", "split", "metrics"):
        assert timeless(comparison.to_json()[part]) == timeless(whole.to_json()[part]), part
    twice = merge([tmp_path / "a", tmp_path / "a"]).results
    assert [m.name for m in twice.models] == [*some[:2], f"{some[0]} (a)", f"{some[1]} (a)"]
    compare(WORLD.data, FEW, split="holdout:0.3", seed=4, sampled=20, out=tmp_path / "c")
    with pytest.raises(DataError, match="cannot be merged: the split differs"):
        merge([tmp_path / "a", tmp_path / "c"])


def test_states_left_by_a_kill_after_the_last_file_are_removed(tmp_path: Path) -> None:
    options: dict[str, Any] = {"split": "holdout:0.3", "out": tmp_path, "sampled": 20}
    compare(WORLD.data, {"AllRank": AllRank(factors=4, sweeps=2)}, **options)
    left = tmp_path / "parts" / "AllRank" / "state-0123456789abcdef"
    left.write_bytes(b"half")
    compare(WORLD.data, {"AllRank": AllRank(factors=4, sweeps=2)}, **options)
    assert not left.exists()
