"""fullrank data"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.options import COLUMNS_HELP, parse_columns, parse_settings
from fullrank.cli.printing import note, print_result
from fullrank.errors import ParameterError


def data(
    source: Annotated[str, typer.Argument(metavar="DATA", help="A file ('-' is stdin), a folder or a known name.")],
    columns: Annotated[str | None, typer.Option(help=COLUMNS_HELP)] = None,
    separator: Annotated[str | None, typer.Option(help="Between the fields of a text file; found by itself.")] = None,
    encoding: Annotated[str, typer.Option(help="Of a text file.")] = "utf-8",
    time_unit: Annotated[str, typer.Option(help="Of times given as numbers: s, ms, us or ns.")] = "s",
    feedback: Annotated[str | None, typer.Option(help="explicit or implicit.")] = None,
    duplicates: Annotated[str | None, typer.Option(help="last, first, sum, mean, max or error.")] = None,
    on_bad: Annotated[str, typer.Option(help="Bad rows: error, skip or quarantine.")] = "error",
    quarantine: Annotated[Path | None, typer.Option(help="Where bad rows are listed.")] = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch the known data set DATA into --to.")] = False,
    to: Annotated[Path | None, typer.Option(help="The folder for --download.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="An option of a known data set: --set catalogue=true.")
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write the data as .csv, .tsv or .parquet.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what --write or --to finds.")] = False,
    excel_safe: Annotated[bool, typer.Option("--excel-safe", help="Disarm formulas in a written csv.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Describe feedback: read DATA strictly and tell what is in it; fetch or convert it if asked."""
    from fullrank.data.atomic import check_writable
    from fullrank.data.describe import describe
    from fullrank.data.read import read
    from fullrank.data.split import Split
    from fullrank.data.write import write as write_file
    from fullrank.experiments.inputs import is_file, known

    if write is not None:
        check_writable(write, overwrite=overwrite)
    chosen, wanted = parse_settings(settings or []), parse_columns(columns)
    if download:
        source, chosen = _download(source, to, overwrite, chosen), {}
    found: Any
    if is_file(source):
        options: dict[str, Any] = {"separator": separator, "encoding": encoding, "time_unit": time_unit}
        options |= {"feedback": feedback, "duplicates": duplicates, "on_bad": on_bad, "quarantine": quarantine}
        found, name = read(source, wanted, **options), source
    else:
        loaded = known(source, chosen)
        found, name = loaded.data, loaded.name
        for line in loaded.notes:
            note(f"{name}: {line}")
    if not isinstance(found, Split):
        note(f"{name}: {found.intake}")
    if write is not None:
        if isinstance(found, Split):
            raise ParameterError(f"{name} is a split into parts; write them from Python with fullrank.write.")
        write_file(found, write, overwrite=overwrite, excel_safe=excel_safe)
        note(f"written: {write}")
    print_result({"data": name, **describe(found)}, json)


def _download(source: str, to: Path | None, overwrite: bool, settings: dict[str, Any]) -> str:
    from rich.progress import DownloadColumn, Progress, TransferSpeedColumn

    from fullrank.data import sources

    with Progress("fetching", DownloadColumn(), TransferSpeedColumn(), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("fetching", total=None)
        done = sources.download(
            source,
            to,
            overwrite=overwrite,
            progress=lambda now, total: bar.update(task, completed=now, total=total),
            **settings,
        )
    note(str(done))
    return str(done.folder)
