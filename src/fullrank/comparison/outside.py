"""What was not fitted here and is judged all the same: lists, fitted models, anything that scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.data.outside import OutsideLists
from fullrank.data.split import Split
from fullrank.errors import DataError, ModelFileError
from fullrank.evaluation.aligned import align
from fullrank.evaluation.scoring import name_of
from fullrank.models.kinds.model import Model
from fullrank.models.positives import describe_fed
from fullrank.models.protocols import Recipe
from fullrank.models.recipes import RECIPES
from fullrank.models.storage.files import digest

ELSEWHERE = "trained elsewhere: what it learned from is not known"


@dataclass(frozen=True)
class Outside:
    """Stands where a recipe would: what the thing is, and a fingerprint where it has one."""

    what: str
    fingerprint: str = ""

    def __str__(self) -> str:
        return self.what


def is_outside(given: object) -> bool:
    """Whether it is judged as it is, not fitted."""
    return isinstance(given, OutsideLists | Model) or not isinstance(given, Recipe)


def name_outside(given: object) -> str:
    """What it is called where nobody said."""
    return "lists" if isinstance(given, OutsideLists) else name_of(given)


def describe_outside(given: Any) -> Outside:
    """What stands for it in results and files."""
    if isinstance(given, OutsideLists):
        return Outside(f"lists of up to {given.longest:,} items by {given.by}", given.fingerprint)
    if isinstance(given, Model):
        return Outside(f"fitted {given.recipe}", _fingerprint(given))
    return Outside(f"scores of {name_of(given)}")


def fed_outside(given: Any) -> str:
    """What it learned from."""
    return describe_fed(given.recipe, given.train) if isinstance(given, Model) else ELSEWHERE


def prepare_outside(given: Any, split: Split[Any]) -> tuple[Any, tuple[str, ...]]:
    """What is ranked, and warnings: a model that has learned from what is held out knows the answers."""
    if not isinstance(given, Model):
        return given, ()
    if not isinstance(split.held_out, Interactions):
        ids = given.train.users == split.train.users and given.train.items == split.train.items
        if not ids:
            raise DataError("a fitted model has other users or items than these sessions; fit it on the split's own.")
        return given, ()
    model = align(given, split.train.users, split.train.items)
    many = len(split.train.items)
    keys = [part.user.astype(np.int64) * many + part.item for part in (model.train, split.held_out, split.train)]
    leaked = int((np.isin(keys[1], keys[0]) & ~np.isin(keys[1], keys[2])).sum())
    if not leaked:
        return model, ()
    return model, (
        f"it was fitted on {leaked:,} of {len(split.held_out):,} held-out rows (leak): its numbers say nothing; fit it "
        "on the training part only",
    )


def _fingerprint(model: Model) -> str:
    """Of all that a file of the model would hold; nothing where no file can."""
    try:
        return digest(model, RECIPES)
    except ModelFileError:
        return ""
