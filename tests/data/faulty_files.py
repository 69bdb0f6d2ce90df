"""A clean file, and what is said of others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fullrank.data.read import read
from fullrank.errors import DataError

CLEAN = "user,item,rating,timestamp\n1,10,5,100\n1,20,3,200\n2,10,4,300\n"


def write(folder: Path, content: str | bytes, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(source: object, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        read(source, **options)
    assert caught.value.exit_code == 65
    return str(caught.value).replace(str(Path(str(source)).parent) + os.sep, "")
