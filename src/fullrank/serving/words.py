"""What an experiment says, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from fullrank.serving.judged import Arm, Lead

FAR = 100  # times as many people as there are


def lead(pair: Lead) -> str:
    """A pair in a sentence, the better one first."""
    better, worse = (pair.one, pair.two) if pair.difference >= 0 else (pair.two, pair.one)
    low, high = (pair.low, pair.high) if pair.difference >= 0 else (-pair.high, -pair.low)
    size = f"{abs(pair.difference):+.4f} ({low:+.4f} to {high:+.4f}, {pair.people:,} people)"
    if pair.sure:
        return f"{better} is ahead of {worse} beyond what chance explains, however often one looks: {size}."
    if not pair.difference:
        return f"{better} and {worse} do not differ: {size}."
    return f"{better} leads, but cannot be told from {worse} yet: {size}; {remedy(pair)}."


def remedy(pair: Lead) -> str:
    """How long still."""
    if pair.still is None or pair.still > FAR * max(pair.people, 1):
        return "they hardly differ"
    return f"about {pair.still:,} more people are needed if the difference stays this large"


def sum_up(arms: Sequence[Arm], pairs: Sequence[Lead]) -> str:
    """The best arm, and those it cannot be told from."""
    there = sorted((arm for arm in arms if arm.mean is not None), key=lambda arm: -(arm.mean or 0))
    if not there:
        return "Nobody has been served yet."
    if len(there) < len(arms):
        none = ", ".join(arm.name for arm in arms if arm.mean is None)
        return f"Nobody has been served by {none} yet; there is nothing to compare."
    best, second = there[0], there[1] if len(there) > 1 else None
    value = f"{best.mean:.4f} over {best.people:,} people"
    if second is None:
        return f"{best.name} has {value}; there is nothing to compare it with."
    open_ = [pair for pair in pairs if best.name in (pair.one, pair.two) and not pair.sure]
    if not open_:
        others = f"{second.name} ({second.mean:.4f})" + (" and all others" if len(there) > 2 else "")
        return f"Use {best.name}: {value}, ahead of {others} beyond what chance explains, however often one looks."
    names = [pair.two if pair.one == best.name else pair.one for pair in open_]
    if len(there) == 2 and not open_[0].difference:
        return f"{best.name} and {names[0]} do not differ: both have {value}."
    others = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{best.name} leads with {value}, but cannot be told from {others} yet: {_slowest(open_)}."


def _slowest(pairs: Sequence[Lead]) -> str:
    return remedy(max(pairs, key=lambda pair: float("inf") if pair.still is None else pair.still))
