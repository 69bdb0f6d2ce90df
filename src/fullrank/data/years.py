"""Years that stand behind titles: Toy Story (1995)."""

from __future__ import annotations

import re
from dataclasses import replace

from fullrank.data.attributes import Attributes

YEAR = "year"
BEHIND = re.compile(r"\((\d{4})\)\s*$")


def add_years(about: Attributes) -> tuple[Attributes, str]:
    """The same with a column `year`, from what stands in brackets at the end of titles, and a sentence that says so.

    Nothing is added where there is such a column, or where no title ends with a year.

    >>> from fullrank.data.ids import Ids
    >>> films = Attributes(Ids([1, 2]), {"title": ("Toy Story (1995)", "Untitled")}, title="title")
    >>> add_years(films)[0].columns["year"], add_years(films)[1]
    (('1995', ''), 'year is taken from titles such as "Toy Story (1995)"; 1 of 2 have one')
    """
    if about.title is None or any(name.lower() == YEAR for name in about.columns):
        return about, ""
    titles = [str(title) for title in about.columns[about.title]]
    years = tuple(found[1] if (found := BEHIND.search(title)) else "" for title in titles)
    if not any(years):
        return about, ""
    example = next(title for title, year in zip(titles, years, strict=True) if year)
    told = f'year is taken from titles such as "{example}"; {sum(map(bool, years)):,} of {len(years):,} have one'
    return replace(about, columns={**about.columns, YEAR: years}), told
