"""What rules cost: without rules what evaluation says, with them what lists by hand give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import Rules, Split, price, recommend
from fullrank.errors import DataError, ParameterError
from fullrank.metrics import ap, auc, hit_rate, ndcg, precision, recall, rr
from tests.recommending.world import ABOUT, DATA

SPLIT = fullrank.holdout(DATA, 0.3, seed=1)
RECIPES: dict[str, Any] = {"vectors": fullrank.IALS(factors=6, sweeps=3), "rows": fullrank.ItemCF(neighbours=3)}
MODELS: dict[str, Any] = {name: recipe.fit(SPLIT.train) for name, recipe in RECIPES.items()}
METRICS = [recall @ 5, recall @ 2, ndcg @ 5, ap @ 5, precision @ 5, hit_rate @ 3]


@pytest.mark.parametrize("relevant", [None, 4])
def test_without_rules_it_is_what_evaluation_says(relevant: float | None) -> None:
    model = MODELS["vectors"]
    found = price(model, SPLIT, Rules(), n=5, relevant=relevant, metrics=METRICS)
    exact = fullrank.evaluate(fullrank.rank(model, SPLIT, relevant=relevant), METRICS).mean()
    assert {name: one.without for name, one in found.metrics.items()} == pytest.approx(exact)
    assert all(one.without == one.with_rules and one.difference == 0 for one in found.metrics.values())
    assert (found.changed, found.shorter) == (0, 0)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "rules",
    [Rules(where="genre != 'Drama'", items=ABOUT), Rules(most={"genre": 1}, items=ABOUT, diversify="mmr:0.5")],
    ids=str,
)
def test_recall_by_hand(name: str, rules: Rules) -> None:
    model, held = MODELS[name], SPLIT.held_out
    found = price(model, SPLIT, rules, n=5)
    judged = np.unique(held.user)
    hits, lists = [], {False: [], True: []}  # type: ignore[var-annotated]
    for with_rules in (False, True):
        recalls = []
        for code in judged:
            liked = {held.items.name(int(item)) for item in held.item[held.user == code]}
            listed = recommend(model, held.users.name(int(code)), n=5, rules=rules if with_rules else None).items
            lists[with_rules].append(listed)
            recalls.append(len(liked & set(listed)) / len(liked))
        hits.append(np.array(recalls))
    one = found.metrics["recall@5"]
    assert (one.without, one.with_rules) == pytest.approx((hits[0].mean(), hits[1].mean()))
    assert one.difference == pytest.approx((hits[1] - hits[0]).mean())
    assert one.low <= one.difference <= one.high
    assert found.people == len(judged)
    assert found.changed == sum(a != b for a, b in zip(lists[False], lists[True], strict=True))
    every = {item for listed in lists[True] for item in listed}
    assert found.lists["coverage"].with_rules == pytest.approx(len(every) / 50)
    assert set(found.to_json()["metrics"]["recall@5"]) == {"without", "with_rules", "difference", "low", "high", "p"}
    assert "recall@5" in str(found)


def test_validation_rows_are_no_candidates() -> None:
    split = fullrank.holdout(DATA, 0.3, valid=0.2, seed=1)
    model = RECIPES["vectors"].fit(split.train)
    exact = fullrank.evaluate(fullrank.rank(model, split), [recall @ 5]).mean()
    assert price(model, split, Rules(), n=5).metrics["recall@5"].without == pytest.approx(exact["recall@5"])


def test_against_other_rules() -> None:
    rules = Rules(exclude=DATA.items.names[:20].tolist())
    found = price(MODELS["rows"], SPLIT, rules, n=5, against=rules)
    assert (found.changed, found.metrics["recall@5"].difference) == (0, 0)


def test_short_lists_are_told() -> None:
    few = Rules(only=DATA.items.names[:3].tolist())
    found = price(MODELS["vectors"], SPLIT, few, n=10, metrics=[recall @ 10, rr @ 10])
    assert found.shorter == found.people
    assert found.metrics["recall@10"].with_rules < found.metrics["recall@10"].without


def test_what_cannot_be_priced() -> None:
    model = MODELS["vectors"]
    for metric in (recall @ 6, auc, ndcg):
        with pytest.raises(ParameterError, match="cannot be told from lists of 5; cut it at 5 or less"):
            price(model, SPLIT, Rules(), n=5, metrics=[metric])
    other = replace(DATA, items=fullrank.Ids(list(range(100, 150))))
    with pytest.raises(DataError, match="other users or items"):
        price(model, Split(other, other), Rules())
