"""The models that are served, each with its versions: swapped whole, while the old one goes on serving."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from fullrank.data.attributes import Attributes
from fullrank.errors import ConfigError, NoInputError, ParameterError, shown
from fullrank.models.files import load
from fullrank.serving.served import Served, make_served

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._ +@=-]{0,254}")
VERSIONS = 16  # earlier ones of a model that can be gone back to


@dataclass(frozen=True)
class Source:
    """Where a version came from."""

    path: Path
    version: str


class Registry:
    """Models by name. Whoever holds a `Served` serves from it to the end, whatever is activated meanwhile."""

    def __init__(self, about: Attributes | None = None, folder: Path | None = None) -> None:
        self.about, self.folder = about, folder
        self._served: Mapping[str, Served] = MappingProxyType({})
        self._sources: dict[str, list[Source]] = {}
        self._lock = threading.Lock()

    def add(self, name: str, path: Path) -> Served:
        """Serve the model of a file under this name."""
        if not NAME.fullmatch(name):
            raise ParameterError(
                f"{shown(name)} is no name for a model; use up to 64 letters, digits, '.', '_' and '-'."
            )
        if name in self._served:
            raise ParameterError(f"two models are called '{name}'; give each a name of its own, name=FILE.")
        with self._lock:
            return self._take(name, path)

    def names(self) -> list[str]:
        """What models are called, in the order they were given."""
        return list(self._served)

    def get(self, name: str) -> Served | None:
        """The model of that name."""
        return self._served.get(name)

    def versions(self, name: str) -> list[str]:
        """The versions that can be activated without naming a file, the latest first."""
        return [source.version for source in reversed(self._sources[name])]

    def activate(self, name: str, *, version: str | None = None, file: str | None = None) -> Served:
        """Swap in an earlier version, or a file of the models folder; on any fault everything stays as it is.

        It takes as long as loading and warming up do; call it in a thread of its own.
        """
        with self._lock:
            path = self._path_of(name, version) if file is None else self._path_in_folder(file)
            return self._take(name, path, version)

    def _take(self, name: str, path: Path, version: str | None = None) -> Served:
        version = version or digest_of(path)
        model = load(path, sha256=version)  # what was hashed is what is loaded
        served = make_served(name, version, path.name, model, self.about)
        sources = [source for source in self._sources.get(name, []) if source.version != version]
        self._sources = {**self._sources, name: [*sources, Source(path, version)][-VERSIONS:]}
        self._served = MappingProxyType({**self._served, name: served})  # one reference: nobody sees half of it
        return served

    def _path_of(self, name: str, version: str | None) -> Path:
        """The file a version came from; or one of the folder that is that version."""
        for source in self._sources.get(name, []):
            if source.version == version:
                return source.path
        for path in [] if self.folder is None else sorted(self.folder.iterdir()):
            if path.is_file() and FILE.fullmatch(path.name) and digest_of(path) == version:
                return path
        raise NoInputError(f"there is no version {version} of '{name}'; give one that was served, or a file.")

    def _path_in_folder(self, file: str) -> Path:
        """The one place where a name becomes a path: a regular file directly in the folder, by a plain name."""
        if self.folder is None:
            raise ConfigError("there is no folder of models; start the service with --models-folder.")
        path = self.folder / file
        if not FILE.fullmatch(file) or path.resolve().parent != self.folder.resolve() or not path.is_file():
            raise NoInputError(f"there is no file {shown(file)} in the folder of models.")
        return path


def digest_of(path: Path) -> str:
    """The sha256 of a file: what a version is called."""
    try:
        if not path.is_file():
            raise NoInputError(f"{path}: no such file; check the path.")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise NoInputError(f"{path}: cannot be read ({error.strerror or error}).") from None


def parse_model(text: str) -> tuple[str, Path]:
    """What serve is given: name=FILE, or a FILE whose name without its ending is the name.

    >>> parse_model("films=m.fr"), parse_model("models/nightly.fr")
    (('films', PosixPath('m.fr')), ('nightly', PosixPath('models/nightly.fr')))
    """
    name, equals, path = text.partition("=")
    if equals and not Path(text).exists():
        return name, Path(path)
    return Path(text).stem, Path(text)


def open_registry(models: list[str], about: Attributes | None = None, folder: Path | None = None) -> Registry:
    """Serve these, as `parse_model` reads them."""
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder; give --models-folder one that is there.")
    registry = Registry(about, folder)
    for text in models:
        registry.add(*parse_model(text))
    return registry


def describe(registry: Registry, served: Served) -> dict[str, object]:
    """What is told of a model."""
    return {
        "name": served.name, "version": served.version, "file": served.file, "recipe": served.identity["model"],
        "kind": served.identity["kind"], "data": served.identity["training_data"],
        "users": served.model.train.n_users, "items": served.model.train.n_items,
        "since": served.since.isoformat(timespec="seconds"), "versions": registry.versions(served.name),
    }  # fmt: skip
