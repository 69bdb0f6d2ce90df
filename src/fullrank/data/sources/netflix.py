"""Netflix Prize (Bennett and Lanning 2007): ratings under a heading per movie, and the probe set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import encode
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions, canonical
from fullrank.data.sources.catalogue import Catalogue, described
from fullrank.data.sources.files import BLOCK, UNIT, Files, Folder, blocks, table
from fullrank.data.sources.pairs import hold_out
from fullrank.data.sources.source import Dataset, Download, Source
from fullrank.data.split import Split
from fullrank.data.times import MICROSECONDS
from fullrank.errors import DataError, shown
from fullrank.runtime.memory import check_fits

if TYPE_CHECKING:
    import polars as pl

Piece: TypeAlias = tuple[int, Path, int]  # the first row in its batch, the file, the line there

NETFLIX = Dataset(
    name="netflix",
    title="Netflix Prize",
    page="https://archive.org/details/nf_prize_dataset.tar",
    licence="research; no redistribution, no commercial use (Netflix withdrew the data in 2010)",
    marks=(("combined_data_*.txt",), ("mv_*.txt",)),
    downloads=(Download("https://archive.org/download/nf_prize_dataset.tar/nf_prize_dataset.tar.gz"),),
    rows=100_480_507,
    users=480_189,
    items=17_770,
)
NETFLIX_PROBE = replace(NETFLIX, name="netflix-probe", title="Netflix Prize, probe held out", folders=("netflix",))


def netflix(folder: Folder = None) -> Source[Interactions]:
    """100,480,507 ratings 1..5 with their day, of 480,189 users on 17,770 movies (counts as published).

    Reads `mv_*.txt`, or `combined_data_*.txt` as on Kaggle; titles from `movie_titles.txt` or `.csv`.
    Licence: research; no redistribution, no commercial use (Netflix withdrew the data in 2010).
    """
    return _netflix(Files(NETFLIX, folder))


def netflix_probe(folder: Folder = None) -> Source[Split[Interactions]]:
    """The same ratings, with the 1,408,395 of `probe.txt` held out. Files and licence as for `netflix`."""
    files = Files(NETFLIX_PROBE, folder)
    probe = files.file("probe.txt")
    source = _netflix(files)
    data = source.data
    frame = _under_headings([probe], ["user"])
    user, item = frame["user"].to_numpy(), frame["item"].to_numpy()
    how = f"The {frame.height:,} ratings listed in Netflix's probe.txt are held out."
    return Source(NETFLIX_PROBE.title, hold_out(data, user, item, how=how, listed=probe), source.titles,
                  notes=source.notes)  # fmt: skip


def _netflix(files: Files) -> Source[Interactions]:
    paths = files.all("combined_data_*.txt") or files.all("mv_*.txt") or [files.missing("mv_*.txt")]
    size = sum(path.stat().st_size for path in paths)
    check_fits(size / 20 * 40, f"{files.folder}: about {size / 20:,.0f} ratings")  # lines of some 20 bytes
    frame = _under_headings(paths, ["user", "value", "time"])
    columns: dict[str, NDArray[np.generic]] = {}
    columns["user"], users = encode(frame["user"].to_numpy())
    columns["item"], items = encode(frame["item"].to_numpy())
    columns["value"] = frame["value"].to_numpy()
    columns["time"] = frame["time"].to_numpy().astype(MICROSECONDS)
    rows = frame.height
    del frame
    data = canonical(columns, Ids(users), Ids(items), "last", Intake(rows))
    titles = files.find("movie_titles.txt", "movie_titles.csv")
    return described(NETFLIX, data, None if titles is None else _titles(titles))


def _under_headings(paths: Sequence[Path], names: Sequence[str]) -> pl.DataFrame:
    """Lines of these columns, each belonging to the last `movie:` above it."""
    import polars as pl

    parts = []
    movie = None
    for pieces, text in _batches(paths):
        cells = _cells(text, names)
        rows = _parse(cells, names, movie)
        if not rows["good"].all():
            at = int((~rows["good"]).arg_max() or 0)
            first, path, line = next(piece for piece in reversed(pieces) if piece[0] <= at)
            row = shown(",".join(cell or "" for cell in cells.row(at)))
            form = ",".join(names)
            raise DataError(f"{path}:{line + at - first}: {row} is neither 'movie:' nor {form} below one; repair it.")
        movie = rows["item"][-1]
        parts.append(rows.filter(~pl.col("heading")).select(*names, "item"))
    if not sum(part.height for part in parts):
        raise DataError(f"{paths[0]}: no ratings; there are headings at most.")
    return pl.concat(parts)


def _batches(paths: Sequence[Path]) -> Iterator[tuple[list[Piece], bytes]]:
    """Some megabytes of lines at a time, of one file or of many small ones, and where each begins."""
    pieces: list[Piece] = []
    texts: list[bytes] = []
    rows = 0
    for path in paths:
        for line, text in blocks(path):
            if line == 1 and not text.partition(b"\n")[0].rstrip().endswith(b":"):
                raise DataError(f"{path}:1: expected a heading such as '1:'; fetch the file again.")
            pieces.append((rows, path, line))
            texts.append(text if text.endswith(b"\n") else text + b"\n")
            rows += texts[-1].count(b"\n")
            if sum(map(len, texts)) >= BLOCK:
                yield pieces, b"".join(texts)
                pieces, texts, rows = [], [], 0
    if texts:
        yield pieces, b"".join(texts)


def _cells(text: bytes, names: Sequence[str]) -> pl.DataFrame:
    """Cells as strings; what is too much in a line stays with its last cell."""
    import polars as pl

    first = b"," * (len(names) - 1) + b"\n"  # polars takes the number of columns from the first line
    try:
        schema = dict.fromkeys(names, pl.String)
        return pl.read_csv(first + text, has_header=False, quote_char=None, schema=schema).slice(1)
    except pl.exceptions.PolarsError:
        lines = pl.Series("line", text.decode("utf-8", errors="replace").removesuffix("\n").split("\n")).to_frame()
        return lines.select(pl.col("line").str.splitn(",", len(names)).struct.rename_fields(names)).unnest("line")


def _parse(cells: pl.DataFrame, names: Sequence[str], movie: int | None) -> pl.DataFrame:
    """Cells as numbers and days, with the movie they belong to, and whether the line is as it should be."""
    import polars as pl

    is_heading = pl.col("user").str.ends_with(":").fill_null(False)
    number = pl.when(is_heading).then(pl.col("user").str.head(-1)).cast(pl.Int32, strict=False)
    types = {
        "user": pl.col("user").cast(pl.Int32, strict=False),
        "value": pl.col("value").cast(pl.Float32, strict=False),
        "time": pl.col("time").str.to_date("%Y-%m-%d", strict=False),
    }
    rows = cells.select(heading=is_heading, number=number, **{name: types[name] for name in names})
    rows = rows.with_columns(item=pl.col("number").forward_fill().fill_null(pl.lit(movie, dtype=pl.Int32)))
    whole = pl.all_horizontal(pl.col(*names, "item").is_not_null())
    inside = pl.col("value").is_between(1, 5) if "value" in names else pl.lit(True)
    return rows.with_columns(good=pl.when("heading").then(pl.col("number").is_not_null()).otherwise(whole & inside))


def _titles(path: Path) -> Catalogue:
    """Lines of id,year,title, where a title may have commas."""
    import polars as pl

    frame = table(path, ["line"], UNIT, encoding="latin-1").select(pl.col("line").str.splitn(",", 3)).unnest("line")
    names = frame["field_0"].cast(pl.Int64, strict=False)
    if names.null_count() or frame["field_2"].null_count():
        raise DataError(f"{path}: a line is not like 'id,year,title'; fetch the file again.")
    return Catalogue(names.to_list(), frame["field_2"].to_list())
