"""What must hold of the project itself."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a git checkout, so there is nothing to compare with")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def declared() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_no_lock_or_constraints_file_names_a_host() -> None:
    pinned = [path for path in tracked() if re.search(r"lock|constraints|requirements", path.name)]
    assert ROOT / "constraints.txt" in pinned
    for path in pinned:
        for line in path.read_text().splitlines():
            requirement = line.split("#")[0].strip()
            assert not re.search(r"://|@|\.(org|com|io|net)\b|--(index|find|extra|trusted)", requirement), (path, line)


def test_no_path_of_a_machine_is_committed() -> None:
    for path in tracked():
        if path.suffix in (".py", ".md", ".toml", ".txt", "") and path != Path(__file__):
            assert not re.search(r"/(root|work|home/\w+)/", path.read_text()), path


def test_importing_is_light_and_without_effects() -> None:
    code = """
import sys, threading, os
before = set(os.listdir("."))
import fullrank
heavy = [name for name in ("polars", "scipy", "numba", "pandas", "narwhals", "rich", "typer") if name in sys.modules]
assert not heavy, heavy
assert threading.active_count() == 1
assert set(os.listdir(".")) == before
assert "socket" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_documented() -> None:
    import fullrank

    for name in fullrank.__all__:
        assert getattr(fullrank, name).__doc__, name


def test_nothing_of_numpy_s_global_random_state_is_used_or_changed() -> None:
    import numpy as np

    import fullrank

    np.random.seed(1)
    before = np.random.get_state()[1].copy()  # type: ignore[index, union-attr]
    one = fullrank.leave_last(fullrank.simulate.ratings(users=30, items=40, seed=3).data, 2)
    assert (np.random.get_state()[1] == before).all()  # type: ignore[index]
    np.random.seed(2)
    two = fullrank.leave_last(fullrank.simulate.ratings(users=30, items=40, seed=3).data, 2)
    assert one.train == two.train
    assert one.held_out == two.held_out


def test_what_ci_runs_is_what_the_readme_says() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    readme = (ROOT / "README.md").read_text()
    for command in ("make demo", "make test"):
        assert command in script
        assert command in readme


def test_ci_runs_every_check_there_is() -> None:
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    for command in ("make lint", "make identical", ".ci/pythons", ".ci/packages"):
        assert command in script
    assert {path.name for path in (ROOT / ".ci").iterdir()} == {"run", "identical", "pythons", "packages"}
    assert ".ci/identical $(VENV)" in (ROOT / "Makefile").read_text()


def test_ci_runs_the_oldest_and_the_newest_python_that_is_declared(tmp_path: Path) -> None:
    project = declared()["project"]
    versions = [name.split(" :: ")[-1] for name in project["classifiers"] if "Python :: 3." in name]
    oldest, newest = versions[0], versions[-1]
    assert project["requires-python"] == f">={oldest}"
    for name, says in (
        (".ci/pythons", (ROOT / ".ci" / "pythons").read_text()),
        ("pyproject.toml", (ROOT / "pyproject.toml").read_text()),
        (".venv/bin/python", f"#!/bin/sh\necho {oldest}\n"),
        (f"bin/python{newest}", f"#!/bin/sh\necho {newest}\n"),
        ("bin/python3.99", "#!/bin/sh\necho this is not chosen >&2; exit 127\n"),  # as pyenv does
        ("bin/make", '#!/bin/sh\necho make "$@"\n'),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(says)
        path.chmod(0o755)
    python = tmp_path / "bin" / f"python{newest}"
    same = f"Python {oldest}: it is what make test ran with"
    assert printed_by_pythons(tmp_path) == [
        same, f"Python {newest}: {python}", f"make test PYTHON={python} VENV=.venv-{newest} COVERAGE=sysmon",
    ]  # fmt: skip
    later = (tmp_path / "pyproject.toml").read_text().replace(f"Python :: {newest}", "Python :: 3.99")
    (tmp_path / "pyproject.toml").write_text(later)
    assert printed_by_pythons(tmp_path) == [same, "Python 3.99: not tested, it is not installed"]


def printed_by_pythons(folder: Path) -> list[str]:
    env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYENV_ROOT": str(folder)}
    done = subprocess.run([folder / ".ci" / "pythons"], env=env, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def targets() -> set[str]:
    """What the Makefile can make by a name of its own."""
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    return set(phony[1].split())


@pytest.mark.parametrize("arguments", [[], ["help"]], ids=["make", "make help"])
def test_make_says_what_there_is_to_make(arguments: list[str]) -> None:
    done = subprocess.run(["make", "-s", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert set(lines) == targets()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", ".ci/run", ".github/pull_request_template.md"])
def test_every_target_that_a_page_names_is_there(page: str) -> None:
    named = set(re.findall(r"\bmake ([a-z]+)", (ROOT / page).read_text()))
    assert named
    assert named <= targets()


def architecture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "architecture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_of_the_rooms_is_what_the_code_gives() -> None:
    import fullrank

    script = architecture()
    package = Path(fullrank.__file__).parent
    drawn = script.draw(package, ROOT / "pyproject.toml")
    assert script.PICTURE.read_text(encoding="utf-8") == drawn, "run `make picture`"
    assert script.PICTURE.name in (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


def test_the_picture_shows_an_import_wherever_it_stands(tmp_path: Path) -> None:
    package = tmp_path / "fullrank"
    (package / "data").mkdir(parents=True)
    (package / "data" / "__init__.py").write_text('"""What people did."""\n')
    (package / "data" / "ids.py").write_text("from fullrank import errors\n\ndef f():\n    import fullrank.arrays\n")
    (package / "errors.py").write_text('"""What can go wrong."""\nimport os\n')
    script = architecture()
    assert script.imported(package, "data") == {"arrays", "errors"}
    assert script.imported(package, "errors") == set()
    assert script.purpose(package, "data") == "What people did."


def test_the_sdist_has_all_that_git_has() -> None:
    included = declared()["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    # pyproject.toml is always there
    assert sorted({path.relative_to(ROOT).parts[0] for path in tracked()} - {"pyproject.toml"}) == included


def test_what_the_makefile_and_the_readme_name_is_in_the_sdist() -> None:
    included = {*declared()["tool"]["hatch"]["build"]["targets"]["sdist"]["include"], "pyproject.toml"}
    scripts = [ROOT / "Makefile", *(ROOT / ".ci").iterdir()]
    words = {word.strip("\"'();") for script in scripts for word in re.split(r"[\s=:]+", script.read_text())}
    links = set(re.findall(r"\]\(([^)#:]+)", (ROOT / "README.md").read_text()))
    named = {word.removeprefix("./") for word in words | links if re.fullmatch(r"[\w.][\w./-]*", word)}
    made = re.compile(r"\.\.?(/.*)?|\.venv.*|.*cache|\.hypothesis|docs/_build")  # by tools, and folders above
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}  # made by commands
    kept = {name for name in named if not ignored & {name, *map(str, Path(name).parents)}}
    there = {name for name in kept if (ROOT / name).exists() and not made.fullmatch(name)}
    assert {"constraints.txt", ".ci/identical", "docs/glossary.md", "pyproject.toml", "tests/cli"} <= there
    assert links <= there
    assert {name.split("/")[0] for name in there} <= included


def test_imports_are_checked_against_what_is_declared() -> None:
    assert "\t$(BIN)/deptry src\n" in (ROOT / "Makefile").read_text()
    assert [line for line in declared()["project"]["optional-dependencies"]["lint"] if line.startswith("deptry")]
    assert "ignore" not in declared()["tool"]["deptry"]  # one would need its reason here


def test_the_package_says_what_it_is() -> None:
    import fullrank

    assert declared()["project"]["license"] == "Apache-2.0"
    assert (Path(fullrank.__file__).parent / "py.typed").exists()
