"""Models to files and back, by the table of recipes; nothing in a file is ever executed."""

from __future__ import annotations

from pathlib import Path

from fullrank.models.kinds.model import Model
from fullrank.models.recipes import RECIPES
from fullrank.models.storage.files import read_model, write_model
from fullrank.models.storage.parameters import Recipes


def save(model: Model, path: str | Path, *, overwrite: bool = False, recipes: Recipes = RECIPES) -> None:
    """Write a model to one file, whole or not at all; the same model gives the same bytes.

    Parameters
    ----------
    model
        Any model that was made by a recipe of the table; its training data is kept without times.
    path
        The file; its folder has to be there.
    overwrite
        Whether a file of that name may be replaced.
    recipes
        Recipes by the name they have in the file, for somebody's own.
    """
    write_model(model, path, recipes, overwrite=overwrite)


def load(
    path: str | Path, *, sha256: str | None = None, max_bytes: int | None = None, recipes: Recipes = RECIPES
) -> Model:
    """The model in a file, after every check there is; `ModelFileError` says what is wrong with it.

    Parameters
    ----------
    path
        The file; it is read into memory and closed, so it may be replaced afterwards.
    sha256
        What the whole file must hash to, as somebody says who is trusted.
    max_bytes
        How long the file may be.
    recipes
        Recipes by the name they have in the file, for somebody's own.
    """
    return read_model(path, recipes, sha256=sha256, max_bytes=max_bytes)
