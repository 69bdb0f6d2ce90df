"""Events that tests share, and what they are as plain rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fullrank.data.events import Events

Row = tuple[str, int, float, float]  # user, item, value, time


def events_of(text: str, users: Any = None) -> Events:
    """Rows such as "a1@10": user, item, time in seconds."""
    rows = [(row[0], row[1], int(row[3:])) for row in text.split()]
    user, item, time = zip(*rows, strict=True)
    return Events.of(user, item, time=time, users=users)


def rows_of(data: Any) -> Counter[tuple[Any, ...]]:
    """How often each (user, item, value, time) is there, by name."""
    value = [None] * len(data) if data.value is None else data.value.tolist()
    time = [None] * len(data) if data.time is None else data.time.view(np.int64).tolist()
    names = data.users.names[data.user].tolist(), data.items.names[data.item].tolist()
    return Counter(zip(*names, value, time, strict=True))


moments = st.integers(0, 4).map(float) | st.integers(0, 2**52).map(lambda micros: micros / 1e6)
plain_rows = st.tuples(
    st.sampled_from("abc"), st.integers(0, 3), st.sampled_from([1.0, 2.0, 2.5, 7.0]), st.integers(0, 9).map(float)
)
any_rows = st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.sampled_from([1e-9, 1.0, 2.5, 1e9]), moments)


def made(rows: list[Row], value: bool = True, time: bool = True) -> Events:
    """The container of these rows."""
    user, item, values, times = zip(*rows, strict=True)
    return Events.of(user, item, values if value else None, np.array(times) if time else None)
