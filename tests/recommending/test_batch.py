"""Everybody at once is everybody one by one, for every recipe, block, number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import Rules, recommend
from fullrank.recommending import recommendations
from tests.models.test_recipes import SMALL
from tests.recommending.world import ABOUT, DATA, MODELS, PEOPLE

RULES = {
    "nothing": None,
    "a part of the catalogue": Rules(where="genre != 'News'", items=ABOUT, exclude=DATA.items.names[:5].tolist()),
    "quotas": Rules(most={"genre": 2}, items=ABOUT),
    "diverse": Rules(diversify="mmr:0.4", items=ABOUT, most={"studio": 3}, repeat=True),
    "calibrated": Rules(diversify="calibrated:0.4", items=ABOUT),
}


@pytest.mark.identical
@pytest.mark.parametrize("recipe", SMALL, ids=str)
def test_every_recipe(recipe: Any) -> None:
    model = recipe.fit(DATA)
    somebody = [*DATA.users.names[::7].tolist(), -1]
    for name, rules in RULES.items():
        if name == "diverse" and not isinstance(model, fullrank.Model):
            continue
        many = recommend(model, users=somebody, n=7, rules=rules)
        for row, user in enumerate(somebody):
            one = recommend(model, user, n=7, rules=rules)
            assert (one.items, one.fallback) == (many[user], "popular" if many.popular[row] else "")
            assert one.scores == many.score[row, : len(one.items)].tolist()


@pytest.mark.identical
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_blocks_and_threads_change_nothing(rules: Rules | None, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = recommend(MODELS["vectors"], users="all", rules=rules).to_frame()
    monkeypatch.setattr(recommendations, "PEOPLE", 7)
    monkeypatch.setattr("fullrank.recommending.rerank.ROWS", 2)
    monkeypatch.setattr("fullrank.recommending.batch.CELLS", 60)
    before = fullrank.threads()
    for count in (1, 3):
        fullrank.threads(count)
        assert recommend(MODELS["vectors"], users="all", rules=rules).to_frame().equals(whole)
    fullrank.threads(before)


def test_the_result_as_a_table() -> None:
    many = recommend(MODELS["rows"], users=[*PEOPLE[:2], -1], n=3)
    frame = many.to_frame()
    assert frame.columns == ["user", "item", "rank", "score", "fallback"]
    assert frame["user"].unique(maintain_order=True).to_list() == [*PEOPLE[:2], -1]
    assert frame["rank"].to_list() == [1, 2, 3] * 3
    assert frame["fallback"].to_list()[-3:] == ["popular"] * 3
    assert frame.filter(frame["user"] == PEOPLE[0])["item"].to_list() == many[PEOPLE[0]]
    assert frame.to_pandas()["item"].tolist() == frame["item"].to_list()
    assert (len(many), repr(many)) == (3, "Recommendations(3 items for 3 users)")


def test_nobody_and_nothing() -> None:
    assert recommend(MODELS["rows"], users=[]).to_frame().is_empty()
    none = recommend(MODELS["rows"], users="all", only=[])
    assert none.to_frame().is_empty()
    assert none.to_frame().columns == ["user", "item", "rank", "score", "fallback"]


def test_short_lists_end() -> None:
    many = recommend(MODELS["vectors"], users=PEOPLE, n=60)
    for user in PEOPLE[:-1]:
        seen = int(np.diff(DATA.starts)[DATA.users.code(user)])
        assert len(many[user]) == 50 - seen
