"""What a comparison found, to read, print, keep and show."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullrank.comparison.results import Estimate, Results
from fullrank.comparison.runs import Store
from fullrank.comparison.tables import BOUNDS, latex, markdown, text
from fullrank.errors import ModelFileError, ParameterError
from fullrank.models.files import save
from fullrank.models.kinds.model import Model
from fullrank.runtime.atomic import write_bytes, write_with
from fullrank.runtime.output import as_json, output_folder

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several models on the same cases: what was found, and the models themselves."""

    #: everything that was found
    results: Results
    #: the models that were fitted just now, by name
    models: Mapping[str, Model] = field(default_factory=dict, repr=False)
    #: where the others are kept
    store: Store | None = field(default=None, repr=False)

    @property
    def best(self) -> str:
        """The name of the best model by the deciding metric."""
        return self.results.verdict.best

    @property
    def verdict(self) -> str:
        """Which model to use, and how sure that is, in one sentence."""
        return self.results.verdict.sentence

    def model(self, name: str | None = None) -> Model:
        """A fitted model, by default the best."""
        name = self.best if name is None else name
        if name in self.models:
            return self.models[name]
        if self.store is None or not (self.store.of(name) / "model.fr").exists():
            raise ParameterError(f"there is no model '{name}' here; there are {', '.join(self.models) or 'none'}.")
        return self.store.model(name)

    def to_frame(self) -> pl.DataFrame:
        """A row for every model and metric: mean, 95% interval, and the letters of what cannot be told apart.

        `least` and `most` are the bounds of what lists leave open, null where nothing is.
        """
        import polars as pl

        rows = [
            (
                model.name,
                metric.name,
                value.mean,
                value.low,
                value.high,
                value.group,
                metric.unbiased,
                *(value.bounds or (None, None)),
            )
            for model in self.results.models
            for metric in self.results.metrics
            if (value := model.metrics.get(metric.name)) is not None
        ]
        kinds: dict[str, Any] = dict.fromkeys(("model", "metric"), pl.String)
        kinds |= dict.fromkeys(("mean", "low", "high"), pl.Float64) | {"group": pl.String, "unbiased": pl.Boolean}
        kinds |= dict.fromkeys(("least", "most"), pl.Float64)
        return pl.DataFrame(rows, schema=kinds, orient="row")

    def to_json(self) -> dict[str, Any]:
        """Everything that was found, as results.json has it."""
        return self.results.to_json()

    def markdown(self) -> str:
        """The table of models and metrics for a text."""
        return markdown(self.results)

    def latex(self) -> str:
        """The same for an article."""
        return latex(self.results)

    def save(self, to: str | PathLike[str]) -> None:
        """results.json, manifest.json and the best model, in a folder that is made if it is not there."""
        folder = output_folder(Path(to))
        write_bytes(folder / "results.json", as_json(self.to_json()), overwrite=True)
        write_bytes(folder / "manifest.json", as_json(self.to_json()["manifest"]), overwrite=True)
        self._save_best(folder / "model.fr")

    def _save_best(self, path: Path) -> None:
        kept = None if self.store is None else self.store.of(self.best) / "model.fr"
        if kept is not None and kept.exists():
            with kept.open("rb") as source:
                write_with(path, lambda target: shutil.copyfileobj(source, target), overwrite=True)
            return
        try:
            save(self.model(), path, overwrite=True)
        except (ModelFileError, ParameterError):  # a recipe of somebody's own, which no file can name; or lists
            path.unlink(missing_ok=True)

    def __str__(self) -> str:
        return text(self.results)

    def _repr_html_(self) -> str:
        metrics = [metric.name for metric in self.results.metrics]
        head = "".join(f"<th>{escape(name)}</th>" for name in ("model", *metrics))
        rows = "".join(
            f"<tr><td>{escape(model.name)}</td>"
            + "".join(_cell(model.metrics.get(name)) for name in metrics) + "</tr>"
            for model in self.results.models
        )  # fmt: skip
        return f"<p><strong>{escape(self.verdict)}</strong></p><table><tr>{head}</tr>{rows}</table>"


def _cell(value: Estimate | None) -> str:
    if value is None or value.mean is None:
        return "<td></td>"
    group = f"<sup>{escape(value.group)}</sup>"
    if value.bounds is not None:
        return f"<td title='{escape(BOUNDS)}'>{value.bounds[0]:.4f} to {value.bounds[1]:.4f}{group}</td>"
    title = "" if value.low is None else f" title='{value.low:.4f} to {value.high:.4f}'"
    return f"<td{title}>{value.mean:.4f}{group}</td>"
