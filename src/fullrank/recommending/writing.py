"""Lists for many people in a file: made in parts that are kept, so that an interrupted job goes on."""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from fullrank._version import __version__
from fullrank.data.write import COMPRESS, SEPARATORS, without_formulas
from fullrank.errors import FullrankError, LockedError, ParameterError, check_integer
from fullrank.models.kinds.model import Model
from fullrank.models.recipes import RECIPES
from fullrank.models.storage.files import digest
from fullrank.recommending.batch import Lists, make_lists
from fullrank.recommending.candidates import find_candidates
from fullrank.recommending.recommendations import Columns, Users, ask, blocks
from fullrank.recommending.request import Request
from fullrank.recommending.rules import Rules
from fullrank.runtime.atomic import check_writable, locked, write_bytes, write_with
from fullrank.runtime.output import as_json, output_folder
from fullrank.runtime.stopping import kept_steps, stop_if_asked

Progress: TypeAlias = Callable[[int, int], object]  # people done, of how many

FORMATS = (*SEPARATORS, ".parquet", ".jsonl")
GROUP = 1 << 18  # rows of a group in a parquet file


class Written(NamedTuple):
    """What is in the file: how many people and rows, how many people got what is popular, and what to tell."""

    people: int
    rows: int
    popular: int
    notes: tuple[str, ...]


def write_recommendations(
    model: Model, path: str | Path, *, users: Users = "all", n: int = 10, rules: Rules | None = None,
    overwrite: bool = False, excel_safe: bool = False, progress: Progress | None = None,
) -> Written:  # fmt: skip
    """Write the lists of these people to a file: a row for every user and rank, with item, score and fallback.

    Whole or not at all. Parts are kept in a folder beside it, PATH.parts, until it is there: started again with the
    same model, people and rules, an interrupted job goes on from them and ends with the same bytes. (A model that no
    file can keep starts again.) Two jobs for one file at a time are refused.

    Parameters
    ----------
    model
        A fitted model.
    path
        Where to: .csv, .tsv or .jsonl, also with .gz or .zst, or .parquet.
    users
        Their names, or "all" of the training data.
    n
        How many items a list has.
    rules
        What lists may hold.
    overwrite
        Whether a file of that name may be replaced.
    excel_safe
        Put a ' before ids that a spreadsheet would take for a formula, which changes those ids; text only.
    progress
        Called with how many people are done, and of how many.
    """
    target = Path(path)
    write = _writer(target, excel_safe)
    check_integer("n", n, 1)
    check_writable(target, overwrite=overwrite)
    candidates = find_candidates(model, rules or Rules())
    request, notes = ask(candidates, users)
    with _parts_of(target, _key(request, n)) as parts:
        found = parts.make(request, n, progress)
        write_with(
            target, lambda file: write(file, [parts.file(number) for number in range(len(found))]), overwrite=overwrite
        )
    rows, popular = (sum(part[what] for part in found) for what in ("rows", "popular"))
    return Written(len(request), rows, popular, (*candidates.notes, *notes))


@dataclass(frozen=True)
class Parts:
    """Lists of some people each, in files of one folder; `key` tells what they are of, and no other is taken for it."""

    folder: Path
    key: str

    def file(self, number: int) -> Path:
        """A part."""
        return self.folder / f"{number:06}.arrow"

    def make(self, request: Request, n: int, progress: Progress | None) -> list[dict[str, Any]]:
        """All parts, but those that are there and whole; what is in each. One is written while the next is made."""
        columns = Columns(request.names, request.candidates.model.train.items)
        found: list[Future[dict[str, Any]]] = []
        with kept_steps(), ThreadPoolExecutor(1) as pool:
            done = 0
            for number, rows in enumerate(blocks(len(request), n)):
                stop_if_asked()
                kept = self._find(number)
                lists = None if kept else make_lists(request, rows, n)
                if found:
                    found[-1].result()  # no more than one waits to be written
                found.append(pool.submit(self._keep, number, lists, columns, done) if lists else _done(kept))
                done += len(rows)
                if progress is not None:
                    progress(done, len(request))
            return [part.result() for part in found]

    def _find(self, number: int) -> dict[str, Any] | None:
        """What a part holds that was made for the same and is whole; None where there is none."""
        try:
            said: dict[str, Any] = json.loads(self._label(number).read_text())
            whole = said["key"] == self.key and said["sha256"] == _hash(self.file(number))
            return said if whole and {"rows", "popular"} <= said.keys() else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _keep(self, number: int, lists: Lists, columns: Columns, first: int) -> dict[str, Any]:
        """Write a part; its label, which is written last, says that it is whole."""
        frame = columns.frame(lists, first)
        self._label(number).unlink(missing_ok=True)
        write_with(self.file(number), frame.write_ipc, overwrite=True)
        said = {
            "key": self.key, "sha256": _hash(self.file(number)), "rows": frame.height,
            "popular": int(lists.popular.sum()),
        }  # fmt: skip
        write_bytes(self._label(number), as_json(said), overwrite=True)
        return said

    def _label(self, number: int) -> Path:
        return self.file(number).with_suffix(".json")


def _done(kept: dict[str, Any] | None) -> Future[dict[str, Any]]:
    future: Future[dict[str, Any]] = Future()
    future.set_result(kept or {})
    return future


@contextmanager
def _parts_of(target: Path, key: str) -> Iterator[Parts]:
    """The parts of a file, for one process at a time; gone when it is written."""
    folder = output_folder(target.with_name(target.name + ".parts"))
    with locked(folder / "parts"):
        if not (folder / "parts.lock").exists():  # whoever held it has just finished
            raise LockedError(f"{target}: another process has written it meanwhile; start again if it is not that.")
        yield Parts(folder, key)
        shutil.rmtree(folder)


def _key(request: Request, n: int) -> str:
    """What parts belong to: the model, the people, the rules, how many items; another version makes them again."""
    try:
        model = digest(request.candidates.model, RECIPES)
    except FullrankError:  # no file can keep it, so nobody can tell whether it is the same
        model = uuid.uuid4().hex
    people = hashlib.sha256(repr(request.names.names.tolist()).encode()).hexdigest()
    said = f"{__version__} {model} {people} {n} {request.candidates.rules.digest()}"
    return hashlib.sha256(said.encode()).hexdigest()


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _writer(target: Path, excel_safe: bool) -> Callable[[IO[bytes], Sequence[Path]], None]:
    """What writes parts to a file of this name."""
    suffixes = [suffix for suffix in target.suffixes[-2:] if suffix in (*FORMATS, ".gz", ".zst")]
    kind = suffixes[0] if suffixes else ""
    if kind not in FORMATS or suffixes[-1] != target.suffix or (kind == ".parquet" and len(suffixes) > 1):
        raise ParameterError(
            f"cannot tell a format from '{target}'; end it with .csv, .tsv, .jsonl (.csv.gz, .csv.zst) or .parquet."
        )
    if kind == ".parquet":
        return _write_parquet
    compress = COMPRESS[suffixes[1] if len(suffixes) > 1 else ""]
    return lambda file, parts: compress(file, lambda out: _write_text(out, parts, kind, excel_safe))


def _write_parquet(file: IO[bytes], parts: Sequence[Path]) -> None:
    import polars as pl

    pl.scan_ipc(list(parts)).sink_parquet(file, row_group_size=GROUP, maintain_order=True)


def _write_text(out: IO[bytes], parts: Sequence[Path], kind: str, excel_safe: bool) -> None:
    import polars as pl

    for number, part in enumerate(parts):
        frame, text = pl.read_ipc(part), BytesIO()  # a part at a time: how it is compressed depends on nothing else
        frame = without_formulas(frame) if excel_safe else frame
        if kind == ".jsonl":
            frame.write_ndjson(text)
        else:
            frame.write_csv(text, separator=SEPARATORS[kind], include_header=number == 0, quote_style="non_numeric")
        out.write(text.getbuffer())
