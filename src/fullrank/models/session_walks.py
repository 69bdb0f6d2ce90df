"""Passes over all sessions, a batch of users at a time: what CCF and opportunity cost in context share.

Users of a batch walk through their sessions against the same items, in parallel; then their items move, in a fixed
order, so the result is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.errors import check
from fullrank.kernels.threads import team, threads
from fullrank.models.batches import item_ranges, user_batches
from fullrank.models.bundles import Bundles
from fullrank.models.descent import normal, rate_in
from fullrank.models.preferring import INIT, others
from fullrank.models.rating_walks import in_place
from fullrank.models.state import Parameters, State, Watch

PULL = 1.0  # how far a batch may move the item moved most, of what is missing; held-out losses are as with one user
SPREAD = 0.1  # standard deviation of the first vectors
WORTH = 1 << 17  # multiplications in a turn that are worth another thread
FEATURE_DECAY = 0.9  # of the rate, from one feature to the next (S2 section 6)

Kernel: TypeAlias = Callable[..., None]
Extra: TypeAlias = Callable[[Parameters], tuple[Any, ...]]  # what a kernel takes beside the common arguments


def check_walk(recipe: Any) -> None:
    """The parameters of such recipes beyond those of any descent."""
    check("by_feature", recipe.by_feature, isinstance(recipe.by_feature, bool), "True or False")
    check("reg", recipe.reg, recipe.rate * recipe.reg < 1, f"below 1 / rate, {1 / recipe.rate:g}")


def begun(recipe: Any, parts: Bundles, seed: int) -> Parameters:
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


def walked(recipe: Any, walks: Walks, begin: State, watch: Watch) -> State:
    """Pass after pass over all sessions; by feature `epochs` of them for each, with the others as they are."""
    state, rest = begin, np.zeros(len(walks.parts.by_user.other), dtype=np.float32)
    total = recipe.epochs if recipe.rounds is None else recipe.rounds
    for number in range(begin.done, total):
        rate, feature = rate_in(recipe, number), number // recipe.epochs
        if not recipe.by_feature:
            loss = walks.once(state.parameters, rest, number, rate)
        else:
            if number == begin.done or number % recipe.epochs == 0:
                rest = others(walks.parts, state.parameters, feature)
            loss = _column(recipe, walks, state.parameters, rest, number, rate)
        state = State(state.parameters, number + 1, loss)
        if watch(state):
            break
    return state


def _column(recipe: Any, walks: Walks, parameters: Parameters, rest: Any, number: int, rate: float) -> float:
    """One pass for one feature."""
    feature = number // recipe.epochs
    column = {name: parameters[name][:, feature : feature + 1].copy() for name in ("users", "items")}
    rate *= FEATURE_DECAY**feature if recipe.decays_by_feature else 1.0
    loss = walks.once(parameters | column, rest, number, rate)
    for name, array in column.items():
        parameters[name][:, feature] = array[:, 0]
    return loss


def batch_size(parts: Bundles, rate: float, alone: float, beside: float) -> int:
    """How many users can be taken at once, so that together they do not move an item too far.

    A session of n items moves each of them by up to rate (alone + n beside) of what is missing.
    """
    nest = parts.nest
    active = int(np.count_nonzero(np.diff(parts.by_user.start)))
    sizes = np.diff(nest.run_row[nest.case_run])
    force = np.bincount(parts.by_user.other[nest.row_entry], alone + beside * np.repeat(sizes, sizes))
    return max(int(min(active, PULL / rate * active / max(float(force.max(initial=0)), 1e-9))), 1)


class Walks:
    """All sessions by user, and the kernel that takes users through them; losses are a mean over so many steps."""

    def __init__(
        self, recipe: Any, parts: Bundles, seed: int, *, steps: int, force: tuple[float, float], kernel: Kernel,
        extra: Extra = lambda parameters: (),
    ) -> None:  # fmt: skip
        self.recipe, self.parts, self.seed, self.steps = recipe, parts, seed, steps
        self.kernel, self.extra = kernel, extra
        self.size = batch_size(parts, recipe.rate, *force)
        starts, item = parts.by_user[:2]
        self.active = np.flatnonzero(np.diff(starts)).astype(np.int32)
        self.popularity = np.bincount(item, minlength=len(parts.by_item.start) - 1)
        self.rows = np.diff(parts.nest.run_row[parts.nest.case_run[parts.nest.user_case]])  # of a user: offers

    def once(self, parameters: Parameters, rest: Any, number: int, rate: float) -> float:
        """Pass `number` in place; the mean loss of what is stepped through, NaN where a parameter is not finite."""
        users, items = parameters["users"], parameters["items"]
        sizes, loss = np.diff(self.parts.by_user.start), np.zeros(self.size)
        most = int(np.sort(sizes)[-self.size :].sum())
        moved = np.empty((most, items.shape[1]), dtype=np.float32)
        step = np.float32(rate), np.float32(self.recipe.reg)
        given = (*self.parts.by_user[:2], *self.parts.nest, rest, *step, users, items, moved, loss)
        extra, total = self.extra(parameters), 0.0
        with team() as turn:
            for batch in user_batches(self.active, self.size, self.seed, number):
                first = np.concatenate([[0], np.cumsum(sizes[batch])])
                self._turn(turn, batch, first, given, extra)
                total += float(loss[: len(batch)].sum())
        finite = all(np.isfinite(array).all() for array in parameters.values())
        return total / self.steps if finite else np.nan

    def _turn(self, turn: Any, batch: NDArray[np.int32], first: Any, given: Any, extra: Any) -> None:
        from fullrank.kernels.sessions import add_moves

        (starts, item), moved, items = given[:2], given[-2], given[-3]
        hands = min(threads(), 1 + int(self.rows[batch].sum()) * items.shape[1] // WORTH)
        act = turn if hands > 1 else in_place
        act(lambda some: self.kernel(batch, first, *given, *extra, *some), item_ranges(self.rows[batch], hands))
        act(
            lambda some: add_moves(batch, first, starts, item, moved, items, *some),
            item_ranges(self.popularity, hands),
        )
