"""Where tables and figures find their data and keep what is done, so that an interrupted one goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from fullrank._version import __version__
from fullrank.comparison.provenance import fingerprint_of_split
from fullrank.data.sources.files import Files, is_marked
from fullrank.data.sources.known import KNOWN
from fullrank.data.split import Split
from fullrank.errors import NoInputError, OutputError
from fullrank.models.storage.feedback import fingerprint
from fullrank.runtime.atomic import write_bytes
from fullrank.runtime.output import as_json

Value = TypeVar("Value")


class Workspace:
    """Data from a folder, or wherever it is usually found; steps kept in another, or nowhere."""

    def __init__(
        self, data: Path | None = None, kept: Path | None = None, announce: Callable[[str], None] | None = None
    ) -> None:
        if data is not None and not data.is_dir():
            raise NoInputError(f"{data}: no such folder; give one that has the data sets in folders of their names.")
        self.folder, self.kept, self.announce = data, kept, announce
        self._done: dict[str, Any] = {}

    def data(self, name: str, **settings: Any) -> Any:
        """A data set by its name."""
        key = " ".join([name, *(f"{option}={value}" for option, value in sorted(settings.items()))])
        return self.once(key, lambda: self._read(key, name, settings))

    def has(self, name: str) -> bool:
        """Whether the data set is there."""
        try:
            self.data(name)
        except NoInputError:
            return False
        return True

    def finds(self, name: str) -> bool:
        """Whether there is a folder for the data set; nothing is read."""
        try:
            Files(KNOWN[name].dataset, self._folder(name))
        except NoInputError:
            return False
        return True

    def once(self, key: str, run: Callable[[], Value]) -> Value:
        """What `run` gives, run once in the life of this workspace."""
        if key not in self._done:
            self._done[key] = run()
        value: Value = self._done[key]
        return value

    def step(self, name: str, run: Callable[[], Value]) -> Value:
        """What `run` gives (plain JSON), kept under this name; not run again where it is there for this version."""
        value: Value
        if (kept := self._read_step(name)) is not None:
            value = kept["value"]
            return value
        if self.announce is not None:
            self.announce(name)
        value = json.loads(as_json(run()))
        self._keep(name, value)
        return value

    def _read(self, key: str, name: str, settings: dict[str, Any]) -> Any:
        """The data; steps that were kept with other data of this name are not to be taken for its own."""
        data = KNOWN[name].read(self._folder(name), **settings).data
        step, digest = f"data/{key}", fingerprint_of_split(data) if isinstance(data, Split) else fingerprint(data)
        before = self._read_step(step)
        if before is not None and before["value"] != digest:
            raise OutputError(
                f"{self.kept}: the steps kept here were run on other data for {name}; "
                "choose another folder with --out, or remove this one."
            )
        self._keep(step, digest)
        return data

    def _folder(self, name: str) -> Path | None:
        """The folder of a data set: one of its name in that of the workspace, or that itself."""
        if self.folder is None:
            return None
        dataset = KNOWN[name].dataset
        named = [place for one in (name, *dataset.folders) if (place := self.folder / one).is_dir()]
        marked = [place for place in (*named, self.folder) if is_marked(place, dataset)]
        return next(iter([*marked, *named]), None)

    def _path(self, name: str) -> Path | None:
        return None if self.kept is None else self.kept / f"{name}.json"

    def _read_step(self, name: str) -> dict[str, Any] | None:
        """The step as it was kept by this version; None where there is none, or what is there is damaged."""
        path = self._path(name)
        if path is None or not path.exists():
            return None
        try:
            content = json.loads(path.read_text("utf-8"))
        except ValueError:
            return None
        whole = isinstance(content, dict) and content.keys() >= {"version", "value"}
        return content if whole and content["version"] == __version__ else None

    def _keep(self, name: str, value: Any) -> None:
        path = self._path(name)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, as_json({"version": __version__, "value": value}), overwrite=True)
