"""Sealed protocols: the same ids wherever they are opened, others if anything changes."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import open_protocol, seal
from fullrank.comparison.sealed import PARTS, SealedProtocol
from fullrank.errors import DataError, NoInputError, OutputError, ParameterError
from tests.comparison.world import WORLD, timeless

SPLIT = fullrank.holdout(WORLD.data, 0.3, seed=2)
LISTS = {"mine": fullrank.read_lists(fullrank.top(fullrank.ItemCF().fit(SPLIT.train), SPLIT, 15).to_frame())}


@pytest.fixture(scope="module")
def game() -> SealedProtocol:
    return seal(SPLIT, relevant=4, metrics=["recall@10", "auc"], title="a game")


def test_a_file_gives_the_same_game(game: SealedProtocol, tmp_path: Path) -> None:
    path = tmp_path / "game.frp"
    game.save(path)
    opened = open_protocol(path)
    assert (opened.id, opened.rules) == (game.id, game.rules)
    assert all(opened.parts[name] == part for name, part in game.parts.items())
    opened.save(tmp_path / "again.frp")
    assert (tmp_path / "again.frp").read_bytes() == path.read_bytes()
    with pytest.raises(OutputError, match="exists"):
        game.save(path)


def test_another_process_finds_the_same_ids(game: SealedProtocol, tmp_path: Path) -> None:
    """In another folder, with one thread and another hash seed."""
    game.save(tmp_path / "game.frp")
    LISTS["mine"].to_frame().write_parquet(tmp_path / "mine.parquet")
    here = game.judge(LISTS).results
    code = (
        "import fullrank; m = fullrank.open_protocol('game.frp').judge({'mine': 'mine.parquet'}).results.manifest; "
        "print(m.protocol, m.result)"
    )
    surroundings = {**os.environ, "FULLRANK_THREADS": "1", "PYTHONHASHSEED": "5"}
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=True)  # fmt: skip # noqa: E501
    assert found.stdout.split() == [here.manifest.protocol, here.manifest.result]
    assert here.manifest.protocol == game.id


def changed(part: Any, **columns: Any) -> Any:
    return replace(part, **columns)


@pytest.mark.parametrize("name", ["train", "held_out"])
def test_any_row_changes_the_id(game: SealedProtocol, name: str) -> None:
    part = getattr(SPLIT, name)
    value = part.value.copy()
    value[7] = 5.0 if value[7] != 5.0 else 4.0
    ids = {game.id}
    for other in (part.where(np.arange(len(part)) != 7), changed(part, value=value)):
        ids.add(seal(replace(SPLIT, **{name: other}), relevant=4, metrics=["recall@10", "auc"], title="a game").id)
    assert len(ids) == 3


def test_times_and_rules_change_it_too(game: SealedProtocol) -> None:
    later = (
        replace(SPLIT, train=changed(SPLIT.train, time=SPLIT.train.time + 1)) if SPLIT.train.time is not None else None
    )
    others = [
        seal(SPLIT, relevant=3, metrics=["recall@10", "auc"], title="a game"),
        seal(SPLIT, relevant=4, metrics=["recall@5", "auc"], title="a game"),
        seal(SPLIT, relevant=4, metrics=["recall@10", "auc"], title="a game", exclude=None),
        seal(SPLIT, relevant=4, metrics=["recall@10", "auc"], title="a game", seed=1),
        *([] if later is None else [seal(later, relevant=4, metrics=["recall@10", "auc"], title="a game")]),
    ]
    assert len({game.id, *(other.id for other in others)}) == len(others) + 1


def test_a_result_has_an_id_of_its_own(game: SealedProtocol) -> None:
    first = game.judge(LISTS).results
    assert first.manifest.result == game.judge(LISTS).results.manifest.result
    frame = LISTS["mine"].to_frame()
    fewer = {"mine": fullrank.read_lists(frame[1:])}
    named = {"yours": LISTS["mine"]}
    assert len({first.manifest.result, *(game.judge(other).results.manifest.result for other in (fewer, named))}) == 3


def test_a_public_copy_has_the_id_and_no_answers(game: SealedProtocol, tmp_path: Path) -> None:
    game.save(tmp_path / "public.frp", public=True)
    public = open_protocol(tmp_path / "public.frp")
    assert public.id == game.id
    assert public.train == SPLIT.train
    assert zipfile.ZipFile(tmp_path / "public.frp").namelist() == [
        "protocol.json", "users.parquet", "items.parquet", "train.parquet",
    ]  # fmt: skip
    with pytest.raises(DataError, match="no held-out part; ask whoever made it"):
        public.judge(LISTS)


def test_results_of_one_protocol_merge(game: SealedProtocol, tmp_path: Path) -> None:
    game.judge(LISTS, out=tmp_path / "one")
    game.judge({}, recipes=["Bestseller"], out=tmp_path / "two")
    merged = fullrank.merge([tmp_path / "one", tmp_path / "two"]).results
    together = game.judge(LISTS, recipes=["Bestseller"]).results
    assert merged.manifest.result == together.manifest.result
    assert timeless(merged.to_json()["models"]) == timeless(together.to_json()["models"])
    seal(SPLIT, relevant=4, metrics=["recall@10", "auc"]).judge(LISTS, out=tmp_path / "three")
    with pytest.raises(DataError, match="not of one sealed protocol"):
        fullrank.merge([tmp_path / "one", tmp_path / "three"])


def test_events_that_come_back_keep_their_rule(tmp_path: Path) -> None:
    taken = {"user": [1, 1, 1, 2, 2] * 4 + [2], "item": [1, 2, 1, 3, 3] * 4 + [2], "time": list(range(21))}
    events = fullrank.read_events(taken)
    for repeat in (True, False):
        game = seal(events, split="time:0.4", repeat=repeat, metrics=["recall@1"])
        game.save(tmp_path / f"{repeat}.frp")
        assert open_protocol(tmp_path / f"{repeat}.frp").split.overlaps == repeat
        if repeat:
            assert game.judge({"mine": {1: [1], 2: [3]}}).results.models[0].metrics["recall@1"].mean is not None


@pytest.mark.parametrize("where", ["protocol.json", "held_out.parquet", "train.parquet", "items.parquet"])
def test_what_was_changed_is_refused(game: SealedProtocol, tmp_path: Path, where: str) -> None:
    game.save(tmp_path / "game.frp")
    with zipfile.ZipFile(tmp_path / "game.frp") as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    spoiled = {
        "protocol.json": parts["protocol.json"].replace(b'"format": 1', b'"format": 2'),
        "held_out.parquet": parts["train.parquet"],
        "train.parquet": parts["held_out.parquet"],
        "items.parquet": parts["users.parquet"],
    }
    with zipfile.ZipFile(tmp_path / "bad.frp", "w") as other:
        for name, content in (parts | {where: spoiled[where]}).items():
            other.writestr(name, content)
    with pytest.raises(DataError, match=r"bad\.frp"):
        open_protocol(tmp_path / "bad.frp")


@pytest.mark.parametrize("length", [0, 10, 1000, -30])
def test_half_a_file_is_refused(game: SealedProtocol, tmp_path: Path, length: int) -> None:
    game.save(tmp_path / "game.frp")
    (tmp_path / "half.frp").write_bytes((tmp_path / "game.frp").read_bytes()[:length])
    with pytest.raises(DataError, match="is no protocol, or damaged"):
        open_protocol(tmp_path / "half.frp")


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(NoInputError, match="cannot be read"):
        open_protocol(tmp_path / "nothing.frp")
    sessions = fullrank.simulate.sessions(20, 30, seed=1).data
    with pytest.raises(DataError, match="a protocol is made of ratings or events, not of sessions"):
        seal(sessions)
    assert PARTS[-1] == "held_out"


def test_fitted_models_have_ids_of_their_own(game: SealedProtocol) -> None:
    """The same model the same id; one that was fitted with another seed another, though the recipe is the same."""
    recipe = fullrank.BPR(factors=4, epochs=1)
    ids = [game.judge({"mine": recipe.fit(SPLIT.train, seed=seed)}).results.manifest.result for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]


def test_two_of_one_name_are_refused(game: SealedProtocol) -> None:
    with pytest.raises(ParameterError, match="two models are called 'Bestseller'"):
        game.judge({"Bestseller": LISTS["mine"]}, recipes=["Bestseller"])
