"""What items have in common: words, such as genres, for every item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fullrank.arrays import Codes, Doubles
from fullrank.comparison.titles import by_code, in_a_row
from fullrank.data.ids import Ids, Name
from fullrank.errors import check
from fullrank.metrics.lists import Similarity

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


def cosine(attributes: Sequence[Sequence[str]]) -> Similarity | None:
    """How alike two items are: the words they share / sqrt(words of one x words of the other).

    An item without words is like no other; None where no item has any.

    >>> alike = cosine([("gin", "tonic"), ("gin",), ()])
    >>> alike([0, 0], [1, 2]).round(3)
    array([0.707, 0.   ])
    """
    from scipy.sparse import csr_array

    codes = {word: code for code, word in enumerate(dict.fromkeys(word for words in attributes for word in words))}
    if not codes:
        return None
    rows = [sorted({codes[word] for word in words}) for words in attributes]
    sizes = np.array([len(row) for row in rows])
    start, column = np.append(0, np.cumsum(sizes)), np.concatenate(rows).astype(np.int64)
    has = csr_array((np.ones(len(column)), column, start), shape=(len(rows), len(codes)))
    length = np.sqrt(np.maximum(sizes, 1))

    def alike(one: Codes, other: Codes) -> Doubles:
        shared: Doubles = has[one].multiply(has[other]).sum(axis=1)
        return np.asarray(shared / (length[one] * length[other]))

    return alike
