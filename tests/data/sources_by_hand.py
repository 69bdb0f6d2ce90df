"""Small files and counts that the tests of public data sets share."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.data.interactions import Interactions


def put(folder: Path, name: str, text: str | bytes, *, gz: bool = False, encoding: str = "utf-8") -> Path:
    """A file of a made-up data set, compressed where told."""
    content = text if isinstance(text, bytes) else text.encode(encoding)
    path = folder / (f"{name}.gz" if gz else name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if gz else content)
    return path


def triples(data: Interactions) -> list[tuple[Any, ...]]:
    value = np.ones(len(data)) if data.value is None else data.value
    names = zip(data.users.names[data.user].tolist(), data.items.names[data.item].tolist(), value.tolist(), strict=True)
    return list(names)


def seconds(data: Interactions) -> list[int]:
    assert data.time is not None
    return [int(time) // 1_000_000 for time in data.time.astype(np.int64)]


def load_module(name: str) -> Any:
    import importlib

    return importlib.import_module(f"fullrank.data.sources.{name}")


AMAZON = {
    "amazon-2014": ("ratings_Video_Games.csv",
                    "AB9S9279OZ3QO,0078764343,5,1373155200\nA24SSUT5CSW8BH,B000000001,1,9\n"),
    "amazon-2018": ("Video_Games.csv", "0078764343,AB9S9279OZ3QO,5.0,1373155200\nB000000001,A24SSUT5CSW8BH,1.0,9\n"),
    "amazon-2023": ("Video_Games.csv", "user_id,parent_asin,rating,timestamp\n"
                    "AB9S9279OZ3QO,0078764343,5.0,1373155200000\nA24SSUT5CSW8BH,B000000001,1.0,9000\n"),
}  # fmt: skip


PREFLIB = """# FILE NAME: 00002-00000001.toi
# TITLE: Leaders
# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Branden: the first
# ALTERNATIVE NAME 2: Raphaël
# ALTERNATIVE NAME 3: Bdale
# ALTERNATIVE NAME 4: None
"""
