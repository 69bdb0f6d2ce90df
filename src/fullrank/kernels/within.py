"""Which part of a sorted list lies within a tile of items."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from fullrank.runtime.compiling import kernel


@kernel
def within(items: NDArray[Any], first: int, last: int, begin: int, n: int) -> Any:
    """From which to before which of the places first .. last - 1 the items are one of begin .. begin + n - 1."""
    return _place(items, first, last, begin), _place(items, first, last, begin + n)


@kernel
def _place(items: NDArray[Any], first: int, last: int, item: int) -> Any:
    """The first of these places with an item at or after this one; `last` where there is none."""
    if first < last and items[last - 1] < item:
        return last
    while first < last:
        middle = (first + last) // 2
        if items[middle] < item:
            first = middle + 1
        else:
            last = middle
    return first
