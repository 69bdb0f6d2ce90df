"""Whether the options of reading are what they may be, asked before anything is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, get_args

from fullrank.data.canonical import Duplicates
from fullrank.data.reading.encoding import codec
from fullrank.data.reading.refusals import OnBad
from fullrank.data.times import UNITS
from fullrank.errors import ParameterError, check, did_you_mean, is_number

OPTIONS = ("separator", "header", "decimal", "encoding", "time_unit", "time_format", "on_bad", "quarantine")


def check_options(
    options: dict[str, Any], *, feedback: Any = None, duplicates: Any = None, scale: Any = None
) -> None:  # fmt: skip
    """Refuse options of `read` that are unknown or outside what they may be, whether the source needs them or not.

    >>> check_options({"time_unit": "h"})
    Traceback (most recent call last):
    fullrank.errors.ParameterError: The 'time_unit' parameter must be one of s, ms, us, ns. Got 'h' instead.
    """
    for name in options:
        if name not in OPTIONS:
            raise ParameterError(f"'{name}' is no option of reading. {did_you_mean(name, list(OPTIONS))}")
    rules = get_args(Duplicates)
    check("feedback", feedback, feedback in (None, "explicit", "implicit"), "'explicit' or 'implicit'")
    check("duplicates", duplicates, duplicates is None or duplicates in rules, f"one of {', '.join(rules)}")
    check("scale", scale, scale is None or _is_scale(scale), "two numbers, the least value and the most")
    given = {**dict.fromkeys(OPTIONS), "decimal": ".", "encoding": "utf-8", "on_bad": "error", **options}
    separator, header, unit, on_bad = (given[name] for name in ("separator", "header", "time_unit", "on_bad"))
    form, decimal = given["time_format"], given["decimal"]
    check("separator", separator, separator is None or _is_text(separator), "one or more characters")
    check("header", header, header in (None, True, False), "True, False or None")
    check("decimal", decimal, decimal in (".", ","), "'.' or ','")
    codec(given["encoding"])
    check("time_unit", unit, unit is None or unit in UNITS, f"one of {', '.join(UNITS)}")
    check("time_format", form, form is None or _is_text(form), "a strftime form of a whole date, such as '%d/%m/%Y'")
    check("on_bad", on_bad, on_bad in get_args(OnBad), "'error', 'skip' or 'quarantine'")


def check_actions(scale: Any) -> None:
    """Refuse a scale of actions that is none: names from worst to best, each once.

    >>> check_actions(("shown", "bought"))
    """
    named = isinstance(scale, Sequence) and not isinstance(scale, str) and all(map(_is_text, scale))
    holds = scale is None or (named and len(set(scale)) == len(scale) > 0)
    check("scale", scale, holds, "the names of actions, worst first, each once")


def _is_scale(scale: Any) -> bool:
    two = isinstance(scale, Sequence) and len(scale) == 2 and all(map(is_number, scale))
    return two and not any(map(math.isnan, scale)) and scale[0] <= scale[1]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
