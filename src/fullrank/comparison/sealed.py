"""Sealed protocols: training data, held-out data and rules in one file, with an id that changes if anything does.

The file is a zip archive: `protocol.json` with the rules and fingerprints, and parquet tables of users, items and the
parts of the split, which any tool can read. A public copy has no held-out part, and the same id.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fullrank.comparison.compare import compare
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.judge import read_all
from fullrank.comparison.naming import Compared
from fullrank.comparison.protocol import make_setting
from fullrank.comparison.provenance import result_id
from fullrank.comparison.results import as_plain
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions, Meaning
from fullrank.data.split import Split
from fullrank.data.split.parts import Repeats
from fullrank.data.write import names_of
from fullrank.errors import DataError, NoInputError, shown
from fullrank.metrics.metric import Metric
from fullrank.models.storage.feedback import file_bytes, fingerprint
from fullrank.runtime.atomic import write_with

FORMAT: Literal[1] = 1
RULES = "protocol.json"
PARTS = ("train", "visible", "held_out")
MOMENT = (1980, 1, 1, 0, 0, 0)  # of all files in the archive: the same bytes whenever it is made


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a game is played by, and the fingerprints of what it is played with."""

    format: Literal[1] = FORMAT
    title: str
    kind: str
    how: str  # it was split
    relevant: float | None
    metrics: tuple[str, ...]  # the first one decides
    exclude: Literal["train"] | None
    seed: int
    repeats: tuple[int, int, int, bool] | None = None  # of a split of events
    meaning: dict[str, Meaning | None]  # of the values of every part
    fingerprints: dict[str, str]  # of every part

    @property
    def id(self) -> str:
        """Changes with any rule, and with any row of any part."""
        text = json.dumps(as_plain(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class SealedProtocol:
    """A game for recommenders: who knows what, what was held out, and how that is judged.

    Make one with `seal`, keep it with `save`, and judge anybody's lists by it: the same lists get the same numbers,
    and the same ids, wherever it is opened with `open_protocol`.
    """

    rules: Rules
    parts: Mapping[str, Interactions]

    @property
    def id(self) -> str:
        """Of this game and no other."""
        return self.rules.id

    @property
    def train(self) -> Interactions:
        """What everybody may learn from."""
        return self.parts["train"]

    @cached_property
    def split(self) -> Split[Any]:
        """All parts; of a public copy, which has nothing held out, an error."""
        if "held_out" not in self.parts:
            raise DataError("this copy of the protocol has no held-out part; ask whoever made it to judge.")
        repeats = None if self.rules.repeats is None else Repeats(*self.rules.repeats)
        visible = self.parts.get("visible")
        return Split(self.train, self.parts["held_out"], visible=visible, how=self.rules.how, repeats=repeats)

    def judge(
        self, given: Mapping[str, Compared], *, recipes: Sequence[Compared] = (), out: Any = None, **more: Any
    ) -> Comparison:
        """The verdict on lists, scores, models or recipes, by the rules; `more` as in `compare`.

        `given` is what `fullrank.judge` takes. The results' manifest has the protocol's id and one of the result.
        """
        judged, rules = read_all(given, recipes), self.rules
        made = compare(
            self.split, judged, relevant=rules.relevant, metrics=rules.metrics, kind=rules.kind, exclude=rules.exclude,
            seed=rules.seed, repeat=self.split.overlaps, title=more.pop("title", "") or rules.title, out=out, **more,
        )  # fmt: skip
        manifest = replace(made.results.manifest, protocol=self.id)
        results = replace(made.results, manifest=manifest)
        results = replace(results, manifest=replace(manifest, result=result_id(results)))
        sealed = replace(made, results=results)
        if out is not None:
            sealed.save(out)
        return sealed

    def save(self, path: str | Path, *, public: bool = False, overwrite: bool = False) -> None:
        """The file, whole or not at all; a `public` copy has no held-out part, and the same id."""
        kept = {name: part for name, part in self.parts.items() if not (public and name == "held_out")}
        write_with(path, lambda file: _write(file, self.rules, kept), overwrite=overwrite)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(part):,} {name}" for name, part in self.parts.items())
        return f"SealedProtocol({self.id}: {sizes})"


def seal(
    data: Any,
    *,
    split: str | None = None,
    relevant: float | None = None,
    metrics: Sequence[str | Metric] | None = None,
    exclude: Literal["train"] | None = "train",
    repeat: bool = False,
    seed: int = 0,
    title: str = "",
) -> SealedProtocol:
    """A game from data or a split, by the rules that `compare` would use.

    Parameters
    ----------
    data
        Ratings or events, or a `Split` of them.
    split
        As in `compare`: "leave-last:5", "holdout:0.2", "time:0.2" or "time:2001-01-31".
    relevant
        The least rating that counts as relevant.
    metrics
        Names or metrics; the first one decides.
    exclude
        "train" leaves what somebody has seen out of their candidates, None does not.
    repeat
        Of `Events`: whether what somebody had before stays a candidate.
    seed
        Of the split, and of all that is drawn when the verdict is found.
    title
        What reports are called.

    >>> from fullrank.data.simulate import ratings
    >>> game = seal(ratings(60, 80).data, split="holdout:0.2")
    >>> game.id == seal(ratings(60, 80).data, split="holdout:0.2").id, len(game.id)
    (True, 32)
    """
    setting = make_setting(
        data, split=split, relevant=relevant, metrics=metrics, exclude=exclude, repeat=repeat, seed=seed
    )
    made = setting.split
    if not isinstance(made.train, Interactions):
        raise DataError(f"a protocol is made of ratings or events, not of {setting.kind}.")
    _ = setting.judged  # nothing to judge is told now
    parts = {name: part for name in PARTS if (part := getattr(made, name)) is not None}
    rules = Rules(
        title=title, kind=setting.kind, how=made.how,
        relevant=None if setting.relevant is None else float(setting.relevant),
        metrics=tuple(map(str, setting.metrics)), exclude=setting.exclude, seed=int(seed),
        repeats=None if made.repeats is None else _plain(made.repeats),
        meaning={name: part.kind for name, part in parts.items()},
        fingerprints={name: _fingerprint(part) for name, part in parts.items()},
    )  # fmt: skip
    return SealedProtocol(rules, parts)


def open_protocol(path: str | Path) -> SealedProtocol:
    """A protocol from its file; one that was changed or damaged is refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            rules = _rules(archive.read(RULES))
            tables = {name: _table(archive, name) for name in ("users", "items")}
            users, items = (Ids(tables[name]["id"].to_list()) for name in ("users", "items"))
            there = [name for name in PARTS if f"{name}.parquet" in archive.namelist()]
            parts = {name: _part(_table(archive, name), users, items, rules.meaning.get(name)) for name in there}
    except OSError as error:
        raise NoInputError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (zipfile.BadZipFile, KeyError, zipfile.LargeZipFile, EOFError, DataError) as error:
        raise DataError(f"{path}: is no protocol, or damaged ({shown(str(error).splitlines()[0])}).") from error
    for name, part in parts.items():
        if rules.fingerprints.get(name) != _fingerprint(part):
            raise DataError(f"{path}: {name} is not what the protocol was sealed with; fetch it again.")
    if "train" not in parts or set(rules.fingerprints) - set(parts) - {"held_out"}:
        raise DataError(f"{path}: a part of the protocol is missing; fetch it again.")
    return SealedProtocol(rules, parts)


def _rules(content: bytes) -> Rules:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(Rules).validate_json(content, strict=False, extra="forbid")
    except ValidationError as error:
        fault = error.errors()[0]
        raise DataError(f"{RULES}: {'.'.join(map(str, fault['loc']))}: {fault['msg'].lower()}") from error


def _plain(repeats: Repeats) -> tuple[int, int, int, bool]:
    return repeats.events, repeats.repeated, repeats.users, repeats.kept


def _fingerprint(part: Interactions) -> str:
    """Of ids, rows, values and times."""
    digest = hashlib.sha256(fingerprint(part).encode())
    if part.time is not None:
        digest.update(file_bytes(part.time.view(np.int64)))
    return digest.hexdigest()


def _write(file: Any, rules: Rules, parts: Mapping[str, Interactions]) -> None:
    import polars as pl

    train = parts["train"]
    tables = {
        name: pl.DataFrame({"id": names_of(ids, np.arange(len(ids)))})
        for name, ids in (("users", train.users), ("items", train.items))
    }
    for name, part in parts.items():
        columns = {"user": names_of(part.users, part.user), "item": names_of(part.items, part.item)}
        optional = {"value": part.value, "time": None if part.time is None else part.time.view(np.int64)}
        tables[name] = pl.DataFrame(columns | {name: array for name, array in optional.items() if array is not None})
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        content = json.dumps(as_plain(rules), indent=1, ensure_ascii=False)
        archive.writestr(zipfile.ZipInfo(RULES, MOMENT), content)
        for name, table in tables.items():
            body = io.BytesIO()
            table.write_parquet(body)
            archive.writestr(zipfile.ZipInfo(f"{name}.parquet", MOMENT), body.getvalue())


def _table(archive: zipfile.ZipFile, name: str) -> Any:
    import polars as pl

    try:
        return pl.read_parquet(io.BytesIO(archive.read(f"{name}.parquet")))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise KeyError(f"{name}.parquet: {error}") from error


def _part(table: Any, users: Ids, items: Ids, meaning: Meaning | None) -> Interactions:
    user, item = users.codes(table["user"].to_list()), items.codes(table["item"].to_list())
    value = table["value"].to_numpy() if "value" in table.columns else None
    time = table["time"].to_numpy().view("datetime64[us]") if "time" in table.columns else None
    return Interactions(user, item, value, time, users, items, kind=meaning)
