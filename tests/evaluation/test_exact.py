"""Ranks and lists by canonical scores: the same bytes whatever BLAS, blocks, threads and shards do."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import fullrank
from fullrank import metrics
from fullrank.comparison.pairs import all_pairs
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError
from fullrank.evaluation.candidates import Sampled
from fullrank.evaluation.offers import offer_scores
from fullrank.evaluation.rank import rank, rank_and_top
from fullrank.evaluation.result import evaluate
from fullrank.evaluation.top import top
from fullrank.models.kinds.factors import Factors
from fullrank.models.kinds.linear import ItemVectors, People, held_scores
from fullrank.ranks import Ranks
from fullrank.recommending.recommend import recommend
from fullrank.runtime.threads import threads

pytestmark = pytest.mark.identical

USERS, ITEMS, FACTORS = 300, 900, 24

# what every machine must find; a change of these is a change of what ranks or lists are
RANKS = "7e4b34226d52bf7a"
LISTS = "50bf76071c72ea41"
NUMBERS = "e8f696b45d900c16"


@pytest.fixture(autouse=True)
def _restored_threads() -> Iterator[None]:
    before = threads()
    yield
    threads(before)


def hard_vectors(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Duplicated items, zeros, huge and tiny norms, and near ties one unit in the last place apart.

    Drawn from whole numbers, so that the vectors themselves are the same everywhere.
    """
    rng = np.random.default_rng(seed)
    left, right = (np.float32(rng.integers(-(2**20), 2**20, (n, FACTORS))) / np.float32(2**18) for n in (USERS, ITEMS))
    right[100:150] = right[50:100]  # the same
    right[150:160] = 0
    right[160:170] *= np.float32(2.0**50)
    right[170:180] *= np.float32(2.0**-70)
    right[180:190] *= np.float32(2.0**-110)
    near = right[200:260]
    near[:] = right[260:320]
    near[np.arange(60), np.arange(60) % FACTORS] = np.nextafter(near[np.arange(60), np.arange(60) % FACTORS], 9e9)
    left[::17] = 0
    left[5::40] *= np.float32(2.0**60)
    left[6::40] *= np.float32(2.0**-60)
    left[7::40] = right[210] * np.sign(left[7::40])  # scores with large parts that cancel
    return left, right


def parted(seed: int = 0) -> Split[Interactions]:
    """Some items of everybody in train, from 1 to 60 of the others held out."""
    rng = np.random.default_rng([seed, 1])
    ids = {"users": Ids.numbered(USERS), "items": Ids.numbered(ITEMS)}
    train, held = [], []
    for user in range(USERS):
        order = rng.permutation(ITEMS)
        train += [(user, item) for item in order[:30]]
        held += [(user, item) for item in order[30 : 31 + int(rng.integers(0, 60))]]
    columns = (np.array(part).T for part in (train, held))
    return Split(*(Interactions.of(user, item, 1 + (user + item) % 5, **ids) for user, item in columns))


def canonical(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """By NumPy, one factor after the other."""
    total = np.zeros((len(left), len(right)))
    for k in range(left.shape[1]):
        total += np.multiply.outer(left[:, k].astype(np.float64), right[:, k].astype(np.float64))
    return total


def digest(*columns: Any) -> str:
    found = hashlib.sha256()
    for column in columns:
        found.update(np.ascontiguousarray(column).astype(column.dtype.newbyteorder("<")).tobytes())
    return found.hexdigest()


def of_ranks(ranks: Ranks) -> str:
    return digest(ranks.above, ranks.tied, ranks.relevant_above, ranks.pool)


def test_one_file_of_vectors_has_one_digest() -> None:
    factors, split = hard_vectors(), parted()
    cases = fullrank.cases_of(split)
    for count, block in ((1, 1), (1, 300), (2, None), (2, 7), (3, 64), (4, 271)):
        threads(count)
        ranks, lists = rank_and_top(factors, cases, 20, block=block)
        assert of_ranks(ranks) == of_ranks(rank(factors, cases, block=block))
        assert (of_ranks(ranks)[:16], digest(lists.item, lists.score)[:16]) == (RANKS, LISTS), (count, block)
    parts = []
    for users in np.array_split(np.arange(USERS), 7):
        held = split.held_out.where(np.isin(split.held_out.user, users))
        parts.append(rank(factors, Split(split.train, held)))
    assert of_ranks(Ranks.concat(parts))[:16] == RANKS
    rows = [top(factors, split, 20, users=np.array([user])) for user in range(USERS)]
    assert digest(np.vstack([row.item for row in rows]), np.vstack([row.score for row in rows]))[:16] == LISTS


def test_metrics_intervals_and_tests_have_one_digest() -> None:
    """Of everything that follows from ranks, but for Wilcoxon's p-value, which SciPy takes from a C library."""
    factors, split = hard_vectors(), parted()
    cases = fullrank.cases_of(split)
    asked = [metric @ 10 if metric.cut else metric for metric in metrics.RANKED.values()]
    one = evaluate(rank(factors, cases), asked)
    two = evaluate(rank((factors[0][:, :20], factors[1][:, :20]), cases), asked)
    numbers: list[Any] = [one.values, two.values, sorted(one.mean().items()), sorted(one.interval(repeats=200).items())]
    for pair in one.versus(two).values():
        numbers.append([getattr(pair, field.name) for field in fields(pair) if field.name != "wilcoxon_p"])
    pairs = all_pairs({"one": one, "two": two, "swapped": two})
    found = hashlib.sha256(b"".join(part.tobytes() for part in numbers[:2]))
    found.update(repr((numbers[2:], pairs)).encode())
    assert found.hexdigest()[:16] == NUMBERS


def test_they_are_those_of_canonical_scores() -> None:
    factors, split = hard_vectors(), parted()
    scores = canonical(*factors)
    assert rank(factors, split) == rank(scores, split)
    assert rank(factors, split, Sampled(50, 3)) == rank(scores, split, Sampled(50, 3))
    found, expected = top(factors, split, 20), top(scores, split, 20)
    assert found.item.tolist() == expected.item.tolist()
    assert found.score.tobytes() == expected.score.tobytes()
    for row, user in ((0, 0), (5, 5), (6, 6), (7, 7), (200, 200)):
        order = sorted(
            set(range(ITEMS)) - set(split.train.item[split.train.user == user].tolist()),
            key=lambda item: (-scores[user, item], item),
        )
        assert found.item[row].tolist() == order[:20]


def test_items_with_the_same_vector_tie() -> None:
    (left, right), split = hard_vectors(), parted()
    ids = {"users": Ids.numbered(USERS), "items": Ids.numbered(ITEMS)}
    held = Interactions.of(np.arange(USERS), np.full(USERS, 60), **ids)
    ranks = rank((left, right), Split(split.train.where(np.zeros(len(split.train), dtype=bool)), held))
    known = np.abs(left).sum(axis=1) > 0
    assert (ranks.tied[known] >= 1).all()  # 110 is 60
    assert (ranks.tied[~known] == ITEMS - 1).all()


@pytest.mark.parametrize("kind", ["no vectors", "copies"])
def test_however_many_are_too_close_to_tell(kind: str) -> None:
    """More than there is room for at first, where held-out items are counted one by one and where in buckets."""
    (left, right), split = hard_vectors(4), parted(4)
    if kind == "no vectors":
        right[: ITEMS - 50] = 0
    else:
        right[:] = np.repeat(right[400 : 400 + ITEMS // 30], 30, axis=0)
    scores = canonical(left, right)
    expected = rank(scores, split)
    assert expected.tied.sum() > 50_000
    for block in (None, 1):  # room that was made is kept for the rest of a block
        assert rank((left, right), split, block=block) == expected
    assert top((left, right), split, 40).item.tolist() == top(scores, split, 40).item.tolist()


class SameScores(NamedTuple):
    """The scores of a model as rows, with its training data: what it falls back on, and how ties are listed."""

    array: np.ndarray
    train: Interactions

    def exact_scores(self, users: np.ndarray) -> np.ndarray:
        return self.array[users]


@pytest.mark.parametrize("kind", ["bias", "offset", "both", "a large offset"])
def test_biases_and_offsets_are_added_last(kind: str) -> None:
    left, right = hard_vectors(1)
    split = parted(1)
    bias = np.linspace(-2, 2, ITEMS, dtype=np.float32) if kind in ("bias", "both") else None
    offset = {"offset": 3.5, "both": -0.1, "a large offset": 1e9}.get(kind, 0.0)
    model = Factors(left, right, split.train, fullrank.IALS(), bias, offset)
    array = canonical(left, right)
    array = (array if bias is None else array + bias.astype(np.float64)) + offset
    scores = SameScores(array, split.train)
    assert rank(model, split) == rank(scores, split)
    assert rank(model, split, Sampled(30, 1)) == rank(scores, split, Sampled(30, 1))
    assert top(model, split, 9).item.tolist() == top(scores, split, 9).item.tolist()
    graded = split.held_out.graded()
    assert offer_scores(model, graded).tobytes() == offer_scores(array, graded).tobytes()
    for user in (1, 5, 6, 17):
        alone = recommend(model, user, n=9)
        lists = top(scores, split, 9, users=np.array([user]))
        assert alone.items == lists.names(0)
        assert alone.fallback or alone.scores == lists.score[0].tolist()


def test_a_product_with_any_error_up_to_the_bound_gives_the_same_ranks() -> None:
    from fullrank.kernels.counting import count_tile
    from fullrank.kernels.topn import top_tile

    (left, right), split = hard_vectors(2), parted(2)
    left[5::40] = 1  # without the huge: they are not multiplied at all
    right[160:170] = 1
    cases, items = fullrank.cases_of(split), ItemVectors(right)
    people = People(left, np.zeros(USERS))
    exact, near = items.exact(people), items.near(people)
    assert near is not None
    expected, lists = rank(exact, cases), top(exact, split, 20)
    width = near.tau.astype(np.float64)[:, None] * near.reach + near.slack[:, None]
    for seed, size in ((0, 1.0), (1, 1.0), (2, 0.5), (3, 1e-3)):
        error = np.random.default_rng(seed).uniform(-1, 1, exact.shape)
        if seed == 1:
            error = np.sign(error)
        bad = (exact + 0.999 * size * error * width).astype(np.float32)  # rounding takes its share of the width
        bad = np.where(np.abs(bad - exact) <= width, bad, exact.astype(np.float32))
        out = [np.empty(len(cases.item), dtype=np.int64) for _ in range(3)]
        pool, leaks = np.empty(USERS, dtype=np.int64), np.zeros(USERS, dtype=np.int64)
        best, worth = np.empty((USERS, 20), dtype=np.int32), np.empty((USERS, 20))
        hidden = (*cases.seen, *cases.more)
        by_code = np.arange(ITEMS, dtype=np.int32)
        assert top_tile(0, bad, near, cases.user, *hidden, by_code, best, worth) == -1
        c = held_scores(bad, near, cases.start, cases.item)
        assert count_tile(0, bad, near, c, cases.user, cases.start, cases.item, *hidden, *out, pool, leaks) == -1
        assert [part.tolist() for part in out] == [
            part.tolist() for part in (expected.above, expected.tied, expected.relevant_above)
        ]
        assert best.tolist() == lists.item.tolist()


def products(seed: int, users: int, items: int, factors: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Vectors that are hard on a product: other magnitudes, sums that cancel, all of one sign, denormal numbers."""
    rng = np.random.default_rng([seed, factors])
    left, right = (rng.standard_normal((n, factors)).astype(np.float32) for n in (users, items))
    if kind == "magnitudes":
        left, right = (part * np.exp2(rng.integers(-30, 30, part.shape)).astype(np.float32) for part in (left, right))
    elif kind == "cancelling":
        half = factors // 2
        left[:, half : 2 * half], right[:, half : 2 * half] = left[:, :half], -right[:, :half]
        right[:, 0] = np.nextafter(right[:, 0], np.float32(9))
    elif kind == "one sign":
        left, right = np.abs(left) + np.float32(1), np.abs(right) + np.float32(1)
    elif kind == "tiny":
        left, right = left * np.float32(1e-22), right * np.float32(1e-20)
    return left, right


@pytest.mark.parametrize("kind", ["normal", "magnitudes", "cancelling", "one sign", "tiny"])
def test_no_product_is_further_from_the_canonical_score_than_the_bound(kind: str) -> None:
    """Two million products of each kind, by whatever BLAS is told to be: ten million in all."""
    done = 0
    for seed, (users, items, factors) in enumerate([(1, 40000, 64), (7, 50000, 33), (300, 2000, 128), (64, 16000, 10)]):
        left, right = products(seed, users, items, factors, kind)
        vectors, people = ItemVectors(right), People(left, np.zeros(users))
        near = vectors.near(people)
        assert near is not None
        width = near.tau.astype(np.float64)[:, None] * vectors.reach + near.slack[:, None]
        apart = np.abs(np.matmul(left, vectors.across).astype(np.float64) - vectors.exact(people))
        assert (apart <= width).all()
        done += apart.size
    assert done >= 2_000_000


@given(
    pair=st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            *(arrays(np.float32, (1, n), elements=st.floats(-(2.0**60), 2.0**60, width=32)) for _ in range(2))
        )
    )
)
def test_the_bound_against_rational_numbers(pair: tuple[np.ndarray, np.ndarray]) -> None:
    left, right = pair
    vectors, people = ItemVectors(right), People(left, np.zeros(1))
    truth = sum(Fraction(float(p)) * Fraction(float(q)) for p, q in zip(left[0], right[0], strict=True))
    near, exact = vectors.near(people), vectors.exact(people)[0, 0]
    size = float(np.abs(left.astype(float) * right).sum())
    assert abs(Fraction(exact) - truth) <= Fraction(len(left[0]) * 2.0**-53 * size * 1.0001)
    assert near is not None
    width = float(near.tau[0]) * float(vectors.reach[0]) + float(near.slack[0])
    product = np.matmul(left, right.T)[0, 0]
    assert abs(Fraction(float(product)) - truth) <= Fraction(width)


def test_vectors_whose_products_overflow_are_ranked_all_the_same() -> None:
    (left, right), split = hard_vectors(3), parted(3)
    left, right = left * np.float32(2.0**60), right * np.float32(2.0**60)
    assert ItemVectors(right).near(People(left, np.zeros(USERS))) is None
    assert rank((left, right), split) == rank(canonical(left, right), split)
    right[4, 0] = np.inf
    with pytest.raises(DataError, match="is NaN or infinite"):
        rank((left, right), split)


def test_scores_from_outside_keep_their_precision() -> None:
    ids = {"users": Ids([0]), "items": Ids.numbered(4)}
    split = Split(Interactions.of([0], [3], **ids), Interactions.of([0], [1], **ids))
    scores = np.array([[1 + 1e-12, 1.0, 1 - 1e-12, 5.0]])
    for model in (scores, lambda users: scores[users], (np.ones((1, 1)), scores.T.copy())):
        ranks = rank(model, split)
        assert (ranks.above.tolist(), ranks.tied.tolist()) == ([1], [0])
        assert top(model, split, 3).names(0) == [0, 1, 2]
        assert top(model, split, 3).score[0].tolist() == [1 + 1e-12, 1.0, 1 - 1e-12]
    assert rank(scores.astype(np.float32), split).tied.tolist() == [2]
    whole = np.array([[2**53 - 1, 2**53 - 2, 7, 9]])
    assert rank(whole, split).above.tolist() == [1]
    assert rank(whole > 7, split).tied.tolist() == [1]
    for lost in (whole + 2, np.array([["a", "b", "c", "d"]]), scores.astype(np.longdouble) + np.longdouble(2) ** -60):
        with pytest.raises(DataError, match=f"numbers of type {lost.dtype} that float64 cannot tell apart"):
            rank(lost, split)
