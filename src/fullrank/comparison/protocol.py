"""What is compared on what: the data, its split, who is judged on which items, by which metrics."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fullrank._version import __version__
from fullrank.arrays import Bools
from fullrank.comparison import defaults, examples
from fullrank.comparison.lists import LENGTH
from fullrank.comparison.provenance import fingerprint_of_split
from fullrank.comparison.splits import parse_split
from fullrank.comparison.titles import Titles, order_titles
from fullrank.comparison.words import Words, order_words
from fullrank.data.canonical import Duplicates
from fullrank.data.events import Events
from fullrank.data.feedback import Feedback, as_graded, kind_of
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.outside import OutsideLists
from fullrank.data.preferences import Preferences
from fullrank.data.split import Split, with_valid
from fullrank.data.split.parts import joined
from fullrank.errors import DataError, ParameterError, check
from fullrank.evaluation.cases import Cases, cases_of
from fullrank.evaluation.conventions.table import find_convention
from fullrank.evaluation.lists import rank_lists, top_lists
from fullrank.evaluation.rank import rank, rank_and_top
from fullrank.evaluation.top import TopN
from fullrank.metrics.lists import Similarity
from fullrank.metrics.metric import Metric
from fullrank.metrics.table import parse
from fullrank.metrics.words import cosine
from fullrank.ranks import Ranks

BELOW = 8  # a missing rating is taken for the lowest less this part of their range: 0.5 of ratings from 1 to 5
Truth = Callable[[], Any]  # Interactions: all that is relevant, observed or not


@dataclass(frozen=True, eq=False)
class Setting:
    """All that the models of a comparison share."""

    data: Feedback | Events
    kind: str
    split: Split[Any]  # in training and held-out parts
    cut: str  # how it was split, as somebody would write it; "" where it came split
    relevant: float | None
    metrics: tuple[Metric, ...]  # the first one decides
    exclude: Literal["train"] | None = "train"
    seed: int = 0
    titles: Sequence[str] = field(default=(), repr=False)
    truth: Truth | None = field(default=None, repr=False)
    chosen_on: Split[Any] | None = None  # the same with a validation part, where the data came with one
    attributes: Sequence[Sequence[str]] = field(default=(), repr=False)  # words of every item, by code
    strict: bool = False  # irregular lists and leaks are refused
    libraries: tuple[str, ...] = ()  # as which lists are counted too

    @property
    def suits(self) -> dict[str, float | None]:
        """Parameters on the scale of these ratings: from which on they count, and what a missing one is taken for."""
        if self.kind != "ratings" or getattr(self.split.train, "value", None) is None or not len(self.split.train):
            return {}
        least, most = float(self.split.train.value.min()), float(self.split.train.value.max())
        return {"relevant": self.relevant, "missing_value": least - (most - least) / BELOW}

    @cached_property
    def judged(self) -> Cases | Graded:
        """Who is judged on what: users on what was held out, or offers with an order."""
        if isinstance(self.split.held_out, Interactions):
            return cases_of(self.split, self.relevant, self.exclude)
        held_out = self.split.held_out
        offers: Graded = as_graded(held_out)
        some = offers.count_pairs() > 0
        if not some.any():
            raise DataError(f"none of {len(offers):,} held-out sessions has an order; hold out more.")
        return offers.where(some)

    def check_leaks(self) -> None:
        """Refuse held-out rows that are in the training data too, unless people may take an item again."""
        train, held_out = self.split.train, self.split.held_out
        if self.split.overlaps or not isinstance(held_out, Interactions):
            return
        leaked = int(np.isin(_pairs(held_out), _pairs(train)).sum())
        if leaked:
            raise DataError(
                f"{leaked:,} of {len(held_out):,} held-out rows are in the training data too (leak); take them out of "
                "one, or judge without --strict (strict=False), where they are told."
            )

    @cached_property
    def new(self) -> Bools:
        """The cases of people of whom there is nothing to learn from."""
        known = np.zeros(len(self.split.train.users), dtype=bool)
        for part in (self.split.train, self.split.visible):
            if part is not None:
                known[part.user] = True
        return np.asarray(~known[self.judged.user])

    def rank(
        self, model: Any, name: str, progress: Callable[[int, int], object] | None = None
    ) -> tuple[Ranks, TopN | None]:
        """Where the model puts what was held out, and its lists for all who are judged, where these are users."""
        judged = self.judged
        if isinstance(model, OutsideLists):
            if not isinstance(judged, Cases):
                raise DataError("lists are judged on what people did, not on sessions or preferences.")
            ranks = rank_lists(model, judged, name=name, strict=self.strict)
            return ranks, top_lists(model, judged, LENGTH)
        if isinstance(judged, Cases):
            return rank_and_top(model, judged, LENGTH, progress=progress)
        return rank(model, judged, relevant=float(judged.grade.min())), None  # all of them: their order is measured

    @cached_property
    def complete(self) -> Cases | None:
        """The same cases where the truth is known: all that is relevant, and new unless repeats are judged."""
        if self.truth is None:
            return None
        known, train = self.truth(), self.split.train
        seen = np.isin(_pairs(known), _pairs(train)) & (not self.split.overlaps)
        return cases_of(Split(train, known.where(~seen), how="all that is relevant"), None, self.exclude)

    @cached_property
    def similarity(self) -> Similarity | None:
        """How alike two items are by their attributes, where they have any."""
        return cosine(self.attributes)

    @cached_property
    def people(self) -> Any:
        """Whose lists are shown."""
        judged = self.judged
        return examples.people(judged, self.split.train) if isinstance(judged, Cases) else np.zeros(0, dtype=np.int32)

    def for_tuning(self) -> Split[Any]:
        """With a validation part: the training part split once more, in the same way, where there was none.

        Of events the training events are split, not the rows they were merged to.
        """
        if self.chosen_on is not None:
            return self.chosen_on
        again = parse_split(self.cut or defaults.split(self.data), self.seed, self.split.overlaps)
        return with_valid(self.split, again)

    @property
    def key(self) -> str:
        """The same for comparisons in which a model would be measured the same."""
        text = (
            f"{__version__} {fingerprint_of_split(self.split)} {self.relevant} {self.exclude} {self.seed} "
            f"{self.truth is not None} {','.join(map(str, self.metrics)) if self.truth else ''} {self.attributes} "
            f"{self.strict} {self.libraries} {','.join(map(str, self.metrics)) if self.libraries else ''}"
        )
        return hashlib.sha256(text.encode()).hexdigest()


def _pairs(data: Interactions) -> Any:
    return data.user.astype(np.int64) * data.n_items + data.item


def make_setting(
    data: Any,
    *,
    split: str | None = None,
    relevant: float | None = None,
    metrics: Sequence[str | Metric] | None = None,
    kind: str | None = None,
    exclude: Literal["train"] | None = "train",
    repeat: bool = False,
    seed: int = 0,
    titles: Titles = (),
    attributes: Words = (),
    truth: Truth | None = None,
    strict: bool = False,
    libraries: Sequence[str] = (),
) -> Setting:
    """The setting that is meant, with defaults by the kind of feedback where nothing is said."""
    parts = data if isinstance(data, Split) else None
    whole: Any = data if parts is None else parts.train
    if not isinstance(whole, Interactions | Events | Graded | Preferences):
        raise DataError(
            f"a comparison needs Interactions, Events, Graded, Preferences or a Split; got {type(whole).__name__}."
        )
    _check_repeat(data, repeat, kind)
    if kind is None:
        kind = "events" if parts is not None and parts.repeats is not None else kind_of(whole)
    cut = "" if parts is not None else split or defaults.split(whole)
    made = parse_split(cut, seed, repeat)(whole) if parts is None else _without_valid(parts)
    if relevant is not None and not isinstance(whole, Interactions | Events):
        raise ParameterError(f"a least relevant value is for ratings and counts; {kind} have an order, leave it out.")
    threshold = defaults.threshold(whole, kind) if relevant is None else relevant
    named = order_titles(titles, made.train.items)
    chosen = tuple(parse(m) if isinstance(m, str) else m for m in metrics or defaults.METRICS[kind])
    return Setting(
        whole if parts is None else _whole(parts), kind, made, cut, threshold, chosen,
        None if made.overlaps else exclude, seed, named, truth,
        parts if parts is not None and parts.valid is not None else None, order_words(attributes, made.train.items),
        strict, tuple(find_convention(name).name for name in libraries),
    )  # fmt: skip


def _check_repeat(data: Any, repeat: bool, kind: str | None) -> None:
    """Refuse to keep repeats where there are none, and events as anything else."""
    check("repeat", repeat, isinstance(repeat, bool), "True or False")
    if isinstance(data, Events) and kind not in (None, "events"):
        raise ParameterError(f"Events are events, not {kind}; merge them first, e.g. events.merged('last').")
    if not repeat or isinstance(data, Events) or getattr(data, "overlaps", False):
        return
    if isinstance(data, Split):
        raise ParameterError("this split leaves repeats out, or knows of none; split events with repeat=True.")
    raise ParameterError(
        "repeat=True (--repeat) is for events in which people take an item again, and here nobody does: every user has "
        "every item once, or rows were merged; leave it out, or read with read_events (--kind events)."
    )


def _whole(split: Split[Any]) -> Feedback:
    """What was split; where parts overlap, which evaluation tells as a leak, what was trained on."""
    whole: Feedback = split.train
    with suppress(DataError):
        whole = split.whole()
    return whole


def _without_valid(split: Split[Any]) -> Split[Any]:
    """The validation part is learned from in the end, like the training part."""
    if split.valid is None:
        return split
    if split.train_events is not None:
        return replace(split, train=split.train_events.merged(), valid=None)
    rule: Duplicates = "sum" if split.overlaps else "error"
    return replace(split, train=joined([split.train, split.valid], rule), valid=None)
