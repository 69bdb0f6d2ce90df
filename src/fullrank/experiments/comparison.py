"""What a comparison found, to read, print, keep and show."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from fullrank.data.atomic import write_bytes, write_with
from fullrank.errors import ParameterError
from fullrank.experiments.parts import Store, as_json, output_folder
from fullrank.experiments.tables import latex, markdown, text


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of several models on the same cases; `results` holds everything, as plain as JSON."""

    results: dict[str, Any]
    models: dict[str, Any] = field(default_factory=dict, repr=False)  # those that were fitted just now
    store: Store | None = field(default=None, repr=False)

    @property
    def best(self) -> str:
        """The name of the best model by the deciding metric."""
        return str(self.results["verdict"]["best"])

    @property
    def verdict(self) -> str:
        """Which model to use, and how sure that is, in one sentence."""
        return str(self.results["verdict"]["sentence"])

    def model(self, name: str | None = None) -> Any:
        """A fitted model, by default the best."""
        wanted = self.best if name is None else name
        if wanted in self.models:
            return self.models[wanted]
        if self.store is None:
            raise ParameterError(f"there is no model '{wanted}' here; there are {', '.join(self.models) or 'none'}.")
        return self.store.model(wanted)

    def markdown(self) -> str:
        """The table of models and metrics for a text."""
        return markdown(self.results)

    def latex(self) -> str:
        """The same for an article."""
        return latex(self.results)

    def save(self, to: str | PathLike[str]) -> None:
        """results.json, manifest.json and the best model, in a folder that is made if it is not there."""
        folder = output_folder(Path(to))
        write_bytes(folder / "results.json", as_json(self.results), overwrite=True)
        write_bytes(folder / "manifest.json", as_json(self.results["manifest"]), overwrite=True)
        self._save_best(folder / "model.fr")

    def _save_best(self, path: Path) -> None:
        from fullrank.errors import ModelFileError
        from fullrank.models.files import save

        kept = None if self.store is None else self.store.of(self.best) / "model.fr"
        if kept is not None and kept.exists():
            with kept.open("rb") as source:
                write_with(path, lambda target: shutil.copyfileobj(source, target), overwrite=True)
            return
        try:
            save(self.model(), path, overwrite=True)
        except ModelFileError:  # a recipe of somebody's own, which no file can name
            path.unlink(missing_ok=True)

    def __str__(self) -> str:
        return text(self.results)

    def _repr_html_(self) -> str:
        metrics = [metric["name"] for metric in self.results["metrics"]]
        head = "".join(f"<th>{escape(name)}</th>" for name in ("model", *metrics))
        rows = "".join(
            f"<tr><td>{escape(model['name'])}</td>"
            + "".join(_cell(model["metrics"].get(name)) for name in metrics) + "</tr>"
            for model in self.results["models"]
        )  # fmt: skip
        return f"<p><strong>{escape(self.verdict)}</strong></p><table><tr>{head}</tr>{rows}</table>"


def _cell(found: dict[str, Any] | None) -> str:
    if found is None or found["mean"] is None:
        return "<td></td>"
    title = "" if found["low"] is None else f" title='{found['low']:.4f} to {found['high']:.4f}'"
    return f"<td{title}>{found['mean']:.4f}<sup>{escape(found['group'])}</sup></td>"
