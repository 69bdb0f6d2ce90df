"""Rows that cannot be taken: an error, or counted and left out, as the user chose."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from fullrank.errors import DataError, check
from fullrank.runtime.atomic import write_bytes

OnBad: TypeAlias = Literal["error", "skip", "quarantine"]


class Refused(NamedTuple):
    """A row that cannot be taken: its line (or row number), the reason to count it under, what to tell."""

    place: int
    reason: str
    message: str
    raw: str


class Refusals:
    """What becomes of bad rows: the first is an error, or all are counted by reason (and written down)."""

    def __init__(self, name: str, on_bad: OnBad, quarantine: str | Path | None = None, places: str = "line") -> None:
        check("on_bad", on_bad, on_bad in get_args(OnBad), "'error', 'skip' or 'quarantine'")
        if on_bad == "quarantine" and quarantine is None:
            check("quarantine", quarantine, False, "the path of a file for the bad rows, with on_bad='quarantine'")
        self.name, self.on_bad, self.quarantine, self.places = name, on_bad, quarantine, places
        self.counts: dict[str, int] = {}
        self.notes: list[str] = []  # what else is to be told of the rows
        self.doubts: list[str] = []  # and what may be wrong with how they are read
        self.taken: dict[str, str] = {}  # the column of every role, by its name
        self._listed = io.StringIO(newline="")
        self._rows = csv.writer(self._listed, lineterminator="\n")
        self._rows.writerow([places, "reason", "raw"])

    def take(self, refused: list[Refused]) -> None:
        """Raise for the first of these, or count them all."""
        for place, reason, message, raw in sorted(refused):
            if self.on_bad == "error":
                where = f"{self.name}:{place}" if self.places == "line" else f"{self.name}: row {place}"
                raise DataError(f"{where}: {message}")
            self.counts[reason] = self.counts.get(reason, 0) + 1
            if self.on_bad == "quarantine":
                self._rows.writerow([place, message, raw])

    def finish(self) -> tuple[str, ...]:
        """Write the quarantine file, if any row went there; returns notes for the intake."""
        if self.on_bad != "quarantine" or not self.counts or self.quarantine is None:
            return tuple(self.notes)
        text = self._listed.getvalue().encode("utf-8", errors="surrogateescape")
        write_bytes(self.quarantine, text, overwrite=True)
        return (*self.notes, f"bad rows are listed in {self.quarantine}")
