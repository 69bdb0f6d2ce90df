"""How alike items are by the words that are said of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullrank.arrays import Codes, Doubles
from fullrank.metrics.lists import Similarity


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
