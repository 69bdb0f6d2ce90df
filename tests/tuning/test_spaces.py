"""Where good parameters are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from fullrank import (
    AllRank,
    Bestseller,
)
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import ParameterError
from fullrank.models.least_squares.ials import IALS
from fullrank.models.recipes import RECIPES
from fullrank.tuning.spaces import SPACES, Choice, Float, Int, space_for
from fullrank.tuning.tune import tune
from tests.tuning.world import SPLIT, value_of


def test_every_recipe_can_be_made_at_all_corners_of_its_space():
    assert SPACES.keys() <= RECIPES.keys()
    for name, space in SPACES.items():
        for corner in product(*(part.corners for part in space.values())):
            RECIPES[name](**dict(zip(space, corner, strict=True)))


@pytest.mark.parametrize("name", RECIPES)
def test_the_usual_setting_is_inside_the_space(name):
    ids = Ids.numbered(1000)
    for parameter, part in space_for(RECIPES[name](), Interactions.of([0], [0], users=ids, items=ids)).items():
        assert getattr(RECIPES[name](), parameter) in part


def test_a_recipe_without_an_entry_is_searched_around_its_own_parameters():
    @dataclass(frozen=True)
    class Own:
        factors: int = 20
        reg: float = 0.03
        rate: float = 0.0
        width: float = 3.0

        def fit(self, train, seed=0):
            return IALS(factors=self.factors, reg=self.reg, sweeps=2).fit(train, seed=seed)

    assert space_for(Own(), SPLIT.train) == {
        "factors": Int(8, 80, log=True),
        "reg": Float(0.03 / 30, 0.03 * 30, log=True),
    }
    tuned = tune(Own(), SPLIT, trials=4)
    assert tuned.points[0].parameters == {"factors": 20, "reg": 0.03}
    assert tuned.value == value_of(tuned.recipe) >= value_of(Own())


def test_a_space_is_on_the_scale_of_the_data():
    few = Interactions.of([1, 2, 2, 3, 4], [1, 1, 2, 3, 4], [0, 100, 0, 20, 50])
    space = space_for(AllRank(), few)
    assert space["factors"] == Int(4, 4, log=True)
    assert space["missing_value"] == Float(-25.0, 50.0)
    assert space_for(AllRank(), SPLIT.train)["missing_value"] == SPACES["AllRank"]["missing_value"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Float(2, 1),
        lambda: Float(0, 1, log=True),
        lambda: Float(0, np.inf),
        lambda: Int(0.5, 3),
        lambda: Choice(()),
        lambda: Choice((1, 1)),
    ],
)
def test_a_part_that_makes_no_sense_is_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_a_recipe_with_no_parameter_that_others_have_needs_a_space():
    @dataclass(frozen=True)
    class Weighted:
        count: float = 1.0

        def fit(self, train, seed=0):
            counts = np.bincount(train.item, minlength=train.n_items)
            return np.tile(self.count * counts.astype(np.float32), (train.n_users, 1))

    with pytest.raises(ParameterError, match="no search space is known for Weighted"):
        tune(Weighted(), SPLIT)
    tuned = tune(Weighted(-1.0), SPLIT, trials=4, space={"count": Choice((-1.0, 1.0))})
    assert tuned.recipe == Weighted(1.0)
    assert tuned.value == value_of(Bestseller())
