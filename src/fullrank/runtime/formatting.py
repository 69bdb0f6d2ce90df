"""Values as people read them, on pages and in terminals."""

from __future__ import annotations

from collections.abc import Mapping

NOTHING = "–"


def show(value: object) -> str:
    """A value as a reader wants it.

    >>> show(90000), show(0.05613), show(12345.6), show(None), show(True)
    ('90,000', '0.05613', '12,346', '–', 'yes')
    >>> show({"min": 20, "max": 702}), show(["1997-09-20", "1998-04-22"]), show({})
    ('min 20, max 702', '1997-09-20 to 1998-04-22', 'none')
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {show(part)}" for name, part in value.items()) or "none"
    if isinstance(value, list | tuple):
        return " to ".join(show(part) for part in value)
    return str(value)
