"""Times as people write them: numbers since 1970 in some unit, and dates in some order.

One form holds for a whole column: its first rows tell which, and every row is held to it. Where two forms fit and
mean different times, nobody is guessed at: the error names both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

import polars as pl

from fullrank.data.reading.fields import SECONDS, Field, Hints, TimeForm
from fullrank.data.times import UNIT_NAMES, UNITS, YEAR_5138
from fullrank.errors import DataError, ParameterError, shown

DATES = (  # in each, forms that never mean different days
    ("%Y-%m-%d",), ("%Y/%m/%d",), ("%Y.%m.%d",), ("%Y%m%d",), ("%d/%m/%Y",), ("%m/%d/%Y",), ("%d-%m-%Y",),
    ("%m-%d-%Y",), ("%d.%m.%Y",), ("%d/%m/%y",), ("%m/%d/%y",), ("%d.%m.%y",), ("%d-%b-%Y",),
    ("%d %b %Y", "%d %B %Y"), ("%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y"),
)  # fmt: skip
CLOCKS = (" %H:%M:%S%.f", " %H:%M", " %I:%M:%S %p", " %I:%M %p")
WHOLE = ("%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %z %Y", "%a, %d %b %Y %H:%M:%S%z")
ISO = DATES[0][0]
COMPACT = {4: "%Y", 6: "%Y%m", 8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
SURE = (8, 12, 14)  # digits of a date that is no likely number of seconds: August 1970, or beyond the year 5138
ZONE = re.compile("%[:#]?z")
YEAR = 366 * 86_400 * 1_000_000
MOMENT = 1_580_477_409_000_000  # in January 2020, to try a form with
FIRST, LAST = -2_208_988_800, 7_258_118_400  # 1900 and 2200, in seconds: what is taken for a date


class AmbiguousDatesError(DataError):
    """Dates that all fit several forms which mean different days."""

    def __init__(self, where: str, example: str, rivals: Sequence[tuple[str, ...]]) -> None:
        one, two = rivals[0][0], rivals[1][0]
        super().__init__(
            f"{where}: times such as {shown(example)} read as {one} and as {two}; say which: "
            f"time_format='{one}' (--time-format {one}), or the other."
        )
        self.rivals = rivals


def as_written(field: Field, column: pl.Series, hints: Hints, where: str, later: Iterable[pl.Series] = ()) -> Field:
    """A wanted column, with how its numbers or times are written: as told, or as these first rows show.

    Where two forms of dates fit all of them, the `later` rows are looked at until only one does.
    """
    if field.kind == "number":
        return replace(field, decimal=hints.decimal)
    if field.kind == "time":
        try:
            form = time_form(column, hints.time_unit, hints.time_format, where)
        except AmbiguousDatesError as ambiguous:
            form = _settle(ambiguous, later)
        return replace(field, form=form)
    return field


def _settle(ambiguous: AmbiguousDatesError, later: Iterable[pl.Series]) -> TimeForm:
    """The only form that later rows leave; rows that fit none of the forms are bad ones, and say nothing."""
    rivals = ambiguous.rivals
    for cells in later:
        text = tidy(cells.drop_nulls().unique())
        fits = [_fit(text, forms) for forms in rivals]
        dates = reduce(or_, fits)
        rivals = [forms for forms, fit in zip(rivals, fits, strict=True) if fit.equals(dates)]
        if len(rivals) == 1:
            return _dates_of(rivals[0])
        if not rivals:
            break
    raise ambiguous


def time_form(column: pl.Series, unit: str | None, form: str | None, where: str) -> TimeForm:
    """The form of these times, as told (`unit` or `form`), or as all of them show.

    >>> str(time_form(pl.Series(["31/01/2020", "01/02/2020"]), None, None, "log.csv"))
    '%d/%m/%Y'
    >>> str(time_form(pl.Series([20200131, 20200201]), None, None, "log.csv"))
    '%Y%m%d'
    """
    if form is not None:
        return TimeForm(forms=(_checked(form),), given=True)
    if column.dtype.is_numeric():
        return _numeric(column.cast(pl.Float64, strict=False), unit, where)
    if column.dtype != pl.String:
        return SECONDS
    text = tidy(column.drop_nulls())
    text = text.filter(text != "")
    numbers = text.cast(pl.Float64, strict=False)
    if numbers.null_count() == len(numbers):
        return _date_form(text, where)
    words = text.filter(numbers.is_null())
    if unit is None and any(_fitting(words, forms) for forms in _families()):
        raise DataError(
            f"{where}: times are dates in some rows ({shown(words[0])}) and numbers in others "
            f"({shown(text.filter(numbers.is_not_null())[0])}); make them one, or say time_unit or time_format, "
            "which refuses the others."
        )
    return _numeric(numbers, unit, where)


def _checked(form: str) -> str:
    """A form in which a date can be written and read back, or a refusal."""
    moment = pl.Series([MOMENT], dtype=pl.Datetime("us", "UTC" if ZONE.search(form) else None))
    try:
        back = parse_dates(moment.dt.strftime(form), (form,))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        back = pl.Series([None])
    if back[0] is None or abs(back[0] - MOMENT) > YEAR:
        raise ParameterError(
            "The 'time_format' parameter must be a strftime form of a whole date, such as '%d/%m/%Y' or "
            f"'%Y-%m-%d %H:%M:%S'. Got {form!r} instead."
        )
    return form


def _numeric(numbers: pl.Series, unit: str | None, where: str) -> TimeForm:
    """Numbers in a given unit; else dates without anything between, or numbers in the unit that their size tells."""
    if unit is not None:
        return TimeForm(unit)
    numbers = numbers.drop_nulls().drop_nans()
    low, high = (float(limit) if limit is not None else 0.0 for limit in (numbers.min(), numbers.max()))  # type: ignore[arg-type]
    digits = len(f"{high:.0f}")
    compact = COMPACT.get(digits)
    if compact is not None and len(f"{low:.0f}") == digits and (numbers == numbers.floor()).all():
        text = numbers.cast(pl.Int64).cast(pl.String)
        if _fitting(text, (compact,)) == len(text):
            if digits in SURE:
                return TimeForm(forms=(compact,), note=f"times read as dates {compact}")
            raise DataError(
                f"{where}: time {text[0]} reads as {compact} and as {text[0]} seconds since 1970; "
                f"say which: time_format='{compact}' (--time-format {compact}) or time_unit='s' (--time-unit s)."
            )
    for step, likely in enumerate(UNITS):  # 1973 to 5138 in one unit is before 1973 or after 5138 in all others
        factor = 1000.0**step
        if step and low >= YEAR_5138 / 1000 * factor and high < YEAR_5138 * factor:
            return TimeForm(likely, note=f"times read as {UNIT_NAMES[likely]} since 1970")
    if len(numbers) and 0 <= high < YEAR_5138 / 1000:
        return SECONDS._replace(note=f"times such as {high:g} read as seconds since 1970")
    return SECONDS


def _date_form(text: pl.Series, where: str) -> TimeForm:
    """The only form that all dates fit; where none does, the only one that any fit."""
    fitting: dict[tuple[str, ...], int] = {}
    for forms in _families():
        fitting[forms] = _fitting(text, forms)
        if forms[0] == ISO and fitting[forms] == len(text):  # the year first and a dash: nothing else fits
            return TimeForm(forms=forms)
    order = sorted((forms for forms, count in fitting.items() if count), key=lambda forms: -fitting[forms])
    if not order:
        return TimeForm(forms=next(_families()))
    best, rest = order[0], order[1:]
    if rest and fitting[best] < len(text):
        raise DataError(str(AmbiguousDatesError(where, text[0], (best, rest[0]))))
    if rest and fitting[rest[0]] == len(text):
        raise AmbiguousDatesError(where, text[0], [forms for forms in order if fitting[forms] == len(text)])
    return _dates_of(best)


def _dates_of(forms: tuple[str, ...]) -> TimeForm:
    return TimeForm(forms=forms, note="" if forms[0] == ISO else f"times read as dates {forms[0]}")


def _families() -> Iterator[tuple[str, ...]]:
    """Forms that differ in the time of the day only, or in how a month is written: a column may mix them."""
    for dates in DATES:
        clocks = (" %H%M%S", *CLOCKS) if dates == ("%Y%m%d",) else CLOCKS
        yield *dates, *(date + clock + zone for date in dates for clock in clocks for zone in ("", "%z"))
    for form in WHOLE:
        yield (form,)


def _fitting(text: pl.Series, forms: tuple[str, ...]) -> int:
    """How many of these are dates of these forms, between 1900 and 2200."""
    return int(_fit(text, forms).sum())


def _fit(text: pl.Series, forms: tuple[str, ...]) -> pl.Series:
    return (parse_dates(text, forms) / 1e6).is_between(FIRST, LAST).fill_null(False)


def are_dates(text: pl.Series) -> bool:
    """Whether all of these are dates in one form, or in several that all of them fit."""
    text = tidy(text)
    return any(_fitting(text, forms) == len(text) for forms in _families())


def dates_in_text(text: pl.Series, form: TimeForm) -> pl.Series:
    """Microseconds since 1970 of dates in text."""
    return parse_dates(text.str.strip_chars(" \t") if form.given else tidy(text), form.forms)


def tidy(text: pl.Series) -> pl.Series:
    """One way to write what has several: the T of ISO 8601 as a blank, Z and UTC as an offset, no blank before it."""
    text = text.str.strip_chars(" \t").str.replace(r"(\d)T(\d)", "$1 $2")
    text = text.str.replace(r"(\d)\s*(?:Z|UTC|GMT)$", "${1}+0000")
    return text.str.replace(r"(:\d\d(?:\.\d+)?)\s+([+-]\d\d:?\d\d)$", "$1$2")


def parse_dates(text: pl.Series, forms: tuple[str, ...]) -> pl.Series:
    """Microseconds since 1970, UTC unless there is an offset; null where none of the forms fits."""
    micros = pl.Series(text.name, [None], dtype=pl.Int64).new_from_index(0, len(text))
    for form in forms:
        left = micros.is_null() & text.is_not_null()
        if not left.any():
            break
        rest = text.filter(left) if micros.null_count() < len(micros) else text
        if form.endswith("%H"):  # polars wants minutes with the hours
            form, rest = form + "%M", rest + "00"  # noqa: PLW2901
        zone = "UTC" if ZONE.search(form) else None
        parsed = rest.str.to_datetime(form, time_unit="us", strict=False, time_zone=zone, ambiguous="null")
        if parsed.null_count() == len(parsed):
            continue
        micros = (
            parsed.to_physical() if len(rest) == len(micros) else micros.scatter(left.arg_true(), parsed.to_physical())
        )
    return micros
