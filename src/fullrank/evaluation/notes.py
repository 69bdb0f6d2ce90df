"""What to keep in mind when reading a result: whether its numbers, and comparisons of them, can be trusted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullrank.arrays import Doubles
from fullrank.evaluation.corrections import Correction
from fullrank.metrics.metric import Metric
from fullrank.metrics.missing import Weighted
from fullrank.metrics.relevance import list_lengths
from fullrank.ranks import Ranks

POPULAR = "were ranked by what is popular"
TIES = 0.01  # share of cases from which ties are worth a word


def trust_notes(ranks: Ranks, metrics: Sequence[Metric], values: Doubles) -> tuple[str, ...]:
    """Sentences on how the ranks were made and what that does to these metrics."""
    raw = [m for m in metrics if not isinstance(m.function, Correction)]
    notes = [*ranks.about.notes, *_note_samples(ranks, raw)]
    for metric in metrics:
        if isinstance(metric.function, Correction):
            notes += metric.function.notes(ranks)
    notes += _note_ties(ranks, raw)
    weighted = ", ".join(str(m) for m in metrics if isinstance(m.function, Weighted))
    if weighted:
        notes.append(f"as unbiased as their propensities are right: {weighted}")
    biased = ", ".join(str(m) for m in metrics if not (is_unbiased(m, ranks) or isinstance(m.function, Weighted)))
    if biased:
        notes.append(f"biased where relevant items are missing from the held-out data: {biased}")
    notes += [f"{n:,} cases left out: {reason}" for reason, n in ranks.about.skipped.items()]
    notes += [
        f"{n:,} of {len(np.unique(ranks.user)):,} cases {POPULAR}: {reason}"
        for reason, n in ranks.about.fallback.items()
    ]
    return (*notes, *_note_undefined(metrics, values))


def is_unbiased(metric: Metric, ranks: Ranks) -> bool:
    """Whether these values of it are unbiased to missing data: sampled ones, corrected or not, only where linear."""
    if isinstance(metric.function, Correction):
        return metric.function.metric.unbiased and bool(ranks.whole.all())
    return metric.unbiased and (metric.survives_sampling or bool(ranks.whole.all()))


def _note_samples(ranks: Ranks, raw: Sequence[Metric]) -> list[str]:
    names = ", ".join(str(m) for m in raw if not m.survives_sampling)
    exact = int(ranks.whole.sum())
    if exact == len(ranks) or not names:
        return []
    some = f" in {len(ranks) - exact:,} of {len(ranks):,} cases (the others have no more)" if exact else ""
    return [
        f"ranked among {ranks.about.sampled} sampled candidates{some} without correction: {names}, and which model "
        "leads by them, cannot be trusted"
    ]


def _note_ties(ranks: Ranks, raw: Sequence[Metric]) -> list[str]:
    """Where equal scores leave open who is above the cut-off, in more than 1% of the cases."""
    tied = np.flatnonzero(ranks.tied)
    case = np.searchsorted(ranks.start, tied, side="right") - 1
    first = ranks.above[tied] + ranks.relevant_above[tied]
    last = first + ranks.tied[tied] + ranks.tied_relevant[tied]
    by_share: dict[float, list[str]] = {}
    for metric in raw:
        if metric.k is None or metric.cut == "half-life":
            continue
        length = np.broadcast_to(list_lengths(ranks, metric.k), len(ranks))[case]
        share = len(np.unique(case[(first < length) & (last > length)])) / max(len(ranks), 1)
        if share > TIES:
            by_share.setdefault(share, []).append(str(metric))
    return [
        f"equal scores leave open who is above the cut-off in {share:.1%} of the cases, and the mean over their orders "
        f"is taken: {', '.join(names)}"
        for share, names in by_share.items()
    ]


def _note_undefined(metrics: Sequence[Metric], values: Doubles) -> list[str]:
    counts = np.isnan(values).sum(axis=0)
    return [f"{metric}: undefined for {n:,} cases, left out" for metric, n in zip(metrics, counts, strict=True) if n]
