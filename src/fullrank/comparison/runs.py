"""One model of a comparison: what was measured of it, kept on disk so that an interrupted comparison goes on."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np

from fullrank.arrays import Bools
from fullrank.comparison.outside import Outside
from fullrank.comparison.results import LibraryCount, ListMeasures, as_plain
from fullrank.models.files import load, save
from fullrank.models.kinds.model import Model
from fullrank.models.recipes import RECIPES
from fullrank.models.storage.parameters import recipe_from_json, recipe_to_json
from fullrank.ranks import COLUMNS, About, Ranks
from fullrank.runtime.atomic import write_bytes
from fullrank.runtime.output import as_json
from fullrank.tuning.summary import TuningSummary

KEPT = {**RECIPES, "Outside": Outside}  # what a part may be of


@dataclass(frozen=True, eq=False)
class Part:
    """What is known of one model: where it ranked what, whom it would recommend what, how long it took."""

    name: str
    recipe: object
    ranks: Ranks | None = None  # None where it failed
    failed: str | None = None
    tuned: TuningSummary | None = None
    lists: list[list[int]] = field(default_factory=list)  # for the people of the examples
    measures: ListMeasures | None = None  # of the lists for everybody
    truth: dict[str, float] = field(default_factory=dict)  # means on the complete truth, where that is known
    fed: str = ""  # what it learned from
    warnings: tuple[str, ...] = ()  # why its numbers are not to be trusted
    libraries: tuple[LibraryCount, ...] = ()  # its lists as other libraries count them
    new: Bools | None = None  # the cases of people of whom there is nothing to learn from
    seconds: dict[str, float] = field(default_factory=dict)


class Store:
    """A folder with a folder for every model; `key` tells what a part belongs to, and another is not taken for it."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder, key

    def of(self, name: str) -> Path:
        """The folder of a model."""
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)
        mark = "" if plain == name else "-" + hashlib.sha256(name.encode()).hexdigest()[:8]
        return self.folder / (plain[:60] + mark)

    def made(self, name: str) -> Path:
        """The same, made if it is not there."""
        folder = self.of(name)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def state(self, name: str, recipe: object) -> Path:
        """Where the fit of this recipe is kept while it runs; another fit has another place."""
        return self.made(name) / f"state-{self._key_of(recipe)[:16]}"

    def keep(self, part: Part, model: Model | None, given: object) -> None:
        """All of a part; the last file says that it is whole. Recipes that no file can name are not kept."""
        if type(part.recipe) not in KEPT.values():
            return
        folder = self.made(part.name)
        (folder / "part.json").unlink(missing_ok=True)  # what follows is of another part until it is written again
        kept = {
            "key": self._key_of(given), "recipe": recipe_to_json(part.recipe, KEPT), "failed": part.failed,
            "tuned": None if part.tuned is None else part.tuned.to_json(),
            "lists": part.lists, "measures": as_plain(part.measures), "truth": part.truth, "fed": part.fed,
            "warnings": list(part.warnings), "libraries": as_plain(part.libraries), "seconds": part.seconds,
        }  # fmt: skip
        if part.ranks is not None:
            columns = {name: getattr(part.ranks, name) for name in ("start", *COLUMNS)} | {"new": part.new}
            file = BytesIO()
            np.savez(file, **{name: column for name, column in columns.items() if column is not None})
            write_bytes(folder / "ranks.npz", file.getvalue(), overwrite=True)
            kept["about"] = asdict(part.ranks.about)
        (folder / "model.fr").unlink(missing_ok=True)
        if model is not None:
            save(model, folder / "model.fr", overwrite=True)
        write_bytes(folder / "part.json", as_json(kept), overwrite=True)
        self._forget_states(part.name)

    def _forget_states(self, name: str) -> None:
        for state in self.of(name).glob("state*"):
            state.unlink(missing_ok=True)

    def find(self, name: str, given: object) -> Part | None:
        """The part of a model that was made by the same recipe on the same data, if there is one and it is whole."""
        try:
            key, part = self.read(name)
        except (OSError, ValueError, KeyError, TypeError):
            return None  # not there, or not whole: made again
        if key != self._key_of(given) or part.failed is not None:
            return None
        self._forget_states(name)  # left where the process was killed after the last file
        return part

    def read(self, name: str) -> tuple[str, Part]:
        """The part of a model, and what it belongs to."""
        folder = self.of(name)
        kept = json.loads((folder / "part.json").read_text())
        key, recipe, about, ranks, new = kept.pop("key"), kept.pop("recipe"), kept.pop("about", None), None, None
        if about is not None:
            about["notes"] = tuple(about["notes"])
            with np.load(folder / "ranks.npz", allow_pickle=False) as file:
                columns = dict(file)
            new = columns.pop("new", None)
            ranks = Ranks(**columns, about=About(**about))
        tuned, measures = kept.pop("tuned"), kept.pop("measures")
        kept["warnings"] = tuple(kept["warnings"])
        kept["libraries"] = tuple(LibraryCount(**row) for row in kept["libraries"])
        summary = None if tuned is None else TuningSummary.from_json(tuned)
        look = None if measures is None else ListMeasures(**measures)
        return key, Part(name, recipe_from_json(recipe, KEPT), ranks, tuned=summary, measures=look, new=new, **kept)

    def model(self, name: str) -> Model:
        """The model of a part."""
        return load(self.of(name) / "model.fr")

    def _key_of(self, given: object) -> str:
        return hashlib.sha256(f"{self.key} {given!r}".encode()).hexdigest()
