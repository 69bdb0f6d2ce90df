"""Strings and their numbers, by polars: for columns of many millions of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


class Dictionary:
    """Strings numbered in the order they come in.

    >>> words = Dictionary()
    >>> words.numbers(pl.Series(["b", "a", "b"])), words.numbers(pl.Series(["c"]))
    (array([0, 1, 0], dtype=uint32), array([2], dtype=uint32))
    >>> words.names().to_list()
    ['b', 'a', 'c']
    """

    def __init__(self) -> None:
        self._categories = pl.Categories.random()
        self._alive: pl.Series | None = None  # polars forgets the names when no column uses them

    def numbers(self, column: pl.Series) -> NDArray[np.uint32]:
        """The number of every string, new ones getting the next."""
        numbered = column.cast(pl.Categorical(self._categories))
        self._alive = self._alive if self._alive is not None else numbered  # whichever thread is first or last
        return numbered.to_physical().to_numpy()

    def names(self) -> pl.Series:
        """The strings by number."""
        return self._categories.to_series()


def sorted_numbers(names: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
    """For every number its place in sorted order, and the names in that order."""
    order = names.arg_sort(nulls_last=True).to_numpy()[: len(names) - names.null_count()]
    place = np.empty(len(names), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place, names[order]


def as_integers(names: pl.Series) -> pl.Series | None:
    """The integers these strings are, if every one is printed exactly so: "7" is, "07" is not."""
    numbers = names.cast(pl.Int64, strict=False)
    return numbers if (numbers.cast(pl.String) == names).all() and numbers.null_count() == names.null_count() else None


def to_numpy(names: pl.Series) -> NDArray[Any]:
    """Names as NumPy's own strings, or as int64."""
    if names.dtype == pl.String:
        return np.array(names.to_list(), dtype=np.dtypes.StringDType())
    return names.to_numpy()
