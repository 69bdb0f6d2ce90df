"""What happened on the way from a source into a container."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Intake:
    """Counts of rows read, merged and dropped by reason: nothing disappears uncounted.

    `notes` tell how it was read, `doubts` what may be wrong with that.

    >>> print(Intake(rows=10, merged=2, dropped={"3 fields, expected 4": 1}))
    10 rows read, 2 merged as duplicates, 1 dropped (3 fields, expected 4)
    """

    rows: int = 0
    merged: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def kept(self) -> int:
        return self.rows - self.merged - sum(self.dropped.values())

    def noting(self, *notes: str) -> Intake:
        return replace(self, notes=self.notes + notes)

    def __str__(self) -> str:
        parts = [f"{self.rows:,} rows read"]
        if self.merged:
            parts.append(f"{self.merged:,} merged as duplicates")
        if self.dropped:
            reasons = "; ".join(f"{reason}: {n:,}" for reason, n in self.dropped.items())
            alone = next(iter(self.dropped)) if len(self.dropped) == 1 else reasons
            parts.append(f"{sum(self.dropped.values()):,} dropped ({alone})")
        return "; ".join([", ".join(parts), *self.notes, *self.doubts])
