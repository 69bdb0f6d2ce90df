"""Epochs of squared error: all features of a rating predictor at once, with biases; or one after the other, as Funk."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Floats
from fullrank.data.interactions import Interactions
from fullrank.errors import check, is_number
from fullrank.models.kinds.model import Model
from fullrank.models.ratings.passes import Parts, RatingPass, batch_size, ratings
from fullrank.models.stochastic.descent import Descent, Epoch, check_descent, normal
from fullrank.models.training.state import Length, Parameters

Made = TypeVar("Made", bound=Model, covariant=True)


class RatingRecipe(Descent[Interactions, Made], Protocol[Made]):
    """A recipe that learns from ratings alone."""

    init: float


class FeatureRecipe(RatingRecipe[Made], Protocol[Made]):
    """A rating predictor that learns all features at once, or one after the other as Funk did."""

    by_feature: bool

    @property
    def length(self) -> Length:
        """The epochs, and a longer fit can go on from a checkpoint; by feature all passes over all features."""
        if self.by_feature:
            return Length("epochs", self.factors * self.epochs, open_end=False)
        return Length("epochs", self.epochs)


def check_predictor(recipe: FeatureRecipe[Made]) -> None:
    """The parameters of RSVD and SVD++."""
    check_descent(recipe)
    check("init", recipe.init, is_number(recipe.init) and 0 < abs(recipe.init) < np.inf, "a number other than 0")
    check("by_feature", recipe.by_feature, isinstance(recipe.by_feature, bool), "True or False")


def start(recipe: FeatureRecipe[Made], train: Interactions, seed: int, *, history: bool = False) -> Parameters:
    """Normal vectors and no biases; by feature the same value everywhere, and 0 for what a history adds."""
    if recipe.by_feature:
        values = {"users": (train.n_users, recipe.init), "items": (train.n_items, recipe.init)}
        values |= {"history": (train.n_items, 0.0)} if history else {}
        return {name: np.full((rows, recipe.factors), at, np.float32) for name, (rows, at) in values.items()}
    return first_vectors(recipe, train, seed, history) | {"user_bias": np.zeros(train.n_users, dtype=np.float32)}


def first_vectors(recipe: RatingRecipe[Made], train: Interactions, seed: int, history: bool) -> Parameters:
    """Normal vectors, 0 where there is no rating to learn from; those of items with a bias of 0 behind them."""
    rated = {"users": np.diff(train.starts) > 0, "items": np.bincount(train.item, minlength=train.n_items) > 0}
    rated |= {"history": rated["items"]} if history else {}
    vectors = {
        name: normal(len(rows), recipe.factors, recipe.init, seed, stream) * rows[:, None].astype(np.float32)
        for stream, (name, rows) in enumerate(rated.items())
    }
    return vectors | {"items": np.append(vectors["items"], np.zeros((train.n_items, 1), dtype=np.float32), axis=1)}


def mean_of(recipe: FeatureRecipe[Made], train: Interactions) -> float:
    """mu: the mean of the ratings; 0 by feature."""
    values = ratings(recipe, train)
    return 0.0 if recipe.by_feature else float(values.mean(dtype=np.float64))


def make_epoch(recipe: FeatureRecipe[Made], train: Interactions, seed: int, *, history: bool = False) -> Epoch:
    """One pass over all ratings, of all features or of one."""
    target = ratings(recipe, train) - np.float32(mean_of(recipe, train))
    scale = float(np.sqrt(np.mean(np.square(target, dtype=np.float64))))
    passes = RatingPass.of(train, target, seed, batch_size(train, recipe.rate, scale, history=history))
    if recipe.by_feature:
        return _one_by_one(recipe, train, passes)
    return lambda parameters, number, rate: passes.run(Parts.of(parameters), number, rate, recipe.reg)


def _one_by_one(recipe: FeatureRecipe[Made], train: Interactions, passes: RatingPass) -> Epoch:
    finished = Finished(train, recipe.factors, recipe.init)
    towards: dict[int, RatingPass] = {}  # of the feature that is learned

    def epoch(parameters: Parameters, number: int, rate: float) -> float:
        feature = number // recipe.epochs
        if feature not in towards:
            towards.clear()
            towards[feature] = passes.towards(passes.rows[2] - finished.before(feature, parameters))
        column = {name: array[:, feature : feature + 1].copy() for name, array in parameters.items()}
        loss = towards[feature].run(Parts.of(column), number, rate, recipe.reg)
        for name, array in column.items():
            parameters[name][:, feature] = array[:, 0]
        return loss

    return epoch


class Finished:
    """What the features before one predict for every rating, and those after it, which are at their start.

    Features are added in their order, so a resumed fit sums up the same bits.
    """

    def __init__(self, train: Interactions, factors: int, init: float) -> None:
        self.train, self.factors, self.init = train, factors, init
        self.done, self.sum = 0, np.zeros(len(train))

    def before(self, feature: int, parameters: Parameters) -> NDArray[np.float64]:
        """One value per rating for the passes over a feature."""
        for k in range(self.done, feature):
            user = parameters["users"][:, k]
            if "history" in parameters:
                user = user + summed(self.train, parameters["history"][:, k : k + 1])[:, 0]
            self.sum += user[self.train.user] * parameters["items"][:, k][self.train.item]
        self.done = feature
        return np.asarray(self.sum + (self.factors - 1 - feature) * self.init**2)


def summed(train: Interactions, history: Floats) -> Floats:
    """n^-1/2 times the sum of the rows of each user's n items."""
    from scipy.sparse import csr_array

    counts = np.diff(train.starts)
    ones = csr_array((np.ones(len(train), np.float32), train.item, train.starts), shape=(train.n_users, train.n_items))
    return np.asarray((ones @ history) / np.sqrt(np.maximum(counts, 1)).astype(np.float32)[:, None])
