"""DATA as people write it: a file, the folder of a known data set, or its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fullrank.data import sources
from fullrank.data.attributes import Attributes
from fullrank.data.ids import Ids
from fullrank.data.read import read, read_preferences, read_sessions, read_with_repeats
from fullrank.data.read_attributes import Role, read_attributes
from fullrank.data.reading.stream import Stream
from fullrank.data.reading.table import column_names
from fullrank.data.split import Split
from fullrank.errors import NoInputError, ParameterError

Kind = Literal["ratings", "events", "sessions", "preferences"]

KINDS: tuple[Kind, ...] = ("ratings", "events", "sessions", "preferences")


@dataclass(frozen=True)
class Loaded:
    """Feedback, what to call it and its items, and what a reader of numbers should know about it."""

    name: str
    data: Any
    kind: Kind | None = None  # None: to be found out
    titles: Sequence[str] = ()
    notes: Sequence[str] = field(default=())
    item_attributes: Attributes | None = None
    user_attributes: Attributes | None = None
    genres: Sequence[Sequence[str]] = ()  # of every item, by code

    @property
    def words(self) -> Sequence[Sequence[str]]:
        """What items have in common: what a table says of them, else their genres."""
        items = getattr(self.data, "items", None) or self.data.train.items
        return self.genres if self.item_attributes is None else self.item_attributes.words_for(items)


def load(
    source: str,
    *,
    kind: Kind | None = None,
    columns: Mapping[str, str | int] | None = None,
    scale: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    items: str | None = None,
    users: str | None = None,
    **options: Any,
) -> Loaded:
    """Read DATA, and files about its `items` and `users` where they are given; see `load_feedback` for the rest."""
    for path in (items, users):
        if path is not None:
            _check_there(path)
    loaded = load_feedback(source, kind=kind, columns=columns, scale=scale, settings=settings, **options)
    if items is None and users is None:
        return loaded
    return add_attributes(loaded, items, users, options.get("encoding") or "utf-8")


def _check_there(path: str) -> None:
    """Refuse a file that is not there before anything else is read."""
    if not Path(path).exists() or Path(path).is_dir():
        with Stream(path):
            pass


def add_attributes(loaded: Loaded, items: str | None, users: str | None, encoding: str = "utf-8") -> Loaded:
    """The same data with what files say of its items and users; how many of them have no row is told."""
    whole = loaded.data.train if isinstance(loaded.data, Split) else loaded.data
    of_items = _about("item", items, whole.items, encoding)
    of_users = _about("user", users, whole.users, encoding)
    titles = loaded.titles if of_items.table is None else of_items.table.titles_for(whole.items)
    notes = (*loaded.notes, *of_items.notes, *of_users.notes)
    return replace(loaded, titles=titles, notes=notes, item_attributes=of_items.table, user_attributes=of_users.table)


class _About(NamedTuple):
    """What a file says of items or users, and what is to be told of it."""

    table: Attributes | None = None
    notes: tuple[str, ...] = ()


def _about(of: Role, path: str | None, ids: Ids, encoding: str) -> _About:
    if path is None:
        return _About()
    table = read_attributes(path, ids, of=of, encoding=encoding)
    unknown = table.count_unknown(ids)
    lost = f"; {unknown:,} of {len(ids):,} {of}s of the data have no row there" if unknown else ""
    return _About(table, (f"{path} has {len(table):,} {of}s with {', '.join(table.columns)}{lost}",))


def load_feedback(
    source: str,
    *,
    kind: Kind | None = None,
    columns: Mapping[str, str | int] | None = None,
    scale: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Loaded:
    """Read DATA alone. Without a `kind`, columns better and worse are taken for preferences, session with grade or
    action for sessions. `options` are those of `read`.
    """
    if kind is not None and kind not in KINDS:
        raise ParameterError(f"'{kind}' is no kind of feedback; write {', '.join(KINDS)}.")
    if not is_file(source):
        known = load_known(source, dict(settings or {}))
        return Loaded(known.name, known.data, kind, known.titles, known.notes, genres=known.genres)
    if settings:
        raise ParameterError(f"{source} is a file and has no options; they are for known data sets.")
    given = {name: value for name, value in options.items() if value is not None}
    named = set(columns) if columns else _names(source, given)
    if kind == "preferences" or (kind is None and {"better", "worse"} <= named):
        return Loaded(source, read_preferences(source, columns, **given), "preferences")
    if kind == "sessions" or (kind is None and "session" in named and named & {"grade", "action"}):
        if scale is None and "action" in named and "grade" not in named:
            raise ParameterError(f"{source}: actions need their scale, worst first: --scale shown,clicked,bought.")
        return Loaded(source, read_sessions(source, columns, scale=scale, **given), "sessions")
    if scale is not None:
        raise ParameterError(f"{source}: a scale of actions is for sessions, and none are read; say --kind sessions.")
    feedback = {"events": "implicit", "ratings": "explicit"}.get(kind or "")
    reader: Callable[..., Any] = read if kind == "ratings" else read_with_repeats
    return Loaded(source, reader(source, columns, **{"feedback": feedback, **given}), kind)


def _names(source: str, given: Mapping[str, Any]) -> set[str]:
    """The columns of a file that can be read twice."""
    if not Path(source).is_file():
        return set()
    return column_names(source, given.get("separator"), given.get("encoding", "utf-8"))


def is_file(source: str) -> bool:
    """Whether DATA is something to read as a file: a path, a pipe, standard input."""
    return source == "-" or (Path(source).exists() and not Path(source).is_dir())


def load_known(source: str, settings: dict[str, Any]) -> sources.Source[Any]:
    """DATA that is no file: the folder of a known data set, or its name; with all events where it has such."""
    if Path(source).is_dir() or source in sources.names():
        keep = "events" in sources.options_of(source) and "duplicates" not in settings
        return sources.load(source, **({"events": True} if keep else {}) | settings)
    names = ", ".join(sources.names())
    raise NoInputError(f"{source}: no such file, and no known data set ({names}); check the path.")
