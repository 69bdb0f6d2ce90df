"""Scores that are inner products, and how near a product by BLAS comes to them.

    score(u, i) = <p_u, q_i> + bias_i + offset_u

Ranks and lists are defined by the canonical scores of `fullrank.kernels.exact_dot`; a product by BLAS only tells who
is close enough to be asked for them. So they are the same on every machine, in every block, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, Codes, Doubles, Floats, frozen, owned
from fullrank.kernels.near import Near
from fullrank.models.kinds.model import Model

Vectors: TypeAlias = Array  # float32 or float64
Room: TypeAlias = Callable[..., Array]  # memory for scores of this type, of all items or so many
Tile: TypeAlias = tuple[int, Array, Near]  # the first item, scores (people, items from there on), how near they are

MARGIN = 1 + 2.0**-10  # covers that the bounds themselves are computed in floating point


class People(NamedTuple):
    """Those who are scored: their vectors (people, factors), and what is added to all scores of each (people,)."""

    vectors: Vectors
    offset: Doubles


@runtime_checkable
class Linear(Protocol):
    """A model whose scores are inner products offers what canonical scoring needs, here and nowhere else."""

    @property
    def item_vectors(self) -> ItemVectors:
        """What people are multiplied with."""

    def people(self, users: Codes) -> People:
        """Known users, by codes."""

    def newcomer(self, items: Codes, values: NDArray[np.float32]) -> People:
        """Somebody new, from what they did: one row."""


_linear: dict[type, bool] = {}  # by kind of model: to look through a protocol takes seven microseconds


def is_linear(model: object) -> TypeGuard[LinearModel]:
    """Whether the scores of a model are inner products: the same for all models of a kind."""
    kind = type(model)
    if kind not in _linear:
        _linear[kind] = isinstance(model, Linear)
    return _linear[kind]


@runtime_checkable
class LinearModel(Linear, Model, Protocol):
    """A kind of model with such scores: they follow from its vectors."""

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        self.item_vectors.multiply(self.people(users), out)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        out = np.empty((1, len(self.item_vectors.vectors)), dtype=np.float32)
        self.item_vectors.multiply(self.newcomer(items, values), out)
        return np.asarray(out[0])


@dataclass(frozen=True, eq=False)
class ItemVectors:
    """The items of a model, ready to be multiplied with people.

    A bias is one more coordinate of the item, whose counterpart is 1: the sum then ends with it.
    """

    vectors: Vectors  # (items, factors)
    bias: Vectors | None = None  # (items,)

    @cached_property
    def rows(self) -> Vectors:
        """(items, width): the vectors, and the biases as their last coordinate."""
        if self.bias is None:
            return self.vectors
        return frozen(np.column_stack([self.vectors, self.bias]))

    @cached_property
    def across(self) -> Vectors:
        """(width, items): the same, as products go through them."""
        return frozen(np.ascontiguousarray(self.rows.T))

    @cached_property
    def reach(self) -> Vectors:
        """The norm of every row, rounded up; 0 for zeros only."""
        norms = _norms(self.rows)
        with np.errstate(over="ignore"):
            return frozen(np.maximum(norms, float(self.kind.tiny) * (norms > 0)).astype(self.rows.dtype))

    @property
    def kind(self) -> Any:
        """Of the numbers in the vectors: smallest, largest, how exact."""
        return np.finfo(self.rows.dtype)

    @cached_property
    def furthest(self) -> float:
        """The largest norm of all."""
        return float(self.reach.max(initial=0))

    def beside(self, people: People) -> Vectors:
        """The vectors of people with the counterpart of the bias: (people, width)."""
        if self.bias is None:
            return np.require(people.vectors, requirements=["C", "W"])
        ones = np.ones((len(people.vectors), 1), dtype=self.rows.dtype)
        return np.hstack([people.vectors, ones])

    def multiply(self, people: People, out: Array) -> None:
        """Scores by BLAS into `out` (people, items), with the last bits of this machine."""
        np.matmul(self.beside(people), self.across, out=out)
        if people.offset.any():
            out += people.offset.astype(out.dtype)[:, None]

    def exact(self, people: People) -> Doubles:
        """Canonical scores of all items, (people, items): some ten times as long as by BLAS."""
        return self.exact_tile(people, self.across)

    def exact_tile(self, people: People, across: Vectors) -> Doubles:
        """Those of some items, (width, items), alone."""
        from fullrank.kernels.exact_dot import exact_rows

        out = np.empty((len(people.vectors), across.shape[1]))
        exact_rows(self.beside(people), across, people.offset, out)
        return out

    def products(self, people: People) -> Products:
        """These people beside all items, to be ranked."""
        return Products(self, people, self.near(people))

    def block(self, people: People, room: Room) -> tuple[Vectors, Near]:
        """Scores of all items at once and how near they are to canonical ones: for one person, not worth tiles."""
        near = self.near(people)
        if near is None:
            exact = self.exact(people)
            return exact, exactly(exact)
        scores = room(self.rows.dtype)
        np.matmul(near.vectors, self.across, out=scores)
        return scores, near

    def near(self, people: People) -> Near | None:
        """How near products of these people come to canonical scores; None where they might overflow.

        A sum of f products, each step rounded with unit u, in any order, with fused steps or without, is within
        f u / (1 - f u) sum |p_k q_k| of the real one (Higham 2002, section 3.1), hence of |p||q| by Cauchy and Schwarz:
        u of the products' type for BLAS, 2^-53 for the canonical sum. With one more step for rounding a bound to the
        type of the products, the two together are tau |q|. The slack is what may be lost where numbers below the
        smallest normal one are flushed to zero, in every step and factor, and what float64 rounds when an offset is
        added.
        """
        vectors, kind = self.beside(people), self.kind
        norms, steps = _norms(vectors), self.rows.shape[1] + 1
        with np.errstate(over="ignore", invalid="ignore"):
            most, unit = norms * self.furthest, float(kind.eps) / 2
        if steps * unit > 0.25 or not (most < float(kind.max) / 16).all():
            return None
        tau = norms * (MARGIN * sum(steps * u / (1 - steps * u) for u in (unit, 2.0**-53)))
        lost = 4 * steps * float(kind.tiny) * (1 + self.furthest)
        slack = lost * (1 + norms) + 2.0**-50 * (np.abs(people.offset) + most)
        return Near(
            vectors, self.rows, self.reach, np.maximum(tau, float(kind.tiny) * (norms > 0)).astype(self.rows.dtype),
            slack, people.offset, self.furthest, float(kind.eps) if kind.bits < 64 else 0.0,
        )  # fmt: skip


class Products(NamedTuple):
    """Some people beside all items: what ranking asks of them."""

    items: ItemVectors
    people: People
    near: Near | None  # without it a product may overflow, or somebody's vector is not finite, which the kernels tell

    def tiles(self, room: Room, wide: int) -> Iterator[Tile]:
        """A filter for the ranking of all items, so many at a time: products by BLAS, else canonical scores."""
        for first in range(0, max(len(self.items.rows), 1), wide):  # one, without any items, where there are none
            rows = self.items.rows[first : first + wide]
            if self.near is None:
                exact = self.items.exact_tile(self.people, frozen(np.ascontiguousarray(rows.T)))
                yield first, exact, exactly(exact)
            else:
                scores = room(rows.dtype, len(rows))
                np.matmul(self.near.vectors, rows.T, out=scores)
                yield first, scores, self.near

    def held(self, start: NDArray[np.int64], item: Codes) -> Doubles:
        """The canonical scores of items item[start[row]] .. of every row; without offsets, where products have none."""
        from fullrank.kernels.exact_dot import held_dots

        out = np.empty(len(item))
        held_dots(self.items.beside(self.people), start, self.items.rows, item, out)
        return out if self.near else out + np.repeat(self.people.offset, np.diff(start))


def _norms(rows: Vectors) -> Doubles:
    """Upper bounds of the norms of rows."""
    from fullrank.kernels.exact_dot import bound_norms

    out = np.empty(len(rows))
    bound_norms(frozen(rows.view()), MARGIN, out)
    return out


def exactly(scores: Array) -> Near:
    """That a block of scores, in float32 or float64, is canonical."""
    people, kind = len(scores), scores.dtype
    none, zeros = frozen(np.zeros(0, dtype=kind)), np.zeros(people)
    vectors, items = np.zeros((people, 0), dtype=kind), frozen(np.zeros((0, 0), dtype=kind))
    return Near(vectors, items, none, zeros.astype(kind), zeros, zeros, 0.0, 0.0)


def pair_scores(vectors: Vectors, user: Codes, items: Vectors, item: Codes) -> Doubles:
    """The canonical inner products of pairs: vectors[user[n]] and items[item[n]]."""
    from fullrank.kernels.exact_dot import exact_pairs

    out = np.empty(len(item))
    exact_pairs(vectors, owned(user, np.int32), items, owned(item, np.int32), out)
    return out


def held_scores(scores: Vectors, near: Near, start: NDArray[np.int64], item: Codes) -> Doubles:
    """The canonical scores, without offsets, of items item[start[row]] .. of every row of whole scores."""
    from fullrank.kernels.exact_dot import held_dots

    if not len(near.items):
        row = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return scores[row, item].astype(np.float64)
    out = np.empty(len(item))
    held_dots(near.vectors, start, near.items, item, out)
    return out


def exact_scores_of(model: Model, users: Codes) -> Array:
    """The scores of known users (codes) for all items, as they are ranked: of inner products the canonical ones."""
    if isinstance(model, Linear):
        return model.item_vectors.exact(model.people(users))
    scores = model.exact_scores if hasattr(model, "exact_scores") else model.scores
    return np.asarray(scores(users))


def exact_scores_of_newcomer(model: Model, items: Codes, values: NDArray[np.float32]) -> Array:
    """The same of somebody new, from what they did: one row."""
    if isinstance(model, Linear):
        return model.item_vectors.exact(model.newcomer(items, values))
    return np.array(model.history_scores(items, values))[None, :]
