"""Which model to use, how sure that is, and what to distrust: in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullrank.evaluation.result import Result
from fullrank.experiments.findings import best_first
from fullrank.experiments.pairs import apart
from fullrank.experiments.parts import Part
from fullrank.experiments.setting import Setting
from fullrank.models.bestseller import Bestseller

FEW = 100  # cases
FAR = 100  # times as many cases as there are


def verdict(results: Mapping[str, Result], pairs: list[dict[str, Any]]) -> dict[str, Any]:
    """The best model by the deciding metric, those it cannot be told from, and a sentence."""
    metric = next(iter(results.values())).metrics[0]
    order = best_first(results, metric)
    best, means = order[0], {name: result.mean()[str(metric)] for name, result in results.items()}
    distinct = apart(pairs, str(metric))
    tied = [name for name in order[1:] if (best, name) not in distinct and (name, best) not in distinct]
    value = f"{metric} {means[best]:.4f}"
    if len(order) == 1:
        sentence = f"{best} has {value}; there is nothing to compare it with."
    elif not tied:
        second = f"{order[1]} ({means[order[1]]:.4f})" + (" and all others" if len(order) > 2 else "")
        sentence = f"Use {best}: {value}, ahead of {second} beyond what chance explains."
    else:
        others = tied[0] if len(tied) == 1 else f"{', '.join(tied[:-1])} and {tied[-1]}"
        doubt = _remedy(pairs, str(metric), best, tied[0])
        sentence = f"{best} leads with {value}, but cannot be told from {others} on these data: {doubt}."
    return {"sentence": sentence, "metric": str(metric), "best": best, "tied": tied, "sure": not tied}


def _remedy(pairs: list[dict[str, Any]], metric: str, best: str, second: str) -> str:
    row = next(r for r in pairs if r["metric"] == metric and {r["one"], r["two"]} == {best, second})
    if row["needed"] is None:
        return "they do not differ"
    if row["needed"] > FAR * row["cases"]:
        return "they hardly differ"
    if row["needed"] > row["cases"]:
        return f"a difference this small needs about {row['needed']:,} cases, and there are {row['cases']:,}"
    return "the difference is not certain beside all the other comparisons made"


def trust(
    setting: Setting, parts: Sequence[Part], results: Mapping[str, Result], found: Mapping[str, Any],
    *, tuned: bool, unfinished: Sequence[str] = (),
) -> list[dict[str, str]]:  # fmt: skip
    """What to keep in mind, warnings first."""
    warnings: list[str] = []
    notes: list[str] = []
    if unfinished:
        warnings.append(f"The comparison was interrupted: nothing is said of {', '.join(unfinished)}.")
    for part in parts:
        if part.failed is not None:
            warnings.append(f"{part.name} failed: {part.failed}")
    if not results:
        return _told(warnings, notes)
    decides = setting.metrics[0]
    missing = found["data"]["missing"]
    cases = len(next(iter(results.values())))
    if cases < FEW:
        warnings.append(f"There are only {cases} cases: small differences are chance.")
    if missing is not None and missing["p"] < 0.01 and not decides.ubm:
        warnings.append(
            f"Ratings are missing not at random here, and {decides} is biased where relevant items are missing from "
            "the held-out data; look at the metrics marked as unbiased."
        )
    if found["verdict"]["best"] in _bestsellers(parts) or set(found["verdict"]["tied"]) & _bestsellers(parts):
        warnings.append("No model is clearly better than a list of bestsellers, which is the same for everybody.")
    if not tuned:
        warnings.append(
            "Nothing was tuned: the models have their default parameters, and a difference may be one of parameters, "
            "not of methods. Compare again with tuning."
        )
    if found["sampled"] is not None:
        turned = [row["metric"] for row in found["sampled"]["rows"] if row["turned"]]
        if turned:
            notes.append(
                f"Ranked among {found['sampled']['m']} sampled items instead of all, models that can be told apart "
                f"would have come in the wrong order by {', '.join(turned)}."
            )
    notes += _splitting(setting)
    common = [note for note in next(iter(results.values())).notes if all(note in r.notes for r in results.values())]
    notes += [_sentence(note) for note in common]
    for name, result in results.items():
        notes += [f"{name}: {note}." for note in result.notes if note not in common]
    return _told(warnings, notes)


def _told(warnings: list[str], notes: list[str]) -> list[dict[str, str]]:
    levels = ("warning", warnings), ("note", notes)
    return [{"level": level, "text": text} for level, texts in levels for text in texts]


def _bestsellers(parts: Sequence[Part]) -> set[str]:
    return {part.name for part in parts if isinstance(part.recipe, Bestseller)}


def _splitting(setting: Setting) -> list[str]:
    if setting.cut.startswith("leave-last"):
        return [
            "Everybody's last feedback was held out: what others did later is in the training data. A split by time "
            "(time:0.2) is nearer to use."
        ]
    if setting.cut.startswith("holdout") and getattr(setting.data, "time", None) is not None:
        return ["Held out at random: what people did later is in the training data. A split by time is nearer to use."]
    return []


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}." if not note.endswith(".") else note
