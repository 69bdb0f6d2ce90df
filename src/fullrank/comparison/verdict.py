"""Which model to use, how sure that is, and what to distrust: in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fullrank.comparison.findings import best_first
from fullrank.comparison.outside import Outside
from fullrank.comparison.pairs import OPEN, apart
from fullrank.comparison.profile import CLEAR
from fullrank.comparison.protocol import Setting
from fullrank.comparison.results import Caveat, DataProfile, PairResult, SampledPanel, Verdict
from fullrank.comparison.runs import Part
from fullrank.evaluation.cases import Cases
from fullrank.evaluation.notes import POPULAR
from fullrank.evaluation.result import Result
from fullrank.models.least_squares.allrank import AllRank
from fullrank.models.neighbours.bestseller import Bestseller
from fullrank.models.ratings.ordrec import OrdRec
from fullrank.models.ratings.rsvd import RSVD
from fullrank.models.ratings.svdpp import SVDpp

RATING_RECIPES = (AllRank, RSVD, SVDpp, OrdRec)
FEW = 100  # cases
MANY = 0.1  # of the cases, or of the held-out events
SOME = 0.01  # of the held-out events
FAR = 100  # times as many cases as there are


def trusted(parts: Sequence[Part], results: Mapping[str, Result]) -> Mapping[str, Result]:
    """Those that may be recommended: not the ones that know the answers, unless all do."""
    doubted = {part.name for part in parts if part.warnings}
    return {name: result for name, result in results.items() if name not in doubted} or results


def decide(results: Mapping[str, Result], pairs: Sequence[PairResult]) -> Verdict:
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
    return Verdict(sentence, str(metric), best, tuple(tied), sure=not tied)


def _remedy(pairs: Sequence[PairResult], metric: str, best: str, second: str) -> str:
    pair = next(p for p in pairs if p.metric == metric and {p.one, p.two} == {best, second})
    if pair.note == OPEN:
        return OPEN
    if pair.needed is None:
        return "they do not differ"
    if pair.needed > FAR * pair.cases:
        return "they hardly differ"
    if pair.needed > pair.cases:
        return f"a difference this small needs about {pair.needed:,} cases, and there are {pair.cases:,}"
    return "the difference is not certain beside all the other comparisons made"


def caveats(
    setting: Setting, parts: Sequence[Part], results: Mapping[str, Result], verdict: Verdict, profile: DataProfile,
    sampled: SampledPanel | None, *, tuned: bool, unfinished: Sequence[str] = (),
) -> tuple[Caveat, ...]:  # fmt: skip
    """What to keep in mind, warnings first."""
    warnings = [f"The comparison was interrupted: nothing is said of {', '.join(unfinished)}."] if unfinished else []
    warnings += [f"{part.name} failed: {part.failed}" for part in parts if part.failed is not None]
    warnings += [f"{part.name}: {warning}." for part in parts for warning in part.warnings]
    warnings += _about_lists(parts)
    warnings += map(_sentence, setting.data.intake.doubts)
    warnings += _about_cases(setting, results)
    warnings += _about_models(setting, parts, verdict, profile, tuned)
    repeated, many = _repeats(setting)
    warnings += repeated if many else []
    notes = [
        *([] if many else repeated),
        *_sampling(sampled),
        *_reading(setting),
        *_splitting(setting),
        *_of_results(results),
    ]
    return (*(Caveat("warning", text) for text in warnings), *(Caveat("note", text) for text in notes))


def _about_lists(parts: Sequence[Part]) -> list[str]:
    """What was wrong with lists."""
    there = [(part.name, part.ranks.about.irregular) for part in parts if part.ranks is not None]
    return [f"{name}: {n:,} {what}." for name, irregular in there for what, n in irregular.items()]


def _about_cases(setting: Setting, results: Mapping[str, Result]) -> list[str]:
    """Whether there are enough, and anything is known of them."""
    doubts, cases = [], len(next(iter(results.values())))
    new = float(setting.new.mean()) if len(setting.split.train) else 0.0
    if cases < FEW:
        doubts.append(f"There are only {cases} cases: small differences are chance.")
    if new > MANY:
        doubts.append(
            f"{new:.0%} of the cases are of people without any training data: no model knows them, and they are served "
            "what is popular. Results for new and known people are shown apart."
        )
    cold = _without_feedback(setting)
    if cold >= SOME:
        doubts.append(
            f"{cold:.0%} of what is relevant are items without any training data: no model that learns from feedback "
            "can find them."
        )
    return doubts


def _without_feedback(setting: Setting) -> float:
    """The share of the held-out relevant items of which nothing is known; 0 where nothing was learned from at all."""
    judged, train = setting.judged, setting.split.train
    if not isinstance(judged, Cases) or not len(train):
        return 0.0
    return float((train.popularity[judged.item] == 0).mean())


def _about_models(
    setting: Setting, parts: Sequence[Part], verdict: Verdict, profile: DataProfile, tuned: bool
) -> list[str]:
    """What makes the order of the models doubtful."""
    doubts, decides, missing = [], setting.metrics[0], profile.missing
    if missing is not None and missing.p < CLEAR and not decides.unbiased:
        doubts.append(
            f"Ratings are missing not at random here, and {decides} is biased where relevant items are missing from "
            "the held-out data; look at the metrics marked as unbiased."
        )
    doubts += [*_fed_dislikes(setting, parts), *_fed_counts(setting, parts)]
    if {verdict.best, *verdict.tied} & _bestsellers(parts):
        doubts.append("No model is clearly better than a list of bestsellers, which is the same for everybody.")
    if not tuned and not all(isinstance(part.recipe, Outside) for part in parts):
        doubts.append(
            "Nothing was tuned: the models have their default parameters, and a difference may be one of parameters, "
            "not of methods. Compare again with tuning."
        )
    return doubts


def _fed_dislikes(setting: Setting, parts: Sequence[Part]) -> list[str]:
    """Which models of one class were fed ratings that are not relevant, as if these were likes."""
    least = setting.suits.get("relevant")
    if least is None:
        return []
    names = [part.name for part in parts if part.tuned is None and getattr(part.recipe, "relevant", 0) is None]
    names = [name for name in names if name not in _bestsellers(parts)]
    if not names:
        return []
    return [
        f"{', '.join(names)} learned from all ratings as if each were a like, those below {least:g} too: set "
        "`relevant`, or give them by name."
    ]


def _fed_counts(setting: Setting, parts: Sequence[Part]) -> list[str]:
    """Which models took counts for ratings."""
    if setting.kind != "events" or setting.split.train.value is None:
        return []
    names = [part.name for part in parts if isinstance(part.recipe, RATING_RECIPES)]
    if not names:
        return []
    return [
        f"{', '.join(names)} took counts as if they were ratings: use models of events, or turn counts into grades."
    ]


def _repeats(setting: Setting) -> tuple[list[str], bool]:
    """What people took again and is not judged; and whether that is much."""
    repeats = setting.split.repeats
    if repeats is None or repeats.kept or repeats.share < SOME:
        return [], False
    return [
        f"{repeats.share:.0%} of the held-out events are of items that the person had before; they are left out here. "
        "If people should be offered them again, compare with --repeat (repeat=True)."
    ], repeats.share >= MANY


def _sampling(sampled: SampledPanel | None) -> list[str]:
    turned = [] if sampled is None else [row.metric for row in sampled.rows if row.turned]
    if sampled is None or not turned:
        return []
    return [
        f"Ranked among {sampled.m} sampled items instead of all, models that can be told apart would have come in "
        f"the wrong order by {', '.join(turned)}."
    ]


def _reading(setting: Setting) -> list[str]:
    """What is not in the data any more, and how the rest was read."""
    intake = setting.data.intake
    dropped = [f"{n:,} rows were left out when the data was read: {reason}." for reason, n in intake.dropped.items()]
    merged = f"{intake.merged:,} rows repeated others and were merged when the data was read."
    if setting.kind == "events" and getattr(setting.data, "time", None) is not None:
        merged += (
            " What happened before the split may be held out so, with what happened again: read_events keeps both."
        )
    how = [f"How the data was read: {'; '.join(intake.notes)}."] if intake.notes else []
    return [*dropped, *([merged] if intake.merged else []), *how]


def _of_results(results: Mapping[str, Result]) -> list[str]:
    """What evaluation says, once where it says it of all models."""
    common = [note for note in next(iter(results.values())).notes if all(note in r.notes for r in results.values())]
    own = [
        f"{name}: {note}."
        for name, result in results.items()
        for note in result.notes
        if note not in common and POPULAR not in note  # the report has it beside what a model was fed
    ]
    return [*map(_sentence, common), *own]


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
