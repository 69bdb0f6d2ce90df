"""Which default parameters are robust: chosen by the worst ratio to the best of a grid, checked beside tuning.

    python -m benchmarks.defaults choose IALS ItemCF ...   grids on one split: the setting whose worst ratio is highest
    python -m benchmarks defaults                          today's defaults beside 20 trials of tuning, on another split

Of everybody's rows 20% are held out and 10% kept to choose on; nDCG@10, items seen in training are no candidates.
Ratings of 4 and more are relevant, and what recipes that know one class are fed; of everything else all is.
Every value is kept in benchmarks/results/defaults.jsonl: a run that was stopped goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import fullrank
from fullrank import metrics
from fullrank.data.split import Split
from fullrank.data.split.parts import joined
from fullrank.models.recipes import RECIPES

KEPT = Path(__file__).parent / "results" / "defaults.jsonl"
CHOOSE, CHECK = 0, 1  # seeds of the splits
TRIALS = 20
RELEVANT = 4.0
NDCG = metrics.ndcg @ 10


def simulated_ratings() -> Any:
    return fullrank.simulate.ratings(seed=11).data


def simulated_events() -> Any:
    return fullrank.simulate.implicit(seed=12).data


def known(name: str) -> Callable[[], Any]:
    return lambda: fullrank.sources.load(name).data


RATINGS: dict[str, Callable[[], Any]] = {
    "ml-100k": known("ml-100k"), "ml-1m": known("ml-1m"), "coat": known("coat"), "simulated ratings": simulated_ratings,
}  # fmt: skip
EVENTS: dict[str, Callable[[], Any]] = {
    "lastfm-2k": known("lastfm-2k"), "ta-feng": known("ta-feng"),
    "amazon-video-games-seq": known("amazon-video-games-seq"), "simulated events": simulated_events,
}  # fmt: skip
CHECKED_ONLY = ("ml-1m", "ta-feng")  # the large ones choose nothing
TOO_MANY = 10_000  # items and users, for EASE

GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "IALS": {
        "factors": (64, 128), "missing_weight": (0.005, 0.01, 0.02),
        "reg": (0.2, 0.3, 0.5), "frequency": (0.4, 0.5, 0.6),
    },
    "ItemCF": {
        "neighbours": (None, 100), "voters": (None, 50, 100, 200), "power": (1.0,), "scale": (None,),
        "shrink": (5.0, 10.0, 20.0), "user_weight": (0.3, 0.5),
    },
    "PureSVD": {"factors": (8, 16, 32, 48, 64)},
    "AllRank": {
        "factors": (32, 64), "missing_weight": (0.05, 0.1), "missing_value": (0.0, 0.5, 1.0, 2.0),
        "reg": (0.03, 0.06, 0.1),
    },
    "AllRankBinary": {"factors": (32, 64), "missing_weight": (0.005, 0.02, 0.05), "reg": (0.02, 0.05, 0.1)},
    "EASE": {"reg": (50.0, 100.0, 200.0, 350.0, 500.0, 1000.0)},
    "SoftmaxNegatives": {
        "factors": (32, 64), "rate": (0.01, 0.02, 0.04), "dropout": (0.2, 0.5), "negatives": (3.0, 6.0),
    },
    "GaussianRank": {"factors": (32, 64), "rate": (0.01, 0.02, 0.04), "dropout": (0.2, 0.5), "prior": (0.1, 0.3, 1.0)},
    "BPR": {"factors": (32, 64), "rate": (0.05, 0.1, 0.2), "reg": (0.003, 0.01, 0.03)},
    "MFADG": {"factors": (32, 64), "rate": (0.03, 0.1, 0.2), "reg": (0.01, 0.03, 0.1), "gamma": (30.0, 100.0)},
}  # fmt: skip


@cache
def parts(name: str, seed: int) -> Split[Any]:
    """Training, validation and held-out rows; of Coat the random ratings are held out, as published."""
    data = {**RATINGS, **EVENTS}[name]()
    if isinstance(data, Split):
        inner = fullrank.holdout(data.train, 0.15, seed=seed)
        return Split(inner.train, data.held_out, valid=inner.held_out, how=data.how)
    return fullrank.holdout(data, 0.2, valid=0.1, seed=seed)


def relevant(name: str) -> float | None:
    return RELEVANT if name in RATINGS else None


def suited(kind: type, name: str, **setting: Any) -> Any:
    """The recipe with this setting, fed what is relevant where it knows one class."""
    names = [part.name for part in fields(kind)]
    return kind(**({"relevant": relevant(name)} if "relevant" in names else {}), **setting)


def judge(recipe: Any, split: Split[Any], name: str) -> float:
    model = recipe.fit(split.train, seed=0)
    ranks = fullrank.rank(model, split, relevant=relevant(name))
    return float(fullrank.evaluate(ranks, [NDCG]).mean()["ndcg@10"])


def on_valid(name: str, seed: int) -> Split[Any]:
    split = parts(name, seed)
    return Split(split.train, split.valid, how=split.how)


def on_held_out(name: str, seed: int) -> Split[Any]:
    split = parts(name, seed)
    return Split(joined([split.train, split.valid]), split.held_out, how=split.how)


class Kept:
    """Values by what they were measured of, one line each in a file."""

    def __init__(self, path: Path = KEPT) -> None:
        path.parent.mkdir(exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else []
        self.path, self.values = path, dict(map(json.loads, lines))

    def of(self, key: str, measure: Callable[[], Any]) -> Any:
        if key not in self.values:
            self.values[key] = measure()
            with self.path.open("a") as file:
                file.write(json.dumps([key, self.values[key]]) + "\n")
        return self.values[key]


def sets_for(name: str, *, choosing: bool) -> list[str]:
    """The data sets on which a recipe is measured."""
    kinds = RATINGS if name == "AllRank" else {**RATINGS, **EVENTS}
    return [one for one in kinds if not (choosing and one in CHECKED_ONLY) and not _too_large(name, one)]


def _too_large(recipe: str, name: str) -> bool:
    train = parts(name, CHOOSE).train
    return recipe == "EASE" and train.n_items > TOO_MANY and train.n_users > TOO_MANY


def settings(grid: dict[str, tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    return (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))


def choose(recipe: str, kept: Kept) -> list[tuple[float, dict[str, Any], dict[str, float]]]:
    """The settings of a grid by their worst ratio to the best one of each data set, best first."""
    values: dict[str, dict[str, float]] = {}
    for name in sets_for(recipe, choosing=True):
        for setting in settings(GRIDS[recipe]):
            made = suited(RECIPES[recipe], name, **setting)
            key = f"choose {CHOOSE} {name} {made}"
            values.setdefault(name, {})[json.dumps(setting)] = kept.of(
                key,
                lambda m=made, n=name: judge(m, on_valid(n, CHOOSE), n),  # type: ignore[misc]
            )
        print(f"{recipe} {name}: best {max(values[name].values()):.4f}", flush=True)
    ratios = [
        {name: each[json.dumps(setting)] / max(each.values()) for name, each in values.items()}
        for setting in settings(GRIDS[recipe])
    ]
    ordered = zip(settings(GRIDS[recipe]), ratios, strict=True)
    return sorted(((min(ratio.values()), setting, ratio) for setting, ratio in ordered), key=lambda row: -row[0])


def check(recipe: str, name: str, kept: Kept) -> dict[str, Any]:
    """The default of a recipe beside its best of some trials, both on held-out rows that chose neither."""
    made = suited(RECIPES[recipe], name)

    def measure() -> dict[str, Any]:
        default = judge(made, on_held_out(name, CHECK), name)
        tuned = fullrank.tune(
            made, parts(name, CHECK), trials=TRIALS, metric=NDCG, relevant=relevant(name), seed=0
        ).recipe
        best = judge(tuned, on_held_out(name, CHECK), name) if tuned != made else default
        return {"default": default, "tuned": best, "setting": str(tuned)}

    values = kept.of(f"check {CHECK} {name} {TRIALS} {made}", measure)
    return {"recipe": recipe, "data": name, "ratio": values["default"] / values["tuned"], **values}


def bestsellers(name: str, kept: Kept) -> float:
    made = suited(RECIPES["Bestseller"], name, by="relevant" if name in RATINGS else "count")
    return float(kept.of(f"bestsellers {CHECK} {name}", lambda: judge(made, on_held_out(name, CHECK), name)))


COMPARED = ("IALS", "ItemCF", "EASE", "AllRank", "SoftmaxNegatives", "BPR", "GaussianRank")  # by default


def run(recipes: tuple[str, ...] = COMPARED) -> list[dict[str, Any]]:
    """A row for every recipe and data set."""
    kept, rows = Kept(), []
    for recipe in recipes:
        for name in sets_for(recipe, choosing=False):
            row = check(recipe, name, kept) | {"bestsellers": bestsellers(name, kept)}
            print(" ".join(f"{k}={v:.4f}" if isinstance(v, float) else str(v) for k, v in row.items()), flush=True)
            rows.append(row)
    return rows


if __name__ == "__main__":
    command, *names = sys.argv[1:]
    if command == "check":
        run(tuple(names) or COMPARED)
    for one in names if command == "choose" else ():
        for worst, setting, ratio in choose(one, Kept())[:5]:
            print(f"{one} {worst:.3f} {setting} " + " ".join(f"{k}={v:.3f}" for k, v in ratio.items()), flush=True)
