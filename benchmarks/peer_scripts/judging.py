"""What the scripts that judge lists share: sets of lists in by stdin, a library's own figures out, as JSON."""

import json
import math
import sys
from importlib.metadata import version


def judge(package, measure):
    """`measure(lists, k)` gives the library's values by its own names; what it refuses is told in its own words."""
    request = json.load(sys.stdin)
    figures = {name: _collect(lists, request["ks"], measure) for name, lists in request["lists"].items()}
    json.dump({"version": version(package), "figures": figures}, sys.stdout)


def _collect(lists, ks, measure):
    found = {}
    for k in ks:
        try:
            found |= {name: told(value) for name, value in measure(lists, k).items()}
        except Exception as error:  # whatever it is, it is the fact that we are after
            return {"refuses": told(error)}
    return found


def told(value):
    """A number, nothing for NaN, and of an error its first line."""
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {value}".splitlines()[0][:200]
    return None if math.isnan(value) else float(value)


def scores_of(lists):
    """Scores of every list: as they are given, or falling from the length of the list to 1."""
    rows = lists["listed"]
    return lists["score"] or [falling(row or []) for row in rows]


def falling(row):
    return [float(score) for score in range(len(row), 0, -1)]


def grades_of(lists):
    """Grades of what is relevant, 1 where there are none; whole ones as integers."""
    rows = lists["grade"] or [[1.0] * len(row) for row in lists["relevant"]]
    return [[int(grade) if grade == int(grade) else grade for grade in row] for row in rows]


def with_scores(lists):
    """Every list with its scores, those of people with nothing held out too."""
    return list(zip(lists["listed"], scores_of(lists), strict=True)) + [(row, falling(row)) for row in lists["extra"]]
