"""A table or figure of a paper, run again: published numbers beside ours, and statements that are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fullrank.data.sources.known import KNOWN
from fullrank.errors import NoInputError, did_you_mean
from fullrank.reproduction.findings import Findings, Reproduced
from fullrank.reproduction.workspace import Workspace

EARLIER_NAMES = {
    "s0": "steck2010", "s1": "krichene2020", "s2": "ackerman2012", "s3": "lim2015", "s4": "steck2015"
}  # fmt: skip


@dataclass(frozen=True)
class Exhibit:
    """What to run, and where it was published.

    `needs` are data sets by name; `better` is the one the paper used, taken where it is there; `stands_in` says what
    is used instead of it, and `why` a number may differ from the published one.
    """

    name: str
    title: str
    place: str
    run: Callable[[Workspace], Findings]
    needs: tuple[str, ...] = ()
    better: str = ""
    stands_in: str = ""
    why: str = ""


def turns(curve: Sequence[float], noise: float = 0.0) -> int:
    """How often a curve changes between rising and falling; smaller steps than `noise` do not count.

    >>> turns([3, 2, 2, 1, 4]), turns([3.0, 2.9, 3.0, 1.0], noise=0.5)
    (1, 0)
    """
    rising = [later > before for before, later in pairwise(curve) if abs(later - before) > noise]
    return sum(one != other for one, other in pairwise(rising))


def reproduce(exhibit: Exhibit, workspace: Workspace) -> Reproduced:
    """Run one exhibit; where its data is missing, say which and how to get it."""
    better = bool(exhibit.better) and workspace.has(exhibit.better)
    missing = () if better else tuple(name for name in exhibit.needs if not workspace.has(name))
    to_get = [*missing, exhibit.better] if exhibit.better and not better else missing
    return Reproduced(
        exhibit.name, exhibit.title, exhibit.place, exhibit.why, "" if better else exhibit.stands_in, missing,
        {name: KNOWN[name].dataset.how_to_get for name in to_get}, Findings() if missing else exhibit.run(workspace),
    )  # fmt: skip


def select(names: Iterable[str], known: Mapping[str, Exhibit]) -> list[Exhibit]:
    """The exhibits of these names; all that begin so where a name is none ("krichene2020": all of that paper)."""
    selected: list[Exhibit] = []
    for name in names:
        chosen = [known[name]] if name in known else [one for one in known.values() if one.name.startswith(f"{name}-")]
        if not chosen:
            raise NoInputError(f"'{name}' is no table or figure here. {did_you_mean(_rename(name), list(known))}")
        selected += chosen
    return selected


def _rename(name: str) -> str:
    """What a name of version 0.1 is called now.

    >>> _rename("s1-table3")
    'krichene2020-table3'
    """
    paper, dash, rest = name.partition("-")
    return f"{EARLIER_NAMES.get(paper, paper)}{dash}{rest}"
