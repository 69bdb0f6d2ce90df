"""Passes over all sessions, a batch of users at a time: what CCF and opportunity cost in context share.

Users of a batch go through their sessions against the same items, in parallel; then their items move, in a fixed
order, so the result is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from fullrank.arrays import Codes, Floats
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.errors import check
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.models.preferences.comparisons import Comparisons
from fullrank.models.preferences.features import INIT, OtherFeatures
from fullrank.models.preferences.sessions import SessionCounts, Sessions, count_sessions
from fullrank.models.stochastic.descent import Descent, Epoch, check_descent, normal
from fullrank.models.stochastic.passes import UserPass, Work, largest_batch, offsets
from fullrank.models.training.state import Length, Parameters

PULL = 1.0  # how far a batch may move the item moved most, of what is missing; held-out losses are as with one user
SPREAD = 0.1  # standard deviation of the first vectors
WORTH = 1 << 17  # multiplications in a turn that are worth another thread
FEATURE_DECAY = 0.9  # of the rate, from one feature to the next (Ackerman 2012, section 6)

Kernel: TypeAlias = Callable[..., None]
Extra: TypeAlias = Callable[[Parameters], tuple[Any, ...]]  # what a kernel takes beside the common arguments


class SessionRecipe(Descent[Sessions, CostFactors], Protocol):
    """A recipe that goes through sessions, all features at once or one after the other."""

    by_feature: bool
    takes: ClassVar[tuple[type, ...]] = (Interactions, Graded)
    in_context: ClassVar[bool] = True  # without one, an item is worth its benefit
    decays_by_feature: ClassVar[bool] = False

    @property
    def length(self) -> Length:
        """The epochs; by feature all passes over all features."""
        if self.by_feature:
            return Length("epochs", self.factors * self.epochs, open_end=False)
        return Length("epochs", self.epochs)

    def counts(self, train: Sessions) -> SessionCounts:
        """How many sessions have an order, how many have none, and in how many nothing was done."""
        return count_sessions(train)


def check_sessions(recipe: SessionRecipe) -> None:
    """The parameters of such recipes."""
    check_descent(recipe)
    check("by_feature", recipe.by_feature, isinstance(recipe.by_feature, bool), "True or False")
    check("reg", recipe.reg, recipe.rate * recipe.reg < 1, f"below 1 / rate, {1 / recipe.rate:g}")


def start(recipe: SessionRecipe, parts: Comparisons, seed: int) -> Parameters:
    """Vectors around one that gives every item a benefit of 1/2, 0 where there is nothing to learn; by feature 0.1.

    Targets do not need that, but what is liked in general is learned at once where all vectors lean one way: CCF with
    vectors around 0 has a held-out loss of .488 on sushi orders, and .346 so.
    """
    sizes = {"users": np.diff(parts.by_user.start), "items": np.diff(parts.by_item.start)}
    if recipe.by_feature:
        return {name: np.full((len(rows), recipe.factors), INIT, dtype=np.float32) for name, rows in sizes.items()}
    centre = np.float32(np.sqrt(0.5 / recipe.factors))
    return {
        name: (centre + normal(len(rows), recipe.factors, SPREAD, seed, stream)) * (rows > 0)[:, None]
        for stream, (name, rows) in enumerate(sizes.items())
    }


def make_epoch(recipe: SessionRecipe, sessions: SessionPass) -> Epoch:
    """Passes over all sessions; by feature `epochs` of them for each, with the others as they are."""
    others, nothing = OtherFeatures(sessions.parts), np.zeros(len(sessions.parts.by_user.other), dtype=np.float32)

    def epoch(parameters: Parameters, number: int, rate: float) -> float:
        if not recipe.by_feature:
            return sessions.run(parameters, nothing, number, rate)
        feature = number // recipe.epochs
        rest = others.at(feature, parameters)
        column = {name: parameters[name][:, feature : feature + 1].copy() for name in ("users", "items")}
        slower = FEATURE_DECAY**feature if recipe.decays_by_feature else 1.0
        loss = sessions.run(parameters | column, rest, number, rate * slower)
        for name, array in column.items():
            parameters[name][:, feature] = array[:, 0]
        return loss

    return epoch


def batch_size(parts: Comparisons, rate: float, alone: float, beside: float) -> int:
    """How many users can be taken at once, so that together they do not move an item too far.

    A session of n items moves each of them by up to rate (alone + n beside) of what is missing.
    """
    nest = parts.nest
    active = int(np.count_nonzero(np.diff(parts.by_user.start)))
    sizes = np.diff(nest.run_row[nest.case_run])
    force = np.bincount(parts.by_user.other[nest.row_entry], alone + beside * np.repeat(sizes, sizes))
    return max(int(min(active, PULL / rate * active / max(float(force.max(initial=0)), 1e-9))), 1)


class SessionPass:
    """All sessions by user, and the kernel that takes users through them; losses are a mean over so many steps."""

    def __init__(
        self, recipe: SessionRecipe, parts: Comparisons, seed: int, *, steps: int, force: tuple[float, float],
        kernel: Kernel, extra: Extra = lambda parameters: (),
    ) -> None:  # fmt: skip
        self.reg, self.parts, self.seed, self.steps = recipe.reg, parts, seed, steps
        self.kernel, self.extra = kernel, extra
        self.size = batch_size(parts, recipe.rate, *force)
        starts, item = parts.by_user[:2]
        self.active = np.flatnonzero(np.diff(starts)).astype(np.int32)
        self.popularity = np.bincount(item, minlength=len(parts.by_item.start) - 1)
        self.rows = np.diff(parts.nest.run_row[parts.nest.case_run[parts.nest.user_case]])  # of a user: offers

    def run(self, parameters: Parameters, rest: Floats, number: int, rate: float) -> float:
        """Pass `number` in place; the mean loss of what is stepped through, NaN where a parameter is not finite."""
        from fullrank.kernels.sgd_sessions import add_moves

        users, items, (starts, item) = parameters["users"], parameters["items"], self.parts.by_user[:2]
        sizes, loss = np.diff(starts), np.zeros(self.size)
        moved = np.empty((largest_batch(sizes, self.size), items.shape[1]), dtype=np.float32)
        speed = np.float32(rate), np.float32(self.reg)
        given = (starts, item, *self.parts.nest, rest, *speed, users, items, moved, loss, *self.extra(parameters))
        everybody = UserPass(self.active, self.size, self.rows, self.popularity, worth=max(WORTH // items.shape[1], 1))

        def step(batch: Codes) -> tuple[Work, Work]:
            first = offsets(sizes[batch])
            return (
                lambda part: self.kernel(batch, first, *given, *part[1:]),
                lambda part: add_moves(batch, first, starts, item, moved, items, *part[1:]),
            )

        total = everybody.run((self.seed, number), step, loss)
        finite = all(np.isfinite(array).all() for array in parameters.values())
        return total / self.steps if finite else np.nan
