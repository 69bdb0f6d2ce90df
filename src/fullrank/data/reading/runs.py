"""Lists and judgements in the forms of retrieval: TREC runs and qrels, JSON by query, JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fullrank.data.reading.encoding import as_utf8
from fullrank.data.reading.names import USUAL_NAMES, plain
from fullrank.data.reading.stream import Stream
from fullrank.errors import DataError, shown

RUN = r"^\s*(?<user>\S+)\s+(?<zero>\S+)\s+(?<item>\S+)\s+(?<rank>\S+)\s+(?<score>\S+)(?:\s+\S+)?\s*$"
QRELS = r"^\s*(?<user>\S+)\s+(?<zero>\S+)\s+(?<item>\S+)\s+(?<value>\S+)\s*$"
ZERO = ("0", "q0", "Q0")  # what stands in the second column of either
SAMPLE = 50  # lines that are looked at
LARGEST = 4 << 30  # bytes of JSON or TREC text, which is read whole


def form_of(head: bytes) -> str:
    """ "run", "qrels", "json" or "jsonl" by the first bytes of a text; "" where it is none of them.

    >>> form_of(b"q1 Q0 d7 1 0.9 mine"), form_of(b"q1 0 d7 1"), form_of(b'{"q1": {"d7": 0.9}}'), form_of(b"1,2,3")
    ('run', 'qrels', 'json', '')
    """
    text = head.decode("utf-8", "replace").lstrip("\ufeff \r\n\t")
    lines = [line.split() for line in text.splitlines()[:SAMPLE] if line.strip()]
    if text.startswith("{"):
        return "jsonl" if _are_rows(text.splitlines()) else "json"
    runs = sum(len(line) in (5, 6) and line[1] in ZERO for line in lines)
    judged = sum(len(line) == 4 and line[1] in ZERO for line in lines)
    return "run" if 2 * runs >= max(len(lines), 1) else "qrels" if 2 * judged >= max(len(lines), 1) else ""


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _are_rows(lines: list[str]) -> bool:
    """Whether every line is an object by itself, and not one object with a person for every key."""
    if not _is_object(lines[0]):
        return False
    return len(lines) > 1 or any(plain(name) in USUAL_NAMES["user"] for name in json.loads(lines[0]))


def trec_columns(stream: Stream, form: str, encoding: str) -> dict[str, Any]:
    """The columns of a TREC run or qrels file, whatever blanks stand between them."""
    import polars as pl

    lines = pl.Series(_text(stream, encoding).splitlines(), dtype=pl.String)
    place = pl.Series(range(1, len(lines) + 1))
    there = lines.str.strip_chars() != ""
    fields = lines.filter(there).str.extract_groups(RUN if form == "run" else QRELS).struct.unnest()
    broken = fields["item"].is_null()
    if broken.any():
        line = int(place.filter(there).filter(broken)[0])
        parts = "user Q0 item rank score name" if form == "run" else "user 0 item relevance"
        raise DataError(f"{stream.name}:{line}: {shown(lines[line - 1])} is no line of '{parts}'; repair it.")
    numbers = ("rank", "score") if form == "run" else ("value",)
    for name in numbers:
        number = fields[name].cast(pl.Float64, strict=False)
        if number.null_count() or not number.is_finite().all():
            row = int((number.is_null() | ~number.is_finite().fill_null(False)).arg_max() or 0)
            line = int(place.filter(there)[row])
            raise DataError(f"{stream.name}:{line}: {name} {shown(fields[name][row])} is no finite number; correct it.")
        fields = fields.with_columns(number.alias(name))
    return {name: fields[name] for name in ("user", "item", *numbers)}


def json_columns(stream: Stream, encoding: str) -> dict[str, Any]:
    """The columns of {user: {item: number}} or {user: [items]}, as JSON."""
    try:
        content = json.loads(_text(stream, encoding))
    except ValueError as error:
        raise DataError(f"{stream.name}: is no JSON ({error}); write it again.") from error
    return mapping_columns(content, stream.name)


def mapping_columns(content: Mapping[Any, Any], name: str) -> dict[str, Any]:
    """Columns user, item and number of {user: {item: number}}; of {user: [items]} without numbers."""
    user: list[Any] = []
    item: list[Any] = []
    number: list[float] = []
    for who, items in content.items():
        if not isinstance(items, Mapping | list | tuple):
            raise DataError(f"{name}: {shown(who)} has {shown(items)}; give a list of items, or items with scores.")
        user += [who] * len(items)
        item += list(items)
        number += list(items.values()) if isinstance(items, Mapping) else []
    if number and len(number) != len(item):
        raise DataError(f"{name}: some lists have scores and some have none; give all of them scores, or none.")
    return {"user": user, "item": item} | ({"score": number} if number else {})


def jsonl_frame(stream: Stream, encoding: str) -> Any:
    """A data frame of JSON lines: an object per row, or one per person with lists."""
    import polars as pl

    text = _text(stream, encoding)
    try:
        return pl.read_ndjson(text.encode(), infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        for place, line in enumerate(text.splitlines(), 1):
            if line.strip() and not _is_object(line):
                raise DataError(f"{stream.name}:{place}: {shown(line)} is no JSON object; repair the line.") from error
        reason = shown(str(error).splitlines()[0])
        raise DataError(f"{stream.name}: its lines cannot be read as one table ({reason}).") from error


def _text(stream: Stream, encoding: str) -> str:
    content = as_utf8(stream, encoding).read(LARGEST + 1)
    if len(content) > LARGEST:
        raise DataError(f"{stream.name}: is over {LARGEST >> 30} GiB of text; give it as parquet or csv.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{stream.name}: byte {error.start:,} is not UTF-8; pass encoding='latin-1' (--encoding latin-1) if it is "
            "that."
        ) from error
