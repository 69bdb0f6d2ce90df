"""What a comparison found, as types: results.json holds these, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from fullrank.errors import DataError
from fullrank.tuning.summary import TuningSummary

FORMAT = 4  # of results.json; 1 said `ubm` for `unbiased`, 2 knew less of metrics and models, 3 nothing of lists

Scalar: TypeAlias = bool | int | float | str | None
Fact: TypeAlias = Scalar | tuple[Scalar, ...] | Mapping[str, Scalar]
Name: TypeAlias = int | str  # of a user or an item


@dataclass(frozen=True)
class MetricSummary:
    """A metric: whether it stays unbiased when ratings are missing, whether small is good, what it is."""

    name: str
    unbiased: bool
    lower_is_better: bool
    text: str  # in one line
    definition: str  # all of it: the formula and its denominator


@dataclass(frozen=True)
class Estimate:
    """A mean over cases with its 95% interval; models that share a letter of `group` cannot be told apart.

    Where lists end before the metric does, mean and interval are of the worst case, and `bounds` are the means of the
    worst and the best: the least and the largest over all orders of what is not listed.
    """

    mean: float | None
    low: float | None
    high: float | None
    group: str
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True)
class Positions:
    """Held-out relevant items by position: `counts` of them from each edge to below the next."""

    edges: tuple[int, ...]
    counts: tuple[float, ...]


@dataclass(frozen=True)
class ListMeasures:
    """What the ten best items for everybody who is judged look like; None where there is nothing to measure.

    `coverage` is the share of the catalogue that is recommended to anybody, `bestsellers` the share of places that go
    to the most popular items with 20% of all feedback, `novelty` the mean self-information of an item in bits,
    `personalisation` 1 - the overlap of two people's lists, `diversity` 1 - the similarity of two items of a list by
    their attributes.
    """

    coverage: float
    bestsellers: float | None
    novelty: float | None
    personalisation: float | None
    diversity: float | None


@dataclass(frozen=True)
class LibraryCount:
    """What another library would say of the same lists, by one of its measures, and our nearest.

    `checked` is the package and version it was held to, `value` None where the library ends with an error on such
    lists, `our_value` None where the lists leave it open; `sentence` tells how they differ, if they do.
    """

    library: str
    checked: str | None
    measure: str
    value: float | None
    ours: str
    our_value: float | None
    sentence: str


@dataclass(frozen=True)
class ModelSummary:
    """One model: how it was made, what every metric says, where it puts relevant items, how long it took."""

    name: str
    recipe: str
    parameters: Mapping[str, Scalar]
    failed: str | None
    fed: str  # what it learned from
    fallback: Mapping[str, int]  # cases in which it served what is popular, by reason
    irregular: Mapping[str, int]  # what was wrong with its lists, and what became of it
    metrics: Mapping[str, Estimate]
    people: Mapping[str, Mapping[str, float | None]]  # means over "new" and "known" people, where some are new
    curve: tuple[tuple[float, float], ...]  # TOPK: share of the catalogue, share of relevant items found there
    histogram: Positions | None
    lists: ListMeasures | None  # None where it failed, and where there are no lists: in sessions and preferences
    libraries: tuple[LibraryCount, ...]  # its lists as other libraries count them, where that was asked for
    tuned: TuningSummary | None
    seconds: Mapping[str, float]  # of "tune", "fit" and "rank"


@dataclass(frozen=True)
class PairResult:
    """Model `one` minus model `two` by a metric, on the same cases.

    `p` is of the pair alone, `adjusted` of all pairs together (Holm); `won` and `lost` are shares of cases; with about
    `needed` cases a difference of this size is found four times out of five.
    """

    metric: str
    one: str
    two: str
    difference: float
    low: float
    high: float
    p: float
    won: float
    lost: float
    cases: int
    needed: int | None
    adjusted: float
    note: str


@dataclass(frozen=True)
class Verdict:
    """The best model by the deciding metric, those it cannot be told from, and a sentence for people."""

    sentence: str
    metric: str
    best: str
    tied: tuple[str, ...]
    sure: bool


@dataclass(frozen=True)
class Caveat:
    """Something to keep in mind."""

    level: Literal["warning", "note"]
    text: str


@dataclass(frozen=True)
class PopularityBucket:
    """The items with so many ratings, and the mean of these ratings."""

    ratings: str
    items: int
    mean: float | None


@dataclass(frozen=True)
class MissingEvidence:
    """Whether items that many people rated are rated higher: Spearman's correlation."""

    correlation: float
    p: float
    points: tuple[PopularityBucket, ...]
    sentence: str


@dataclass(frozen=True)
class DataProfile:
    """What the feedback looks like."""

    kind: str
    description: Mapping[str, Fact]
    values: Mapping[str, int] | None  # how often each value occurs
    popularity: tuple[tuple[float, float], ...] | None  # share of items, most popular first; share of rows
    missing: MissingEvidence | None


@dataclass(frozen=True)
class SplitSummary:
    """Who was judged on what, among which candidates."""

    how: str
    rows: Mapping[str, int]
    cases: int
    left_out: Mapping[str, int]  # cases, by reason
    relevant: str
    candidates: str
    excluded: str
    repeats: float | None  # share of the held-out events of items that the person had before; None: no such are known


@dataclass(frozen=True)
class SampledRow:
    """What a metric says exactly, among sampled candidates, and corrected: means by model."""

    metric: str
    exact: Mapping[str, float]
    sampled: Mapping[str, float]
    corrected: Mapping[str, float]
    agreement: Mapping[str, float | None]  # of "sampled" and "corrected" with the exact order of two models
    turned: int  # pairs that can be told apart and come the other way round
    sentence: str


@dataclass(frozen=True)
class SampledPanel:
    """What `m` sampled candidates would have said of the same models, seen in so many cases."""

    m: int
    cases: int
    rows: tuple[SampledRow, ...]


@dataclass(frozen=True)
class HeldOutItem:
    """An item that somebody chose and no model was shown."""

    item: Name
    title: str | None


@dataclass(frozen=True)
class KnownItem:
    """An item that somebody is known for, with its value."""

    item: Name
    title: str | None
    value: float | None


@dataclass(frozen=True)
class ListedItem:
    """An item that a model recommends; a `hit` was held out."""

    item: Name
    title: str | None
    hit: bool


@dataclass(frozen=True)
class Example:
    """Somebody, what they did, and what every model would recommend to them."""

    user: Name
    history: tuple[KnownItem, ...]
    held_out: tuple[HeldOutItem, ...]
    lists: Mapping[str, tuple[ListedItem, ...]]


@dataclass(frozen=True)
class EstimateAndTruth:
    """A metric from what was observed, and on complete data."""

    estimate: float | None
    truth: float | None


@dataclass(frozen=True)
class TruthRow:
    """A metric of all models beside the truth; whether those that can be told apart are in their true order."""

    metric: str
    models: Mapping[str, EstimateAndTruth]
    order_kept: bool


@dataclass(frozen=True)
class TruthPanel:
    """Estimates beside the truth, where that is known."""

    sentence: str
    rows: tuple[TruthRow, ...]


@dataclass(frozen=True)
class Manifest:
    """What a comparison was made of and with."""

    fullrank: str
    python: str
    libraries: Mapping[str, str]
    machine: str
    data: str  # fingerprint
    split: str  # fingerprint
    seed: int
    threads: int
    protocol: str  # the id of a sealed protocol that was played; "" where there is none
    result: str  # the id of what was found by it: the same for the same lists, wherever they were judged
    started: str
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class Results:
    """Everything a comparison found. What differs from run to run is called `seconds` or `started`."""

    format: int
    title: str
    verdict: Verdict
    trust: tuple[Caveat, ...]
    data: DataProfile
    split: SplitSummary
    metrics: tuple[MetricSummary, ...]  # the first one decides
    models: tuple[ModelSummary, ...]
    pairs: tuple[PairResult, ...]
    sampled: SampledPanel | None
    examples: tuple[Example, ...]
    truth: TruthPanel | None
    manifest: Manifest

    def to_json(self) -> dict[str, Any]:
        """As plain as JSON: what results.json holds."""
        content: dict[str, Any] = as_plain(self)
        return content

    @classmethod
    def from_json(cls, content: object, where: str = "results.json") -> Results:
        """What `to_json` gave; `where` it stands is told where something is wrong with it."""
        from pydantic import ValidationError

        version = content.get("format") if isinstance(content, dict) else None
        if version is None:
            raise DataError(f"{where}: is not the result of a comparison; give the folder of one.")
        if version != FORMAT:
            raise DataError(f"{where}: has format {version}, and this version reads {FORMAT}; compare again.")
        try:
            results: Results = _adapter().validate_python(content)
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(map(str, fault["loc"]))
            raise DataError(f"{where}: {place} is damaged ({fault['msg'].lower()}); compare again.") from error
        return results


def as_plain(value: Any) -> Any:
    """Dataclasses as dicts, tuples as lists, all the way down.

    >>> as_plain(Caveat("note", "few cases"))
    {'level': 'note', 'text': 'few cases'}
    """
    if is_dataclass(value):
        return {part.name: as_plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {name: as_plain(part) for name, part in value.items()}
    return [as_plain(part) for part in value] if isinstance(value, list | tuple) else value


def schema() -> dict[str, Any]:
    """The JSON schema of results.json."""
    form: dict[str, Any] = _adapter().json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **form}


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Results)
