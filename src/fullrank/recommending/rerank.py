"""Lists picked from pools of candidates: quotas, diversity, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fullrank.arrays import Array, Bools, Codes, Doubles, Ints, frozen, owned, row_blocks
from fullrank.data.attributes import Attributes
from fullrank.data.ids import Ids
from fullrank.data.years import add_years
from fullrank.errors import DataError, ParameterError, did_you_mean
from fullrank.models.kinds.linear import Linear
from fullrank.models.kinds.model import Model
from fullrank.recommending.diversify import Diversify
from fullrank.recommending.rules import Rules
from fullrank.runtime.threads import in_parallel

SMOOTH = 0.01  # of p in the distribution of a list (Steck 2018, Eq. 7)
ROWS = 256  # people whose lists one thread picks at a time


class Labelled(NamedTuple):
    """Labels of items, each once: those of item i are label[start[i]] .. label[start[i+1]-1]; `names` of labels."""

    start: Ints
    label: Codes
    names: tuple[str, ...]

    @classmethod
    def of(cls, items: Sequence[Sequence[str]]) -> Labelled:
        """From the labels of every item.

        >>> Labelled.of([("gin", "tonic"), (), ("tonic", "tonic")]).label
        array([0, 1, 1], dtype=int32)
        """
        codes: dict[str, int] = {}
        rows = [[codes.setdefault(word, len(codes)) for word in dict.fromkeys(words)] for words in items]
        start = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        label = np.array([code for row in rows for code in row], dtype=np.int32)
        return cls(frozen(start), frozen(label), tuple(codes))


@dataclass(frozen=True, eq=False)
class Arranger:
    """What picks lists out of pools; made once for many people."""

    quota: Labelled
    limit: Ints  # (labels of the quota,)
    diversify: Diversify | None
    words: Labelled  # what makes items similar, or what is calibrated
    vectors: Array  # (items, factors); no columns where words are used
    inverse: Doubles  # (items,): 1 / their norms
    told: str  # what makes items similar

    def pick(self, pools: Codes, scores: Doubles, past: tuple[Ints, Codes], n: int) -> Codes:
        """Places in every pool (people, candidates), (people, n): the list, best first, -1 where there are no more.

        `past` says what each of these people had: start and items, by row.
        """
        out, had = np.empty((len(pools), n), dtype=np.int32), (owned(past[0], np.int64), owned(past[1], np.int32))

        def work(some: slice) -> None:
            self._pick(pools[some], scores[some], had, some, out[some])

        in_parallel(work, row_blocks(len(pools), ROWS))
        return out

    def has_room(self, lists: Codes, left: Bools) -> Bools:
        """Whether any item that is `left` is within the quotas beside these lists (people, n): of whom to look further.

        An item that a person may not have counts too: then nothing is found.
        """
        from fullrank.kernels.arranging import find_room

        out = np.empty(len(lists), dtype=bool)

        def work(some: slice) -> None:
            find_room(lists[some], left, self.quota.start, self.quota.label, self.limit, out[some])

        in_parallel(work, row_blocks(len(lists), ROWS))
        return out

    def _pick(self, pools: Codes, scores: Doubles, past: tuple[Ints, Codes], some: slice, out: Codes) -> None:
        from fullrank.kernels import arranging

        quota: Any = (self.quota.start, self.quota.label, self.limit, out)
        words: Any = (self.words.start, self.words.label, len(self.words.names))
        if self.diversify is None:
            arranging.take_best(pools, *quota)
        elif self.diversify.way == "mmr":
            like: Any = (self.vectors, self.inverse)
            arranging.take_diverse(pools, scores, float(self.diversify.share), *like, *words, *quota)
        else:
            rows: Any = (past[0][some.start : some.stop + 1], past[1])
            arranging.take_calibrated(pools, scores, float(self.diversify.share), SMOOTH, *rows, *words, *quota)


def make_arranger(rules: Rules, model: Model) -> Arranger:
    """What picks lists of this model by these rules."""
    items = model.train.items
    nothing = Labelled.of([()] * len(items))
    quota, limit = _quotas(rules, items)
    vectors, words, told = np.zeros((len(items), 0), dtype=np.float32), nothing, ""
    how = rules.diversify
    assert not isinstance(how, str)  # parsed when the rules were made
    if how is not None and how.way == "calibrated":
        column = _several(rules.items, how.by)
        words, told = Labelled.of(_labels(_about(rules.items, how), column, items)), f"calibrated by {column}"
    elif how is not None and how.by != "vectors" and (rules.items is not None or how.by is not None):
        about = _about(rules.items, how)
        words = Labelled.of(about.words_for(items) if how.by is None else _labels(about, how.by, items))
        told = f"items are alike by {'their attributes' if how.by is None else how.by}"
    elif how is not None:
        vectors, told = _vectors(model), "items are alike by the model's vectors of them"
    if how is not None:
        best = "best 10 n, and at least 100," if rules.pool is None else f"{rules.pool:,} best"
        told = f"{told}; lists are picked from the {best} candidates"
    norms = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1))
    inverse = np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > 0)
    return Arranger(quota, limit, how, words, frozen(vectors.view()), frozen(inverse), told)


def _quotas(rules: Rules, items: Ids) -> tuple[Labelled, Ints]:
    """The values of all columns with a quota as labels, and the quota of each."""
    if not rules.most or rules.items is None:
        return Labelled.of([()] * len(items)), frozen(np.zeros(0, dtype=np.int64))
    columns = [
        [[f"{name}\0{word}" for word in cell] for cell in _labels(rules.items, name, items)] for name in rules.most
    ]
    quota = Labelled.of([[word for cell in cells for word in cell] for cells in zip(*columns, strict=True)])
    return quota, frozen(np.array([rules.most[word.partition("\0")[0]] for word in quota.names], dtype=np.int64))


def _labels(about: Attributes, name: str, items: Ids) -> tuple[tuple[str, ...], ...]:
    """The values of a column for every item; a year behind titles is one."""
    about = add_years(about)[0]
    if name not in about.columns:
        raise ParameterError(f"items have no column '{name}'. {did_you_mean(name, list(about.columns))}")
    cells = about.column_for(name, items)
    return tuple(cell if isinstance(cell, tuple) else (cell,) if cell else () for cell in cells)


def _about(about: Attributes | None, how: Diversify) -> Attributes:
    if about is None:
        raise ParameterError(f"{how} needs to know something of items; give a file about them (items=, --items).")
    return about


def _several(about: Attributes | None, by: str | None) -> str:
    """The column to calibrate by."""
    if by is not None:
        return by
    columns = {} if about is None else about.columns
    several = [name for name, column in columns.items() if column and isinstance(column[0], tuple)]
    if about is not None and len(several) != 1:
        raise ParameterError(
            f"calibrated: by which column? {len(several)} have several values in a cell; write calibrated:0.5:COLUMN "
            f"with one of {', '.join(columns)}."
        )
    return several[0] if several else ""


def _vectors(model: Model) -> Array:
    if not isinstance(model, Linear):
        raise DataError(
            f"{type(model.recipe).__name__} has no vectors of items to tell which are alike; give a file about them "
            "(items=, --items)."
        )
    return np.ascontiguousarray(model.item_vectors.vectors)
