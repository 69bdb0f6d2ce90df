"""fullrank report"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullrank.cli.options import Json, Overwrite
from fullrank.cli.printing import note, print_json


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="What 'fullrank compare' wrote.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The HTML file.")] = Path("report.html"),
    form: Annotated[str, typer.Option("--table", help="How the table is printed: text, markdown or latex.")] = "text",
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """One report of several comparisons of the same split, or of one again."""
    from fullrank.comparison.merge import merge
    from fullrank.comparison.tables import latex, markdown, text
    from fullrank.errors import ParameterError
    from fullrank.report.page import write
    from fullrank.runtime.atomic import check_writable

    forms = {"text": text, "markdown": markdown, "latex": latex}
    if form not in forms:
        raise ParameterError(f"--table: '{form}' is none; write {', '.join(forms)}.")
    check_writable(out, overwrite=overwrite)
    merged = merge(folders)
    write(merged.results, out, overwrite=overwrite)
    if json:
        print_json(merged.to_json())
    else:
        print(forms[form](merged.results))
    note(f"report: {out}")
