"""Pairs of items, a relevant one above another: stochastic steps that are parallel and reproducible.

Users and items are cut into blocks, drawn anew for every epoch. In each of as many rounds every block of users meets
another block of items; the cells of a round share no row, so any number of threads gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, Codes, Csr, Floats, owned, row_blocks
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.factors import Factors, SideName
from fullrank.models.positives import Relevant, positive_pairs, positives
from fullrank.models.stochastic.descent import Descent, Epoch, normal
from fullrank.models.stochastic.samplers import Sampler, alias, weights
from fullrank.models.training.state import Parameters, Rounds
from fullrank.runtime.threads import team

BLOCKS = 8  # of users and of items, where there are enough
FEWEST = 128  # items in a block: others are drawn from the same one
SCALE = 0.1  # of the vectors at the start
PARTS = 4  # of an epoch in which everybody has as many steps; with one, held-out metrics fell by 2% on MovieLens 1M
FOLD = 30  # epochs of somebody new against a finished model


class Pairs(NamedTuple):
    """How pairs are drawn and what they weigh: the options of a cell, see `kernels.pairwise.pair_cell`."""

    each: float  # updates of a user in an epoch; 0: as many as there are relevant items
    unseen: bool  # whether the other item is none of the user's own
    cost: Floats  # by the number of draws; empty: sigma(-x)
    reg: float
    bias: bool
    sampler: Sampler


class PairRecipe(Descent[Interactions, Factors], Protocol):
    """A recipe of pairs: it says how they are drawn and what they weigh."""

    bias: bool
    relevant: Relevant
    sampler: Sampler

    def pairs(self, train: Interactions) -> Pairs:
        """How pairs are drawn and what they weigh."""

    def prepare(self, train: Interactions, seed: int) -> Rounds:
        """Steps on pairs of everybody."""
        epoch = epochs(positives(self, train), self.pairs(train), seed)
        return self.rounds(partial(start, train, self.factors, seed), epoch)

    def model(self, parameters: Parameters, train: Interactions) -> Factors:
        """score = <p_u, q_i> + 1 b_i: the last column is the bias."""
        users = _beside(parameters["users"], np.ones(train.n_users, dtype=np.float32), self.bias)
        return Factors(users, _beside(parameters["items"], parameters["bias"], self.bias), train, self)

    def bias_columns(self) -> int:
        """b_i of an item."""
        return int(self.bias)

    def vectors(self, fixed: Factors, against: SideName, pairs: Csr) -> Floats:
        """Rows for these pairs by the same steps, users against "items" or items against "users"."""
        return fold(self, fixed, against, pairs, self.pairs(fixed.train))


def start(train: Interactions, factors: int, seed: int) -> Parameters:
    """Small normal vectors, the same for every recipe of pairs, and no bias."""
    return {
        "users": normal(train.n_users, factors, SCALE, seed, 0),
        "items": normal(train.n_items, factors, SCALE, seed, 1),
        "bias": np.zeros(train.n_items, dtype=np.float32),
    }


def epochs(rows: Interactions, pairs: Pairs, seed: int) -> Epoch:
    """Epochs over these relevant rows."""
    cells = Cells(rows.starts, rows.item, weights(pairs.sampler, rows), pairs)

    def epoch(parameters: Parameters, number: int, rate: float) -> float:
        return cells.epoch(parameters, seed, number, np.full(3, rate, dtype=np.float32))

    return epoch


class Cells:
    """The relevant items of every user, to be cut into blocks."""

    def __init__(self, start: Array, item: Array, weight: NDArray[np.float64], pairs: Pairs) -> None:
        self.start, self.item = owned(start, np.int64), owned(item, np.int32)
        self.weight, self.pairs = weight, pairs
        users, items = len(start) - 1, len(weight)
        self.blocks = max(1, min(BLOCKS, items // FEWEST, users // FEWEST))
        self.dealt = np.empty(len(item), dtype=np.int32)
        self.place = np.empty((users, self.blocks + 1), dtype=np.int64)

    def epoch(self, parameters: Parameters, seed: int, number: int, rates: Floats) -> float:
        """An epoch in place, its parts one after the other; the mean loss of a pair."""
        parts = PARTS if self.pairs.each else 1
        sums = [
            self._part(parameters, seed, parts * number + part, self.pairs.each / parts, rates) for part in range(parts)
        ]
        losses, counts = np.concatenate(sums).T
        return float(losses.sum() / max(counts.sum(), 1))

    def _part(self, parameters: Parameters, seed: int, number: int, each: float, rates: Floats) -> NDArray[np.float64]:
        """All rounds over blocks drawn for this part: losses and numbers of pairs of every cell.

        Blocks are copied out, so that what threads write at the same time is apart in memory too.
        """
        from fullrank.kernels.sgd_pairs import pair_cell

        rng, n = np.random.default_rng([seed, 2, number]), self.blocks
        people, things = (rng.permutation(size).astype(np.int32) for size in (len(self.place), len(self.weight)))
        someone, columns = (np.array_split(np.arange(len(order), dtype=np.int32), n) for order in (people, things))
        tables = [alias(self.weight[things], column) for column in columns]
        orders = {"users": people, "items": things, "bias": things}
        rows = {name: parameters[name][order] for name, order in orders.items()}
        _, unseen, cost, reg, bias, _ = self.pairs
        sums = np.zeros((n * n, 2))

        def work(cell: tuple[int, int]) -> None:
            row, column = cell
            sums[row * n + column] = pair_cell(
                someone[row], column, self.dealt, self.place, *tables[column], each, unseen, cost,
                seed, number, row * n + column, rows["users"], rows["items"], rows["bias"],
                rates, np.float32(reg), np.float32(bias),
            )  # fmt: skip

        with team() as together:
            together(self._dealing(people, things, columns), row_blocks(len(self.place), 1 << 12))
            for turn in range(n):
                together(work, [(row, (row + turn) % n) for row in range(n)])
        for name, order in orders.items():
            parameters[name][order] = rows[name]
        return sums

    def _dealing(self, people: Codes, things: Codes, columns: list[Codes]) -> Callable[[slice], None]:
        """Puts the relevant items of some of the people into the order of their blocks."""
        from fullrank.kernels.sgd_pairs import deal

        position, block_of = np.argsort(things), np.repeat(np.arange(len(columns)), [len(one) for one in columns])
        begin = np.concatenate([[0], np.cumsum(np.diff(self.start)[people])])
        given = self.start, self.item, people, position, block_of, begin, self.dealt, self.place
        return lambda some: deal(*given, some.start, some.stop)


def fold(recipe: PairRecipe, fixed: Factors, against: SideName, pairs: Csr, options: Pairs) -> Floats:
    """Rows for these pairs (CSR) by the recipe's own steps; items, or users and all other items, stay as they are."""
    f, known = recipe.factors, fixed.items
    bias = known[:, f].copy() if recipe.bias else np.zeros(len(known), dtype=np.float32)
    rows = positive_pairs(recipe.relevant, fixed.train, pairs, by="user" if against == "items" else "item")
    fresh = np.zeros((rows.shape[0], f), dtype=np.float32)
    weight = weights(options.sampler, fixed.train)
    if against == "items":
        rates: tuple[float, float, float]
        parameters, rates = {"users": fresh, "items": known[:, :f].copy(), "bias": bias}, (recipe.rate, 0, 0)
        starts, item = rows.indptr, rows.indices
    else:
        by_user = rows.T.tocsr()
        weight = np.concatenate([np.where(known.any(axis=1), weight, 0), np.zeros(len(fresh))])
        parameters = {
            "users": fixed.users[:, :f].copy(),
            "items": np.concatenate([known[:, :f], fresh]),
            "bias": np.concatenate([bias, np.zeros(len(fresh), dtype=np.float32)]),
        }
        rates, starts, item = (0, recipe.rate, 0), by_user.indptr, by_user.indices + len(known)
    cells = Cells(starts, item, weight, options)
    for number in range(FOLD):
        cells.epoch(parameters, 0, number, np.array(rates, dtype=np.float32))
    if against == "items":
        return _beside(parameters["users"], np.ones(len(fresh), dtype=np.float32), recipe.bias)
    return _beside(parameters["items"][len(known) :], parameters["bias"][len(known) :], recipe.bias)


def _beside(vectors: Floats, column: Floats, there: bool) -> Floats:
    return np.column_stack([vectors, column]) if there else vectors
