"""A made-up comparison in the shape of results.json, with names meant to break a page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from fullrank.comparison.results import FORMAT

NAMES = ("AllRank", "IALS", "MFADG", "GaussianRank", "ItemCF", "RSVD", "Bestseller")
METRICS = (
    ("recall@10", True, "Share of the relevant items among the first 10."),
    ("atop", True, "Area under the recall curve over the whole catalogue."),
    ("ndcg@10", False, "Gain among the first 10, discounted by position."),
    ("auc", False, "Share of pairs in the right order."),
    ("median rank", False, "Position of the middle relevant item."),
)
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{ 7 * 7 }} {% raw %}",
    "<!--<script>",
    "\u2028 ]]> & \"quoted\" 'title'",
    "A very long title that goes on and on: the director's cut, remastered, with commentary, volume twenty-three",
)
TITLES = ("Toy Story (1995)", "Heat (1995)", "Fargo (1996)", "Alien (1979)", "Amélie (2001)", "羅生門 (1950)", None)
SHARES = np.unique(np.round(np.concatenate([[0], np.geomspace(1 / 1700, 1, 60)]), 5))
EDGES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1701]


def results(models: int = 7, seed: int = 0) -> dict[str, Any]:
    """A whole comparison: tuned models, one that failed, sampled and true values, hostile titles."""
    rng = np.random.default_rng(seed)
    names = [NAMES[i] if i < len(NAMES) else f"{NAMES[i % 7]} {i}" for i in range(models)]
    skill = {name: 1 - 0.8 * i / max(models, 7) for i, name in enumerate(names)}
    content = {
        "format": FORMAT,
        "title": "simulated ratings",
        "verdict": {
            "sentence": f"Use {names[0]}: it finds 0.214 of the relevant items among the first 10, "
            f"ahead of all others but {names[min(1, models - 1)]}, which may be as good.",
            "metric": "recall@10",
            "best": names[0],
            "tied": names[1:2],
            "sure": False,
        },
        "trust": [
            {"level": "warning", "text": "ndcg@10 and auc are biased where relevant items are missing from the data."},
            {"level": "note", "text": "31 users left out: no relevant item held out."},
        ],
        "data": _data(),
        "split": {
            "how": "The last 5 ratings of every user are held out.",
            "rows": {"train": 80000, "validation": 5000, "held out": 5000},
            "cases": 912,
            "left_out": {"no relevant item held out": 31},
            "relevant": "rated 5 or more",
            "candidates": "all 1,700 items",
            "excluded": "items seen in training",
            "repeats": 0.13,
        },
        "metrics": [
            {
                "name": name,
                "unbiased": unbiased,
                "lower_is_better": name == "median rank",
                "text": said,
                "definition": f"{said}\n\n    {name} = <hits> / |R|\n\nIn [0, 1].",
            }
            for name, unbiased, said in METRICS
        ],
        "models": [_model(name, skill[name], i, rng) for i, name in enumerate(names)] + [_failed()],
        "pairs": [_pair(names[0], name, 0.214 * (1 - skill[name])) for name in names[1:]],
        "sampled": _sampled(names, skill, rng),
        "examples": [_example(i, names, rng) for i in range(10)],
        "truth": _truth(names, skill),
        "manifest": {
            "fullrank": "0.1.0",
            "python": "3.11.2",
            "libraries": {"numpy": "2.4.6", "scipy": "1.17.1", "numba": "0.68.1"},
            "machine": "Linux x86_64, 2 cores",
            "data": "sha256 " + "9f" * 32,
            "split": "sha256 " + "3c" * 32,
            "seed": 0,
            "threads": 2,
            "protocol": "",
            "result": "",
            "started": "2026-01-05T10:20:30Z",
            "seconds": {"total": 48.2, "data": 1.1},
        },
    }
    plain: dict[str, Any] = json.loads(json.dumps(content, allow_nan=False))
    return plain


def bare() -> dict[str, Any]:
    """The least a comparison can hold: one model that was measured, nothing optional."""
    content = results(models=1)
    content.update(pairs=[], sampled=None, truth=None, examples=[], trust=[])
    content["data"].update(values=None, popularity=None, missing=None)
    content["models"] = [{**content["models"][0], "curve": [], "histogram": None, "lists": None, "tuned": None}]
    return content


def _data() -> dict[str, Any]:
    shares = np.linspace(0, 1, 60)
    return {
        "kind": "ratings",
        "description": {
            "kind": "interactions",
            "rows": 90000,
            "users": 943,
            "items": 1700,
            "density": 0.0561,
            "per user": {"min": 20, "median": 62.0, "mean": 95.4, "max": 702},
            "gini of item popularity": 0.62,
            "values": {"1": 6110, "2": 11370},
            "time": ["1997-09-20T03:05:10", "1998-04-22T23:10:38"],
        },
        "values": {"1": 6110, "2": 11370, "3": 27145, "4": 34174, "5": 21201},
        "popularity": [[round(x, 4), round(1 - (1 - x) ** 4, 4)] for x in shares.tolist()],
        "missing": {
            "correlation": 0.41,
            "p": 1.2e-30,
            "points": [
                {"ratings": label, "items": n, "mean": mean}
                for label, n, mean in (("1-4", 390, 2.6), ("5-19", 410, 2.9), ("20-49", 360, 3.1), ("50+", 540, 3.5))
            ],
            "sentence": "Items with more ratings are rated higher (correlation 0.41): people rate what they like.",
        },
    }


def _model(name: str, skill: float, place: int, rng: np.random.Generator) -> dict[str, Any]:
    top = {"recall@10": 0.214, "atop": 0.93, "ndcg@10": 0.161, "auc": 0.921, "median rank": 55.0}
    power = 0.12 + 0.35 * (1 - skill)
    counts = np.diff(np.clip(np.array(EDGES) / 1700, 0, 1) ** power) * 5000
    return {
        "name": name,
        "recipe": f"{name}(factors=50)",
        "parameters": {"factors": 50, "reg": 0.1},
        "failed": None,
        "fed": "values from 4 on: 44,140 of 80,000 rows" if name != "AllRank" else "all 80,000 rows with their values",
        "fallback": {"nothing is known of them": 37} if name != "Bestseller" else {},
        "irregular": {"items that were in the list already: taken out": 12} if place == 3 else {},
        "people": {"new": {metric: mean / 3 for metric, mean in top.items()}, "known": dict(top)},
        "metrics": {metric: _value(metric, mean, skill, place) for metric, mean in top.items()},
        "curve": [[share, round(share**power, 5)] for share in SHARES.tolist()],
        "histogram": {"edges": EDGES, "counts": counts.round().astype(int).tolist()},
        "lists": _lists(skill, name),
        "libraries": _libraries() if place == 3 else [],
        "tuned": _tuned(rng) if name == "AllRank" else None,
        "seconds": {"fit": float(0.02 * 4.0 ** (place % 7)), "rank": 0.4, "tune": 12.0 if name == "AllRank" else 0.0},
    }


def _lists(skill: float, name: str) -> dict[str, Any]:
    alike = name == "Bestseller"
    return {
        "coverage": 0.012 if alike else 0.6 * skill,
        "bestsellers": 0.95 if alike else 0.5 * skill,
        "novelty": 12 - 4 * skill,
        "personalisation": None if alike else 0.8,
        "diversity": 0.5 + skill / 4,
    }


def _libraries() -> list[dict[str, Any]]:
    """As <lists> might be counted elsewhere."""
    said = "equal scores stay as they were listed"
    same = {"library": "implicit", "checked": "implicit 0.7.3"}
    return [
        {**same, "measure": "precision@10", "value": 0.2, "ours": "capped_recall@10", "our_value": 0.21,
         "sentence": f"divides by <all>; {said}"},
        {**same, "measure": "auc@10", "value": None, "ours": "auc", "our_value": None, "sentence": said},
        {**same, "measure": "ndcg@10", "value": 0.1, "ours": "ndcg@10", "our_value": 0.1, "sentence": said},
    ]  # fmt: skip


def _value(metric: str, mean: float, skill: float, place: int) -> dict[str, Any]:
    mean = mean / skill if metric == "median rank" else mean * skill
    half = 0.055 * mean
    bounds = [mean, min(1.0, 1.2 * mean)] if place == 3 and metric == "auc" else None
    group = "abcdefghijklmnopqrstuvwxyz"[place // 2]
    return {"mean": mean, "low": mean - half, "high": mean + half, "group": group, "bounds": bounds}


def _tuned(rng: np.random.Generator) -> dict[str, Any]:
    points: list[dict[str, Any]] = []
    for trial in range(40):
        weight = 0.0 if trial % 10 == 0 else float(10 ** rng.uniform(-4, 0))
        value = float(rng.uniform(0, 4))
        reg = float(10 ** rng.uniform(-3, 1))
        near = abs(np.log10(max(weight, 1e-5)) + 1.6) / 4 + abs(value - 2) / 8 + abs(np.log10(reg) + 1) / 8
        state = "failed" if trial == 7 else "pruned" if trial % 6 == 5 else "complete"
        parameters = {"missing_weight": weight, "missing_value": value, "reg": reg, "loss": "squared", "factors": 50}
        scored = None if state == "failed" else float(0.22 - 0.12 * near)
        points.append({"parameters": parameters, "value": scored, "state": state})
    return {"metric": "recall@10", "trials": 40, "pruned": 6, "points": points}


def _failed() -> dict[str, Any]:
    return {
        "name": "PureSVD <b>",
        "recipe": "PureSVD(factors=5000)",
        "parameters": {"factors": 5000},
        "failed": "The 'factors' parameter of PureSVD must be an int < 943. Got 5000 instead.",
        "fed": "",
        "fallback": {},
        "irregular": {},
        "people": {},
        "metrics": {},
        "curve": [],
        "histogram": None,
        "lists": None,
        "libraries": [],
        "tuned": None,
        "seconds": {"fit": 0.0, "rank": 0.0, "tune": 0.0},
    }


def _pair(best: str, other: str, gap: float) -> dict[str, Any]:
    return {
        "metric": "recall@10", "one": best, "two": other, "difference": gap, "low": gap - 0.022, "high": gap + 0.02,
        "p": 0.004, "adjusted": 0.012, "won": 0.31, "lost": 0.2, "cases": 912, "needed": 2400 if gap < 0.03 else None,
        "note": "",
    }  # fmt: skip


def _sampled(names: list[str], skill: dict[str, float], rng: np.random.Generator) -> dict[str, Any]:
    def row(metric: str, top: float) -> dict[str, Any]:
        exact = {name: top * skill[name] for name in names}
        return {
            "metric": metric,
            "exact": exact,
            "sampled": {name: 0.5 + 1.2 * x + float(rng.normal(0, 0.05)) for name, x in exact.items()},
            "corrected": {name: x + float(rng.normal(0, 0.004)) for name, x in exact.items()},
            "agreement": {"sampled": 0.71, "corrected": 0.95},
            "turned": 1,
            "sentence": f"By {metric} among 100 sampled items another model would lead; corrected, the order is right.",
        }

    return {"m": 100, "cases": 912, "rows": [row("recall@10", 0.214), row("ndcg@10", 0.161)]}


def _truth(names: list[str], skill: dict[str, float]) -> dict[str, Any]:
    def row(metric: str, top: float, bias: float) -> dict[str, Any]:
        return {
            "metric": metric,
            "models": {name: {"estimate": top * skill[name] + bias, "truth": top * skill[name]} for name in names},
            "order_kept": bias < 0.01,
        }

    rows = [row("recall@10", 0.2, 0.002), row("atop", 0.93, 0.001), row("ndcg@10", 0.3, -0.12), row("auc", 0.9, 0.02)]
    return {"sentence": "The metrics marked as unbiased agree with the complete data.", "rows": rows}


def _example(i: int, names: list[str], rng: np.random.Generator) -> dict[str, Any]:
    def item(j: int, **more: Any) -> dict[str, Any]:
        titles = (*TITLES, *HOSTILE)
        title = titles[j % len(titles)]
        return {"item": j if j % 3 else f"<b>{j}</b>", "title": title, **more}

    return {
        "user": 196 + i if i % 2 else f"ann{'<i>' * i}",
        "history": [item(int(j), value=float(j % 5 + 1)) for j in rng.integers(0, 60, 6)],
        "held_out": [item(int(j)) for j in rng.integers(0, 60, 3)],
        "lists": {name: [item(int(j), hit=bool(j % 7 == 0)) for j in rng.integers(0, 60, 10)] for name in names},
    }
