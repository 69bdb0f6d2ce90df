"""How a model is added: its own file, and one line of `recipes.py`. Nothing else has to know of it.

Two recipes stand here in place of such a file, and `MINE` in place of the line. A recipe is a frozen dataclass whose
`fit` makes one of the kinds of models there are, so it is ranked, recommended, explained, saved and loaded like any
other; one that is trained in rounds says how long, what is trained and what it predicts, and has its `fit` with
progress, early stopping and checkpoints from `IterativeRecipe`. `check_recipe` asserts what users rely on.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank.arrays import Csr, Floats
from fullrank.data.interactions import Interactions
from fullrank.metrics import ndcg
from fullrank.models.kinds.factors import Factors, SideName
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.protocols import IterativeRecipe, Length, Parameters, Recipe, Rounds
from fullrank.testing.recipes import check_recipe


@dataclass(frozen=True)
class DampedBestseller(Recipe[Interactions, ItemScores]):
    """score_i = n_i^power: how often an item was taken."""

    #: From 0, all items alike, to 1, the bestseller list.
    power: float = 0.5

    def fit(self, train: Interactions, seed: int = 0) -> ItemScores:
        count = np.bincount(train.item, minlength=train.n_items)
        return ItemScores((count**self.power).astype(np.float32), train, self)


@dataclass(frozen=True)
class FirstVector(IterativeRecipe[Interactions, Factors]):
    """score(u, i) = <x_u, q> q_i with the first right singular vector q of the values X, by power iteration."""

    #: Products with X'X, from 1: more come nearer to the vector.
    sweeps: int = 5

    @property
    def length(self) -> Length:
        return Length("sweeps", self.sweeps)

    def prepare(self, train: Interactions, seed: int) -> Rounds:
        x = train.by_user()

        def sweep(parameters: Parameters, number: int) -> float:
            parameters["users"][:] = x @ parameters["items"]
            back = x.T @ parameters["users"]
            parameters["items"][:] = back / np.linalg.norm(back)
            return -float(np.linalg.norm(parameters["users"]))

        sizes = {"users": train.n_users, "items": train.n_items}
        return Rounds(lambda: {name: np.full((n, 1), n**-0.5, dtype=np.float32) for name, n in sizes.items()}, sweep)

    def model(self, parameters: Parameters, train: Interactions) -> Factors:
        users = train.by_user() @ parameters["items"]
        return Factors(users, parameters["items"], train, self)

    def vectors(self, fixed: Factors, against: SideName, pairs: Csr) -> Floats:
        """Somebody new is x_u q too: this is what recommending to them and `update` ask for."""
        return np.asarray(pairs @ fixed.side(against))  # type: ignore[operator]


MINE: dict[str, type] = {"DampedBestseller": DampedBestseller, "FirstVector": FirstVector}
DATA = fullrank.simulate.ratings(users=60, items=50, density=0.15, seed=3).data
SPLIT = fullrank.holdout(DATA, 0.2, seed=0)


@pytest.mark.parametrize("recipe", [DampedBestseller(), FirstVector()], ids=str)
def test_fitted_saved_loaded_ranked_and_recommended(recipe: Any, tmp_path: Path) -> None:
    fullrank.save(recipe.fit(SPLIT.train), tmp_path / "mine.fr", recipes=MINE)
    model = fullrank.load(tmp_path / "mine.fr", recipes=MINE)
    assert model.recipe == recipe
    quality = fullrank.evaluate(fullrank.rank(model, SPLIT), [ndcg @ 10]).mean()
    assert 0 < next(iter(quality.values())) < 1
    assert len(fullrank.recommend(model, DATA.users.name(0), n=5).items) == 5
    assert len(fullrank.recommend(model, history=[DATA.items.name(3)], n=5).items) == 5


@pytest.mark.parametrize("recipe", [DampedBestseller(), FirstVector()], ids=str)
def test_it_holds_what_every_recipe_must(recipe: Any) -> None:
    check_recipe(recipe, SPLIT)


def test_rounds_bring_progress_and_checkpoints(tmp_path: Path) -> None:
    objectives: list[float] = []
    whole = FirstVector(sweeps=6).fit(DATA, progress=lambda done, of, objective: objectives.append(objective))
    assert objectives == sorted(objectives, reverse=True)
    FirstVector(sweeps=2).fit(DATA, checkpoint=tmp_path / "fit")
    resumed = FirstVector(sweeps=6).fit(DATA, checkpoint=tmp_path / "fit")
    assert resumed.items.tobytes() == whole.items.tobytes()
