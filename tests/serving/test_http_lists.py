"""Lists over HTTP are those of the library."""

from __future__ import annotations

from typing import Any

import pytest

import fullrank
from fullrank import Rules
from tests.recommending.world import ABOUT, DATA, MODELS
from tests.serving.server import Running

KINDS = {"films": "vectors", "near": "rows", "best": "one list", "levels": "levels"}
SOMEBODY = int(DATA.users.name(3))
ITEMS = DATA.items.names.tolist()


def listed(answer: Any) -> tuple[list[Any], list[float]]:
    assert answer.status == 200, answer.body
    found = answer.json["items"]
    return [one["item"] for one in found], [one["score"] for one in found]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("n", [1, 10, 1000])
def test_lists_are_those_of_the_library(service: Running, name: str, n: int) -> None:
    expected = fullrank.recommend(MODELS[KINDS[name]], SOMEBODY, n=n)
    answer = service.post(f"/v1/models/{name}/recommend", {"user": SOMEBODY, "n": n})
    assert listed(answer) == (expected.items, expected.scores)
    assert answer.json["fallback"] == expected.fallback
    assert answer.json["model"] == name
    assert len(answer.json["version"]) == 64
    assert "notes" not in answer.json


def test_titles_come_with_items(service: Running) -> None:
    titles = dict(zip(ITEMS, ABOUT.titles_for(DATA.items), strict=True))
    found = service.post("/v1/models/films/recommend", {"user": SOMEBODY}).json["items"]
    assert [one["title"] for one in found] == [titles[one["item"]] for one in found]


def test_rules_are_those_of_the_library(service: Running) -> None:
    where = "year >= 1980 and genre != 'News'"
    for exclude, only, repeat in (([], None, False), (ITEMS[:20], None, True), ([], ITEMS[10:40], False)):
        rules = Rules(exclude, only, repeat, where=where, items=ABOUT)
        expected = fullrank.recommend(MODELS["vectors"], SOMEBODY, n=30, rules=rules)
        body = {"user": SOMEBODY, "n": 30, "exclude": exclude, "only": only, "repeat": repeat, "where": where}
        answers = [service.post("/v1/models/films/recommend", body) for _ in range(2)]  # the second from what is kept
        assert [listed(answer) for answer in answers] == 2 * [(expected.items, expected.scores)]
        assert set(answers[0].json["notes"]) == set(expected.notes)


def test_unknown_ids_in_rules_are_told(service: Running) -> None:
    answer = service.post("/v1/models/films/recommend", {"user": SOMEBODY, "exclude": [10**9]})
    assert answer.json["notes"] == ["exclude: 1 of 1 items are unknown to the model: 1000000000"]


@pytest.mark.parametrize("history", [ITEMS[:4], [{"item": item, "value": 4.0} for item in ITEMS[:4]], []])
def test_somebody_new_is_served_by_what_they_did(service: Running, history: list[Any]) -> None:
    given = {one["item"]: one["value"] for one in history} if history and isinstance(history[0], dict) else history
    expected = fullrank.recommend(MODELS["vectors"], history=given, n=5)
    answer = service.post("/v1/models/films/recommend", {"history": history, "n": 5})
    assert listed(answer) == (expected.items, expected.scores)
    assert answer.json["fallback"] == ("" if history else "popular")


def test_reasons_are_those_of_the_library(service: Running) -> None:
    found = service.post("/v1/models/films/recommend", {"user": SOMEBODY, "n": 3, "explain": True}).json["items"]
    for one in found:
        told = fullrank.explain(MODELS["vectors"], SOMEBODY, item=one["item"], n=5)
        assert one["why"]["sentence"] == told.sentence
        assert [part["part"] for part in one["why"]["parts"]] == [part.part for part in told.parts]
    refused = service.post("/v1/models/levels/recommend", {"user": SOMEBODY, "explain": True})
    assert refused.status == 422
    assert "no sum of parts" in refused.json["detail"]


def test_h9_an_unknown_user_gets_what_is_popular_and_an_unknown_item_is_404(service: Running) -> None:
    expected = fullrank.recommend(MODELS["vectors"], 10**12)
    answer = service.post("/v1/models/films/recommend", {"user": 10**12})
    assert listed(answer) == (expected.items, expected.scores)
    assert answer.json["fallback"] == "popular"
    assert service.post("/v1/models/films/similar", {"item": 10**9}).status == 404
    assert service.post("/v1/models/films/rank", {"user": SOMEBODY, "items": [10**9]}).status == 404
    assert service.post("/v1/models/films/recommend", {"history": [10**9]}).status == 404


def test_h10_who_has_seen_everything_gets_an_empty_list(service: Running) -> None:
    answer = service.post("/v1/models/shop/recommend", {"user": "all"})
    assert (answer.status, answer.json["items"]) == (200, [])


def test_ids_are_taken_exactly(service: Running) -> None:
    as_text = service.post("/v1/models/films/recommend", {"user": str(SOMEBODY)})
    assert listed(as_text) == listed(service.post("/v1/models/films/recommend", {"user": SOMEBODY}))
    assert service.post("/v1/models/films/recommend", {"user": f"0{SOMEBODY}"}).json["fallback"] == "popular"
    refused = service.post("/v1/models/shop/recommend", {"user": 7})
    assert (refused.status, refused.json["detail"]) == (422, 'the ids of this model are text; write "7" in place of 7.')


def test_offers_are_ranked_in_their_context(service: Running) -> None:
    model = fullrank.OpportunityCost(factors=3, sweeps=2).fit(DATA)
    valued = model.rank_offers(SOMEBODY, ITEMS[:6])
    found = service.post("/v1/models/costs/rank", {"user": SOMEBODY, "items": ITEMS[:6]}).json["items"]
    assert [one["item"] for one in found] == valued.items
    for name, part in (("score", valued.value), ("benefit", valued.benefit), ("cost", valued.cost)):
        assert [one[name] for one in found] == part
    stranger = service.post("/v1/models/costs/rank", {"user": 10**12, "items": ITEMS[:6]}).json
    assert stranger["fallback"] == "popular"
    assert sorted(one["item"] for one in stranger["items"]) == sorted(ITEMS[:6])


def test_other_models_rank_offers_by_their_scores(service: Running) -> None:
    expected = fullrank.recommend(MODELS["vectors"], SOMEBODY, n=6, only=ITEMS[:6], repeat=True)
    answer = service.post("/v1/models/films/rank", {"user": SOMEBODY, "items": ITEMS[:6]})
    assert listed(answer) == (expected.items, expected.scores)
    assert service.post("/v1/models/films/rank", {"user": SOMEBODY, "items": [ITEMS[0]] * 2}).status == 422


def test_similar_items_are_those_of_the_library(service: Running) -> None:
    expected = fullrank.similar(MODELS["vectors"], ITEMS[0], n=5)
    assert listed(service.post("/v1/models/films/similar", {"item": ITEMS[0], "n": 5})) == (*expected,)
    assert service.post("/v1/models/best/similar", {"item": ITEMS[0]}).status == 422


def test_models_are_described(service: Running) -> None:
    every = service.ask("GET", "/v1/models").json["models"]
    assert [one["name"] for one in every] == ["films", "near", "best", "levels", "shop", "costs"]
    one = service.ask("GET", "/v1/models/films").json
    assert one == every[0]
    assert (one["users"], one["items"], one["kind"]) == (DATA.n_users, DATA.n_items, "Factors")
    assert one["versions"] == [one["version"]]
    assert service.ask("GET", "/v1/models/nothing").status == 404


@pytest.mark.parametrize(
    ("where", "says"),
    [("colour = 'red'", "no column 'colour'"), ("year >=", "cannot be used"), ("upper(genre) = 'X'", "a function")],
)
def test_expressions_that_cannot_be_used_are_refused(service: Running, where: str, says: str) -> None:
    answer = service.post("/v1/models/films/recommend", {"user": SOMEBODY, "where": where})
    assert answer.status == 422
    assert says in answer.json["detail"]
