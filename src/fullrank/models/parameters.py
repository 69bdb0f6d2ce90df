"""The parameters of a recipe, as JSON has them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TypeAlias

import numpy as np

Plain: TypeAlias = bool | int | float | str | None


def parameters(recipe: object) -> dict[str, Plain]:
    """By name; of what is no recipe none."""
    if not is_dataclass(recipe):
        return {}
    return {part.name: plain(getattr(recipe, part.name)) for part in fields(recipe) if part.init}


def plain(value: object) -> Plain:
    """What JSON can hold, else text."""
    bare = value.item() if isinstance(value, np.generic) else value
    return bare if bare is None or isinstance(bare, bool | int | float | str) else str(bare)
