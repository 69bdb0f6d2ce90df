"""The columns that interactions and events have in common: checked, chosen, told in a few words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, checked_codes
from fullrank.data.canonical import checked_values, encode
from fullrank.data.ids import Ids, Name, as_names
from fullrank.data.times import checked_times
from fullrank.errors import DataError

COLUMNS = ("user", "item", "value", "time")


def check_columns(data: Any) -> None:
    """Make the columns of a frozen container read-only ones of their types, of one length and inside its ids."""
    put = object.__setattr__
    put(data, "user", checked_codes(data.user, len(data.users), "user"))
    put(data, "item", checked_codes(data.item, len(data.items), "item"))
    if data.value is not None:
        put(data, "value", checked_values(data.value))
    if data.time is not None:
        put(data, "time", checked_times(data.time))
    for name in COLUMNS:
        column = getattr(data, name)
        if column is not None and len(column) != len(data.user):
            raise DataError(f"{name} has {len(column)} rows, user has {len(data.user)}; give columns of one length.")


def columns_where(data: Any, mask: NDArray[np.bool_]) -> dict[str, Any]:
    """The columns, where `mask` holds."""
    if np.shape(mask) != (len(data),) or np.asarray(mask).dtype != bool:
        raise DataError(f"where() needs one True or False per row ({len(data)}), got shape {np.shape(mask)}.")
    columns = {name: getattr(data, name) for name in COLUMNS}
    return {name: None if column is None else column[mask] for name, column in columns.items()}


def encode_names(names: Iterable[Name] | NDArray[Any], ids: Ids | None) -> tuple[Codes, Ids]:
    """Names as codes of these ids; without any, of the names that occur, sorted."""
    if ids is not None:
        return ids.codes(names), ids
    codes, distinct = encode(as_names(names))
    return codes, Ids(distinct)


def check_lengths(columns: dict[str, NDArray[Any]]) -> None:
    """Refuse columns of different lengths."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"columns of different lengths {lengths}; give columns of one length.")


def tell_columns(data: Any) -> str:
    """Users, items, and the range of values and times: what a repr says after the number of rows."""
    parts = [f"{data.n_users:,} users", f"{data.n_items:,} items"]
    if data.value is not None and len(data):
        parts.append(f"values {data.value.min():g}..{data.value.max():g}")
    if data.time is not None and len(data):
        parts.append(f"{np.datetime64(data.time.min(), 'D')}..{np.datetime64(data.time.max(), 'D')}")
    return ", ".join(parts)
