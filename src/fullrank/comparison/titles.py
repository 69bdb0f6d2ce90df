"""What items are called in a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fullrank.data.ids import Ids, Name
from fullrank.errors import ParameterError, check, shown

Titles: TypeAlias = Mapping[Name, str] | Sequence[str]  # by id; or of every item, in the order of their codes


def order_titles(titles: Titles, items: Ids) -> tuple[str, ...]:
    """The title of every item, "" where it has none; titles of items that are not here are not needed.

    >>> order_titles({"gin": "Gin", "rum": "Rum"}, Ids(["tea", "gin"]))
    ('', 'Gin')
    """
    if isinstance(titles, Mapping):
        titles = _order(titles, items)
    in_a_row = isinstance(titles, Sequence | np.ndarray) and not isinstance(titles, str | bytes)
    wanted = f"a dict from ids to titles, or a title for each of {len(items):,} items"
    check("titles", titles, in_a_row and len(titles) in (0, len(items)), wanted)
    for title in titles:
        check("titles", title, title is None or isinstance(title, str), f"{wanted}, each a text or None")
    return tuple("" if title is None else str(title) for title in titles)


def _order(titles: Mapping[Name, str], items: Ids) -> list[str]:
    """Titles in the order of the items; some have to be of items that are here."""
    if len(titles) and len(items) and not any(name in items for name in titles):
        raise ParameterError(
            f"titles: none of {len(titles):,} is of an item of the data, the first is of {shown(next(iter(titles)))}; "
            f"give titles by ids such as {shown(items.name(0))}."
        )
    return [titles.get(name, "") for name in items] if len(titles) else []
