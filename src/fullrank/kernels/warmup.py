"""Compile every kernel before it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fullrank.kernels.agreement import count_agreeing
from fullrank.kernels.als import solve_rows
from fullrank.kernels.als_cg import step_rows
from fullrank.kernels.als_preferences import cost_items, cost_matrices, cost_users, run_sums
from fullrank.kernels.arranging import find_room, take_best, take_calibrated, take_diverse
from fullrank.kernels.cooccurrence import add_dense, add_sparse, dots_block, nearest_block
from fullrank.kernels.counting import count_tile
from fullrank.kernels.dual import self_products, sum_people
from fullrank.kernels.exact_dot import bound_norms, exact_rows, held_dots
from fullrank.kernels.expected_level import expected_worth
from fullrank.kernels.near import Near
from fullrank.kernels.newton_logistic import newton_rows
from fullrank.kernels.ordered_add import add_to_rows
from fullrank.kernels.preference_pairs import enumerate_pairs
from fullrank.kernels.random import alias_table
from fullrank.kernels.sampled_ranks import sample_block, sample_pairs_block
from fullrank.kernels.sequences import followers_block
from fullrank.kernels.sgd_history import history_gradients
from fullrank.kernels.sgd_pairs import deal, pair_cell
from fullrank.kernels.sgd_preferences import descend_preferences, move_items
from fullrank.kernels.sgd_ratings import descend_users
from fullrank.kernels.sgd_sessions import add_moves, descend_choices, descend_values
from fullrank.kernels.topn import top_tile


def _pairs() -> None:
    start, codes, grades = np.array([0, 2]), np.array([0, 1], dtype=np.int32), np.array([1, 0], dtype=np.float32)
    for array in (start, codes, grades):
        array.flags.writeable = False  # as the containers hold them
    enumerate_pairs(start, codes, grades, np.empty(1, dtype=np.int32), np.empty(1, dtype=np.int32))


def _orders() -> None:
    count_agreeing(np.array([0, 1, 2]), np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int32), np.array([2]))


def _near(kind: Any) -> tuple[Any, Near]:
    """A block of scores of this type, and vectors that gave them."""
    vectors, items, reach = np.ones((1, 1), dtype=kind), np.ones((2, 1), dtype=kind), np.ones(2, dtype=kind)
    for array in (items, reach):
        array.flags.writeable = False
    near = Near(vectors, items, reach, np.zeros(1, dtype=kind), np.zeros(1), np.zeros(1), 1.0, 0.0)
    return np.zeros((1, 2), dtype=kind), near


def _ranks() -> None:
    starts, items = np.array([0, 0]), np.zeros(0, dtype=np.int32)
    held = np.zeros(1, dtype=np.int32)
    for array in (starts, items, held):
        array.flags.writeable = False
    out = [np.zeros(1, dtype=np.int64) for _ in range(6)]
    for kind in (np.float32, np.float64):
        scores, near = _near(kind)
        given = (held, np.array([0, 1]), held, starts, items, starts, items)
        count_tile(0, scores, near, np.zeros(1), *given, *out[:5])
        sample_block(scores, near, *given, 1, 0, False, *out)
        sample_pairs_block(scores, near, *given, 1, 0, False, *out[:5])
        held_dots(near.vectors, np.array([0, 1]), near.items, held, np.zeros(1))
        bound_norms(near.items, 1.0, np.zeros(2))


def _top() -> None:
    starts, items, users = np.array([0, 0]), np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int32)
    for array in (starts, items, users):
        array.flags.writeable = False
    best = np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1))
    order = np.arange(2, dtype=np.int32)
    order.flags.writeable = False
    for kind in (np.float32, np.float64):
        top_tile(0, *_near(kind), users, starts, items, starts, items, order, *best)


def _arranged() -> None:
    start, label, limit, vectors = (
        np.array([0, 1]),
        np.zeros(1, np.int32),
        np.ones(1, np.int64),
        np.ones((1, 1), np.float32),
    )
    inverse, past = np.ones(1), np.zeros(1, dtype=np.int32)
    for array in (start, label, limit, vectors, inverse, past):
        array.flags.writeable = False
    pools, scores, out = np.zeros((1, 1), np.int32), np.zeros((1, 1)), np.zeros((1, 1), np.int32)
    quota, words = (start, label, limit, out), (start, label, 1)
    take_best(pools, *quota)
    left, room = np.ones(1, dtype=bool), np.zeros(1, dtype=bool)
    left.flags.writeable = False
    find_room(pools, left, start, label, limit, room)
    take_diverse(pools, scores, 0.5, vectors, inverse, *words, *quota)
    take_calibrated(pools, scores, 0.5, 0.01, start, past, *words, *quota)


def _levels() -> None:
    weights = np.ones(2, dtype=np.float32)
    weights.flags.writeable = False
    expected_worth(np.zeros((1, 1)), np.ones((1, 1), dtype=np.float32), weights)


def _neighbours() -> None:
    start, code, value = np.array([0, 1]), np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.float32)
    weight, length2, similar = np.ones(1), np.ones(1), np.ones((1, 1), dtype=np.float32)
    for array in (start, code, value, weight, length2, similar):
        array.flags.writeable = False
    lists, out = (start, code, value), np.zeros((1, 1), dtype=np.float32)
    add_dense(code, *lists, True, similar, out)
    add_sparse(code, *lists, True, *lists, out)
    dots_block(0, lists, lists, True, weight, np.zeros((1, 1)))
    work = np.zeros(1), np.empty(2), np.empty(2), np.zeros(1, np.uint8), np.empty(2, np.int32), np.empty(2, np.int32)
    nearest = np.zeros(1, np.int64), np.empty(1, np.int32), np.empty(1), np.empty(1, np.float32)
    nearest_block(0, 1, lists, lists, True, weight, length2, 0.0, 1, True, True, *work, *nearest)


def _sequences() -> None:
    start, code, at, place = np.array([0, 1]), np.zeros(1, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int32)
    fade, counts = np.ones(1), np.ones(1)
    for array in (start, code, at, place, fade, counts):
        array.flags.writeable = False
    work = np.zeros(1), np.empty(2), np.empty(2), np.zeros(1, np.uint8), np.empty(2, np.int32), np.empty(2, np.int32)
    nearest = np.zeros(1, np.int64), np.empty(1, np.int32), np.empty(1), np.empty(1, np.float32)
    followers_block(0, 1, (start, code, at), (start, code, place), fade, 1.0, counts, 0.0, 1, *work, *nearest)


def _people() -> None:
    start, code, value = np.array([0, 1]), np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.float32)
    row, weight, over = np.zeros(1, dtype=np.int32), np.ones((1, 1), dtype=np.float32), np.ones(1, dtype=np.float32)
    for array in (start, code, value, weight, over):
        array.flags.writeable = False
    lists, wide = (start, code, value), np.ones((1, 1))
    self_products(0, *lists, wide, np.zeros(1))
    sum_people(row, weight, *lists, over, np.zeros((1, 1), dtype=np.float32))
    exact_rows(wide, weight, np.zeros(1), wide.copy())
    sum_people(row, wide, *lists, over, np.zeros((1, 1), dtype=np.float32))


def _rows() -> None:
    start, column, one = np.array([0, 1]), np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.float32)
    none = np.zeros(0, dtype=np.float32)
    for array in (start, column, one, none):
        array.flags.writeable = False
    other, out, loss = np.ones((1, 1), dtype=np.float32), np.ones((1, 1), dtype=np.float32), np.zeros(1)
    given = (start, column, one, none, np.ones(6, dtype=np.float32), np.ones(1, dtype=np.float32), one)
    solve_rows(*given, other, out, loss, 0, 1)
    step_rows(*given, other, out, loss, 0, 1, 1)
    weight: Any = np.float32(1)
    newton_rows(start, column, weight, one, other, out, loss, 0, 1)


def _pairwise() -> None:
    start, codes = np.array([0, 1]), np.zeros(1, dtype=np.int32)
    for array in (start, codes):
        array.flags.writeable = False
    dealt, place, both = np.zeros(1, dtype=np.int32), np.zeros((1, 2), dtype=np.int64), np.arange(2, dtype=np.int32)
    deal(start, codes, dealt, np.arange(2), np.zeros(2, dtype=np.int64), np.array([0, 1]), dealt, place, 0, 1)
    chance, instead = np.ones(2), np.zeros(2, dtype=np.int64)
    alias_table(np.ones(2), chance, instead)
    one: Any = np.float32(1)
    rows = np.zeros((1, 1), dtype=np.float32), np.zeros((2, 1), dtype=np.float32), np.zeros(2, dtype=np.float32)
    given = (dealt, 0, dealt, place, both, chance, instead, 0.0, False, np.ones(1, dtype=np.float32), 0, 0, 0)
    pair_cell(*given, *rows, np.ones(3, dtype=np.float32), one, one)


def _ratings() -> None:
    one = np.ones(1, dtype=np.float32)
    start, codes, target = np.array([0, 1]), np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.float32)
    for array in (start, codes, target):
        array.flags.writeable = False
    batch, both, none = np.zeros(1, dtype=np.int32), np.ones((1, 2), dtype=np.float32), np.zeros(0, dtype=np.float32)
    own, shared = (one[:, None].copy(), one.copy(), both[:0, :0].copy()), (both.copy(), one[:, None].copy())
    entries, moves, vectors = (batch, batch.copy(), one), (one.copy(), one.copy()), (both, one[:, None].copy())
    given = (batch.copy(), np.array([0, 1]), (start, codes, target), own, none, shared, (0.1, 0.1), (0, 0))
    descend_users(*given, np.zeros(1, dtype=np.int64), entries, moves, vectors, np.zeros(1), 0, 1)
    step: Any = np.float32(0.1)
    add_to_rows(batch, batch, one, one, vectors[0], step, shared[0], 0, 1)


def _history() -> None:
    start, codes = np.array([0, 1]), np.zeros(1, dtype=np.int32)
    for array in (start, codes):
        array.flags.writeable = False
    both, ends, vector = np.arange(2, dtype=np.int32), np.array([0, 2]), np.zeros((1, 1), dtype=np.float32)
    p, table, one = np.zeros((2, 1), dtype=np.float32), np.ones((2, 2), dtype=np.float32), np.ones(2, dtype=np.float32)
    number = np.array([0, 0, 0, 1, 0, 0.1], dtype=np.float32)
    sampler = both, np.ones(2), np.zeros(2, dtype=np.int64)
    left = (both.copy(), both.copy(), one, one.copy()), (both.copy(), both.copy(), one.copy(), one.copy())
    given = (both.copy(), ends, ends, start, codes, one.copy(), p, p.copy(), 0, number, table, sampler, 0, 0)
    history_gradients(0, 1, *given, np.zeros(2, dtype=np.uint8), *left, vector, vector.copy(), np.zeros(1))
    step: Any = np.float32(0.1)
    add_to_rows(*left[0], vector, step, p, 0, 2)


def _costs() -> None:
    start, code, one = np.array([0, 1]), np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.float32)
    place = np.zeros(1, dtype=np.int64)
    for array in (start, code, one, place):
        array.flags.writeable = False
    entries, nest, reg = (start, code, one, one), (start, start, start, place), np.float32(1)
    p, q, alpha = (np.ones(size, dtype=np.float32) for size in ((1, 1), (1, 1), 1))
    number: Any = reg
    cost_users(*entries, *nest, q, number, True, p, alpha, np.zeros(1), 0, 1)
    sums, matrices = (np.zeros(1), np.zeros(1)), np.ones((1, 1), dtype=np.float32)
    run_sums(start, code, *nest, p, q, *sums, 0, 1)
    cost_matrices(start, code, one, p, alpha, number, matrices, 0, 0, 1)
    cost_items(*entries, start, place, place, p, alpha, matrices, *sums, q, 0, 1)
    who, column, moved = np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.float32)
    descend_preferences(
        who, start, code, *nest, moved, number, number, True, 0, 0, 0, 1, column, column, alpha, moved, sums[0], 0, 1
    )
    move_items(who, start, code, moved, column)


def _sessions() -> None:
    start, code, one = np.array([0, 1]), np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    used = np.ones(1, dtype=np.uint8)
    for array in (start, code, one, used):
        array.flags.writeable = False
    who, first, rest = code.copy(), np.array([0, 1]), np.zeros(1, dtype=np.float32)
    step: Any = np.float32(0.1)
    p, q, moved = (np.ones((1, 1), dtype=np.float32) for _ in range(3))
    given = (
        who, first, start, code, start, start, start, one, rest, step, step, p, q, moved, np.zeros(1),
    )  # fmt: skip
    descend_choices(*given, 0, 1)
    descend_values(*given, used, one, one, False, False, rest.copy(), rest.copy(), 0, 1)
    add_moves(who, first, start, code, moved, q, 0, 1)


KERNELS: dict[str, Callable[[], None]] = {
    "pairs of graded cases": _pairs,
    "orders of graded cases": _orders,
    "ranks of held-out items": _ranks,
    "lists of the best items": _top,
    "lists picked from pools": _arranged,
    "expected worth of levels": _levels,
    "neighbours of items": _neighbours,
    "people of items": _people,
    "items that follow items": _sequences,
    "rows of factors": _rows,
    "pairs of items": _pairwise,
    "people by what they did": _history,
    "passes over ratings": _ratings,
    "costs of opportunities": _costs,
    "passes over sessions": _sessions,
}


def warmup() -> Iterator[str]:
    """Compile the kernels one by one, giving the name of each before it starts."""
    for name, compile_it in KERNELS.items():
        yield name
        compile_it()
