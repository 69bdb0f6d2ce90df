"""What several files of these tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from tests.data.faulty_files import CLEAN, write


@pytest.fixture
def clean(tmp_path: Path) -> Interactions:
    return read(write(tmp_path, CLEAN))
