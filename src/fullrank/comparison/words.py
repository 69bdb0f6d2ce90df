"""What items have in common: words, such as genres, for every item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from fullrank.comparison.titles import by_code, in_a_row
from fullrank.data.ids import Ids, Name
from fullrank.errors import check

Words: TypeAlias = Mapping[Name, Sequence[str]] | Sequence[Sequence[str]]  # by id; or of every item, by code


def order_words(attributes: Words, items: Ids) -> tuple[tuple[str, ...], ...]:
    """The words of every item, () where it has none; those of items that are not here are not needed.

    >>> order_words({"gin": ["strong", "clear"], "rum": ["strong"]}, Ids(["tea", "gin"]))
    ((), ('strong', 'clear'))
    """
    may_be = f"a dict from ids to lists of words, or such a list for each of {len(items):,} items"
    ordered = by_code(attributes, items, "attributes", may_be)
    for words in ordered:
        plain = words is None or (in_a_row(words) and all(isinstance(word, str) for word in words))
        check("attributes", words, plain, may_be)
    return tuple(() if words is None else tuple(map(str, words)) for words in ordered)
