"""From ranks to what is said about them: means, intervals, groups, curves, what sampling would have said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fullrank.arrays import Bools, Doubles
from fullrank.comparison.letters import letters
from fullrank.comparison.pairs import apart
from fullrank.comparison.progress import Count, silent
from fullrank.comparison.results import (
    Estimate,
    EstimateAndTruth,
    MetricSummary,
    ModelSummary,
    PairResult,
    Positions,
    SampledPanel,
    SampledRow,
    TruthPanel,
    TruthRow,
)
from fullrank.comparison.runs import Part
from fullrank.evaluation.analysis import histogram
from fullrank.evaluation.consistency import ConsistencyRow, consistency_apart
from fullrank.evaluation.methods import bias_variance
from fullrank.evaluation.result import Result, evaluate
from fullrank.metrics.metric import Metric
from fullrank.metrics.relevance import topk_curve
from fullrank.metrics.table import RANKED, parse
from fullrank.models.parameters import parameters
from fullrank.ranks import Ranks

SHARES = np.unique(np.concatenate([[0.0], np.geomspace(1e-4, 1, 80), np.linspace(0, 1, 21)]))
REPEATS = 20  # samplings
ENOUGH = 20_000  # relevant items to see what they do
GAMMA = 0.1  # of the corrected metrics: how much of the variance counts
SAMPLED = ("recall@10", "ndcg@10")
NAMED = {True: "estimates by metrics marked as unbiased", False: "those by the others"}


def summarise_metric(metric: Metric) -> MetricSummary:
    """What a report says of a metric."""
    lower = metric.best < metric.worst
    return MetricSummary(str(metric), metric.unbiased, lower, metric.doc.split("\n")[0], metric.doc)


def best_first(results: Mapping[str, Result], metric: Metric) -> list[str]:
    """Models by their mean; of equal ones the first given. One without a value comes last."""
    sign = 1 if metric.best < metric.worst else -1
    means = {name: result.mean()[str(metric)] for name, result in results.items()}
    return sorted(means, key=lambda name: (np.isnan(means[name]), sign * means[name]))


def summarise_models(
    parts: Sequence[Part], results: Mapping[str, Result], pairs: Sequence[PairResult], progress: Count = silent
) -> tuple[ModelSummary, ...]:
    """What is said of every model, in the order given."""
    metrics = next(iter(results.values())).metrics if results else ()
    groups = {str(m): letters(best_first(results, m), apart(pairs, str(m))) for m in metrics}
    models = []
    for done, part in enumerate(parts, start=1):
        estimates = _estimates(results[part.name], groups, part.name) if part.name in results else {}
        fallback = {} if part.ranks is None else part.ranks.about.fallback
        irregular = {} if part.ranks is None else part.ranks.about.irregular
        models.append(ModelSummary(
            part.name, str(part.recipe), parameters(part.recipe), part.failed, part.fed, fallback, irregular, estimates,
            _by_people(part, metrics),
            _curve(part.ranks), _histogram(part.ranks), part.measures, part.libraries, part.tuned, part.seconds,
        ))  # fmt: skip
        progress(done, len(parts))
    return tuple(models)


def _estimates(result: Result, groups: Mapping[str, Mapping[str, str]], name: str) -> dict[str, Estimate]:
    intervals, bounds = result.interval(), result.bounds()
    return {
        metric: Estimate(
            number(mean), number(intervals[metric][0]), number(intervals[metric][1]), groups[metric][name],
            bounds.get(metric),
        )
        for metric, mean in result.mean().items()
    }  # fmt: skip


def _by_people(part: Part, metrics: Sequence[Metric]) -> dict[str, dict[str, float | None]]:
    """The means over people of whom there is something to learn from, and over those of whom there is nothing."""
    if part.ranks is None or part.new is None or not part.new.any() or part.new.all():
        return {}
    means = {
        who: evaluate(part.ranks.at(np.flatnonzero(some)), metrics).mean()
        for who, some in (("new", part.new), ("known", ~part.new))
    }  # of lists the worst case, as everywhere
    return {who: {name: number(mean) for name, mean in each.items()} for who, each in means.items()}


def number(value: float) -> float | None:
    """None where there is none: JSON has no NaN."""
    return float(value) if np.isfinite(value) else None


def _curve(ranks: Ranks | None) -> tuple[tuple[float, float], ...]:
    if ranks is None or ranks.about.candidates == "offered":
        return ()
    shares = SHARES if not ranks.about.longest else SHARES[list_ends(ranks, SHARES)]
    return tuple((float(k), float(share)) for k, share in zip(*topk_curve(ranks, shares, ranks.weight), strict=True))


def list_ends(ranks: Ranks, shares: Doubles) -> Bools:
    """The shares of the catalogue that are within the lists of everybody: beyond, nothing is known."""
    return np.asarray(1 + shares * (int(ranks.candidates.max()) - 1) <= ranks.about.longest)


def _histogram(ranks: Ranks | None) -> Positions | None:
    if ranks is None or ranks.about.candidates == "offered" or ranks.about.longest:
        return None
    counted = histogram(ranks)
    return Positions(tuple(counted.edges.tolist()), tuple(counted.counts.tolist()))


def simulate_sampling(
    parts: Sequence[Part], metrics: Sequence[Metric], pairs: Sequence[PairResult], m: int, seed: int,
    progress: Count = silent,
) -> SampledPanel | None:  # fmt: skip
    """What m sampled candidates would have said of the same models, by metrics that mind (Krichene and Rendle 2020)."""
    ranks = {part.name: part.ranks for part in parts if part.ranks is not None and not part.ranks.about.longest}
    whole = [r for r in ranks.values() if r.about.candidates != "offered"]
    if len(whole) < 2 or int(whole[0].pool.min()) <= m:
        return None
    cut = [metric for metric in metrics if metric.name in RANKED and metric.k is not None and metric.name != "topk"]
    measures = cut[:3] or [parse(name) for name in SAMPLED]
    cases = len(whole[0])
    drawn = np.random.default_rng([seed, cases]).permutation(cases)
    some = np.sort(drawn[np.cumsum(whole[0].sizes[drawn]) <= ENOUGH])
    some = some if len(some) else drawn[:1]
    progress(0, REPEATS * len(ranks))
    rows = consistency_apart(
        {name: r.at(some) for name, r in ranks.items()},
        measures,
        m,
        methods=(None, bias_variance(GAMMA)),
        repeats=REPEATS,
        seed=seed,
        progress=progress,
    ).rows()
    both = zip(rows[::2], rows[1::2], strict=True)
    pairs = [pair for pair in pairs if {pair.one, pair.two} <= ranks.keys()]
    seen_in = f"Seen in {len(some):,} cases drawn at random: " if len(some) < cases else ""
    return SampledPanel(
        m, len(some), tuple(_sampled_row(raw, mended, apart(pairs, raw.metric), seen_in) for raw, mended in both)
    )


def _sampled_row(
    raw: ConsistencyRow, mended: ConsistencyRow, certain: set[tuple[str, str]], seen_in: str
) -> SampledRow:
    turned, still = (_turned(raw.exact, row.mean, certain) for row in (raw, mended))
    agreement = {name: _mean_agreement(row) for name, row in (("sampled", raw), ("corrected", mended))}
    return SampledRow(
        raw.metric, raw.exact, raw.mean, mended.mean, agreement, len(turned),
        seen_in + _sentence(raw.metric, len(certain), turned, still),
    )  # fmt: skip


def _mean_agreement(row: ConsistencyRow) -> float | None:
    """Over the pairs of models that have an order; None where none has."""
    known = [share for share in row.agreement.values() if not np.isnan(share)]
    return float(np.mean(known)) if known else None


def _turned(exact: Mapping[str, float], means: Mapping[str, float], certain: set[tuple[str, str]]) -> list[str]:
    """The certain pairs that come the other way round, as "A before B"."""
    better = [(one, two) if exact[one] > exact[two] else (two, one) for one, two in sorted(certain)]
    return [f"{worse} before {good}" for good, worse in better if means[good] < means[worse]]


def _sentence(metric: str, certain: int, turned: list[str], still: list[str]) -> str:
    if not certain:
        return f"By {metric} no two models can be told apart, so sampling has nothing to get wrong."
    of = f"Of {certain} pairs of models that can be told apart by {metric}, sampling turns"
    if not turned:
        return f"{of} none around."
    mended = "corrected, it turns none" if not still else f"corrected, it still turns {len(still)} ({still[0]})"
    return f"{of} {len(turned)} around ({turned[0]}); {mended}."


def compare_to_truth(
    parts: Sequence[Part], results: Mapping[str, Result], pairs: Sequence[PairResult]
) -> TruthPanel | None:
    """Estimates beside the complete truth, where that is known."""
    known = [part for part in parts if part.truth and part.name in results]
    if not known:
        return None
    metrics = results[known[0].name].metrics
    rows = tuple(_truth_row(str(metric), known, results, apart(pairs, str(metric))) for metric in metrics)
    turned = [row.metric for row in rows if not row.order_kept]
    gaps = [(m.unbiased, gap) for m, row in zip(metrics, rows, strict=True) if (gap := _gap(row)) is not None]
    far = {kind: [gap for unbiased, gap in gaps if unbiased == kind] for kind in NAMED}
    sentences = [f"{who} are up to {max(far[kind]):.3f} from it" for kind, who in NAMED.items() if far[kind]]
    order = f"by all metrics but {', '.join(turned)}" if turned else "by every metric"
    sentence = (
        f"Here the complete truth is known: {', '.join(sentences)}. Models that can be told apart are in their true "
        f"order {order}."
    )
    return TruthPanel(sentence, rows)


def _truth_row(
    metric: str, parts: Sequence[Part], results: Mapping[str, Result], certain: set[tuple[str, str]]
) -> TruthRow:
    models = {
        part.name: EstimateAndTruth(number(results[part.name].mean()[metric]), number(part.truth[metric]))
        for part in parts
    }
    estimates = {name: both.estimate or 0.0 for name, both in models.items()}
    truths = {name: both.truth or 0.0 for name, both in models.items()}
    known = {pair for pair in certain if set(pair) <= models.keys()}
    return TruthRow(metric, models, not _turned(estimates, truths, known))


def _gap(row: TruthRow) -> float | None:
    gaps = [
        abs(both.estimate - both.truth)
        for both in row.models.values()
        if both.estimate is not None and both.truth is not None
    ]
    return max(gaps, default=None)
