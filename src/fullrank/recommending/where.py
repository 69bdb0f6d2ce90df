"""Which items an expression over their attributes holds for: year >= 2000 and genre != 'News'.

The expression is SQL's, evaluated by polars. A column whose cells are all numbers holds numbers, others text; a cell
without anything is NULL. Of a column with several values in a cell (Drama|Comedy) a comparison holds where it holds of
any of them, and !=, NOT IN and NOT LIKE are its opposite: genre != 'News' is for items that are no news at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fullrank.arrays import Bools
from fullrank.data.attributes import Attributes, Labels, Texts
from fullrank.data.ids import Ids
from fullrank.errors import ParameterError, did_you_mean, shown

if TYPE_CHECKING:
    import polars as pl

TOKEN = re.compile(
    r"""(?P<text>'(?:[^']|'')*')|(?P<name>"(?:[^"]|"")+"|[^\W\d]\w*)|(?P<rest>\s+|\d[\w.]*|<>|!=|<=|>=|==|.)""", re.S
)
VALUE = r"(?:'(?:[^']|'')*'|-?\d[\w.]*)"
COMPARED = re.compile(  # what may follow a column with several values in a cell
    rf"\s*(?:(?P<sign>==?|!=|<>|<=?|>=?)\s*{VALUE}|(?P<word>(?:not\s+)?(?:in\s*\(\s*{VALUE}(?:\s*,\s*{VALUE})*\s*\)"
    rf"|i?like\s*{VALUE}|between\s*{VALUE}\s+and\s+{VALUE}))|(?P<null>is\s+(?:not\s+)?null\b))",
    re.IGNORECASE,
)
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


class Chosen(NamedTuple):
    """Which items the expression holds for, and of how many it cannot be told: they have no row or no value."""

    items: Bools
    undecided: int


def choose(where: str, about: Attributes, ids: Ids) -> Chosen:
    """The items of which the expression is true; of those it cannot be decided for it is not.

    >>> about = Attributes(Ids([1, 2, 3]), {"year": ("1999", "2004", ""), "kind": (("a", "b"), ("b",), ())})
    >>> choose("year > 2000 or kind = 'a'", about, Ids([1, 2, 3, 4])).items.tolist()
    [True, True, False, False]
    >>> choose("kind != 'a'", about, Ids([1, 2, 3, 4]))
    Chosen(items=array([False,  True, False, False]), undecided=2)
    """
    import polars as pl

    cells = {name: about.column_for(name, ids) for name in about.columns}
    several = {name: column for name, column in cells.items() if _is_several(about, name)}
    plain = pl.DataFrame({name: typed(column) for name, column in cells.items() if name not in several})
    with _explained(where, list(cells)):
        rewritten, atoms = _rewrite(where, several)
        made = {key: _any_of(atom, several[name], len(ids)) for key, (name, atom) in atoms.items()}
        frame = plain.with_columns(series.alias(key) for key, series in made.items())
        truth = frame.select(pl.sql_expr(rewritten).alias("truth"))["truth"]
    if truth.dtype != pl.Boolean or len(truth) != len(ids):
        raise ParameterError(
            f"where: {shown(where)} is not true or false of every item; compare a column with a value."
        )
    return Chosen(truth.fill_null(value=False).to_numpy().astype(bool), int(truth.null_count()))


def typed(column: Any) -> pl.Series:
    """Numbers where all cells that hold something are numbers, else text; NULL for nothing.

    >>> typed(("1", "", "2.5")).to_list(), typed(("01", "2")).to_list()
    ([1.0, None, 2.5], ['01', '2'])
    """
    import polars as pl

    text = pl.Series(list(column), dtype=pl.String).replace("", None)
    numbers = all(NUMBER.fullmatch(cell) for cell in text.drop_nulls())
    return text.cast(pl.Float64) if numbers and text.null_count() < len(text) else text


def _is_several(about: Attributes, name: str) -> bool:
    return any(isinstance(cell, tuple) for cell in about.columns[name][:1])


def _rewrite(where: str, several: Mapping[str, Texts | Labels]) -> tuple[str, dict[str, tuple[str, str]]]:
    """The expression with a name for every comparison of a column with several values; and these, as they apply to one.

    >>> _rewrite("x > 1 AND kind <> 'News'", {"kind": ()})
    ('x > 1 AND (NOT "\\x00 0")', {'\\x00 0': ('kind', "value = 'News'")})
    """
    parts: list[str] = []
    atoms: dict[str, tuple[str, str]] = {}
    at = 0
    while at < len(where):
        token = TOKEN.match(where, at)
        assert token is not None  # the last alternative is any character
        at, text = token.end(), token[0]
        name = _unquoted(text)
        if token["name"] and name in several:
            compared = COMPARED.match(where, at)
            if compared is None:
                raise ParameterError(
                    f"where: column {shown(name)} has several values in a cell; compare it with a value after it: "
                    f"{text} = 'x', !=, IN ('x', 'y'), LIKE 'x%' or IS NULL."
                )
            at, (atom, turned) = compared.end(), _atom(compared)
            key = f"\0 {len(atoms)}"
            atoms[key] = name, atom
            text = f'(NOT "{key}")' if turned else f'"{key}"'
        parts.append(text)
    return "".join(parts), atoms


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _atom(compared: re.Match[str]) -> tuple[str, bool]:
    """A comparison of one value, and whether its opposite is meant."""
    rest = compared[0].strip()
    if compared["null"]:
        return "null", bool(re.search(r"\bnot\b", rest, re.IGNORECASE))
    if compared["sign"]:
        opposite = compared["sign"] in ("!=", "<>")
        return f"value = {rest[2:].strip()}" if opposite else f"value {rest}", opposite
    positive = re.sub(r"^not\s+", "", rest, flags=re.IGNORECASE)
    return f"value {positive}", positive != rest


def _any_of(atom: str, column: Texts | Labels, rows: int) -> pl.Series:
    """Whether the comparison holds of any value of each cell; NULL for a cell without any."""
    import polars as pl

    sizes = np.array([len(cell) for cell in column], dtype=np.int64)
    if atom == "null":
        return pl.Series(sizes == 0)
    values = pl.DataFrame({"value": typed([value for cell in column for value in cell])})
    holds = values.select(pl.sql_expr(atom).alias("holds"))["holds"].fill_null(value=False).to_numpy()
    many = np.bincount(np.repeat(np.arange(rows), sizes), holds, minlength=rows)
    return pl.select(pl.when(pl.Series(sizes > 0)).then(pl.Series(many > 0))).to_series()


@contextmanager
def _explained(where: str, columns: list[str]) -> Iterator[None]:
    """Faults of an expression as one sentence."""
    import polars as pl

    try:
        yield
    except pl.exceptions.ColumnNotFoundError:
        missing = next((name for name in words_of(where) if name not in columns), "?")
        raise ParameterError(f"where: no column '{missing}'. {did_you_mean(missing, columns)}") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0]
        raise ParameterError(
            f"where: {shown(where)} cannot be used ({reason}); write e.g. year >= 2000 and genre != 'News', text in "
            "single quotes, numbers without."
        ) from None


def words_of(where: str) -> Iterator[str]:
    """Words of an expression that may be columns."""
    words = {"and", "or", "not", "in", "like", "ilike", "is", "null", "between", "true", "false"}
    for token in TOKEN.finditer(where):
        if token["name"] and token[0].lower() not in words:
            yield _unquoted(token[0])
