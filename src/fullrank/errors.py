"""What can go wrong, and the exit code a command ends with when it does.

Every message is one sentence or two: where, what was found, what to do about it.
"""

from __future__ import annotations

from typing import Any


class FullrankError(ValueError):
    """Any refusal of ours; `exit_code` follows sysexits."""

    exit_code = 65


class DataError(FullrankError):
    """The data says something it must not: a broken line, a NaN, an unknown id."""


class DivergedError(DataError):
    """Training went beyond all bounds."""


class ModelFileError(DataError):
    """A file that is no model, is damaged or is not the one expected; or a model that no file can keep."""


class ConflictError(DataError):
    """Something else is kept under this id."""


class ParameterError(FullrankError):
    """A parameter is outside what it may be."""

    exit_code = 2


class NoInputError(FullrankError):
    """There is no such file, or it is not one that can be read."""

    exit_code = 66


class OutputError(FullrankError):
    """The output cannot be created."""

    exit_code = 73


class StorageError(FullrankError):
    """Disk or memory failed or would not suffice, or a file changed while it was read."""

    exit_code = 74


class StoreDownError(StorageError):
    """A store of feedback that cannot take anything now: its server is away, its disk failed, or it is closed."""


class LockedError(FullrankError):
    """Somebody else is at work there."""

    exit_code = 75


class StoreBusyError(LockedError):
    """More waits to be written than a store of feedback keeps in memory."""


class ConfigError(FullrankError):
    """A configuration says something it must not."""

    exit_code = 78


class NotAllowedError(FullrankError):
    """The operating system forbids it."""

    exit_code = 77


def shown(value: object) -> str:
    """The repr of an offending value, cut at 80 characters.

    >>> shown("five")
    "'five'"
    """
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def check(name: str, value: object, holds: bool, must_be: str) -> None:
    """Raise the one form of parameter error unless `holds`.

    >>> check("fraction", 2, 0 < 2 < 1, "a number between 0 and 1")
    Traceback (most recent call last):
    fullrank.errors.ParameterError: The 'fraction' parameter must be a number between 0 and 1. Got 2 instead.
    """
    if not holds:
        raise ParameterError(f"The '{name}' parameter must be {must_be}. Got {shown(value)} instead.")


def is_integer(value: object) -> bool:
    """Whether this is a whole number, Python's or NumPy's; True and False are none."""
    import numbers

    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether this is a real number; True and False are none."""
    import numbers

    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_integer(name: str, value: Any, low: int, high: int | None = None) -> None:
    """Refuse what is not an integer of at least `low`, and at most `high` where that is given.

    >>> check_integer("n", 0, 1)
    Traceback (most recent call last):
    fullrank.errors.ParameterError: The 'n' parameter must be an integer >= 1. Got 0 instead.
    """
    inside = is_integer(value) and bool(low <= value) and (high is None or bool(value <= high))
    check(name, value, inside, f"an integer >= {low}" if high is None else f"an integer from {low} to {_power(high)}")


def _power(n: int) -> str:
    return f"2**{n.bit_length()} - 1" if n >= 2**31 - 1 and n & (n + 1) == 0 else str(n)


def did_you_mean(word: str, among: list[str]) -> str:
    """The words to choose from, with the closest first where one is close."""
    from difflib import get_close_matches

    close = get_close_matches(word, among, n=1)
    hint = f"Did you mean '{close[0]}'? " if close else ""
    return f"{hint}Known: {', '.join(among)}."
