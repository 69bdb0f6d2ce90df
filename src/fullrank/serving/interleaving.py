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

    A pick is credited to the team that made it. Once a list has nothing left there is no fair draft any more: what
    the other still has fills the places, and belongs to neither team. `coin` is thrown once for every two picks;
    `flips(salt, recommendation_id)` throws the same for the same recommendation.

    >>> interleave(["tea", "milk", "jam"], ["milk", "rye", "tea"], 3, coin=iter([True, False]))
    Interleaved(items=('tea', 'milk', 'rye'), team=(0, 1, 1))
    """
    check_integer("n", n, 0)
    for name, ranked in (("one", one), ("two", two)):
        check(name, ranked, len(set(ranked)) == len(ranked), "a list without repeated items")
    lists, picked, team = (one, two), dict[Item, int](), [0, 0]
    while len(picked) < n:
        left = [next((item for item in ranked if item not in picked), None) for ranked in lists]
        if left[0] is None or left[1] is None:
            break
        turn = (0 if next(coin) else 1) if team[0] == team[1] else int(team[1] < team[0])
        picked[left[turn]] = turn  # type: ignore[index]  # neither is None
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
