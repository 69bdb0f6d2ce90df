"""What tests of the service share: models in files and a server of them, stores in a file and on PostgreSQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the service needs the extra 'serve'")

from tests.serving.postgresql import Server, find_binaries
from tests.serving.server import Running, running, save_models


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return save_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def files(models: list[str]) -> Path:
    return Path(models[0].partition("=")[2]).parent


@pytest.fixture(scope="session")
def service(models: list[str]) -> Iterator[Running]:
    with running(models) as one:
        yield one


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    binaries = find_binaries()
    with tempfile.TemporaryDirectory(prefix="fullrank-postgresql-") as folder:  # short, and outside of root's own
        started = Server(binaries, Path(folder))
        started.start()
        yield started
        started.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that is not there yet, on each of the databases."""
    if request.param == "sqlite":
        return str(tmp_path / "feedback.db")
    started: Server = request.getfixturevalue("server")
    return started.new_database()
