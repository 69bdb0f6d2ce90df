"""fullrank export"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.options import Json, Overwrite
from fullrank.cli.printing import note, print_result


def export(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as 'fullrank fit' writes it.")],
    to: Annotated[Path, typer.Option(help="The folder for the files.")],
    form: Annotated[str, typer.Option("--format", help="parquet, numpy or faiss.")] = "parquet",
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Write the vectors of a model, or its neighbours, for an index, a database or another program."""
    from fullrank.models.files import load
    from fullrank.recommending.export import export as write

    given: Any = form
    made = write(load(model), to, format=given, overwrite=overwrite)
    if json:
        print_result({"folder": str(made.folder), **made.manifest}, True)
        return
    about = made.manifest
    told = {"model": about["model"], "content": about["content"], "folder": str(made.folder)}
    print_result(told | {"files": ", ".join(about["files"])}, False)
    for line in about["how"]:
        note(line)
