"""Splits by the words people write: leave-last:5, holdout:0.2, time:2001-01-01."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from fullrank.data.split import Split, by_time, holdout, leave_last
from fullrank.errors import ParameterError, did_you_mean

Cut: TypeAlias = Callable[[Any], Split[Any]]

WRITE = "write leave-last:5, holdout:0.2, time:2001-01-31 or time:0.2 (the last fifth)"


def parse_split(text: str, seed: int = 0, repeat: bool = False) -> Cut:
    """The function that splits data in this way; of events `repeat` keeps those that repeat others in what is held out.

    >>> from fullrank.data.interactions import Interactions
    >>> parse_split("leave-last:2")(Interactions.of([1] * 5, range(5), time=range(5)))
    Split(3 train, 2 held_out)
    """
    word, _, given = text.strip().partition(":")
    known: dict[str, Callable[[str], Cut]] = {
        "leave-last": lambda n: partial(leave_last, n=_number(int, n or "1", text), seed=seed, repeat=repeat),
        "holdout": lambda share: partial(
            holdout, fraction=_number(float, share or "0.2", text), seed=seed, repeat=repeat
        ),
        "time": lambda at: partial(_by_time(at, text), repeat=repeat),
    }
    if word not in known:
        raise ParameterError(f"'{word}' is not a way to split. {did_you_mean(word, list(known))}")
    return known[word](given)


def _by_time(at: str, text: str) -> Callable[..., Split[Any]]:
    if not at:
        raise ParameterError(f"'{text}' does not say when; {WRITE}.")
    try:
        share = float(at)
    except ValueError:
        return partial(by_time, at=at)
    return partial(by_time, fraction=share) if 0 < share < 1 else partial(by_time, at=at)


def _number(kind: type, given: str, text: str) -> Any:
    try:
        return kind(given)
    except ValueError:
        raise ParameterError(f"'{text}': '{given}' is no number for it; {WRITE}.") from None
