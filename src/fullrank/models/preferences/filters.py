"""Recommending in a context, such as a day of the week: before a model is fitted, or after (Ackerman 2012, 2.7).

Ackerman's own answer, items valued by what else is offered, is a model of context and needs neither: `SessionCost`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, Codes, Floats, frozen
from fullrank.data.graded import Graded
from fullrank.data.ids import Name
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, is_number, shown
from fullrank.models.kinds.cost_factors import Valued
from fullrank.models.kinds.linear import exact_scores_of, exact_scores_of_newcomer
from fullrank.models.kinds.model import Model
from fullrank.models.preferences.sessions import Sessions

Column: TypeAlias = str | Callable[[Any], Any]  # feedback: a label for every row, of sessions for every session
Label: TypeAlias = int | str


@dataclass(frozen=True)
class PreFiltered:
    """A model for every context, fitted on the feedback given in it and nothing else.

    All contexts are fitted at once, so none has to wait.

    >>> from fullrank.models.neighbours.bestseller import Bestseller
    >>> data = Interactions.of([1, 1, 2, 2], ["tea", "gin", "gin", "tea"], [5, 1, 4, 5], time=[0, 43200, 43200, 0])
    >>> model = PreFiltered(Bestseller(by="count"), "hour").fit(data)
    >>> model.contexts
    [0, 12]
    >>> model.at(12).scores([0])
    array([[2., 0.]], dtype=float32)
    """

    #: The recipe that is fitted.
    recipe: Any
    #: The context of every row: "hour", "weekday" (0 is Monday) or "month" of its time in UTC, or a function that
    #: gives a label for every row of the feedback, for every session of sessions.
    column: Column

    def fit(self, train: Sessions, seed: int = 0, **training: Any) -> Contextual:
        """The recipe once for every context."""
        label = labels(self.column, train)
        models: dict[Label, Model] = {}
        for context in np.unique(label).tolist():
            try:
                models[context] = self.recipe.fit(train.where(label == context), seed=seed, **training)
            except DataError as error:
                raise DataError(f"in context {shown(context)}: {error}") from error
        return Contextual(models, self)


@dataclass(frozen=True)
class PostFiltered:
    """One model of all feedback; in a context, items that are seldom met there come after all others, in their order.

        lift_i,c = (n_ic + smoothing share_c) / (n_i + smoothing) / share_c  <  least

    n_i counts the feedback on item i, n_ic that given in context c, and share_c is the part of all feedback that was:
    items that are met in a context as often as any have a lift of 1, and of those that are hardly met nothing is known.
    """

    #: The recipe that is fitted.
    recipe: Any
    #: The context of every row: "hour", "weekday" (0 is Monday) or "month" of its time in UTC, or a function that
    #: gives a label for every row of the feedback, for every session of sessions.
    column: Column
    #: Items with a lift below this are put last, > 0: 1 leaves those that are met there as often as elsewhere.
    least: float = 0.5
    #: Counts that are added as if met anywhere, > 0: more lets rarely met items pass.
    smoothing: float = 5.0

    def __post_init__(self) -> None:
        for name in ("least", "smoothing"):
            number = getattr(self, name)
            check(name, number, is_number(number) and 0 < number < np.inf, "a number > 0")

    def fit(self, train: Sessions, seed: int = 0, **training: Any) -> Contextual:
        """The recipe once, and who is met where."""
        label = labels(self.column, train)
        model, row = self.recipe.fit(train, seed=seed, **training), _of_rows(label, train)
        often = np.bincount(train.item, minlength=len(train.items))
        models: dict[Label, Model] = {}
        for context in np.unique(label).tolist():
            here = np.bincount(train.item[row == context], minlength=len(often))
            share = here.sum() / often.sum()
            lift = (here + self.smoothing * share) / (often + self.smoothing) / share
            models[context] = Filtered(model, frozen(lift >= self.least))
        return Contextual(models, self)


@dataclass(frozen=True, eq=False)
class Contextual:
    """A model for every context."""

    models: dict[Label, Model]
    recipe: object

    @property
    def contexts(self) -> list[Label]:
        """All contexts there are models for."""
        return list(self.models)

    def at(self, context: Label) -> Model:
        """The model of a context, to rank, evaluate and recommend with like any other."""
        if context not in self.models:
            known = ", ".join(shown(label) for label in self.contexts[:20])
            raise DataError(f"nothing was learned in context {shown(context)}; known are {known}.")
        return self.models[context]


@dataclass(frozen=True, eq=False, repr=False)
class Filtered(Model):
    """The scores of a model, lowered for items that are seldom met until all of them are behind the others."""

    model: Model
    common: NDArray[np.bool_]  # (items,): whether it is met in this context

    train: Interactions = field(init=False)  # the model's own, and so is its recipe
    recipe: object = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "train", self.model.train)
        object.__setattr__(self, "recipe", self.model.recipe)

    @property
    def ordered(self) -> bool:
        """Whether the order of a history counts to the model."""
        return bool(getattr(self.model, "ordered", False))

    def exact_scores(self, users: Codes) -> Array:
        """The scores of known users (codes) by which they are ranked, as exact as the model's own."""
        return self._lower(exact_scores_of(self.model, users))

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        out[:] = self.exact_scores(users)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        return np.asarray(self._lower(exact_scores_of_newcomer(self.model, items, values))[0])

    @property
    def offer_scores(self) -> Callable[[Graded], NDArray[np.float64]]:
        """Of a model that values offers beside each other, and of no other: these values, lowered in every case."""
        values = self._ask("offer_scores")
        return lambda offers: self._lower_offers(values(offers), offers)

    @property
    def rank_offers(self) -> Callable[[Name, Sequence[Name]], Valued]:
        """Of a model that has it: what offers are worth is the model's own, those that are seldom met come last."""
        ranked = self._ask("rank_offers")
        return lambda user, items: self._put_first(ranked(user, items))

    def _ask(self, name: str) -> Any:
        """What only some models have; an AttributeError where this one has not, so that `hasattr` tells."""
        return getattr(self.model, name)

    def _put_first(self, offers: Valued) -> Valued:
        common = self.common[self.train.items.codes(offers.items)]
        order = np.argsort(~common, kind="stable").tolist()
        return Valued(*([column[place] for place in order] for column in offers))

    def _lower_offers(self, scores: NDArray[np.float64], offers: Graded) -> NDArray[np.float64]:
        common = self.common[self.train.items.codes(offers.items.names)][offers.item]
        low, high = np.full(len(offers), np.inf), np.full(len(offers), -np.inf)
        np.minimum.at(low, offers.case[common], scores[common])
        np.maximum.at(high, offers.case[~common], scores[~common])
        both = np.isfinite(low) & np.isfinite(high)
        fall = np.zeros(len(offers))
        fall[both] = _fall(low[both], high[both])
        return np.where(common, scores, scores - fall[offers.case])

    def _lower(self, scores: Array) -> Array:
        scores = np.array(scores)
        if self.common.all() or not self.common.any():
            return scores
        low, high = scores[:, self.common].min(axis=1), scores[:, ~self.common].max(axis=1)
        scores[:, ~self.common] -= _fall(low, high)[:, None]
        return scores


def _fall(low: Array, high: Array) -> Array:
    """How far to lower what reaches up to `high`, so that all of it is below `low`."""
    kind = low.dtype.type
    fall: Array = np.maximum(high - low, 0) * kind(1.001) + np.abs(low) * kind(1e-5) + kind(1e-5)
    return fall


def labels(column: Column, feedback: Sessions) -> Array:
    """The context of every row, or of every session."""
    if callable(column):
        label = np.asarray(column(feedback))
    else:
        check("column", column, column in ("hour", "weekday", "month"), "'hour', 'weekday', 'month' or a function")
        if feedback.time is None:
            raise DataError(f"the feedback has no times to take the {column} from; give a column of them.")
        label = _clock(column, feedback.time)
    if label.shape != (len(feedback),):
        raise DataError(f"{len(feedback):,} contexts are needed, one for each; the column has shape {label.shape}.")
    return label


def _clock(column: str, time: Array) -> NDArray[np.int64]:
    unit = {"hour": "h", "weekday": "D", "month": "M"}[column]
    since = time.astype(f"datetime64[{unit}]").astype(np.int64)
    shift, cycle, first = {"hour": (0, 24, 0), "weekday": (3, 7, 0), "month": (0, 12, 1)}[
        column
    ]  # 1970 began on Thursday
    counted: NDArray[np.int64] = (since + shift) % cycle + first
    return counted


def _of_rows(label: Array, feedback: Sessions) -> Array:
    return label[feedback.case] if isinstance(feedback, Graded) else label
