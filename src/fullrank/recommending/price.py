"""What rules cost: the same lists with and without them, on held-out data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fullrank.arrays import Doubles
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.data.split.parts import joined
from fullrank.errors import DataError, ParameterError, check_integer
from fullrank.evaluation.case_rows import about_ranks
from fullrank.evaluation.cases import Cases, Threshold, cases_of
from fullrank.evaluation.lists import Rows, count_pools, hidden_keys, rank_rows
from fullrank.evaluation.result import evaluate
from fullrank.evaluation.scoring import name_of
from fullrank.metrics.lists import coverage, diversity, novelty, popularity
from fullrank.metrics.metric import Metric
from fullrank.metrics.relevance import recall
from fullrank.metrics.words import cosine
from fullrank.models.kinds.linear import Linear
from fullrank.models.kinds.model import Model
from fullrank.ranks import Ranks
from fullrank.recommending.batch import Lists, make_lists
from fullrank.recommending.candidates import Candidates, find_candidates
from fullrank.recommending.recommendations import blocks
from fullrank.recommending.request import Request
from fullrank.recommending.rules import Rules


class Measured(NamedTuple):
    """A metric without and with the rules, their paired difference, its 95% interval, and a permutation test of it."""

    without: float
    with_rules: float
    difference: float
    low: float
    high: float
    p: float


class Seen(NamedTuple):
    """What lists look like, without and with the rules; None where nothing tells."""

    without: float | None
    with_rules: float | None


@dataclass(frozen=True)
class Price:
    """What rules cost and change: metrics over the people judged, and what their lists look like."""

    rules: str
    model: str
    split: str
    n: int
    people: int
    metrics: dict[str, Measured]
    changed: int  # people whose list is another
    shorter: int  # people with fewer than n items, where without the rules there are more
    lists: dict[str, Seen]  # coverage, novelty (bits), diversity
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """All of it as plain types."""
        plain = asdict(self)
        for part in ("metrics", "lists"):
            plain[part] = {name: value._asdict() for name, value in getattr(self, part).items()}
        return {**plain, "notes": list(self.notes)}

    def __str__(self) -> str:
        width = max(map(len, (*self.metrics, *self.lists)))
        said = f"of {self.people:,} lists of {self.n}, {self.changed:,} change and {self.shorter:,} get shorter"
        rows = [f"{self.rules}: {said}"]
        for name, one in self.metrics.items():
            rows.append(
                f"{name:<{width}}  {one.without:.4f} -> {one.with_rules:.4f}  {one.difference:+.4f} "
                f"[{one.low:+.4f}, {one.high:+.4f}], p={one.p:.3g}"
            )
        for name, look in self.lists.items():
            both = ("-" if value is None else f"{value:.4f}" for value in look)
            rows.append(f"{name:<{width}}  {' -> '.join(both)}")
        return "\n".join(rows)


def price(
    model: Model, split: Split[Interactions], rules: Rules, *, n: int = 10, relevant: Threshold = None,
    metrics: Sequence[Metric] | None = None, against: Rules | None = None, seed: int = 0,
) -> Price:  # fmt: skip
    """What rules cost on held-out data: metrics of everybody's list of n with and without them, person by person.

    Parameters
    ----------
    model
        A model that was fitted on the training part.
    split
        What people did before, and what was held out.
    rules
        What is priced, all together.
    n
        How many items a list has.
    relevant
        The least held-out value that counts as relevant.
    metrics
        Any with a list length of at most n as their cut-off; recall @ n unless given.
    against
        Other rules to compare with; none unless given.
    seed
        Of the intervals and tests.
    """
    check_integer("n", n, 1)
    measures = [recall @ n] if metrics is None else list(metrics)
    for metric in measures:
        if metric.cut not in ("length", "share or length") or not isinstance(metric.k, int) or metric.k > n:
            raise ParameterError(f"{metric} cannot be told from lists of {n}; cut it at {n} or less, e.g. recall@{n}.")
    train = model.train
    if split.train.users != train.users or split.train.items != train.items:
        raise DataError("the split has other users or items than the model; fit the model on its training part.")
    cases = cases_of(split, relevant)
    judged, hidden = Ids(train.users.names[cases.user]), _hidden(model, split)
    both, lists = [], []
    for one in (against or Rules(), rules):
        candidates = find_candidates(model, replace(one, repeat=one.repeat or split.overlaps))
        lists.append(_lists(Request(candidates, judged, hidden), n))
        both.append(evaluate(_ranks(model, cases, lists[-1], n), measures, "uniform"))
    looks = [_look(candidates, some) for some in lists]
    told = (*candidates.notes, *(part for part in both[1].notes if part not in candidates.notes))
    return Price(
        str(candidates.rules), name_of(model), split.how, n, len(cases),
        {name: _measured(name, both, pair) for name, pair in both[1].versus(both[0], seed=seed).items()},
        int((lists[0].item != lists[1].item).any(axis=1).sum()), _count_shorter(*lists),
        {name: Seen(looks[0][name], looks[1][name]) for name in looks[0]}, told,
    )  # fmt: skip


def _measured(name: str, both: list[Any], pair: Any) -> Measured:
    without, with_rules = (result.mean()[name] for result in both)
    return Measured(without, with_rules, pair.difference, pair.low, pair.high, pair.permutation_p)


def _count_shorter(one: Lists, other: Lists) -> int:
    return int(((other.item >= 0).sum(axis=1) < (one.item >= 0).sum(axis=1)).sum())


def _hidden(model: Model, split: Split[Interactions]) -> Interactions | None:
    """What is left out besides what the model has seen: other training rows, validation, what is visible."""
    if split.overlaps:
        return None
    parts = [part for part in (split.valid, split.visible) if part is not None and len(part)]
    parts += [] if split.train is model.train or split.train == model.train else [split.train]
    bare = [replace(part, value=None, time=None) for part in parts]
    return joined(bare, "last") if bare else None


def _lists(request: Request, n: int) -> Lists:
    whole = Lists.empty(len(request), n)
    for rows in blocks(len(request), n):
        whole.put(rows, make_lists(request, rows, n))
    return whole


def _ranks(model: Model, cases: Cases, lists: Lists, n: int) -> Ranks:
    """Where held-out items stand in lists; those that are not in them come after everything, at no place up to n."""
    case, place = np.nonzero(lists.item >= 0)
    pool = np.maximum(count_pools(cases, hidden_keys(cases))[0], n)
    rows = Rows(case, lists.item[case, place], -place.astype(np.float64))
    return replace(rank_rows(rows, cases, pool), about=about_ranks(model, cases, 0))


def _look(candidates: Candidates, lists: Lists) -> dict[str, float | None]:
    """What lists look like, whoever likes them."""
    model, train = candidates.model, candidates.model.train
    look: dict[str, float | None] = {"coverage": coverage(lists.item, train.n_items)}
    look["novelty"] = _mean(novelty(lists.item, popularity(train)))
    about = candidates.rules.items
    alike = None if about is None else cosine(about.words_for(train.items))
    if alike is not None:
        look["diversity (attributes)"] = _mean(diversity(lists.item, similarity=alike))
    if isinstance(model, Linear):
        look["diversity (vectors)"] = _mean(diversity(lists.item, vectors=model.item_vectors.vectors))
    return look


def _mean(values: Doubles) -> float | None:
    """The mean of the lists that have a value."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
