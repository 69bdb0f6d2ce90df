"""Which models can be told apart: letters, as they stand beside means in a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from string import ascii_lowercase


def letters(best_first: Sequence[str], apart: Collection[tuple[str, str]]) -> dict[str, str]:
    """Letters for models, given best first: two share one where they are not apart (Piepho 2004, insert and absorb).

    >>> letters(["A", "B", "C"], {("A", "C")})
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    groups: list[frozenset[str]] = [frozenset(best_first)]
    for one, two in sorted(apart):
        halves: list[frozenset[str]] = []
        for group in groups:
            halves += [group - {one}, group - {two}] if {one, two} <= group else [group]
        groups = [group for group in dict.fromkeys(halves) if not any(group < other for other in halves)]
    place = {name: number for number, name in enumerate(best_first)}
    groups.sort(key=lambda group: sorted(place[name] for name in group))
    named = {name: "".join(_letter(n) for n, group in enumerate(groups) if name in group) for name in best_first}
    return named


def _letter(n: int) -> str:
    return ascii_lowercase[n % 26] + "'" * (n // 26)
