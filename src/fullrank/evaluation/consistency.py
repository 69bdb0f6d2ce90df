"""How often sampled metrics order models as the exact ones do (Krichene and Rendle 2020, Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fullrank.arrays import Doubles
from fullrank.data.split import Split
from fullrank.errors import DataError, check_integer
from fullrank.evaluation.analysis import mean_of, thinned
from fullrank.evaluation.blocks import Progress
from fullrank.evaluation.candidates import Sampled
from fullrank.evaluation.cases import Cases, cases_of
from fullrank.evaluation.corrections import corrected
from fullrank.evaluation.methods import Method
from fullrank.evaluation.rank import rank
from fullrank.evaluation.rank_samples import rank_again
from fullrank.metrics.metric import Metric
from fullrank.ranks import Ranks

Samplings: TypeAlias = Callable[[str, Sequence[int]], list[Ranks]]  # (model, repetitions) -> sampled ranks

KEPT = 1 << 23  # rows of sampled ranks at a time


class ConsistencyRow(NamedTuple):
    """A metric by a method ("" where uncorrected): values by model, agreement with the exact order by pair."""

    metric: str
    method: str
    exact: dict[str, float]
    mean: dict[str, float]
    deviation: dict[str, float]
    agreement: dict[tuple[str, str], float]


@dataclass(frozen=True, eq=False)
class Consistency:
    """Means of models over repeated samplings, beside their exact ones (Krichene and Rendle 2020, Tables 3 and 4)."""

    models: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]  # (metric, method), "" where uncorrected
    exact: Doubles  # (columns, models)
    sampled: Doubles  # (repeats, columns, models)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Models two by two, in the order of `agreement`."""
        return list(combinations(self.models, 2))

    def agreement(self) -> Doubles:
        """How often sampled means order each pair as exact ones do, (columns, pairs); a tie is half an agreement.

        NaN where the exact means are equal.
        """
        one, other = np.array(list(combinations(range(len(self.models)), 2))).reshape(-1, 2).T
        truth = np.sign(self.exact[:, one] - self.exact[:, other])
        order = np.sign(self.sampled[:, :, one] - self.sampled[:, :, other])
        return np.where(truth != 0, ((1 + order * truth) / 2).mean(axis=0), np.nan)

    def rows(self) -> list[ConsistencyRow]:
        """A row per metric and method."""
        mean, deviation, agreement = self.sampled.mean(axis=0), self.sampled.std(axis=0), self.agreement()

        def by_model(values: Doubles) -> dict[str, float]:
            return dict(zip(self.models, values.tolist(), strict=True))

        return [
            ConsistencyRow(
                metric, method, by_model(self.exact[i]), by_model(mean[i]), by_model(deviation[i]),
                dict(zip(self.pairs, agreement[i].tolist(), strict=True)),
            )
            for i, (metric, method) in enumerate(self.columns)
        ]  # fmt: skip

    def to_rows(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
        return [row._asdict() for row in self.rows()]


def consistency(
    models: Mapping[str, Any],
    split: Split[Any] | Cases,
    metrics: Sequence[Metric],
    m: int,
    *,
    methods: Sequence[Method | None] = (None,),
    repeats: int = 100,
    seed: int = 0,
    replace: bool = False,
) -> Consistency:
    """How often metrics of m sampled candidates, corrected or not, order models as the exact ones do.

    This is Table 4 of Krichene and Rendle 2020.

    In every repetition all models are ranked among the same samples, as they do: what they share then cancels from
    their differences. `models` are what `rank` takes; draws depend on (seed, repetition, user) only.
    """
    cases = split if isinstance(split, Cases) else cases_of(split)
    exact = {name: rank(model, cases) for name, model in models.items()}

    def samplings(name: str, some: Sequence[int]) -> list[Ranks]:
        return rank_again(models[name], cases, [Sampled(m, _mix(seed, repeat), replace) for repeat in some])

    return _compare(exact, metrics, methods, samplings, repeats, replace)


def consistency_apart(
    models: Mapping[str, Ranks],
    metrics: Sequence[Metric],
    m: int,
    *,
    methods: Sequence[Method | None] = (None,),
    repeats: int = 100,
    seed: int = 0,
    replace: bool = False,
    progress: Progress | None = None,
) -> Consistency:
    """The same from exact ranks alone, each model with samples of its own: where there are no scores any more.

    Ranks do not tell which items two models put above a held-out one, so no sample can be shared. Means and
    deviations of each model are those of `consistency`; differences are noisier where models agree, so that the
    agreement is a little nearer to one half. Draws depend on (seed, repetition, model's name) only. `progress` is
    called with how many samplings of models are measured, and of how many.
    """
    if len({(len(ranks), ranks.pool.tobytes(), ranks.start.tobytes()) for ranks in models.values()}) > 1:
        raise DataError("models were ranked on different cases or candidates; rank them on the same.")

    def samplings(name: str, some: Sequence[int]) -> list[Ranks]:
        streams = (np.random.default_rng([seed, repeat, *name.encode()]) for repeat in some)
        return [thinned(models[name], m, stream, replace=replace) for stream in streams]

    return _compare(models, metrics, methods, samplings, repeats, replace, progress)


def _compare(
    exact: Mapping[str, Ranks],
    metrics: Sequence[Metric],
    methods: Sequence[Method | None],
    samplings: Samplings,
    repeats: int,
    replace: bool,
    progress: Progress | None = None,
) -> Consistency:
    check_integer("repeats", repeats, 1)
    columns = [(metric, method) for metric in metrics for method in methods]
    measures = [metric if method is None else corrected(metric, method, replace=replace) for metric, method in columns]
    true = [[mean_of(metric(ranks), ranks) for ranks in exact.values()] for metric, _ in columns]
    means = np.empty((repeats, len(columns), len(exact)))
    for model, (name, ranks) in enumerate(exact.items()):
        at_once = max(1, KEPT // max(len(ranks.above), 1))
        for first in range(0, repeats, at_once):
            some = range(first, min(first + at_once, repeats))
            for repeat, sampled in zip(some, samplings(name, some), strict=True):
                means[repeat, :, model] = [mean_of(measure(sampled), ranks) for measure in measures]
                if progress is not None:
                    progress(model * repeats + repeat + 1, repeats * len(exact))
    names = tuple((str(metric), "" if method is None else str(method)) for metric, method in columns)
    return Consistency(tuple(exact), names, np.array(true), means)


def _mix(seed: int, repeat: int) -> int:
    """A seed for each repetition, so that other seeds give other samples in all of them."""
    check_integer("seed", seed, 0, 2**63 - 1)
    return int(np.random.SeedSequence([seed, repeat]).generate_state(1, np.uint64)[0] >> 1)
