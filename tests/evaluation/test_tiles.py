"""Ranks and lists from tiles of items: those of brute force over canonical scores, whatever the tiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import fullrank
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError
from fullrank.evaluation.candidates import Sampled
from fullrank.evaluation.rank import rank, rank_and_top
from fullrank.evaluation.scoring import ByVectors
from fullrank.evaluation.top import top
from fullrank.kernels.counting import count_tile
from fullrank.kernels.topn import top_tile
from fullrank.models.kinds.linear import ItemVectors, People
from fullrank.runtime.threads import threads
from tests.evaluation.test_exact import ITEMS, LISTS, RANKS, canonical, digest, hard_vectors, of_ranks, parted

pytestmark = pytest.mark.identical


@pytest.fixture(autouse=True)
def _restored_threads() -> Iterator[None]:
    before = threads()
    yield
    threads(before)


@dataclass(frozen=True, eq=False)
class Tiled:
    """Vectors with biases and offsets, ranked by tiles of so many items."""

    left: np.ndarray
    right: np.ndarray
    tile: int
    bias: np.ndarray | None = None
    offset: np.ndarray | None = None

    def people(self, users: np.ndarray) -> People:
        return People(self.left[users], np.zeros(len(users)) if self.offset is None else self.offset[users])

    def scorer(self, n_users: int, n_items: int) -> ByVectors:
        right, bias = (None if part is None else part.copy() for part in (self.right, self.bias))
        for part in (right, bias):
            if part is not None:
                part.flags.writeable = False
        assert right is not None
        return ByVectors(ItemVectors(right, bias), self.people, self.tile)

    def scores(self) -> np.ndarray:
        total = canonical(self.left, self.right)
        total = total if self.bias is None else total + self.bias.astype(np.float64)
        return total if self.offset is None else total + self.offset[:, None]


@st.composite
def problems(draw: st.DrawFn) -> tuple[Tiled, Split[Interactions]]:
    """Vectors of few different numbers, so that much ties or nearly does, and what everybody did, up to everything."""
    users, items, factors = draw(st.integers(1, 5)), draw(st.integers(1, 14)), draw(st.integers(1, 3))
    kind = draw(st.sampled_from([np.float32, np.float64]))
    numbers = st.sampled_from([-3.0, -1.0, 0.0, 1.0, 1.0 + 2.0**-20, 2.0, 2.0**40, 2.0**-40])
    left, right = (draw(arrays(kind, (n, factors), elements=numbers)) for n in (users, items))
    bias = draw(st.none() | arrays(kind, items, elements=numbers))
    offset = draw(st.none() | arrays(np.float64, users, elements=st.sampled_from([0.0, -0.1, 2.0**30])))
    state = draw(arrays(np.int8, (users, items), elements=st.integers(0, 4)))
    state[draw(st.integers(0, users - 1))] = draw(st.sampled_from([0, 1, 2, 4]))  # all seen, say, or all held out
    state[draw(st.integers(0, users - 1)), draw(st.integers(0, items - 1))] = 2
    ids = {"users": Ids.numbered(users), "items": Ids.numbered(items)}
    parts = [Interactions.of(*np.nonzero(np.isin(state, some)), **ids) for some in ((1,), (2, 3), (4,))]
    train, held, valid = parts
    return Tiled(left, right, draw(st.integers(1, items + 1)), bias, offset), Split(train, held, valid)


def brute_ranks(scores: np.ndarray, held: set[int], hidden: set[int]) -> list[tuple[int, int, int]]:
    others = [scores[item] for item in range(len(scores)) if item not in held | hidden]
    return [
        (sum(x > c for x in others), sum(x == c for x in others), sum(scores[item] > c for item in held))
        for c in (scores[item] for item in sorted(held))
    ]


@given(
    problem=problems(), n=st.integers(1, 20), block=st.none() | st.integers(1, 6), count=st.sampled_from([1, 2]),
    leaks=st.booleans(),
)  # fmt: skip
def test_against_brute_force(
    problem: tuple[Tiled, Split[Interactions]], n: int, block: int | None, count: int, leaks: bool
) -> None:
    model, split = problem
    threads(count)
    scores = model.scores()
    exclude: Any = split.held_out if leaks else "train"  # what is held out is excluded as well
    ranks, lists = rank_and_top(model, split, n, exclude=exclude, block=block)
    assert rank(model, split, exclude=exclude, block=block) == ranks
    alone = top(model, split, n, users=ranks.user, exclude=exclude, block=block)
    assert (alone.item.tobytes(), alone.score.tobytes()) == (lists.item.tobytes(), lists.score.tobytes())
    leaked = 0
    for case, user in enumerate(ranks.user.tolist()):
        parts = (split.held_out,) if leaks else (split.train, split.valid)
        hidden = {item for part in parts if part is not None for item in part.item[part.user == user].tolist()}
        held = set(split.held_out.item[split.held_out.user == user].tolist())
        rows = slice(ranks.start[case], ranks.start[case + 1])
        counts = zip(*(part[rows].tolist() for part in (ranks.above, ranks.tied, ranks.relevant_above)), strict=True)
        assert list(counts) == brute_ranks(scores[user], held, hidden)
        assert ranks.pool[case] == len(scores[user]) - len(held | hidden)
        leaked += len(held & hidden)
        order = sorted(set(range(len(scores[user]))) - hidden, key=lambda item: (-scores[user, item], item))[:n]
        assert lists.item[case].tolist() == order + [-1] * (n - len(order))
        assert lists.score[case].tolist() == scores[user, order].tolist() + [0.0] * (n - len(order))
    assert any(f"{leaked:,} held-out items are among the excluded ones" in note for note in ranks.about.notes) == (
        leaked > 0
    )


@pytest.mark.parametrize("tile", [1, 7, 64, 333, ITEMS - 1, ITEMS])
def test_hard_vectors_have_the_digest_of_whole_rows(tile: int) -> None:
    """Copies of items stand in different tiles, lists of 20 are longer than some tiles, 1 to 60 items are held out."""
    model, cases = Tiled(*hard_vectors(), tile), fullrank.cases_of(parted())
    for count, block in ((1, 64), (2, None)):
        threads(count)
        ranks, lists = rank_and_top(model, cases, 20, block=block)
        assert (of_ranks(ranks)[:16], digest(lists.item, lists.score)[:16]) == (RANKS, LISTS)


@pytest.mark.parametrize("factor", [1.0, 2.0**60])
def test_products_that_may_overflow_and_long_lists(factor: float) -> None:
    left, right = (part * np.float32(factor) for part in hard_vectors(3))
    model, split, offset = Tiled(left, right, 100), parted(3), np.linspace(-1, 1, len(left))
    model = Tiled(left, right, 100, offset=offset)
    scores = model.scores()
    assert rank(model, split) == rank(scores, split)
    assert rank(model, split, Sampled(40, 1)) == rank(scores, split, Sampled(40, 1))
    for n in (99, 400, ITEMS + 5):
        assert top(model, split, n, block=50).item.tolist() == top(scores, split, n).item.tolist()


@pytest.mark.parametrize("tile", [1, 50, 333])
def test_products_with_any_error_up_to_the_bound(tile: int) -> None:
    """Tiles of products that are as wrong as they may be, by turns too low and too high."""
    (left, right), split = hard_vectors(2), parted(2)
    left[5::40] = 1  # without the huge: they are not multiplied at all
    right[160:170] = 1
    noise = np.random.default_rng(7).integers(-3, 4, (ITEMS - 600, right.shape[1])).astype(np.float32)
    right[600:] = 4 * right[599] * (1 + noise * np.float32(2.0**-23))  # nearly the same, and best for half of all users
    cases, items, offset = fullrank.cases_of(split), ItemVectors(right), np.linspace(-3, 3, len(left))
    people = People(left, offset)
    near, exact, hidden = items.near(people), items.exact(people), (*cases.seen, *cases.more)
    assert near is not None
    width = near.tau.astype(np.float64)[:, None] * near.reach + near.slack[:, None] - 2.0**-50 * np.abs(exact)
    ranks, lists = rank(exact, cases), top(exact, split, 20)
    c = items.products(people).held(cases.start, cases.item)
    for seed in range(3):
        error = np.sign(np.random.default_rng(seed).uniform(-1, 1, exact.shape))
        dots = items.exact(People(left, np.zeros(len(left))))
        bad = (dots + 0.999 * error * width).astype(np.float32)
        bad = np.where(np.abs(bad - dots) <= width, bad, dots.astype(np.float32))
        out = [np.empty(len(cases.item), dtype=np.int64) for _ in range(3)]
        pool, leaks = (np.empty(len(cases), dtype=np.int64) for _ in range(2))
        best, worth = np.empty((len(left), 20), dtype=np.int32), np.empty((len(left), 20))
        by_code = np.arange(ITEMS, dtype=np.int32)
        for begin in range(0, ITEMS, tile):
            some = np.ascontiguousarray(bad[:, begin : begin + tile])
            assert top_tile(begin, some, near, cases.user, *hidden, by_code, best, worth) == -1
            given = (c, cases.user, cases.start, cases.item, *hidden, *out, pool, leaks)
            assert count_tile(begin, some, near, *given) == -1
        assert (best.tolist(), worth.tolist()) == (lists.item.tolist(), lists.score.tolist())
        expected = (ranks.above, ranks.tied, ranks.relevant_above, ranks.pool)
        assert [part.tolist() for part in (*out, pool)] == [part.tolist() for part in expected]


def test_a_catalogue_without_items() -> None:
    nothing = Interactions.of([], [], users=Ids.numbered(2), items=Ids.numbered(0))
    lists = top((np.ones((2, 3)), np.ones((0, 3))), Split(nothing, nothing), 2)
    assert (lists.item.tolist(), lists.score.tolist()) == ([[-1, -1]] * 2, [[0, 0]] * 2)


def test_scores_that_rise_with_every_tile() -> None:
    """Every tile is better than all before it, so that lists are made anew with each."""
    left, right = np.ones((3, 1), dtype=np.float32), np.arange(ITEMS, dtype=np.float32)[:, None] // 3
    ids = {"users": Ids.numbered(3), "items": Ids.numbered(ITEMS)}
    held = Interactions.of([0, 1, 2], [0, 450, ITEMS - 1], **ids)
    split = Split(held.where(np.zeros(3, dtype=bool)), held)
    for tile in (10, 300):
        ranks, lists = rank_and_top(Tiled(left, right, tile), split, 7)
        assert ranks.above.tolist() == [ITEMS - 3, ITEMS - 453, 0]
        assert ranks.tied.tolist() == [2, 2, 2]
        assert lists.item[0].tolist() == [897, 898, 899, 894, 895, 896, 891]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_not_finite_are_refused_by_name(wrong: float) -> None:
    (left, right), split = hard_vectors(), parted()
    left[23, 4] = wrong
    for work in (rank, top):
        with pytest.raises(DataError, match=r"a score for user 23 is NaN or infinite"):
            work(Tiled(left, right, 50), split)
    left[23, 4] = 1
    right[ITEMS - 1, 4] = wrong
    with pytest.raises(DataError, match=r"a score for user \d+ is NaN or infinite"):
        top(Tiled(left, right, 50), split)
