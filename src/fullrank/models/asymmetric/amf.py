"""Training of models in which a person is what they did: asymmetric matrix factorisation (Steck 2015, section 2).

    s(u, i) = <p_i, v_u>,   v_u = sum over u's items j of q_j / sqrt(how many)

Users are taken in batches: their gradients are computed in parallel while P and Q stay as they are, then added up item
by item in the order of the users, so that the result is the same for any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, Codes, Floats, Ints, Lists, lists
from fullrank.data.interactions import Interactions
from fullrank.errors import check, is_number
from fullrank.models.kinds.history_factors import HistoryFactors
from fullrank.models.positives import Relevant, check_relevant, positives
from fullrank.models.stochastic.descent import Descent, check_descent, normal
from fullrank.models.stochastic.passes import Part, UserPass, Work, largest_batch, offsets
from fullrank.models.stochastic.samplers import AliasTable, Sampler, alias, check_sampler, weights
from fullrank.models.training.state import Parameters, Rounds
from fullrank.runtime.threads import threads

LARGEST = 64  # users in a batch; and in an epoch there are so many batches, if there are so many users
WORTH = 1 << 17  # multiplications in a batch that are worth another thread
SCALE = 0.1  # standard deviation of the numbers to start from


class Goal(NamedTuple):
    """What an epoch lowers: a loss of `kernels.history`, its table, and how stiff it is against a change of scores."""

    loss: int
    table: Floats
    stiff: float
    prior: float = 0.0
    width: float = 1.0


class HistoryRecipe(Descent[Interactions, HistoryFactors], Protocol):
    """A recipe of such a model: it says what an epoch lowers."""

    dropout: float
    negatives: float
    sampler: Sampler
    balance: float
    relevant: Relevant

    def goal(self, n_items: int) -> Goal:
        """The loss of positives and sampled negatives in a list so long."""

    def prepare(self, train: Interactions, seed: int) -> Rounds:
        """Everybody's positives, with negatives, once in every epoch; small normal numbers to start from."""
        size = train.n_items, self.factors
        rows, goal = Positives.of(self, train), self.goal(train.n_items)
        given = np.array([self.dropout, self.reg, goal.prior, goal.width, goal.stiff, 0], dtype=np.float32)

        def epoch(parameters: Parameters, number: int, rate: float) -> float:
            given[-1] = rate
            return rows.epoch(parameters, goal, given, (seed, number))

        return self.rounds(
            lambda: {"items": normal(*size, SCALE, seed, 0), "history": normal(*size, SCALE, seed, 1)}, epoch
        )

    def model(self, parameters: Parameters, train: Interactions) -> HistoryFactors:
        """What a state predicts."""
        return HistoryFactors(parameters["items"], parameters["history"], train, self)


def check_history(recipe: HistoryRecipe, *others: str) -> None:
    """The parameters that all recipes of this kind have; `others` are numbers >= 0 too."""
    check_descent(recipe, "negatives", *others)
    check_relevant(recipe)
    check_sampler("sampler", recipe.sampler)
    check("negatives", recipe.negatives, recipe.negatives > 0, "a number > 0")
    for name, open_end in (("dropout", True), ("balance", False)):
        number = getattr(recipe, name)
        inside = is_number(number) and (0 <= number < 1 or (number == 1 and not open_end))
        check(name, number, inside, "a number in [0, 1)" if open_end else "a number in [0, 1]")


@dataclass(frozen=True, eq=False)
class Positives:
    """Everybody's positives, and what an epoch needs to know of them."""

    rows: Lists
    counts: Ints  # of positives
    sizes: Ints  # with negatives
    weight: Floats  # of a user
    sampler: AliasTable
    popularity: Ints

    @classmethod
    def of(cls, recipe: HistoryRecipe, train: Interactions) -> Positives:
        """What this recipe takes for relevant."""
        relevant = positives(recipe, train)
        counts = np.diff(relevant.starts).astype(np.int64)
        negatives = np.maximum(np.rint(counts * recipe.negatives), 1).astype(np.int64)
        weight = (np.maximum(counts, 1) / counts[counts > 0].mean()) ** -recipe.balance
        return cls(
            lists(relevant.by_user()),
            counts,
            np.where(counts > 0, counts + negatives, 0),
            weight.astype(np.float32),
            alias(weights(recipe.sampler, relevant), np.arange(relevant.n_items, dtype=np.int32)),
            relevant.popularity,
        )

    @property
    def batch(self) -> int:
        """How many users are taken at once."""
        return min(max(int(np.count_nonzero(self.counts)) // LARGEST, 1), LARGEST)

    def epoch(self, parameters: Parameters, goal: Goal, given: Floats, stream: tuple[int, int]) -> float:
        """An epoch, in place; the mean loss of a positive on the way. `stream`: the seed and the epoch's number."""
        room = Room.of(self, parameters)
        even = self.popularity + len(self.rows[1]) // len(self.popularity)
        everybody = np.flatnonzero(self.counts).astype(np.int32)
        users = UserPass(everybody, self.batch, self.sizes, even, worth=max(WORTH // room.p.shape[1], 1))
        fixed = (*self.rows[:2], self.weight, room.p, room.q, goal.loss, given, goal.table, self.sampler, *stream)

        def step(batch: Codes) -> tuple[Work, Work]:
            offset, place = offsets(self.sizes[batch]), offsets(self.counts[batch])
            move_users = room.gradients(batch, offset, place, *fixed)
            return move_users, room.steps(int(offset[-1]), int(place[-1]), given[-1])

        return users.run(stream, step, room.loss) / len(self.rows[1])


class Room(NamedTuple):
    """What is trained, and what a batch leaves for it; large enough for any batch."""

    p: Floats  # (items, factors)
    q: Floats
    entries: tuple[Array, ...]  # item, slot, weight, shrink: of v for p
    kept: tuple[Array, ...]  # the same: of back for q
    v: Floats  # (slots, factors)
    back: Floats
    loss: NDArray[np.float64]  # (slots,)
    mark: NDArray[np.uint8]  # (threads, items): of each thread, what the user at hand has

    @classmethod
    def of(cls, rows: Positives, parameters: Parameters) -> Room:
        """For the largest batch there can be."""
        p, q, size = parameters["items"], parameters["history"], rows.batch
        most = (largest_batch(n, size) for n in (rows.sizes, rows.counts))
        types = np.int32, np.int32, np.float32, np.float32
        entries, kept = (tuple(np.empty(n, dtype=dtype) for dtype in types) for n in most)
        v, back = (np.empty((size, p.shape[1]), dtype=np.float32) for _ in range(2))
        return cls(p, q, entries, kept, v, back, np.empty(size), np.zeros((threads(), len(p)), dtype=np.uint8))

    def gradients(self, *given: Any) -> Work:
        """Of users low .. high-1 of a batch, by the thread of this number."""
        from fullrank.kernels.sgd_history import history_gradients

        left = self.entries, self.kept, self.v, self.back, self.loss
        return lambda part: history_gradients(*part[1:], *given, self.mark[part[0]], *left)  # type: ignore[call-arg]

    def steps(self, entries: int, kept: int, rate: Any) -> Work:
        """So many entries, in their order, at items low .. high-1."""
        from fullrank.kernels.ordered_add import add_to_rows

        of_p, of_q = [part[:entries] for part in self.entries], [part[:kept] for part in self.kept]

        def work(part: Part) -> None:
            for (item, slot, weight, shrink), vectors, rows in ((of_p, self.v, self.p), (of_q, self.back, self.q)):
                add_to_rows(item, slot, weight, shrink, vectors, rate, rows, *part[1:])

        return work
