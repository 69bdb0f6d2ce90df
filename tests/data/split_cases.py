"""Histories, sessions and splits that the tests of splitting share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.split import (
    Split,
)


def pairs(data: Interactions | None) -> set[tuple[Any, Any]]:
    """The (user, item) names of all rows."""
    if data is None:
        return set()
    return set(zip(data.users.names[data.user].tolist(), data.items.names[data.item].tolist(), strict=True))


def of(text: str) -> Interactions:
    """Rows such as "a1@10": user, item, time in seconds."""
    rows = [(row[0], row[1], int(row[3:])) for row in text.split()]
    user, item, time = zip(*rows, strict=True)
    return Interactions.of(user, item, value=[1 + int(i) % 5 for i in item], time=time)


def sessions(per_user: list[int], times: bool = True) -> Graded:
    """Each user's number of sessions, each of two items."""
    names = [(f"u{u}", f"s{u:02}-{s:02}") for u, n in enumerate(per_user) for s in range(n)]
    rows = [(user, session, item) for user, session in names for item in ("x", "y")]
    user, session, item = zip(*rows, strict=True)
    time = [int(s[-2:]) for s in session] if times else None
    return Graded.of(session, item, [float(i == "x") for i in item], user=user, time=time)


def is_partition(split: Split[Any], data: Any) -> None:
    """The parts are disjoint and together the data; none is empty but perhaps `visible`."""
    assert split.whole() == data
    assert sum(map(len, split.parts)) == len(data)
    assert len(split.train) > 0
    assert len(split.held_out) > 0
    assert split.valid is None or len(split.valid) > 0
    assert split.how.endswith(".")


names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=3)


moments = st.integers(0, 4) | st.integers(0, 2**36) | st.floats(0, 1e9, allow_nan=False)


Row = tuple[Any, Any, float, float]


@st.composite
def histories(draw: st.DrawFn, least: int = 1) -> tuple[list[Row], Interactions]:
    """Rows in random order and the container they make: repeated pairs, equal times, names of every kind."""
    users = draw(st.lists(names, min_size=1, max_size=4, unique=True) | st.just([2**60, -1, 7]))
    items = draw(st.lists(names, min_size=max(least, 2), max_size=8, unique=True) | st.just(list(range(9))))
    one = st.tuples(st.sampled_from(users), st.sampled_from(items), st.sampled_from([1.0, 2.5, 5.0]), moments)
    rows: list[Row] = draw(st.lists(one, min_size=least, max_size=30))
    return rows, container(rows)


def container(rows: list[Row]) -> Interactions:
    user, item, value, time = zip(*rows, strict=True)
    return Interactions.of(user, item, value=value, time=np.array(time, dtype=float))


def brute_share(fraction: float, n: int) -> int:
    return math.floor(round(fraction * n, 6) + 0.5)
