"""20,000 random text files, read with nothing said of separator and header, against Python's csv module.

Nothing is timed: a file that is read otherwise than the csv module reads it ends the run with the file.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from random import Random
from unittest.mock import patch

from tests.data import tables

FILES = int(os.environ.get("FULLRANK_FUZZ_FILES", "20000"))
CHUNKS = (40, 200, 1 << 20)


def run() -> list[dict[str, object]]:
    unclear, rows, by_module = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(FILES):
            file, chunk = tables.make(Random(seed)), CHUNKS[seed % len(CHUNKS)]
            if file.plain and len(file.separator) == 1:
                assert tables.by_csv_module(file) == file.rows, file
                by_module += 1
            sizes = {"CHUNK": chunk, "PIECE": chunk // 2}
            with patch.multiple("fullrank.data.reading.text", **sizes):
                unclear += not tables.check(file, Path(folder) / "f.csv")
            rows += len(file.rows)
    return [{"fuzz": "reading", "files": FILES, "by the csv module": by_module, "rows": rows, "asked back": unclear}]
