"""Stochastic gradient descent, epoch after epoch: what all such recipes share.

Such a recipe has `epochs`, `rate`, `decay` and three methods: `start(train, seed)` gives the parameters by name;
`epoch(train, seed)` prepares what every epoch needs and gives a function that runs epoch `number` in place at a
rate, with its mean loss; `model(state, train)` is what the parameters predict. Whatever an epoch draws depends on
the seed and its number only, so a fit that is interrupted goes on as if it had not been.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, check_integer, is_number
from fullrank.models.state import Parameters, State, Watch
from fullrank.models.training import Length, Training, supervised

Epoch: TypeAlias = Callable[[Parameters, int, float], float]  # (parameters, number, rate): the mean loss


def rate_in(recipe: Any, number: int) -> float:
    """The rate in epoch `number`, counted from 0: rate decay^number."""
    return float(recipe.rate * getattr(recipe, "decay", 1.0) ** number)


def descended(recipe: Any, train: Interactions, seed: int, training: Training) -> State:
    """The state after all epochs, or where training stopped, or the best of them by `judge`."""

    def run(begin: State, watch: Watch) -> State:
        epoch, state = recipe.epoch(train, seed), begin
        for number in range(begin.done, Length.of_recipe(recipe).of):
            loss = epoch(state.parameters, number, rate_in(recipe, number))
            state = State(state.parameters, number + 1, loss)
            if watch(state):
                break
        return state

    return supervised(recipe, train, seed, training, lambda: recipe.start(train, seed), run)


def check_descent(recipe: Any, *others: str) -> None:
    """The parameters that all such recipes have; `others` are numbers >= 0 too."""
    check_integer("factors", recipe.factors, 1, 4096)
    check_integer("epochs", recipe.epochs, 1)
    check("rate", recipe.rate, is_number(recipe.rate) and 0 < recipe.rate < np.inf, "a number > 0")
    check("decay", recipe.decay, is_number(recipe.decay) and 0 < recipe.decay <= 1, "a number in (0, 1]")
    for name in ("reg", *others):
        number = getattr(recipe, name)
        check(name, number, is_number(number) and 0 <= number < np.inf, "a number >= 0")


def positives(recipe: Any, train: Interactions) -> Interactions:
    """What counts as relevant: every row, or those with a value at or above the recipe's threshold."""
    name, threshold = type(recipe).__name__, recipe.relevant
    if train.value is None and threshold is not None:
        raise DataError(f"{name}: the data has no values to be relevant at; use relevant=None.")
    found = train.relevant(threshold)
    if len(train) and not len(found):
        raise DataError(f"{name}: no value is at or above {threshold}; lower `relevant`.")
    return found


def check_relevant(recipe: Any) -> None:
    """The threshold of relevance."""
    check("relevant", recipe.relevant, recipe.relevant is None or is_number(recipe.relevant), "None or a number")


def normal(rows: int, columns: int, scale: float, seed: int, stream: int) -> Any:
    """Normal numbers with this standard deviation, to start from."""
    rng = np.random.default_rng([seed, stream])
    return rng.standard_normal((rows, columns), dtype=np.float32) * np.float32(scale)
