"""Training of models in which a person is what they did: asymmetric matrix factorisation (S4 section 2).

    s(u, i) = <p_i, v_u>,   v_u = sum over u's items j of q_j / sqrt(how many)

Users are taken in batches: their gradients are computed in parallel while P and Q stay as they are, then added up item
by item in the order of the users, so that the result is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.data.ids import Codes
from fullrank.data.interactions import Interactions
from fullrank.errors import check, is_number
from fullrank.kernels.threads import team, threads
from fullrank.models.batches import item_ranges, user_batches
from fullrank.models.descent import Epoch, check_descent, check_relevant, normal, positives
from fullrank.models.model import Floats, HistoryFactors, Lists, lists
from fullrank.models.samplers import alias, check_sampler, weights
from fullrank.models.state import Parameters, State

LARGEST = 64  # users in a batch; and in an epoch there are so many batches, if there are so many users
SCALE = 0.1  # standard deviation of the numbers to start from


class Goal(NamedTuple):
    """What an epoch lowers: a loss of `kernels.history`, its table, and how stiff it is against a change of scores."""

    loss: int
    table: Floats
    stiff: float
    prior: float = 0.0
    width: float = 1.0


def check_history(recipe: Any, *others: str) -> None:
    """The parameters that all recipes of this kind have; `others` are numbers >= 0 too."""
    check_descent(recipe, "negatives", *others)
    check_relevant(recipe)
    check_sampler("sampler", recipe.sampler)
    check("negatives", recipe.negatives, recipe.negatives > 0, "a number > 0")
    for name, open_end in (("dropout", True), ("balance", False)):
        number = getattr(recipe, name)
        inside = is_number(number) and (0 <= number < 1 or (number == 1 and not open_end))
        check(name, number, inside, "a number in [0, 1)" if open_end else "a number in [0, 1]")


def start(recipe: Any, train: Interactions, seed: int) -> Parameters:
    """Small normal numbers."""
    size = train.n_items, recipe.factors
    return {"items": normal(*size, SCALE, seed, 0), "history": normal(*size, SCALE, seed, 1)}


def model(recipe: Any, state: State, train: Interactions) -> HistoryFactors:
    """What a state predicts."""
    return HistoryFactors(**state.parameters, train=train, recipe=recipe)


def epochs(recipe: Any, train: Interactions, seed: int, goal: Goal) -> Epoch:
    """All users once, in batches."""
    found = positives(recipe, train)
    counts = np.diff(found.starts).astype(np.int64)
    negatives = np.maximum(np.rint(counts * recipe.negatives), 1).astype(np.int64)
    weight = (np.maximum(counts, 1) / counts[counts > 0].mean()) ** -recipe.balance
    walk = Walk(
        lists(found.by_user()),
        counts,
        np.where(counts > 0, counts + negatives, 0),
        weight.astype(np.float32),
        alias(weights(recipe.sampler, found), np.arange(found.n_items, dtype=np.int32)),
        np.bincount(found.item, minlength=train.n_items),
    )
    given = np.array([recipe.dropout, recipe.reg, goal.prior, goal.width, goal.stiff, 0], dtype=np.float32)

    def epoch(parameters: Parameters, number: int, rate: float) -> float:
        given[-1] = rate
        return walk.once(parameters, goal, given, (seed, number))

    return epoch


@dataclass(frozen=True, eq=False)
class Walk:
    """Everybody's positives, and what an epoch needs to know of them."""

    rows: Lists
    counts: NDArray[np.int64]  # of positives
    sizes: NDArray[np.int64]  # with negatives
    weight: Floats  # of a user
    sampler: tuple[Codes, NDArray[Any], NDArray[Any]]
    popularity: NDArray[np.int64]

    @property
    def batch(self) -> int:
        """How many users are taken at once."""
        return min(max(int(np.count_nonzero(self.counts)) // LARGEST, 1), LARGEST)

    def once(self, parameters: Parameters, goal: Goal, given: Floats, stream: tuple[int, int]) -> float:
        """An epoch, in place; the mean loss of a positive on the way. `stream`: the seed and the epoch's number."""
        everybody, total = np.flatnonzero(self.counts).astype(np.int32), 0.0
        room = Room.of(self, parameters)
        ranges = item_ranges(self.popularity + len(self.rows[1]) // len(self.popularity), threads())
        fixed = (*self.rows[:2], self.weight, room.p, room.q, goal.loss, given, goal.table, self.sampler, *stream)
        with team() as turn:
            for batch in user_batches(everybody, self.batch, *stream):
                sizes = self.sizes[batch]
                offset, place = (np.concatenate([[0], np.cumsum(n)]) for n in (sizes, self.counts[batch]))
                turn(room.gradients(batch, offset, place, *fixed), enumerate(item_ranges(sizes, threads())))
                turn(room.steps(int(offset[-1]), int(place[-1]), given[-1]), ranges)
                total += float(room.loss[: len(batch)].sum())
        return total / len(self.rows[1])


class Room(NamedTuple):
    """What is trained, and what a batch leaves for it; large enough for any batch."""

    p: Floats  # (items, factors)
    q: Floats
    entries: Any  # item, slot, weight, shrink: of v for p
    kept: Any  # the same: of back for q
    v: Floats  # (slots, factors)
    back: Floats
    loss: NDArray[np.float64]  # (slots,)
    mark: NDArray[np.uint8]  # (threads, items): of each thread, what the user at hand has

    @classmethod
    def of(cls, walk: Walk, parameters: Parameters) -> Room:
        """For the largest batch there can be."""
        p, q, size = parameters["items"], parameters["history"], walk.batch
        most = (int(np.sort(n)[-size:].sum()) for n in (walk.sizes, walk.counts))
        types = np.int32, np.int32, np.float32, np.float32
        entries, kept = (tuple(np.empty(n, dtype=dtype) for dtype in types) for n in most)
        v, back = (np.empty((size, p.shape[1]), dtype=np.float32) for _ in range(2))
        return cls(p, q, entries, kept, v, back, np.empty(size), np.zeros((threads(), len(p)), dtype=np.uint8))

    def gradients(self, *given: Any) -> Callable[[Any], None]:
        """Of users low .. high-1 of a batch, by the thread of this number."""
        from fullrank.kernels.history import history_gradients

        left = self.entries, self.kept, self.v, self.back, self.loss
        return lambda part: history_gradients(*part[1], *given, self.mark[part[0]], *left)  # type: ignore[call-arg]

    def steps(self, entries: int, kept: int, rate: Any) -> Callable[[Any], None]:
        """So many entries, in their order, at items low .. high-1."""
        from fullrank.kernels.batches import add_to_rows

        of_p, of_q = [part[:entries] for part in self.entries], [part[:kept] for part in self.kept]

        def work(some: tuple[int, int]) -> None:
            add_to_rows(*of_p, self.v, rate, self.p, *some)  # type: ignore[call-arg]
            add_to_rows(*of_q, self.back, rate, self.q, *some)  # type: ignore[call-arg]

        return work
