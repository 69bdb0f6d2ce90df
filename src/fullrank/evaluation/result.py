"""Cases x metrics, and everything one may ask of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Doubles
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.bounds import as_shown, best_case, ends_within, open_cases
from fullrank.evaluation.corrections import Correction
from fullrank.evaluation.notes import is_unbiased, trust_notes
from fullrank.evaluation.paired import Paired, nearest, paired
from fullrank.evaluation.statistics import bootstrap, percentile_interval, weighted_mean
from fullrank.metrics.metric import Metric
from fullrank.ranks import About, Ranks

if TYPE_CHECKING:
    import polars as pl

ROWS = 1 << 17  # of ranks measured at a time
ROUNDED = 1e-12  # values that differ by less are the same

Weights: TypeAlias = Literal["uniform", "by_relevant"] | NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The values of several metrics for every case, and how they came about.

    >>> from fullrank.metrics import recall, rr
    >>> ranks = Ranks(start=[0, 1, 2], above=[0, 4], tied=[0, 0], pool=[9, 9])
    >>> evaluate(ranks, [recall @ 1, rr]).mean()
    {'recall@1': 0.5, 'rr': 0.6}
    """

    metrics: tuple[Metric, ...]
    values: Doubles  # (cases, metrics)
    weight: Doubles
    about: About
    protocol: str  # the same for results that can be compared: cases, candidates, weights
    names: tuple[str, ...]  # of the metrics; one that was sampled says so: ndcg@10 from 100
    notes: tuple[str, ...]  # what to keep in mind when reading these numbers
    unbiased: tuple[bool, ...]  # to missing data, as computed: a metric that is may not be when sampled
    user: NDArray[Any] | None = None  # whose the cases are, where somebody has several
    best: Doubles | None = None  # (cases, metrics): of lists that end, the values in the best case; `values`: the worst

    def of(self, metric: Metric | str) -> Doubles:
        """The value of every case."""
        return self.values[:, self._place(metric)]

    def mean(self) -> dict[str, float]:
        """The weighted mean of every metric over cases."""
        return {name: weighted_mean(self.values[:, i], self.weight) for i, name in enumerate(self.names)}

    def bounds(self) -> dict[str, tuple[float, float]]:
        """The least and the largest mean, over all orders of what lists do not say, of metrics that look further.

        Metrics that are exact are not in it; `mean` has the worst case of those that are.
        """
        if self.best is None:
            return {}
        worst, open_ = self.mean(), np.abs(self.best - self.values) > ROUNDED
        ends = {
            name: sorted((worst[name], weighted_mean(self.best[:, i], self.weight)))
            for i, name in enumerate(self.names)
            if open_[:, i].any()
        }
        return {name: (low, high) for name, (low, high) in ends.items()}

    def interval(self, level: float = 0.95, repeats: int = 1000, seed: int = 0) -> dict[str, tuple[float, float]]:
        """Bootstrap intervals of the means over cases: what another sample of people might have given."""
        samples = bootstrap(self.values, self.weight, repeats, seed, self.user)
        return {name: percentile_interval(samples[:, i], level) for i, name in enumerate(self.names)}

    def versus(self, other: Result, *, level: float = 0.95, repeats: int = 2000, seed: int = 0) -> dict[str, Paired]:
        """This result against another, case by case; refused unless both ranked the same among the same."""
        if self.protocol != other.protocol:
            raise DataError(
                f"results of {self.about.model or 'one'} and {other.about.model or 'the other'} cannot be compared: "
                f"{self._difference(other)}; rank both models on the same cases and candidates."
            )
        shared = [metric for metric in self.metrics if metric in other.metrics]
        return {
            self.names[self._place(m)]: paired(
                *nearest(self.range_of(m), other.range_of(m), self.weight), self.weight, user=self.user,
                level=level, repeats=repeats, seed=seed,
            )
            for m in shared
        }  # fmt: skip

    def range_of(self, metric: Metric | str) -> tuple[Doubles, Doubles]:
        """The least and the largest value of every case; the same where nothing is open."""
        worst = self.of(metric)
        best = worst if self.best is None else self.best[:, self._place(metric)]
        return np.minimum(worst, best), np.maximum(worst, best)

    def _difference(self, other: Result) -> str:
        if self.about.candidates != other.about.candidates:
            return f"one was ranked among {self.about.candidates}, the other among {other.about.candidates}"
        if len(self) != len(other):
            return f"one has {len(self):,} cases, the other {len(other):,}"
        return "their cases, candidates or weights differ"

    def to_frame(self) -> pl.DataFrame:
        """A row for every case: its number, whose it is where somebody has several, its weight, all metrics."""
        import polars as pl

        whose = {} if self.user is None else {"user": self.user}
        values = {name: self.values[:, i] for i, name in enumerate(self.names)}
        return pl.DataFrame({"case": np.arange(len(self)), **whose, "weight": self.weight, **values})

    def to_json(self) -> dict[str, Any]:
        """Everything but the values of single cases, as plain types."""
        about = {name: list(v) if isinstance(v, tuple) else v for name, v in self.about.__dict__.items()}
        intervals, bounds = self.interval(), self.bounds()
        return {
            "about": about,
            "protocol": self.protocol,
            "cases": len(self),
            "metrics": {
                name: {"mean": mean, "interval": list(intervals[name]), "unbiased": unbiased}
                | ({"bounds": list(bounds[name])} if name in bounds else {})
                for unbiased, (name, mean) in zip(self.unbiased, self.mean().items(), strict=True)
            },
            "notes": list(self.notes),
        }

    def _place(self, metric: Metric | str) -> int:
        for names in (tuple(map(str, self.metrics)), self.names):
            if str(metric) in names:
                return names.index(str(metric))
        raise ParameterError(f"'{metric}' was not measured; there are {', '.join(self.names)}.")

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={self._shown(name, mean)}" for name, mean in self.mean().items())
        return f"Result({self.about.model}: {means} over {len(self):,} cases among {self.about.candidates})"

    def _shown(self, name: str, mean: float) -> str:
        """A mean, or from where to where it is where lists leave it open."""
        ends = self.bounds().get(name)
        return f"{mean:.4f}" if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"

    def _repr_html_(self) -> str:
        from html import escape

        intervals = self.interval()
        rows = "".join(
            f"<tr><td>{escape(name)}{'' if unbiased else ' *'}</td><td>{self._shown(name, mean)}</td>"
            f"<td>{intervals[name][0]:.4f} – {intervals[name][1]:.4f}</td></tr>"
            for unbiased, (name, mean) in zip(self.unbiased, self.mean().items(), strict=True)
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        title = escape(f"{self.about.model}: {len(self):,} cases among {self.about.candidates}")
        return f"<table><caption>{title}</caption><tr><th>metric<th>mean<th>95%</tr>{rows}</table><ul>{notes}</ul>"


def evaluate(ranks: Ranks, metrics: Sequence[Metric], weights: Weights = "uniform") -> Result:
    """The metrics of every case, with weights over cases that are uniform, by relevant items (Steck 2010), or given."""
    if not metrics:
        raise ParameterError("evaluate needs at least one metric, e.g. [ndcg @ 10].")
    _check_pairs(ranks, metrics)
    weight = _weight(ranks, weights)
    values, best = _values_of_lists(ranks, metrics) if ranks.about.longest else (_values(ranks, metrics), None)
    names = tuple(_title(metric, ranks) for metric in metrics)
    notes = trust_notes(ranks, metrics, values)
    several = ranks.user is not None and len(np.unique(ranks.user)) < len(ranks)
    about = replace(ranks.about, sampled=0, seed=0) if ranks.whole.all() else ranks.about
    return Result(
        tuple(metrics), values, weight, about, _protocol(ranks, about, weight), names, notes,
        tuple(is_unbiased(metric, ranks) for metric in metrics), ranks.user if several else None, best,
    )  # fmt: skip


def _check_pairs(ranks: Ranks, metrics: Sequence[Metric]) -> None:
    """Where pairs are ranked one by one, only means over relevant items, each by its own position, have a meaning."""
    for metric in metrics if ranks.about.pairs else ():
        of = metric.function.metric if isinstance(metric.function, Correction) else metric
        if not of.unbiased:
            raise ParameterError(
                f"{metric} needs the relevant items of a case together, and these were ranked pair by pair; use "
                "recall, topk, atop, adg, mean_rank or mean_percentile, or rank with Sampled(m)."
            )


def _values(ranks: Ranks, metrics: Sequence[Metric]) -> Doubles:
    """Cases x metrics, some cases at a time: temporaries stay small however many there are."""
    values = np.empty((len(ranks), len(metrics)), order="F")
    cuts = np.unique(np.searchsorted(ranks.start, np.arange(ROWS, len(ranks.above), ROWS)))
    edges = [0, *(cut for cut in cuts.tolist() if 0 < cut < len(ranks)), len(ranks)]

    for first, end in pairwise(edges):
        some = ranks.some(slice(first, end)) if end - first < len(ranks) else ranks
        for column, metric in enumerate(metrics):
            if not metric.whole:
                values[first:end, column] = metric(some)
    for column, metric in enumerate(metrics):
        if metric.whole:
            values[:, column] = metric(ranks)
    return values


def _values_of_lists(ranks: Ranks, metrics: Sequence[Metric]) -> tuple[Doubles, Doubles]:
    """The worst and the best case of lists that end."""
    shown = as_shown(ranks)
    places = [isinstance(metric.k, int) and ends_within(metric, ranks) for metric in metrics]
    worst = np.hstack([_values(shown if cut else ranks, [m]) for m, cut in zip(metrics, places, strict=True)])
    return worst, np.where(open_cases(ranks, metrics), _values(best_case(ranks), metrics), worst)


def _title(metric: Metric, ranks: Ranks) -> str:
    if isinstance(metric.function, Correction):
        return metric.function.title(ranks)
    exact = metric.survives_sampling or ranks.whole.all()
    return str(metric) if exact else f"{metric} from {ranks.about.sampled}"


def _weight(ranks: Ranks, weights: Weights) -> Doubles:
    if isinstance(weights, str):
        if weights not in ("uniform", "by_relevant"):
            raise ParameterError(f"weights must be 'uniform', 'by_relevant' or an array. Got {weights!r} instead.")
        if weights == "by_relevant" and ranks.about.pairs:
            return np.ones(len(ranks))  # a pair is a case: all weigh the same
        given = np.ones(len(ranks)) if weights == "uniform" else ranks.sizes.astype(np.float64)
    else:
        given = np.asarray(weights, dtype=np.float64)
    if given.shape != (len(ranks),) or not np.isfinite(given).all() or (given < 0).any() or given.sum() <= 0:
        raise DataError(f"weights must be {len(ranks)} numbers >= 0, not all 0.")
    weight: Doubles = given * ranks.weight
    return weight


def _protocol(ranks: Ranks, about: About, weight: Doubles) -> str:
    """A fingerprint of what was ranked among what: cases, their relevant items, pools, how they were drawn, weights."""
    drawn = f"|{about.seed}|{about.replace}" if about.sampled else ""
    digest = hashlib.sha256(f"{about.candidates}|{about.excluded}|{about.relevant}{drawn}".encode())
    for column in (ranks.start, ranks.item, ranks.user, ranks.pool, ranks.full, weight):
        digest.update(b"-" if column is None else np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()[:16]
