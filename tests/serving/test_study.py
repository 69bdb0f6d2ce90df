"""Studies: read as written, refused with line and key, shown in the same order to the same person."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullrank.errors import ConfigError, NoInputError
from fullrank.serving.examples import MOVIES, movies
from fullrank.serving.study import Study, initial_order, read_study

SMALL = """\
title = "Jam"
consent = "Yes."
instructions = "Place."
contact = "Ann"
completion_code = "X"

[[query]]
id = "breakfast"
title = "Breakfast"
[[query.offers]]
id = "jam"
title = "Jam"
[[query.offers]]
id = "tea"
title = "Tea"
lines = ["hot"]

[[query]]
id = "lunch"
title = "Lunch"
[[query.offers]]
id = "jam"
title = "Jam"
[[query.offers]]
id = "soup"
title = "Soup"
"""


def read(tmp_path: Path, text: str) -> Study:
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    return read_study(path)


def test_a_small_study(tmp_path: Path) -> None:
    study = read(tmp_path, SMALL)
    assert (study.order, study.seed, [query.id for query in study.query]) == ("shuffled", 0, ["breakfast", "lunch"])
    assert study.query[0].offers[1].lines == ["hot"]
    assert study.offers("lunch") == ["jam", "soup"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('contact = "Ann"\n', "", ":1: contact: is missing; add it."),
        ('title = "Tea"', 'titel = "Tea"', r":13: query.0.offers.1.title: is missing; add it."),
        ('lines = ["hot"]', "line = 3", r":16: query.0.offers.1.line: unknown key. Did you mean 'lines'\?"),
        ('lines = ["hot"]', "lines = 3", r":16: query.0.offers.1.lines: input should be a valid list, got 3."),
        ('title = "Lunch"', 'title = "Lunch"\nseed = 1', r":21: query.1.seed: unknown key. Known: id, title, offers."),
        ('contact = "Ann"', 'contact = "Ann"\norder = "random"', r":5: order: input should be 'fixed' or 'shuffled'"),
        ('contact = "Ann"', 'contact = "  "', r":4: contact: string should have at least 1 character"),
        ('id = "soup"', 'id = "jam"', r":25: query.1.offers.1.id: 'jam' is offered twice in one query; remove one."),
        ('id = "lunch"', 'id = "breakfast"', r":19: query.1.id: two queries are called 'breakfast'"),
        ('id = "soup"\ntitle = "Soup"', 'id = "tea"\ntitle = "Soup"', r":26: query.1.offers.1.title: 'tea' is 'Tea'"),
        ('id = "tea"', 'id = "a/b"', r":14: query.0.offers.1.id: string should match pattern"),
        ('id = "tea"', "id = 3", r":14: query.0.offers.1.id: input should be a valid string, got 3."),
        ('title = "Jam"\nconsent', 'title = \nconsent', "is not TOML: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_line_and_key(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert SMALL.count(old) >= 1
    with pytest.raises(ConfigError, match=says):
        read(tmp_path, SMALL.replace(old, new, 1))


def test_a_query_with_one_offer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"query\.0\.offers: list should have at least 2 items"):
        read(tmp_path, SMALL.split('[[query.offers]]\nid = "tea"', maxsplit=1)[0])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NoInputError, match="cannot be read as a study"):
        read_study(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(NoInputError, match="cannot be read as a study"):
        read_study(tmp_path / "bytes.toml")


def test_orders_are_each_person_s_own_and_stay() -> None:
    study = movies()
    orders = {who: initial_order(study, who) for who in map(str, range(200))}
    assert orders["7"] == initial_order(study, "7")
    for order in orders.values():
        assert sorted(order) == sorted(query.id for query in study.query)
        assert all(sorted(offers) == sorted(study.offers(query)) for query, offers in order.items())
    first = [order["tom-cruise"][0] for order in orders.values()]
    assert {first.count(offer) > 10 for offer in study.offers("tom-cruise")} == {True}  # 33 are to be expected
    assert len({tuple(order) for order in orders.values()}) > 50
    other = study.model_copy(update={"seed": 1})
    assert [initial_order(other, who) for who in orders] != list(orders.values())
    fixed = study.model_copy(update={"order": "fixed"})
    assert initial_order(fixed, "7") == {query.id: study.offers(query.id) for query in study.query}
    assert list(initial_order(fixed, "7")) == [query.id for query in study.query]


def test_the_example_is_that_of_the_thesis_and_in_the_package() -> None:
    import fullrank

    study = movies()
    assert MOVIES.is_relative_to(Path(fullrank.__file__).parent)
    assert len({offer.id for query in study.query for offer in query.offers}) == 25
    meet = {one: set(study.offers(one)) for one in (query.id for query in study.query)}
    assert meet["tom-hanks"] & meet["robert-zemeckis"] == {"forrest-gump", "cast-away"}
    assert meet["tom-hanks"] & meet["steven-spielberg"] == {"saving-private-ryan", "catch-me"}
