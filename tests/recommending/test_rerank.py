"""Diversity and calibration against plain Python, one item after the other."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank import Attributes, Rules, recommend
from fullrank.models.kinds.factors import Factors
from fullrank.models.least_squares.ials import IALS
from tests.recommending import brute
from tests.recommending.world import ABOUT, DATA, GENRES, MODELS, PEOPLE

ITEMS = DATA.items.names.tolist()
WORDS = [list(words) for words in ABOUT.words_for(DATA.items)]


def past(model: object, user: object) -> list[int]:
    if user not in DATA.users:
        return []
    code = DATA.users.code(user)  # type: ignore[arg-type]
    positives = model.positives  # type: ignore[attr-defined]
    return positives.item[positives.starts[code] : positives.starts[code + 1]].tolist()  # type: ignore[no-any-return]


@pytest.mark.identical
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("how", ["mmr:0.3", "mmr:0.8:genre", "mmr:0:genre", "calibrated:0.5", "calibrated:0.97:studio"])
@pytest.mark.parametrize("most", [0, 2])
def test_every_list_is_the_one_picked_by_hand(name: str, how: str, most: int) -> None:
    model, n, wide = MODELS[name], 6, 20
    way, share, *column = how.split(":")
    labels = [[cell] if isinstance(cell, str) and cell else list(cell) for cell in ABOUT.columns[column[0]]] if column else WORDS  # fmt: skip # noqa: E501
    labels = GENRES if way == "calibrated" and not column else labels  # type: ignore[assignment]
    rules = Rules(diversify=how, items=ABOUT, most={"genre": most} if most else {}, pool=wide)
    many = recommend(model, users=PEOPLE, n=n, rules=rules)
    for user in PEOPLE:
        left, scores, _ = brute.candidates(model, user, lambda code: True)
        size = wide
        while True:
            pool, worths = left[:size], scores[:size]
            if way == "mmr":
                worth = brute.mmr(pool, worths, float(share), brute.cosine(labels))
            else:
                worth = brute.calibrated(pool, worths, float(share), labels, past(model, user))
            fits = brute.within(pool, GENRES, most) if most else lambda places: True
            most_there = len(brute.greedy(pool, n, worth, fits))
            if most_there == n or size >= len(left):
                break
            size *= 4
        places = [pool.index(DATA.items.code(item)) for item in many[user]]
        assert brute.is_greedy(pool, places, worth, fits)
        assert len(places) == n or most_there < n
        one = recommend(model, user, n=n, rules=rules)
        assert one.items == many[user]
        assert one.scores == [worths[place] for place in places]


def test_by_vectors() -> None:
    model = MODELS["vectors"]
    norms = np.sqrt((model.items.astype(np.float64) ** 2).sum(axis=1))
    units = model.items / np.where(norms > 0, norms, 1)[:, None]
    rules = Rules(diversify="mmr:0.6:vectors", pool=15)
    for user in PEOPLE:
        left, scores, _ = brute.candidates(model, user, lambda code: True)
        worth = brute.mmr(left[:15], scores[:15], 0.6, lambda one, other: float(units[one] @ units[other]))
        listed = recommend(model, user, n=5, rules=rules).items
        places = [left.index(DATA.items.code(item)) for item in listed]
        assert len(places) == 5
        assert brute.is_greedy(left[:15], places, worth, lambda places: True)
    (told,) = recommend(model, PEOPLE[0], rules=Rules(diversify="mmr:0.6", pool=30)).notes
    assert told == "items are alike by the model's vectors of them; lists are picked from the 30 best candidates"


def test_an_item_without_a_vector_is_like_nothing() -> None:
    model = MODELS["vectors"]
    items = model.items.copy()
    items[:10] = 0
    other = Factors(model.users, items, DATA, IALS(factors=6))
    for how in ("mmr:0.9:vectors", "mmr:0.9"):
        listed = recommend(other, PEOPLE[0], n=50, rules=Rules(diversify=how, pool=50, repeat=True)).items
        assert sorted(listed) == sorted(ITEMS)


def test_shares_at_their_ends() -> None:
    model, somebody = MODELS["rows"], PEOPLE[0]
    plain = recommend(model, somebody, n=9)
    for how in ("mmr:0", "calibrated:0"):
        same = recommend(model, somebody, n=9, rules=Rules(diversify=how, items=ABOUT))
        assert (plain.items, plain.scores) == (same.items, same.scores)
    diverse = recommend(model, somebody, n=4, rules=Rules(diversify="mmr:1:genre", items=ABOUT)).items
    assert len({GENRES[DATA.items.code(item)] for item in diverse}) == 4


def test_a_calibrated_list_is_like_the_history() -> None:
    """Somebody who had two of A for one of B gets such a list, however the scores fall."""
    kinds = Attributes(DATA.items, {"kind": tuple(("A",) if code < 25 else ("B",) for code in range(50))})
    rules = Rules(diversify="calibrated:0.99:kind", items=kinds, pool=50)
    model, history = MODELS["vectors"], [ITEMS[1], ITEMS[2], ITEMS[30]]
    listed = recommend(model, history=history, n=9, rules=rules).items
    assert sum(DATA.items.code(item) < 25 for item in listed) == 6
