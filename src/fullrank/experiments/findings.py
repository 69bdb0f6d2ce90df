"""From ranks to what is said about them: means, intervals, groups, curves, what sampling would have said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fullrank.evaluation.analysis import histogram
from fullrank.evaluation.consistency import consistency_apart
from fullrank.evaluation.methods import bias_variance
from fullrank.evaluation.result import Result
from fullrank.experiments.letters import letters
from fullrank.experiments.pairs import apart
from fullrank.experiments.parts import Part, parameters
from fullrank.metrics.metric import Metric
from fullrank.metrics.relevance import topk_curve
from fullrank.metrics.table import RANKED, parse
from fullrank.ranks import Ranks

SHARES = np.unique(np.concatenate([[0.0], np.geomspace(1e-4, 1, 80), np.linspace(0, 1, 21)]))
REPEATS = 20  # samplings
ENOUGH = 20_000  # relevant items to see what they do
GAMMA = 0.1  # of the corrected metrics: how much of the variance counts
SAMPLED = ("recall@10", "ndcg@10")
NAMED = {True: "estimates by metrics marked as unbiased", False: "those by the others"}


def metric_parts(metric: Metric) -> dict[str, Any]:
    """What a report says of a metric."""
    text = metric.doc.split("\n")[0]
    return {"name": str(metric), "ubm": metric.ubm, "lower_is_better": metric.best < metric.worst, "text": text}


def best_first(results: Mapping[str, Result], metric: Metric) -> list[str]:
    """Models by their mean; of equal ones the first given. One without a value comes last."""
    sign = 1 if metric.best < metric.worst else -1
    means = {name: result.mean()[str(metric)] for name, result in results.items()}
    return sorted(means, key=lambda name: (np.isnan(means[name]), sign * means[name]))


def model_parts(
    parts: Sequence[Part], results: Mapping[str, Result], pairs: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """What is said of every model, in the order given."""
    metrics = next(iter(results.values())).metrics if results else ()
    groups = {str(m): letters(best_first(results, m), apart(pairs, str(m))) for m in metrics}
    found = []
    for part in parts:
        result = results.get(part.name)
        found.append({
            "name": part.name, "recipe": str(part.recipe), "parameters": parameters(part.recipe),
            "failed": part.failed,
            "metrics": {} if result is None else _means(result, groups, part.name),
            "curve": _curve(part.ranks), "histogram": _histogram(part.ranks),
            "tuned": part.tuned, "seconds": part.seconds,
        })  # fmt: skip
    return found


def _means(result: Result, groups: Mapping[str, Mapping[str, str]], name: str) -> dict[str, Any]:
    intervals = result.interval()
    return {
        metric: {"mean": number(mean), "low": number(intervals[metric][0]), "high": number(intervals[metric][1]), "group": groups[metric][name]}  # noqa: E501
        for metric, mean in result.mean().items()
    }  # fmt: skip


def number(value: float) -> float | None:
    """None where there is none: JSON has no NaN."""
    return float(value) if np.isfinite(value) else None


def _curve(ranks: Ranks | None) -> list[list[float]]:
    if ranks is None or ranks.about.candidates == "offered":
        return []
    return [[float(k), float(share)] for k, share in zip(*topk_curve(ranks, SHARES, ranks.weight), strict=True)]


def _histogram(ranks: Ranks | None) -> dict[str, Any] | None:
    if ranks is None or ranks.about.candidates == "offered":
        return None
    found = histogram(ranks)
    return {"edges": found.edges.tolist(), "counts": found.counts.tolist()}


def sampled(
    parts: Sequence[Part], metrics: Sequence[Metric], pairs: list[dict[str, Any]], m: int, seed: int
) -> dict[str, Any] | None:
    """What m sampled candidates would have said of the same models, by metrics that mind (S1)."""
    ranks = {part.name: part.ranks for part in parts if part.ranks is not None}
    whole = [r for r in ranks.values() if r.about.candidates != "offered"]
    if len(whole) < 2 or int(whole[0].pool.min()) <= m:
        return None
    asked = [metric for metric in metrics if metric.name in RANKED and metric.k is not None and metric.name != "topk"]
    asked = asked[:3] or [parse(name) for name in SAMPLED]
    cases = len(whole[0])
    drawn = np.random.default_rng([seed, cases]).permutation(cases)
    some = np.sort(drawn[np.cumsum(whole[0].sizes[drawn]) <= ENOUGH])
    some = some if len(some) else drawn[:1]
    found = consistency_apart(
        {name: r.at(some) for name, r in ranks.items()},
        asked,
        m,
        methods=(None, bias_variance(GAMMA)),
        repeats=REPEATS,
        seed=seed,
    )
    rows = found.to_rows()
    both = zip(rows[::2], rows[1::2], strict=True)
    told = f"Seen in {len(some):,} cases drawn at random: " if len(some) < cases else ""
    return {
        "m": m,
        "cases": len(some),
        "rows": [_sampled_row(raw, mended, apart(pairs, raw["metric"]), told) for raw, mended in both],
    }


def _sampled_row(
    raw: dict[str, Any], mended: dict[str, Any], certain: set[tuple[str, str]], told: str
) -> dict[str, Any]:
    turned = {what: _turned(raw["exact"], row["mean"], certain) for what, row in (("", raw), ("corrected", mended))}
    agreement = {
        name: number(float(np.nanmean(list(row["agreement"].values()))) if row["agreement"] else np.nan)
        for name, row in (("sampled", raw), ("corrected", mended))
    }
    return {
        "metric": raw["metric"], "exact": raw["exact"], "sampled": raw["mean"], "corrected": mended["mean"],
        "agreement": agreement, "turned": len(turned[""]),
        "sentence": told + _sentence(raw["metric"], len(certain), turned[""], turned["corrected"]),
    }  # fmt: skip


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


def truth(parts: Sequence[Part], results: Mapping[str, Result], pairs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Estimates beside the complete truth, where that is known."""
    told = [part for part in parts if part.truth and part.name in results]
    if not told:
        return None
    metrics = results[told[0].name].metrics
    rows = [_true_row(str(metric), told, results, apart(pairs, str(metric))) for metric in metrics]
    turned = [row["metric"] for row in rows if not row["order_kept"]]
    far = {ubm: [gap for m, row in zip(metrics, rows, strict=True) if m.ubm == ubm and (gap := _gap(row)) is not None]
           for ubm in (True, False)}  # fmt: skip
    sentences = [f"{who} are up to {max(far[ubm]):.3f} from it" for ubm, who in NAMED.items() if far[ubm]]
    order = f"by all metrics but {', '.join(turned)}" if turned else "by every metric"
    sentence = (
        f"Here the complete truth is known: {', '.join(sentences)}. Models that can be told apart are in their true "
        f"order {order}."
    )
    return {"sentence": sentence, "rows": rows}


def _true_row(
    metric: str, parts: Sequence[Part], results: Mapping[str, Result], certain: set[tuple[str, str]]
) -> dict[str, Any]:
    models = {
        part.name: {"estimate": number(results[part.name].mean()[metric]), "truth": number(part.truth[metric])}
        for part in parts
    }
    means = {which: {name: of[which] or 0.0 for name, of in models.items()} for which in ("estimate", "truth")}
    known = {pair for pair in certain if set(pair) <= models.keys()}
    return {"metric": metric, "models": models, "order_kept": not _turned(means["estimate"], means["truth"], known)}


def _gap(row: dict[str, Any]) -> float | None:
    gaps = [abs(of["estimate"] - of["truth"]) for of in row["models"].values() if None not in of.values()]
    return max(gaps, default=None)
