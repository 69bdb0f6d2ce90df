"""fullrank update"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.options import DATA_HELP, Json, Overwrite, data_plan, reads
from fullrank.cli.printing import note_data, print_result


@reads()
def update(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as 'fullrank fit' writes it.")],
    source: Annotated[str, typer.Argument(metavar="NEW-DATA", help=f"What is new. {DATA_HELP}")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file of the new model.")],
    overwrite: Overwrite = False,
    json: Json = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Take new feedback into a fitted model: new users, new items, changed values.

    A known pair takes its new value; events (--kind events, or repeats in the file) are added to those known before.
    """
    from fullrank.models.files import load, save
    from fullrank.recommending.merging import changes
    from fullrank.recommending.update import update as take_in
    from fullrank.runtime.atomic import check_writable

    check_writable(out, overwrite=overwrite)
    fitted = load(model)
    loaded = data_plan(source, **reading).load()
    given: Any = loaded.data.whole() if hasattr(loaded.data, "held_out") else loaded.data
    note_data(loaded.name, given)
    start = time.monotonic()
    updated = take_in(fitted, _adapt(fitted, given, source, reading.get("kind")))
    seconds = time.monotonic() - start
    save(updated, out, overwrite=overwrite)
    now = {"users": updated.train.n_users, "items": updated.train.n_items, "rows": len(updated.train)}
    told = changes(fitted.train, updated.train)._asdict()
    print_result({"model": str(updated.recipe), **told, **now, "seconds": round(seconds, 3), "file": str(out)}, json)


def _adapt(fitted: Any, given: Any, source: str, kind: str | None) -> Any:
    """The new feedback as the model's recipe takes it; of events how often each happened in all."""
    from fullrank.data.events import Events
    from fullrank.data.interactions import Interactions
    from fullrank.errors import DataError
    from fullrank.models.feedback import adapt
    from fullrank.recommending.merging import add_counts

    new = adapt(fitted.recipe, _name_alike(given, fitted.train))
    if not isinstance(new, Interactions) or not isinstance(given, Interactions | Events):
        return new
    if kind == "events" or isinstance(given, Events):
        return add_counts(fitted.train, new)
    if fitted.train.value is not None and new.value is None:
        raise DataError(f"{source}: there are no values, and the model has some; give them, or say --kind events.")
    return new


def _name_alike(given: Any, train: Any) -> Any:
    """The same feedback with text for ids where the model has text: a file of integers alone is read as such."""
    from dataclasses import replace

    from fullrank.data.ids import Ids

    text = [side for side in ("users", "items") if getattr(train, side).are_strings]
    names = {
        side: [str(name) for name in getattr(given, side)] for side in text if not getattr(given, side).are_strings
    }
    return replace(given, **{side: Ids(own) for side, own in names.items()}) if names else given
