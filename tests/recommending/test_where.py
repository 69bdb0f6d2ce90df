"""Expressions over attributes: against plain Python, and every fault as a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fullrank import Attributes, Ids
from fullrank.data.years import add_years
from fullrank.errors import ParameterError
from fullrank.recommending.where import choose
from tests.recommending.world import ABOUT, DATA

COLUMNS = {name: ABOUT.column_for(name, DATA.items) for name in ABOUT.columns}


def year(item: int) -> int:
    return 1960 + item if item % 13 else 0


def price(item: int) -> float:
    return item / 4


def genre(item: int) -> Any:
    return COLUMNS["genre"][item]


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("year >= 1980", lambda i: year(i) >= 1980),
        ("price < 9.5 AND price >= 2", lambda i: 2 <= price(i) < 9.5),
        ("genre = 'Drama'", lambda i: "Drama" in genre(i)),
        ("genre == 'Drama'", lambda i: "Drama" in genre(i)),
        ("genre != 'News'", lambda i: genre(i) and "News" not in genre(i)),
        ("genre <> 'News' and year > 1970", lambda i: genre(i) and "News" not in genre(i) and year(i) > 1970),
        ("not genre = 'News'", lambda i: genre(i) and "News" not in genre(i)),
        ("genre in ('News', 'Noir')", lambda i: {"News", "Noir"} & set(genre(i))),
        ("genre NOT IN ('News', 'Noir')", lambda i: genre(i) and not {"News", "Noir"} & set(genre(i))),
        ("genre like 'N%'", lambda i: {"News", "Noir"} & set(genre(i))),
        ("genre not like 'N%'", lambda i: genre(i) and not {"News", "Noir"} & set(genre(i))),
        ("genre is null", lambda i: not genre(i)),
        ("genre IS NOT NULL", genre),
        ("genre is null or genre != 'News'", lambda i: "News" not in genre(i)),
        ("\"genre\" = 'News' or (studio = 'A' and price < 3)", lambda i: "News" in genre(i) or (i % 4 == 0 and i < 12)),
        ("year between 1970 and 1990", lambda i: 1970 <= year(i) <= 1990),
        ("studio != 'A'", lambda i: i % 4 in (1, 2)),
        ("studio is null", lambda i: i % 4 == 3),
        ("title like '%7 (%'", lambda i: i % 10 == 7 and year(i)),
        ("year + price > 1985", lambda i: year(i) and year(i) + price(i) > 1985),
        ("title = 'genre = ''News'''", lambda i: False),  # a column named inside of text is none
    ],
)  # fmt: skip
def test_holds_where_it_should(where: str, holds: Callable[[int], Any]) -> None:
    about = add_years(ABOUT)[0]
    chosen = choose(where, about, DATA.items).items.tolist()
    assert chosen == [bool(holds(item)) for item in range(50)]
    assert 0 < sum(chosen) < 50 or where.startswith("title =")


def test_what_cannot_be_told_is_counted() -> None:
    about = add_years(ABOUT)[0]
    assert choose("year >= 1900", about, DATA.items).undecided == 4
    assert choose("genre != 'x'", about, DATA.items).undecided == sum(not words for words in COLUMNS["genre"])
    ids = Ids([*DATA.items.names.tolist(), -1, -2])
    assert choose("price >= 0", about, ids).undecided == 2
    assert choose("price is null", about, ids).items.sum() == 2


@pytest.mark.parametrize(
    ("where", "match"),
    [
        ("yeer > 1980", "no column 'yeer'. Did you mean 'year'"),
        ("year >", "cannot be used"),
        ("", "cannot be used"),
        ("year", "not true or false of every item"),
        ("sum(price) > 3", "not true or false of every item"),
        ("studio > 3", "cannot be used"),
        ("select 1", "cannot be used"),
        ("'News' = genre", "has several values in a cell; compare it with a value after it: genre = 'x'"),
        ("lower(genre) = 'news'", "has several values in a cell"),
        ("year = 1980; drop table x", "cannot be used"),
    ],
)
def test_faults_are_one_sentence(where: str, match: str) -> None:
    with pytest.raises(ParameterError, match=match) as caught:
        choose(where, add_years(ABOUT)[0], DATA.items)
    assert "\n" not in str(caught.value)


def test_ids_that_look_like_numbers_stay_text() -> None:
    about = Attributes(Ids([1, 2]), {"code": ("01", "1"), "size": ("1e3", "-2.50")})
    assert choose("code = '01'", about, Ids([1, 2])).items.tolist() == [True, False]
    assert choose("size = 1000 or size < -2", about, Ids([1, 2])).items.tolist() == [True, True]


def test_a_year_is_not_made_where_there_is_one() -> None:
    about = Attributes(Ids([1]), {"name": ("Film (1990)",), "Year": ("2000",)}, title="name")
    assert add_years(about) == (about, "")
    assert add_years(Attributes(Ids([1]), {"name": ("1990",)}, title="name"))[1] == ""
