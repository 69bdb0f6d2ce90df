"""A study to start from: Ackerman's (2012, appendix A) five queries of six movies."""

from __future__ import annotations

from pathlib import Path

from fullrank.serving.study import Study, read_study

MOVIES = Path(__file__).with_name("movies.toml")


def movies() -> Study:
    """The example; copy `MOVIES` to change it.

    >>> study = movies()
    >>> len(study.query), {len(query.offers) for query in study.query}
    (5, {6})
    """
    return read_study(MOVIES)
