"""What must hold of the project itself."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


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


def test_the_package_says_what_it_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0"
    assert (ROOT / "src" / "fullrank" / "py.typed").exists()
