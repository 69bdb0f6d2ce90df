"""Settings for all tests, and where the public data sets are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# the first call may compile or import something large: time never decides a test
settings.register_profile("fullrank", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("fullrank"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "fullrank")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets; tests that need it are skipped where it is not."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("FULLRANK_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(f"no public data sets in {folder}; set FULLRANK_DATA to their folder")
    return folder
