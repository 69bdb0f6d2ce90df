"""Every recipe: the shared checks, and the square that is missing from the board."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import (
    BPR,
    EASE,
    IALS,
    MFADG,
    MFAUC,
    AllRank,
    AllRankBinary,
    Bestseller,
    ItemCF,
    PersonalFrequency,
    PureSVD,
    RecentItemCF,
)
from fullrank.evaluation.rank import rank
from fullrank.metrics import rr
from fullrank.models.asymmetric.gaussian import GaussianRank
from fullrank.models.asymmetric.negatives import HistoryBPR, SoftmaxNegatives, SquaredNegatives
from fullrank.models.preferences.ccf import CCF
from fullrank.models.preferences.opportunity import OpportunityCost
from fullrank.models.preferences.session_cost import SessionCost
from fullrank.models.ratings.ordrec import OrdRec
from fullrank.models.ratings.rsvd import RSVD
from fullrank.models.ratings.svdpp import SVDpp
from fullrank.models.recipes import RECIPES
from fullrank.testing.checkerboard import checkerboard
from fullrank.testing.recipes import check_recipe

SMALL: list[Any] = [
    Bestseller(),
    Bestseller(by="count"),
    AllRank(factors=6, sweeps=3),
    AllRank(factors=6, sweeps=3, solver="exact", weight={1: 1, 2: 1, 3: 1, 4: 2, 5: 2}),
    AllRankBinary(factors=6, sweeps=3, relevant=4),
    AllRankBinary(factors=6, sweeps=2, relevant=4, loss="logistic"),
    IALS(factors=6, sweeps=3),
    ItemCF(neighbours=5),
    ItemCF(neighbours=5, scale=None, shrink=10, user_weight=0.5),
    RecentItemCF(neighbours=5),
    RecentItemCF(neighbours=9, recency=0.5, nearness=0, backward=1, shrink=0, relevant=4),
    EASE(reg=20),
    EASE(reg=20, solver="dual"),
    EASE(reg=20, solver="dual", binary=False, relevant=4),
    PersonalFrequency(),
    PureSVD(factors=6),
    OpportunityCost(factors=6, sweeps=3),
    OpportunityCost(factors=2, sweeps=2, solver="sgd"),
    SessionCost(factors=4, epochs=3),
    CCF(factors=4, epochs=3),
    BPR(factors=6, epochs=3),
    BPR(factors=6, epochs=3, bias=False, relevant=4, sampler="popularity"),
    MFAUC(factors=6, epochs=3),
    MFADG(factors=6, epochs=3, gamma=5),
    GaussianRank(factors=6, epochs=3),
    GaussianRank(factors=6, epochs=3, activation="rankSE", width=3.0, relevant=3, sampler="popularity"),
    GaussianRank(factors=6, epochs=3, loss="ndcg", listwise=True),
    HistoryBPR(factors=6, epochs=3),
    SoftmaxNegatives(factors=6, epochs=3, dropout=0.0),
    SquaredNegatives(factors=6, epochs=3, sampler=tuple(float(i) for i in range(50))),
    RSVD(factors=6, epochs=3),
    RSVD.as_funk(factors=3, epochs=2),
    SVDpp(factors=6, epochs=3),
    SVDpp.as_funk(factors=3, epochs=2),
    OrdRec(factors=6, epochs=3),
    OrdRec(factors=6, epochs=3, implicit=True, rank_by="weights"),
]


@pytest.mark.identical
@pytest.mark.parametrize("recipe", SMALL, ids=str)
def test_shared_checks(recipe: Any) -> None:
    data = fullrank.simulate.ratings(users=60, items=50, density=0.15, seed=3).data
    check_recipe(recipe, fullrank.holdout(data, 0.2, seed=0))


def test_every_recipe_is_in_the_table_and_checked_here() -> None:
    assert {type(recipe) for recipe in SMALL} == set(RECIPES.values())
    assert all(name == recipe.__name__ for name, recipe in RECIPES.items())
    assert all(recipe.__doc__ for recipe in RECIPES.values())


@pytest.mark.identical
@pytest.mark.parametrize(
    "recipe",
    [
        AllRank(factors=2, missing_value=0.0),
        AllRank(factors=2, missing_value=0.0, solver="exact"),
        AllRankBinary(factors=2, relevant=1, missing_weight=0.2),
        AllRankBinary(factors=2, relevant=1, loss="logistic", missing_weight=0.2),
        IALS(factors=2),
        ItemCF(),
        ItemCF(scale=None, shrink=10, user_weight=0.5),
        RecentItemCF(),
        EASE(reg=1),
        EASE(reg=1, solver="dual"),
        PureSVD(factors=2),
        BPR(factors=8, reg=0.001),
        MFAUC(factors=8, reg=0.01),
        MFADG(factors=8, reg=0.01, unseen=True),
        GaussianRank(factors=2),
        GaussianRank(factors=2, listwise=True),
        GaussianRank(factors=2, loss="ndcg", listwise=True),
        HistoryBPR(factors=2),
        SoftmaxNegatives(factors=2),
        SquaredNegatives(factors=2),
    ],
    ids=str,
)
def test_finds_the_missing_square(recipe: Any) -> None:
    split = checkerboard(50, value=5.0)
    time = np.random.default_rng(0).permutation(len(split.train)).astype("datetime64[us]")
    assert (rr(rank(recipe.fit(replace(split.train, time=time)), split)) == 1).all()
