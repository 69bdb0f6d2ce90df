"""Models in files and a server of them, once for all tests of HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the service needs the extra 'serve'")

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
