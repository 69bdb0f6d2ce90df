"""Every recipe of the table, by its name, through every command and function that takes a model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank.cli.main import main
from fullrank.comparison.inputs import KINDS, load
from fullrank.errors import FullrankError
from fullrank.models.feedback import takes
from fullrank.models.protocols import IterativeRecipe
from fullrank.models.recipes import RECIPES
from fullrank.tuning.spaces import SPACES

OF = {fullrank.Interactions: "ratings", fullrank.Graded: "sessions", fullrank.Preferences: "preferences"}
MEANT = [(name, OF[kind]) for name in RECIPES for kind in takes(RECIPES[name]())]

NOTHING_NEW = {"OrdRec"}  # cannot be updated
NO_NEIGHBOURS = {"Bestseller", "PersonalFrequency"}  # cannot say which items are alike
NO_PARTS = {"BPR", "MFAUC", "MFADG", "OrdRec"}  # scores that are no sums
NO_VECTORS = {"Bestseller", "PersonalFrequency", "ItemCF", "RecentItemCF", "EASE"}


def table(path: Path, *columns: Iterable[Any], head: str) -> None:
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]) + "\n")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Feedback of every kind as somebody has it, and what two users did afterwards."""
    folder = tmp_path_factory.mktemp("every")
    rated = fullrank.simulate.ratings(users=56, items=54, density=0.25, seed=1).data
    assert rated.value is not None
    pair = rated.users.names[rated.user], rated.items.names[rated.item]
    assert rated.time is not None
    table(folder / "ratings.csv", *pair, rated.value, rated.time, head="user,item,rating,time")
    table(folder / "events.csv", *pair, head="user,item")
    table(folder / "later.csv", [0, 0, 1, 1], [1, 2, 3, 4], [5, 4, 3, 5], head="user,item,rating")
    offers = fullrank.simulate.sessions(users=56, items=54, seed=1).data
    who, what = offers.users.names[offers.user[offers.case]], offers.items.names[offers.item]
    table(folder / "sessions.csv", offers.case, who, what, offers.grade, head="session,user,item,grade")
    pairs = offers.pairs()
    both = pairs.items.names[pairs.better], pairs.items.names[pairs.worse]
    table(folder / "preferences.csv", pairs.users.names[pairs.user], *both, head="user,better,worse")
    new, what = [1000, 1000, 1001], [3, 8, 7]
    table(folder / "new-ratings.csv", new, what, [5, 1, 3], [1e9, 2e9, 1e9], head="user,item,rating,time")
    table(folder / "new-sessions.csv", [1, 1, 2], new, what, [5, 1, 3], head="session,user,item,grade")
    table(folder / "new-preferences.csv", new, what, [8, 9, 3], head="user,better,worse")
    table(folder / "titles.csv", range(54), [f"Item no. {number}" for number in range(54)], head="item,title")
    return folder


def run(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Any, str]:
    """The exit code of a command, what it found, and the last line it told."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), json.loads(out) if out else None, err.splitlines()[-1] if err else ""


@pytest.mark.parametrize(("name", "kind"), MEANT)
def test_through_the_command_line(
    name: str, kind: str, files: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data, file = files / f"{kind}.csv", tmp_path / "model.fr"
    code, fitted, err = run(capfd, "fit", data, "--model", name.lower(), "-o", file, "--json")
    assert (code, fitted and fitted["model"]) == (0, str(RECIPES[name]())), err

    for somebody in (["--user", 1], ["--history", "3=5,8=1"], ["--user", "nobody"]):
        code, found, err = run(capfd, "recommend", file, *somebody, "-n", 5, "--json")
        assert code == 0, err
        assert len(set(found["items"])) == 5
        assert np.isfinite(found["scores"]).all()

    code, found, err = run(capfd, "evaluate", file, "--held-out", files / "later.csv", "--relevant", 3, "--json")
    assert code == 0, err

    code, found, err = run(capfd, "compare", data, "--models", name, "--tune", 2, "--out", tmp_path / "c", "--json")
    assert code == 0, err
    (model,) = found["models"]
    assert (model["failed"], model["tuned"]["trials"]) == (None, 2)
    assert {point["state"] for point in model["tuned"]["points"]} == {"complete"}


@pytest.mark.parametrize(("name", "kind"), MEANT)
def test_reasons_updates_and_exports(
    name: str, kind: str, files: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each command does what it says, or refuses in a sentence of the recipe's."""
    file, again = tmp_path / "model.fr", tmp_path / "again.fr"
    few = [f"--set={part}=2" for part in ("sweeps", "epochs") if hasattr(RECIPES[name], part)]
    assert run(capfd, "fit", files / f"{kind}.csv", "--model", name, *few, "-o", file, "--json")[0] == 0

    code, found, err = run(capfd, "similar", file, 3, "-n", 4, "--items", files / "titles.csv", "--json")
    assert (code, err.startswith(f"error: {name}: ")) == ((65, True) if name in NO_NEIGHBOURS else (0, False)), err
    if not code:
        assert found["titles"] == [f"Item no. {one}" for one in found["items"]]
        assert len(set(found["items"]) - {3}) == len(found["scores"]) > 0

    for somebody in (["--user", 1], ["--history", "3=5,8=4"]):
        code, found, err = run(capfd, "explain", file, *somebody, "--item", 9, "-n", 3, "--json")
        assert (code, err.startswith(f"error: {name}: ")) == ((65, True) if name in NO_PARTS else (0, False)), err
        if not code:
            total = sum(part["part"] for part in found["parts"])
            assert total == pytest.approx(found["score"], abs=1e-5 * max(1, abs(found["score"])))
            assert found["sentence"].startswith("9 scores")

    code, found, err = run(capfd, "update", file, files / f"new-{kind}.csv", "-o", again, "--json")
    assert (code, err.startswith(f"error: {name}: ")) == ((65, True) if name in NOTHING_NEW else (0, False)), err
    if not code:
        assert (found["new_users"], found["new_items"], found["changed_values"]) == (2, 0, 0)
        assert run(capfd, "recommend", again, "--user", 1000, "--json")[1]["fallback"] == ""

    for form in ("parquet", "numpy"):
        code, found, err = run(capfd, "export", file, "--to", tmp_path / form, "--format", form, "--json")
        refused = name in NO_VECTORS and form == "numpy"
        assert (code, err.startswith(f"error: {name}: ")) == ((65, True) if refused else (0, False)), err
        if not code:
            assert set(found["files"]) | {"manifest.json"} == {path.name for path in (tmp_path / form).iterdir()}


@pytest.mark.parametrize(("name", "kind"), MEANT)
def test_kept_in_a_file_and_updated(name: str, kind: str, files: Path, tmp_path: Path) -> None:
    """New feedback of a new user, and of a new item, is taken in; or a sentence says why not and what to do."""
    model = fullrank.models.feedback.fit(RECIPES[name](), load(str(files / f"{kind}.csv")).data)
    fullrank.save(model, tmp_path / "model.fr")
    again = fullrank.load(tmp_path / "model.fr")
    everybody = np.arange(len(model.train.users), dtype=np.int32)
    assert again.scores(everybody).tobytes() == model.scores(everybody).tobytes()
    value = None if model.train.value is None else [5, 1, 3]
    for item in (7, 1000):
        more = fullrank.Interactions.of([1000, 1000, 1001], [3, item, 7], value, [1e9, 2e9, 3e9])
        if kind != "ratings":  # of preferences too
            more = fullrank.Graded.of([1, 1, 2], [3, item, 7], [5, 1, 3], user=[1000, 1000, 1001])
        if name in NOTHING_NEW or (item == 1000 and len(takes(RECIPES[name]())) > 1):
            with pytest.raises(FullrankError, match=f"^{name}: .*; fit again with all"):
                fullrank.update(again, more)
            continue
        found = fullrank.update(again, more)
        assert {1000, 1001} <= set(found.train.users)
        assert np.isfinite(found.scores(found.train.users.codes([1000, 1001]))).all()
        assert fullrank.recommend(found, 1000).fallback == ""


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("kind", KINDS)
def test_fitted_on_any_feedback_or_refused_in_a_sentence(
    name: str, kind: str, files: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    short = [f"--set={part}=2" for part in ("sweeps", "epochs") if hasattr(RECIPES[name], part)]
    given = ["fit", files / f"{kind}.csv", "--model", name, *short, "-o", tmp_path / "model.fr", "--json"]
    code, _, err = run(capfd, *given)
    assert code in (0, 65), err
    if code:
        assert kind == "events" or "lower `relevant`" in err or "or use ItemCF" in err
        assert err.startswith("error: ")


@pytest.mark.parametrize("name", RECIPES)
def test_what_is_trained_in_rounds_takes_what_can_be_told_between_them(name: str) -> None:
    recipe = RECIPES[name]()
    told = any(one.kind is Parameter.VAR_KEYWORD for one in signature(recipe.fit).parameters.values())
    assert isinstance(recipe, IterativeRecipe) == told
    assert not told or recipe.length.of >= 1
    assert name in SPACES


def test_a_checkpoint_of_what_has_no_rounds_is_refused(
    files: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("puresvd", "ease"):
        given = ["fit", files / "ratings.csv", "--model", name, "-o", tmp_path / "x", "--checkpoint", tmp_path / "y"]
        code, _, err = run(capfd, *given)
        assert code == 2
        assert "leave out --checkpoint" in err
