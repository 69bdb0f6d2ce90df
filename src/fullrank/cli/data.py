"""fullrank data"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullrank.cli.options import COLUMNS_HELP, parse_columns, read_data
from fullrank.cli.printing import note, print_result


def data(
    source: Annotated[str, typer.Argument(metavar="DATA", help="A file ('-' is stdin), a folder or a known name.")],
    columns: Annotated[str | None, typer.Option(help=COLUMNS_HELP)] = None,
    separator: Annotated[str | None, typer.Option(help="Between the fields of a text file; found by itself.")] = None,
    encoding: Annotated[str, typer.Option(help="Of a text file.")] = "utf-8",
    time_unit: Annotated[str, typer.Option(help="Of times given as numbers: s, ms, us or ns.")] = "s",
    feedback: Annotated[str | None, typer.Option(help="explicit or implicit.")] = None,
    duplicates: Annotated[str | None, typer.Option(help="last, sum, mean, max or error.")] = None,
    on_bad: Annotated[str, typer.Option(help="Bad rows: error, skip or quarantine.")] = "error",
    quarantine: Annotated[Path | None, typer.Option(help="Where bad rows are listed.")] = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch the known data set DATA into --to.")] = False,
    to: Annotated[Path | None, typer.Option(help="The folder for --download.")] = None,
    write: Annotated[Path | None, typer.Option(help="Write the data as .csv, .tsv or .parquet.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what --write finds.")] = False,
    excel_safe: Annotated[bool, typer.Option("--excel-safe", help="Disarm formulas in a written csv.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Describe feedback: read DATA strictly and tell what is in it; fetch or convert it if asked."""
    from fullrank.data.atomic import check_writable
    from fullrank.data.describe import describe
    from fullrank.data.write import write as write_file

    if write is not None:
        check_writable(write, overwrite=overwrite)
    if download:
        source = _download(source, to)
    name, found = read_data(
        source,
        parse_columns(columns),
        separator=separator,
        encoding=encoding,
        time_unit=time_unit,
        feedback=feedback,
        duplicates=duplicates,
        on_bad=on_bad,
        quarantine=quarantine,
    )
    note(f"{name}: {found.intake}")
    if write is not None:
        write_file(found, write, overwrite=overwrite, excel_safe=excel_safe)
        note(f"written: {write}")
    intake = found.intake
    counts = {"rows read": intake.rows, "merged": intake.merged, "dropped": dict(intake.dropped)}
    print_result({"data": name, **describe(found), **({"intake": counts} if json else {})}, json)


def _download(source: str, to: Path | None) -> str:
    from fullrank.data import sources

    folder = sources.download(source, to)
    note(f"downloaded into {folder}")
    return str(folder)
