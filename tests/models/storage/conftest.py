"""What tests of model files start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.storage.model_files import (
    SMALL,
    Parts,
    saved,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.fr"


@pytest.fixture
def small(path: Path) -> Parts:
    return Parts.of(saved(SMALL, path))
