"""Why somebody is given an item: the parts that its score is the sum of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from fullrank.arrays import Array
from fullrank.data.ids import Ids, Name
from fullrank.errors import DataError, ParameterError, check_integer, shown
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.linear import exact_scores_of, exact_scores_of_newcomer
from fullrank.models.kinds.model import Model, checked_history
from fullrank.models.kinds.ordinal_factors import OrdinalFactors
from fullrank.models.kinds.reasons import Person, Reasons, besides
from fullrank.models.preferences.filters import Contextual, Filtered
from fullrank.recommending.one import History, history_of

if TYPE_CHECKING:
    import polars as pl

MEANING = {
    "offset": "what is added to all scores",
    "item bias": "how much the item is liked by everybody",
    "user bias": "how high this person rates",
    "own vector": "what was learned of this person beyond the list of their items",
    "training": "the vector that training left, less the one that the history alone gives",
    "everybody": "the score of the item for everybody",
    "popularity": "how many people have the item",
    "benefit": "what the item is worth by itself",
    "opportunity cost": "what is given up for it",
    "other items": "the other items of the history together",
    "rounding": "what the numbers of the model have lost by their length",
}
Somebody: TypeAlias = tuple[Person, int, Callable[[], Array]]  # with all items of their history, and how to score them
OF_SCORE, OF_PARTS = 5e-6, 1e-7  # what parts may miss of a float32 score before it is told


@runtime_checkable
class Explainable(Protocol):
    """A model whose scores have parts."""

    def reasons(self, item: int, person: Person) -> Reasons:
        """The parts of the score of an item for somebody."""


class Part(NamedTuple):
    """What something adds to a score: an item of the history, with the value it has there, or what `name` says."""

    name: str  # "item", or what else adds to a score: see MEANING
    item: Name | None
    value: float | None
    part: float


class Explained(NamedTuple):
    """The score of an item for somebody, and its parts, whose sum it is: the largest first, whatever their sign.

    `not_counted` is how many items of the history say nothing to the model, by its recipe's `relevant`; `fallback` is
    "popular" where nothing is known of the person.
    """

    item: Name
    score: float
    parts: list[Part]
    not_counted: int = 0
    fallback: str = ""

    def to_frame(self) -> pl.DataFrame:
        """A row per part: name, item, value, part.

        >>> Explained("tea", 3.0, [Part("item", "jam", 5.0, 2.5), Part("item bias", None, None, 0.5)]).to_frame().rows()
        [('item', 'jam', 5.0, 2.5), ('item bias', None, None, 0.5)]
        """
        import polars as pl

        name = pl.String if isinstance(self.item, str) else pl.Int64
        types = {"name": pl.String, "item": name, "value": pl.Float64, "part": pl.Float64}
        return pl.DataFrame(self.parts, schema=types, orient="row")

    @property
    def sentence(self) -> str:
        """The same in words, the items by their ids.

        >>> Explained("tea", 3.0, [Part("item", "jam", 5.0, 2.5), Part("item bias", None, None, 0.5)]).sentence
        "'tea' scores 3: 2.5 from 'jam'; 0.5 is item bias, how much the item is liked by everybody."
        """
        if self.fallback:
            return f"nothing is known of this person; {shown(self.item)} is given for its popularity, {self.score:g}."
        items = [one for one in self.parts if one.name == "item"]
        told = [", ".join(f"{one.part:.3g} from {shown(one.item)}" for one in items[:3])] if items else []
        rest = [*(one.part for one in items[3:]), *(one.part for one in self.parts if one.name == "other items")]
        if rest:
            told.append(f"{sum(rest):.3g} from the rest of the history")
        others = (one for one in self.parts if one.name not in ("item", "other items"))
        told += [f"{one.part:.3g} is {one.name}, {MEANING[one.name]}" for one in others]
        if self.not_counted:
            told.append(f"not counted of the history: {self.not_counted:,}")
        return f"{shown(self.item)} scores {self.score:.4g}: {'; '.join(told)}."


def explain(
    model: Model, user: Name | None = None, *, item: Name, history: History | None = None, n: int | None = None
) -> Explained:
    """What the score of an item for a user, or for somebody with this history, is the sum of.

    - `ItemItem`, `DualItemItem`, `ItemSequences` (ItemCF, EASE, RecentItemCF): of every item of the history its value
      times its weight on the item.
    - `HistoryFactors` (GaussianRank, SVDpp, ...): <p_i, q_j> / sqrt(how many) of every item j of the history; "own
      vector", "user bias", "item bias" and "offset" beside them, where the model has them.
    - `Factors` whose fold-in is a sum over the history (IALS, AllRank, AllRankBinary of squares, PureSVD, RSVD): the
      part of item j in that sum, as Hu, Koren and Volinsky (2008, section 5) have it; "offset" and "item bias". Of
      somebody known the stored vector is explained: "training" is what it scores beyond the fold-in of their history.
      It is small where training ends with solving for users, and need not be after stochastic descent (RSVD).
    - `CostFactors` (OpportunityCost, SessionCost, CCF): "benefit" and "opportunity cost", which among pairs is -alpha
      times the benefit. What else is offered changes it: see `model.rank_offers`.
    - `ItemScores`, `OwnItems`: the score of the item for "everybody", and what the person took of it.

    Models whose scores are no such sums are refused with a sentence: BPR, MFAUC, MFADG, AllRankBinary with the
    logistic loss, OrdRec. Where parts and score differ by more than five millionths, as where float32 numbers cannot
    hold a model well, the difference is a part too, "rounding". Of somebody of whom nothing is known "popularity" is
    explained, which is what they are given.

    Parameters
    ----------
    model
        Any fitted model.
    user
        Somebody in the training data.
    item
        The item whose score it is, seen or not.
    history
        What somebody new did: items, or items with values.
    n
        So many items of the history have a part of their own, the largest; the rest is one part, "other items", which
        comes last. None: all of them.

    >>> from fullrank.data.interactions import Interactions
    >>> from fullrank.models.neighbours.itemcf import ItemCF
    >>> took = Interactions.of([1, 1, 2, 2, 3, 3], ["tea", "jam", "tea", "jam", "tea", "gin"])
    >>> explain(ItemCF(shrink=0, user_weight=0).fit(took), history=["jam", "gin"], item="tea").sentence
    "'tea' scores 1.394: 0.816 from 'jam', 0.577 from 'gin'."
    """
    if n is not None:
        check_integer("n", n, 1)
    if (user is None) == (history is None):
        raise ParameterError("explain needs either a user or a history.")
    if not isinstance(model, Explainable):
        raise DataError(f"{type(getattr(model, 'recipe', model)).__name__}: {_why_not(model)}.")
    code = model.train.items.code(item)
    person, done, scores = _known(model, user) if history is None else _new(model, history)
    left = done - len(person.items)
    if not len(person.items) and not isinstance(model, ItemScores):
        many = float(model.train.popularity[code])
        return Explained(item, many, _parts(besides(popularity=many), model.train.items, n), left, "popular")
    score = float(scores()[0, code])
    reasons = _add_rounding(model.reasons(code, person), score)
    return Explained(item, score, _parts(reasons, model.train.items, n), left)


def _add_rounding(reasons: Reasons, score: float) -> Reasons:
    """What float32 numbers have lost, as a part of its own where it is more than sums of them may."""
    parts = [*reasons.parts.tolist(), *reasons.others.values()]
    lost = score - sum(parts)
    if abs(lost) <= OF_SCORE * abs(score) + OF_PARTS * sum(map(abs, parts)):
        return reasons
    return reasons._replace(others={**reasons.others, "rounding": lost})


def _known(model: Model, user: Name | None) -> Somebody:
    """A user of the training data; anybody else is somebody who did nothing."""
    if user not in model.train.users:
        return _new(model, ())
    code, rows = model.train.users.code(user), model.positives  # type: ignore[arg-type]
    mine, done = (slice(starts[code], starts[code + 1]) for starts in (rows.starts, model.train.starts))
    values = np.ones(mine.stop - mine.start, dtype=np.float32) if rows.value is None else rows.value[mine]
    one = np.array([code], dtype=np.int32)
    return Person(code, rows.item[mine], values), int(done.stop - done.start), lambda: exact_scores_of(model, one)


def _new(model: Model, history: History) -> Somebody:
    """Somebody with this history."""
    codes, values = history_of(history, model.train.items, lambda: model.liked)
    if not getattr(model, "ordered", False):
        order = np.argsort(codes)
        codes, values = codes[order], values[order]
    person = Person(None, *checked_history(model, codes, values))
    return person, len(codes), lambda: exact_scores_of_newcomer(model, codes, values)


def _parts(reasons: Reasons, items: Ids, n: int | None) -> list[Part]:
    """The parts of a score, the largest first; of items beyond the n largest one part."""
    order = np.argsort(-np.abs(reasons.parts), kind="stable")
    few = order[:n].tolist()
    parts = [
        Part("item", items.name(int(reasons.items[one])), float(reasons.values[one]), float(reasons.parts[one]))
        for one in few
    ]
    parts += [Part(name, None, None, part) for name, part in reasons.others.items()]
    parts.sort(key=lambda one: -abs(one.part))
    rest = reasons.parts[order[len(few) :]]
    return [*parts, Part("other items", None, None, float(rest.sum()))] if len(rest) else parts


def _why_not(model: object) -> str:
    known = {
        OrdinalFactors: "a score is the mean of a distribution over levels, which is no sum of parts; explain a model "
        "of SVDpp or AllRank on the same ratings",
        Contextual: "there is a model for every context; give the one of a context, model.at(context)",
        Filtered: "the score is lowered for items that are seldom met in the context; give the model inside, "
        "model.model, for the score before that",
    }
    return known.get(type(model), "it does not tell what its scores are the sums of; give its model a method `reasons`")
