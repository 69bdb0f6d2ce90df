"""JSON as the standard has it and no more: what other parsers let pass is refused with a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any, NoReturn

from fullrank.errors import shown
from fullrank.serving.problems import Problem

DEPTH = 32


def parse_json(body: bytes) -> Any:
    """The value of a body; everything that is not plain JSON in UTF-8 is a problem 400.

    Refused: NaN, Infinity, numbers beyond float64, a key given twice, nesting beyond 32, integers of thousands of
    digits, lone surrogates, NUL.

    >>> parse_json(b'{"user": "anna", "n": 3}')
    {'user': 'anna', 'n': 3}
    """
    if not body:
        raise Problem(400, "the body is empty; send a JSON object.")
    try:
        value = DECODER.decode(body.decode())
    except UnicodeDecodeError as error:
        raise Problem(400, f"the body is no UTF-8 (byte {error.start}); encode it as UTF-8.") from None
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        raise Problem(400, f"the body is no JSON: {error.msg} (line {error.lineno}, column {error.colno}).") from None
    except ValueError:  # the decoder's own int() of too many digits
        raise Problem(400, "the body has an integer with too many digits; numbers have at most 4,300.") from None
    _check_depth(body, value)
    if b"\\u" in body:  # nothing else can bring a surrogate or a NUL
        _check_text(value)
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Problem(400, f"the key {ascii(shown(twice))[1:-1]} is given twice; give it once.")
    return named


def _float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise Problem(400, f"the number {text[:20]} is beyond what a float64 holds; give a smaller one.")
    return number


def _constant(name: str) -> NoReturn:
    raise Problem(400, f"{name} is no JSON; give a finite number.")


DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_float, parse_constant=_constant)


def _too_deep() -> Problem:
    return Problem(400, f"the body is nested deeper than {DEPTH}; flatten it.")


def _check_depth(body: bytes, value: Any) -> None:
    """Refuse what is nested too deep; so few brackets cannot be."""
    if body.count(b"[") + body.count(b"{") <= DEPTH:
        return
    level = [value]
    for _ in range(DEPTH):
        level = [part for one in level for part in _parts(one)]
        if not level:
            return
    if any(isinstance(one, dict | list) for one in level):
        raise _too_deep()


def _parts(value: Any) -> list[Any]:
    """What is directly inside, where that may hold something itself."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in inside if isinstance(one, dict | list)]


def _check_text(value: Any) -> None:
    for text in _texts(value):
        if "\0" in text:
            raise Problem(400, "the body has a NUL character in a string; remove it.")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Problem(400, "the body has a lone surrogate in a string, which is no valid unicode.") from None


def _texts(value: Any) -> Iterator[str]:
    """All strings of a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from _texts(one)
