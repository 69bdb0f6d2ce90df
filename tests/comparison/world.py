"""A small world that the tests of comparisons share."""

from __future__ import annotations

from typing import Any

import fullrank
from fullrank import AllRank, Bestseller, ItemCF

WORLD = fullrank.simulate.ratings(150, 200, seed=3)
FEW: dict[str, Any] = {
    "Bestseller": Bestseller(by="relevant"), "AllRank": AllRank(factors=6, sweeps=3), "ItemCF": ItemCF(),
}  # fmt: skip


def timeless(found: Any) -> Any:
    """Results without what differs from run to run."""
    if isinstance(found, dict):
        return {key: timeless(value) for key, value in found.items() if key not in ("seconds", "started")}
    return [timeless(value) for value in found] if isinstance(found, list) else found
