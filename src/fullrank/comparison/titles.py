"""What items are called in a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from fullrank.data.ids import Ids, Name
from fullrank.errors import ParameterError, check, shown

Titles: TypeAlias = Mapping[Name, str] | Sequence[str]  # by id; or of every item, in the order of their codes


def order_titles(titles: Titles, items: Ids) -> tuple[str, ...]:
    """The title of every item, "" where it has none; titles of items that are not here are not needed.

    >>> order_titles({"gin": "Gin", "rum": "Rum"}, Ids(["tea", "gin"]))
    ('', 'Gin')
    """
    may_be = f"a dict from ids to titles, or a title for each of {len(items):,} items"
    ordered = by_code(titles, items, "titles", may_be)
    for title in ordered:
        check("titles", title, title is None or isinstance(title, str), f"{may_be}, each a text or None")
    return tuple("" if title is None else str(title) for title in ordered)


def by_code(known: Mapping[Name, Any] | Sequence[Any], items: Ids, what: str, may_be: str) -> Sequence[Any]:
    """What is known of the items, in their order: as given, or from a dict, then None of those it does not have."""
    if not isinstance(known, Mapping):
        check(what, known, in_a_row(known) and len(known) in (0, len(items)), may_be)
        return known
    if len(known) and len(items) and not any(name in items for name in known):
        raise ParameterError(
            f"{what}: none of {len(known):,} is of an item of the data, the first is of {shown(next(iter(known)))}; "
            f"give {what} by ids such as {shown(items.name(0))}."
        )
    return [known.get(name) for name in items] if len(known) else []


def in_a_row(values: object) -> bool:
    """Whether these are several values one after the other; a text is one."""
    return isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes)
