"""What pages and the terminal say of a table or figure that was run again: counts, sentences and printed numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from fullrank.reproduction.findings import Claim, Number, Reproduced
from fullrank.runtime.formatting import show

Thing = TypeVar("Thing")

NOT_RUN = "not run"
RESULTS = ("green", "amber", "red", NOT_RUN)
NOTHING = "–"
STATEMENTS = ("the statement holds", "the statement does not hold", "statements hold")
NUMBERS = (
    "the number is within its tolerance", "the number is outside its tolerance", "numbers are within their tolerance"
)  # fmt: skip


class Document(NamedTuple):
    """What is run again, and who published it where."""

    title: str
    by: str


DOCUMENTS = {
    "steck2010": Document(
        "Training and testing of recommender systems on data missing not at random", "Steck, KDD 2010"
    ),
    "krichene2020": Document("On sampled metrics for item recommendation", "Krichene and Rendle, KDD 2020"),
    "ackerman2012": Document(
        "Context-aware rank-oriented recommender systems", "Ackerman, master's thesis, Arizona State University 2012"
    ),
    "lim2015": Document(
        "Top-N recommendation with missing implicit feedback", "Lim, McAuley and Lanckriet, RecSys 2015"
    ),
    "steck2015": Document("Gaussian ranking by matrix factorization", "Steck, RecSys 2015"),
}
OTHERS = Document("Other tables and figures", "")


def document(key: str) -> Document:
    """The document that names beginning so belong to."""
    return DOCUMENTS.get(key, OTHERS)


def in_order(things: Iterable[Thing], name: Callable[[Thing], str]) -> list[Thing]:
    """By document, then by name with its numbers as numbers.

    >>> in_order(["ackerman2012-figure6.10", "krichene2020-table1", "t-1", "ackerman2012-figure6.2"], str)
    ['krichene2020-table1', 'ackerman2012-figure6.2', 'ackerman2012-figure6.10', 't-1']
    """

    order = list(DOCUMENTS)

    def place(thing: Thing) -> tuple[int, list[tuple[int, str]]]:
        key = name(thing).partition("-")[0]
        parts = [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name(thing))]
        return order.index(key) if key in order else len(order), parts

    return sorted(things, key=place)


def by_document(things: Iterable[Thing], name: Callable[[Thing], str]) -> dict[str, list[Thing]]:
    """Those of each document, by what their names begin with ("lim2015"); whatever is of none stands last, under ""."""
    groups: dict[str, list[Thing]] = {key: [] for key in (*DOCUMENTS, "")}
    for thing in in_order(things, name):
        key = name(thing).partition("-")[0]
        groups[key if key in DOCUMENTS else ""].append(thing)
    return {key: group for key, group in groups.items() if group}


def result(one: Reproduced) -> str:
    """green, amber, red or not run."""
    return one.colour or NOT_RUN


def count_results(every: Iterable[Reproduced]) -> dict[str, int]:
    """How many are green, amber, red and not run; only what there is."""
    counts = Counter(map(result, every))
    return {name: counts[name] for name in RESULTS if counts[name]}


def count_numbers(one: Reproduced) -> tuple[int, int]:
    """How many numbers are within their tolerance, of how many that are judged."""
    numbers = [number.holds for number in one.findings.numbers if number.judged]
    return sum(numbers), len(numbers)


def count_statements(one: Reproduced) -> tuple[int, int]:
    """How many statements hold, of how many."""
    return sum(claim.holds for claim in one.findings.claims), len(one.findings.claims)


def statement(claim: Claim) -> str:
    """What is stated; where it does not hold, whether that decides anything."""
    return f"{claim.text}{'' if claim.holds or claim.essential else ' (not essential here)'}"


def sentence(one: Reproduced) -> str:
    """The result in words."""
    if one.colour is None:
        return f"Data is missing: {', '.join(one.missing)}."
    (near, numbers), (true, claims) = count_numbers(one), count_statements(one)
    if not numbers and not claims:
        return "Nothing is judged here; what the run gave is shown."
    parts = []
    if claims:
        parts.append(_share(true, claims, STATEMENTS))
    if numbers:
        parts.append(_share(near, numbers, NUMBERS))
    return f"{'; '.join(parts)}.".capitalize()


def _share(good: int, of: int, forms: tuple[str, str, str]) -> str:
    """How many of them are as they should be.

    >>> _share(2, 2, STATEMENTS), _share(1, 3, STATEMENTS), _share(0, 1, STATEMENTS)
    ('both statements hold', '1 of 3 statements hold', 'the statement does not hold')
    """
    if of == 1:
        return forms[0] if good else forms[1]
    if good < of:
        return f"{good} of {of} {forms[2]}"
    return f"{'both' if of == 2 else f'all {of}'} {forms[2]}"


def fixed(value: float | None, digits: int) -> str:
    """A number with as many digits as were published.

    >>> fixed(1234.5678, 2), fixed(-0.0001, 3), fixed(None, 3)
    ('1,234.57', '0.000', '–')
    """
    return NOTHING if value is None else f"{value:z,.{digits}f}"


def signed(value: float | None, digits: int) -> str:
    """A difference.

    >>> signed(0.1, 3), signed(-0.0001, 3), signed(None, 3)
    ('+0.100', '0.000', '–')
    """
    if value is None:
        return NOTHING
    text = f"{value:+z,.{digits}f}"
    return text if float(text.replace(",", "")) else text[1:]


def tolerance(number: Number) -> str:
    """How far from the published number ours may be."""
    if not number.judged:
        return NOTHING if number.published is None else "not judged"
    return f"±{show(number.within)}" if number.within else "to the last digit"


def verdict(number: Number) -> str:
    """Whether a number holds, in a word."""
    if not number.judged:
        return NOTHING
    return "yes" if number.holds else "no"


def about(number: Number) -> str:
    """All that is known of a number, in a line."""
    digits = number.digits
    if number.published is None:
        return f"ours {fixed(number.ours, digits)}; no number was published"
    line = (
        f"ours {fixed(number.ours, digits)}, published {fixed(number.published, digits)}, "
        f"difference {signed(number.difference, digits)}"
    )
    if not number.judged:
        return f"{line}; not judged"
    allowed = f"within {show(number.within)}" if number.within else "the same to the last digit"
    return f"{line}; must be {allowed}: {'it is' if number.holds else 'it is not'}"
