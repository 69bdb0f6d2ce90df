"""Orders as PrefLib writes them (soc, soi, toc, toi), and the sushi data (Kamishima 2003) in that form."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.sources.files import Files, Folder, decoded
from fullrank.data.sources.source import Dataset, Download, Source
from fullrank.errors import DataError, NoInputError, check, shown

if TYPE_CHECKING:
    import polars as pl

Which: TypeAlias = Literal["10", "100", "scores"]

SERIES = "https://raw.githubusercontent.com/PrefLib/PrefLib-Data/main/datasets/00014%20-%20sushi/"
SUSHI_FILES = {"10": "00014-00000001.soc", "100": "00014-00000002.soi", "scores": "00014-00000003.toi"}
SUSHI = Dataset(
    name="sushi",
    title="Sushi preferences",
    page="https://www.kamishima.net/sushi/",
    licence="research; no redistribution; PrefLib asks you to accept the terms on Kamishima's page first",
    marks=tuple((file,) for file in SUSHI_FILES.values()),
    downloads=tuple(Download(SERIES + file, limit=8 << 20) for file in SUSHI_FILES.values()),
)

ORDER = r"^\s*\d+\s*:\s*(?:\d+|\{[\d,\s]+\})(?:\s*,\s*(?:\d+|\{[\d,\s]+\}))*\s*$"
NAME = re.compile(r"^# ALTERNATIVE NAME (\d+): ?(.*)$")
MOST_VOTERS = 50_000_000


def sushi(folder: Folder = None, *, which: Which = "100") -> Source[Graded]:
    """What 5,000 people think of sushi, as graded cases: one a person, the best with the highest grade.

    `which="10"`: complete orders of 10 kinds; "100": orders of 10 out of 100 kinds; "scores": scores of
    10 out of 100 kinds, as orders with ties. People cannot be joined across the three.
    Licence: research; no redistribution (Kamishima).
    """
    check("which", which, which in SUSHI_FILES, "'10', '100' or 'scores'")
    return preflib(Files(SUSHI, folder).file(SUSHI_FILES[which]))


def preflib(path: str | Path) -> Source[Graded]:
    """Orders of a PrefLib file (soc, soi, toc or toi): `2: 3,{1,4}` is two cases with 3 above 1 and 4.

    A case's grades are its ranks from the bottom: 0 for the last class, one more for each class above it.
    Items are the numbers of all alternatives, their names are the titles. Licence: see the file's page.
    """
    if not Path(path).is_file():
        raise NoInputError(f"{path}: no such file; PrefLib's are at https://preflib.org.")
    lines = decoded(Path(path), "utf-8").split("\n")
    header = [line for line in lines if line.startswith("#")]
    alternatives = {int(line[1]): line[2].strip() for line in map(NAME.match, header) if line}
    if not alternatives:
        raise DataError(f"{path}:1: no '# ALTERNATIVE NAME 1: ...' lines; is this a PrefLib file of orders?")
    items = Ids(sorted(alternatives))
    data = _cases(_classes(lines, path), items, path)
    title = next((line.partition(":")[2].strip() for line in header if line.startswith("# TITLE:")), "")
    return Source(title or Path(path).name, data, tuple(alternatives[int(name)] for name in items))


def _classes(lines: list[str], path: str | Path) -> pl.DataFrame:
    """A row for every alternative of every order: line, voters, place of its class from the top, item."""
    import polars as pl

    orders = pl.DataFrame({"text": lines}).with_row_index("line", offset=1)
    orders = orders.filter(~pl.col("text").str.starts_with("#") & (pl.col("text").str.strip_chars() != ""))
    bad = orders.filter(~pl.col("text").str.contains(ORDER))
    if bad.height:
        raise DataError(f"{path}:{bad['line'][0]}: {shown(bad['text'][0])} is not like '2: 3,{{1,4}}'; repair it.")
    if not orders.height:
        raise DataError(f"{path}: no orders; there is a header at most.")
    parts = orders.with_columns(pl.col("text").str.split(":").list.to_struct(fields=["voters", "order"])).unnest("text")
    classes = parts.with_columns(pl.col("order").str.extract_all(r"\d+|\{[^}]*\}"), pl.col("voters").str.strip_chars())
    places = classes.with_columns(place=pl.int_ranges(pl.col("order").list.len())).explode("order", "place")
    return places.with_columns(item=pl.col("order").str.extract_all(r"\d+")).explode("item").select(
        "line", pl.col("voters", "item").cast(pl.Int64, strict=False).fill_null(-1), "place"
    )  # fmt: skip


def _cases(rows: pl.DataFrame, items: Ids, path: str | Path) -> Graded:
    """The orders as graded cases, repeated for every voter."""
    line, voters, place = (rows[name].to_numpy() for name in ("line", "voters", "place"))
    item = items.codes(rows["item"].to_numpy(), missing=-1)
    starts = np.flatnonzero(np.diff(line, prepend=0))
    sizes = np.diff(np.append(starts, len(line)))
    grade = np.repeat(np.maximum.reduceat(place, starts), sizes) - place
    order = np.lexsort((item, line))
    twice = np.flatnonzero((np.diff(item[order]) == 0) & (np.diff(line[order]) == 0))
    for fault, at in (("an unknown alternative", np.flatnonzero(item < 0)), ("an alternative twice", order[twice])):
        if len(at):
            raise DataError(f"{path}:{line[at[0]]}: {fault} ({rows['item'][int(at[0])]}); repair the line.")
    times = _voters(voters[starts], line[starts], path)
    picked = _repeat(starts, sizes, times)
    return Graded(
        start=np.concatenate([[0], np.cumsum(np.repeat(sizes, times))]),
        item=item[order][picked],
        grade=grade[order][picked].astype(np.float32),
        user=np.arange(times.sum(), dtype=np.int32),
        users=Ids.numbered(int(times.sum())),
        items=items,
        intake=Intake(int(times.sum())),
    )


def _voters(times: NDArray[np.int64], line: NDArray[Any], path: str | Path) -> NDArray[np.int64]:
    """How many people each order is of: at least one, and not more than memory can hold."""
    wrong = (times < 1) | (times > MOST_VOTERS)
    if wrong.any() or times.sum() > MOST_VOTERS:
        at = int(wrong.argmax() if wrong.any() else times.argmax())
        raise DataError(f"{path}:{line[at]}: an order of {times[at]:,} people; expected 1 to {MOST_VOTERS:,} in all.")
    return times


def _repeat(starts: NDArray[np.intp], sizes: NDArray[np.intp], times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of every group, each group as often as told."""
    first, size = np.repeat(starts, times), np.repeat(sizes, times)
    ends = np.cumsum(size)
    rows: NDArray[np.int64] = np.arange(ends[-1]) + np.repeat(first - (ends - size), size)
    return rows
