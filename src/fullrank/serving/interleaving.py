"""Two lists made into one, and whose the clicks on it are: team draft (Radlinski, Kurup and Joachims 2008)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from fullrank.errors import check, check_integer

Item = TypeVar("Item", bound=Hashable)


class Interleaved(NamedTuple, Generic[Item]):
    """A list made of two, and of each item the team: 0 of the first list, 1 of the second, -1 of neither."""

    items: tuple[Item, ...]
    team: tuple[int, ...]


def interleave(one: Sequence[Item], two: Sequence[Item], n: int, coin: Iterator[bool]) -> Interleaved[Item]:
    """The n best of two lists by team draft: the smaller team picks its best item that is left, a coin decides ties.

    A pick is credited to the team that made it. Where a list has nothing left for the pick that is due, or for a pair
    of picks, a draft would be unfair: what the other still has fills the places, and belongs to neither team.
    `coin` is thrown once for every two picks; `flips(salt, recommendation_id)` throws the same for the same list.

    >>> interleave(["tea", "milk", "jam"], ["milk", "rye", "tea"], 3, coin=iter([True, False]))
    Interleaved(items=('tea', 'milk', 'rye'), team=(0, 1, 1))
    """
    check_integer("n", n, 0)
    for name, ranked in (("one", one), ("two", two)):
        check(name, ranked, len(set(ranked)) == len(ranked), "a list without repeated items")
    lists, picked, team = (one, two), dict[Item, int](), [0, 0]
    while len(picked) < n:
        left = [[item for item in ranked if item not in picked] for ranked in lists]
        even = team[0] == team[1]
        if even and not (left[0] and left[1]):
            break
        turn = int(not next(coin)) if even else int(team[1] < team[0])
        if not left[turn]:
            break
        picked[left[turn][0]] = turn
        team[turn] += 1
    rest = [item for ranked in lists for item in ranked if item not in picked]
    picked |= dict.fromkeys(rest[: n - len(picked)], -1)
    return Interleaved(tuple(picked), tuple(picked.values()))


def credit(shown: Interleaved[Item], clicked: Collection[Item]) -> tuple[int, int]:
    """How many of the clicked items each team brought; what belongs to neither, or was not shown, counts for none.

    >>> credit(Interleaved(("tea", "milk", "rye"), (0, 1, 1)), {"milk", "rye", "salt"})
    (0, 2)
    """
    teams = [team for item, team in zip(*shown, strict=True) if item in clicked]
    return teams.count(0), teams.count(1)
