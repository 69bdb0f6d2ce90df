"""fullrank feedback export | verify | forget | compact"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from fullrank.cli.options import Json, Overwrite, listed
from fullrank.cli.printing import note, print_result
from fullrank.errors import ParameterError

if TYPE_CHECKING:
    from fullrank.data.ids import Name
    from fullrank.serving.store import FeedbackStore

Store: TypeAlias = Annotated[
    str, typer.Argument(metavar="STORE", help="The file of a store, or postgresql+psycopg://user@host/database.")
]
Forgotten: TypeAlias = Annotated[
    Path | None, typer.Option(help="The file that says who was forgotten; beside a file it is there by itself.")
]

feedback = typer.Typer(
    name="feedback", help="What the service kept: lists that were shown, and what people did.", no_args_is_help=True,
    rich_markup_mode=None,
)  # fmt: skip


@feedback.command()
def export(
    store: Store,
    out: Annotated[Path, typer.Option("-o", "--out", help="The file: .parquet, .csv or .tsv (.csv.gz, .csv.zst).")],
    kind: Annotated[str, typer.Option(help="sessions, events, preferences or ratings.")] = "sessions",
    since: Annotated[
        str | None, typer.Option(help="Only what the server received from then on, in UTC: 2026-01-31.")
    ] = None,
    scale: Annotated[str | None, typer.Option(help="Actions, worst first; shown,clicked,bought unless given.")] = None,
    ids: Annotated[str, typer.Option(help="exact, or text where integers and strings are mixed.")] = "exact",
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Write the feedback to a file that 'fullrank compare' and 'fullrank fit' read as it is."""
    from fullrank.runtime.atomic import check_writable
    from fullrank.serving.export_files import write_export

    check_writable(out, overwrite=overwrite)
    with _open(store, read_only=True) as opened:
        found = opened.export(kind, since, scale=listed(scale) or None, ids=ids)
        write_export(found, out, overwrite=overwrite)
    for reason, number in found.left_out.items():
        note(f"left out: {number} {reason}")
    told = {"file": str(out), "kind": kind, "rows": found.rows, "columns": ", ".join(found.columns)}
    print_result(told | ({"left_out": dict(found.left_out)} if json else {}), json)


@feedback.command()
def verify(store: Store, json: Json = False) -> None:
    """Whether a store is whole; what is damaged or missing is named, and the exit code is 65."""
    with _open(store, read_only=True) as opened:
        damaged, kept = opened.verify(), None
        if not damaged:
            kept = opened.count()
    for sentence in damaged:
        note(sentence)
    told = {"store": "damaged" if damaged else "whole"} | ({} if kept is None else {"events": kept})
    print_result(told | ({"damaged": damaged} if json else {}), json)
    if damaged:
        raise typer.Exit(65)


@feedback.command()
def forget(
    store: Store,
    user: Annotated[str, typer.Option(help="Who: a string; an integer where all digits, or see --text.")],
    text: Annotated[bool, typer.Option("--text", help="The user is the string '7', not the integer 7.")] = False,
    compact: Annotated[bool, typer.Option("--compact", help="Then remove the bytes from the files, too.")] = False,
    forgotten: Forgotten = None,
    json: Json = False,
) -> None:
    """Delete all that a person did, for good; a restored copy of the store does not bring it back."""
    with _open(store, forgotten=forgotten) as opened:
        _note_all(opened)
        gone = opened.forget(_name(user, text))
        if compact:
            opened.compact()
    if not gone:
        note(f"nothing was kept of {user!r}{'' if text or not _is_integer(user) else ' (the integer; see --text)'}")
    print_result({"events_deleted": gone, "compacted": compact}, json)


@feedback.command()
def compact(store: Store, forgotten: Forgotten = None, json: Json = False) -> None:
    """Write a store anew, so that nothing of what was deleted is left in its files."""
    with _open(store, forgotten=forgotten) as opened:
        _note_all(opened)
        opened.compact()
        kept = opened.count()
    print_result({"store": "compacted", "events": kept}, json)


def _open(store: str, *, read_only: bool = False, forgotten: Path | None = None) -> FeedbackStore:
    """A store that is there: none is made by looking."""
    from fullrank.errors import NoInputError

    try:
        from fullrank.serving.store import open_store
    except ImportError:
        raise ParameterError("the store needs SQLAlchemy: pip install 'fullrank[serve]'.") from None
    if "://" not in store and not Path(store).exists():
        raise NoInputError(f"{store}: there is no such store.")
    return open_store(store, read_only=read_only, forgotten=forgotten)


def _note_all(opened: FeedbackStore) -> None:
    for sentence in opened.notes:
        note(sentence)


def _name(user: str, text: bool) -> Name:
    return int(user) if _is_integer(user) and not text else user


def _is_integer(user: str) -> bool:
    """Whether this is an integer as it is written: 7 is, 07 and +7 are not."""
    try:
        return str(int(user)) == user
    except ValueError:
        return False
