"""Ackerman's baselines on MovieLens 100K, five folds over ratings: Funk's RSVD; modern forms beside surprise.

Parameters of the modern ones are their defaults, chosen on the first fold here and on MovieLens 1M. Predictions are
cut at 1 and 5 stars, as surprise does. The thesis does not print a number for RSVD: .324 was measured for
../shared/spec at one fold and k = 25 with another program. Everything starts at 0.1, as in Funk's program (0.03 gives
.327, 0.3 gives .302; a rate of .002 gives .298). Funk also cuts running predictions to the scale, which Eq. 2.1 of
the thesis does not: one rating after the other, that gives .324 here and .321 without; ours does not cut.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import RSVD, Interactions, OrdRec, Split, SVDpp
from fullrank.metrics.partial_order import pair_errors
from fullrank.metrics.ratings import rmse


@pytest.fixture(scope="module")
def folds(shared_data: Path) -> list[Split[Interactions]]:
    return list(fullrank.folds(fullrank.sources.load(shared_data / "ml-100k").data, 5, seed=0))


def predicted(model: Any, split: Split[Interactions]) -> Any:
    held = split.held_out
    return model.scores(np.arange(held.n_users))[held.user, held.item]


def error(scores: Any, split: Split[Interactions]) -> float:
    return rmse(split.held_out.value, np.clip(scores, 1, 5))


def loss(recipe: Any, split: Split[Interactions]) -> float:
    return pair_errors(split.held_out.graded(), predicted(recipe.fit(split.train), split)).pooled()


def by_surprise(name: str, split: Split[Interactions], **options: Any) -> Any:
    surprise = pytest.importorskip("surprise", reason="scikit-surprise is in the test extra")
    import pandas as pd

    train, held = split.train, split.held_out
    frame = pd.DataFrame({"user": train.user, "item": train.item, "value": train.value.astype(float)})
    rows = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5))).build_full_trainset()
    model = getattr(surprise, name)(random_state=0, **options).fit(rows)
    return np.array([model.predict(int(user), int(item)).est for user, item in zip(held.user, held.item, strict=True)])


def test_rsvd_is_better_than_surprise_on_one_fold(folds: list[Split[Interactions]]) -> None:
    ours = error(predicted(RSVD(factors=20).fit(folds[0].train), folds[0]), folds[0])
    assert ours < error(by_surprise("SVD", folds[0], n_factors=20), folds[0]) - 0.01


def test_funk_with_few_features_orders_pairs_as_measured(folds: list[Split[Interactions]]) -> None:
    """Published curves are flat in k: six features are within .005 of 25."""
    assert loss(RSVD.as_funk(6), folds[0]) == pytest.approx(0.324, abs=0.005)


@pytest.mark.papers
def test_funk_orders_pairs_as_measured(folds: list[Split[Interactions]]) -> None:
    losses = {k: loss(RSVD.as_funk(k), folds[0]) for k in (3, 25, 200)}
    assert losses[25] == pytest.approx(0.324, abs=0.005)
    assert losses[3] == pytest.approx(losses[25], abs=0.002)  # Figure 6.2: flat, and slightly better with many
    assert losses[200] < losses[25]
    assert loss(SVDpp.as_funk(25), folds[0]) < losses[25]
    assert (
        loss(RSVD(), folds[0]) < losses[25] - 0.04
    )  # biases and all features at once: what the thesis has not compared
    assert loss(OrdRec(), folds[0]) < loss(RSVD(), folds[0])  # as Koren and Sill losses


@pytest.mark.papers
def test_rmse_of_five_folds_beside_surprise(folds: list[Split[Interactions]]) -> None:
    pairs = {"SVD": RSVD(factors=100), "SVDpp": SVDpp(factors=20)}
    for name, recipe in pairs.items():
        ours = [error(predicted(recipe.fit(split.train), split), split) for split in folds]
        theirs = [error(by_surprise(name, split), split) for split in folds]
        assert all(one < other for one, other in zip(ours, theirs, strict=True)), (name, ours, theirs)
        same = type(recipe)(factors=recipe.factors, epochs=20, rate=0.005 if name == "SVD" else 0.007, reg=0.02)
        again = [error(predicted(same.fit(split.train), split), split) for split in folds]
        assert np.mean(again) == pytest.approx(np.mean(theirs), rel=0.01)  # with surprise's numbers, surprise's result


@pytest.mark.papers
def test_batches_are_as_good_as_sequential_descent(folds: list[Split[Interactions]]) -> None:
    """Surprise takes one rating after the other, and its users in turn."""
    theirs = error(by_surprise("SVD", folds[0], n_factors=20, n_epochs=30, lr_all=0.01, reg_all=0.1), folds[0])
    ours = error(predicted(RSVD(factors=20, epochs=30, rate=0.01, reg=0.1).fit(folds[0].train), folds[0]), folds[0])
    assert ours == pytest.approx(theirs, rel=0.01)
