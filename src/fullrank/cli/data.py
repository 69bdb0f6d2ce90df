"""fullrank data"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.options import DATA_HELP, Json, data_plan, parse_settings, reads
from fullrank.cli.printing import note, print_result
from fullrank.errors import ParameterError

MANY = 0.5  # of the rows, merged as duplicates


@reads(but=("settings",))
def data(
    source: Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)],
    feedback: Annotated[str | None, typer.Option(help="explicit or implicit.")] = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch the known data set DATA into --to.")] = False,
    to: Annotated[Path | None, typer.Option(help="The folder for --download.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="An option of a known data set: --set catalogue=true.")
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write the data as .csv, .tsv or .parquet.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what --write or --to finds.")] = False,
    excel_safe: Annotated[bool, typer.Option("--excel-safe", help="Disarm formulas in a written csv.")] = False,
    json: Json = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Describe feedback: read DATA strictly and tell what is in it; fetch or convert it if asked."""
    from fullrank.data.describe import describe
    from fullrank.data.split import Split
    from fullrank.data.write import write as write_file
    from fullrank.runtime.atomic import check_writable

    if write is not None:
        check_writable(write, overwrite=overwrite)
    if download:
        source, settings = _download(source, to, overwrite, parse_settings(settings or [])), None
    plan = data_plan(source, **reading, settings=settings, option="--set")
    loaded = plan.load(**({} if feedback is None else {"feedback": feedback}))
    content, name = loaded.data, loaded.name
    for line in loaded.notes:
        note(f"{name}: {line}")
    if not isinstance(content, Split):
        note(f"{name}: {content.intake}")
        _doubt(content, source, reading)
    if write is not None:
        if isinstance(content, Split):
            raise ParameterError(f"{name} is a split into parts; write them from Python with fullrank.write.")
        write_file(content, write, overwrite=overwrite, excel_safe=excel_safe)
        note(f"written: {write}")
    print_result({"data": name, **describe(content)}, json)


def _doubt(content: Any, source: str, reading: Mapping[str, Any]) -> None:
    """Tell where most rows were merged as duplicates although a column of sessions is there that nobody read."""
    from fullrank.data.interactions import Interactions
    from fullrank.data.reading.names import USUAL_NAMES
    from fullrank.data.reading.table import column_names

    intake = content.intake
    if not isinstance(content, Interactions) or intake.merged <= MANY * intake.rows or not Path(source).is_file():
        return
    names = column_names(source, reading.get("separator"), reading.get("encoding", "utf-8"))
    unread = sorted(names & set(USUAL_NAMES["session"]))
    if unread:
        note(
            f"{source}: {intake.merged:,} of {intake.rows:,} rows were merged as duplicates, and the column "
            f"'{unread[0]}' was not read; if these are sessions, say --kind sessions."
        )


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
