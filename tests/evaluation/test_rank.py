"""The ranking engine: against brute force, and the same bits whatever the blocks, threads and orders."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullrank
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.candidates import Sampled
from fullrank.evaluation.cases import cases_of
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.evaluation.top import top
from fullrank.metrics import auc, ndcg
from fullrank.models.kinds.linear import ItemVectors, People
from fullrank.ranks import Ranks
from fullrank.runtime.threads import threads


@pytest.fixture
def restored_threads() -> Iterator[None]:
    before = threads()
    yield
    threads(before)


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, Split[Interactions]]:
    """Scores with ties, and a random split of random feedback over them."""
    users, items = draw(st.integers(1, 5)), draw(st.integers(2, 7))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    part = rng.choice(4, size=(users, items), p=[0.4, 0.3, 0.1, 0.2])  # nothing, train, valid, held out
    part[0, 0] = 3
    scores = rng.integers(0, 4, (users, items)).astype(np.float32)
    values = rng.integers(1, 6, (users, items)).astype(np.float32)

    def of(which: int) -> Interactions:
        user, item = np.nonzero(part == which)
        return Interactions(user, item, values[user, item], None, Ids.numbered(users), Ids.numbered(items))

    return scores, Split(of(1), of(3), of(2))


def by_counting(scores: np.ndarray, split: Split[Interactions], relevant: float | None, exclude: str | None) -> Ranks:
    held = split.held_out.relevant(relevant)
    columns: dict[str, list] = {
        name: [] for name in ("above", "tied", "relevant_above", "pool", "start", "user", "item", "grade")
    }
    columns["start"].append(0)
    for user in np.unique(held.user):
        hits = held.item[held.user == user]
        out = set(hits.tolist())
        if exclude == "train":
            for part in (split.train, split.valid):
                assert part is not None
                out |= set(part.item[part.user == user].tolist())
        rest = [item for item in range(scores.shape[1]) if item not in out]
        for hit in hits:
            columns["above"].append(sum(scores[user, other] > scores[user, hit] for other in rest))
            columns["tied"].append(sum(scores[user, other] == scores[user, hit] for other in rest))
            columns["relevant_above"].append(sum(scores[user, other] > scores[user, hit] for other in hits))
        columns["item"] += hits.tolist()
        columns["grade"] += held.value[held.user == user].tolist()  # type: ignore[index]
        columns["pool"].append(len(rest))
        columns["start"].append(len(columns["above"]))
        columns["user"].append(user)
    return Ranks(**columns)


@given(problem=problems(), relevant=st.sampled_from([None, 3, 4]), exclude=st.sampled_from(["train", None]))
def test_against_counting(problem: tuple, relevant: float | None, exclude: str | None) -> None:
    scores, split = problem
    if not len(split.held_out.relevant(relevant)):
        with pytest.raises(DataError, match="is relevant at"):
            rank(scores, split, relevant=relevant, exclude=exclude)  # type: ignore[arg-type]
        return
    found = rank(scores, split, relevant=relevant, exclude=exclude)  # type: ignore[arg-type]
    assert found == by_counting(scores, split, relevant, exclude)
    assert found.about.candidates == "everything"


@given(problem=problems(), m=st.integers(1, 5), replace=st.booleans(), seed=st.integers(0, 99))
def test_samples_are_candidates_only(problem: tuple, m: int, replace: bool, seed: int) -> None:
    scores, split = problem
    exact = rank(scores, split)
    found = rank(scores, split, Sampled(m, seed, replace))
    assert found.full.tolist() == exact.pool.tolist()
    expected = np.where(exact.pool > 0, m, 0) if replace else np.minimum(exact.pool, m)
    assert found.pool.tolist() == expected.tolist()
    assert (found.above <= exact.above).all() or replace
    assert found.about.sampled == m
    if not replace and m >= exact.pool.max():
        assert found.above.tolist() == exact.above.tolist()
        assert found.tied.tolist() == exact.tied.tolist()
    assert rank(scores, split, Sampled(m, seed, replace), block=1) == found


def world() -> tuple[Split[Interactions], tuple[np.ndarray, np.ndarray]]:
    data = fullrank.simulate.ratings(users=200, items=300, density=0.1, seed=5).data
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((200, 16)).astype(np.float32), rng.standard_normal((300, 16)).astype(np.float32)
    return fullrank.holdout(data, 0.3), factors


def test_sampled_ranks_have_the_right_distribution() -> None:
    split, factors = world()
    exact = rank(factors, split)
    m, repeats = 40, 60
    total = sum(rank(factors, split, Sampled(m, seed)).above for seed in range(repeats))
    share = np.repeat(exact.pool, exact.sizes)
    expected = m * exact.above / share
    # hypergeometric variance, pooled over all rows
    variance = m * (exact.above / share) * (1 - exact.above / share) * (share - m) / (share - 1)
    z = (total / repeats - expected).sum() / np.sqrt(variance.sum() / repeats)
    assert abs(z) < 6  # rows of a case share their draws, so z is not quite standard
    assert np.abs(total / repeats - expected).max() < 6 * np.sqrt(variance.max() / repeats)


@pytest.mark.identical
@pytest.mark.usefixtures("restored_threads")
def test_bit_identical_whatever_the_blocks_threads_and_shards() -> None:
    split, factors = world()
    for candidates in (None, Sampled(20, 3)):
        one = rank(factors, split, candidates)
        for count, block in ((1, 1), (1, 7), (2, 64), (4, 13)):
            threads(count)
            assert rank(factors, split, candidates, block=block) == one
    cases = cases_of(split)
    dense = ItemVectors(factors[1]).exact(People(factors[0], np.zeros(200)))
    shards = []
    for users in np.array_split(np.arange(200), 3):
        held = split.held_out.where(np.isin(split.held_out.user, users))
        shards.append(rank(factors, Split(split.train, held)))
    assert Ranks.concat(shards) == rank(factors, cases)
    assert rank(dense, cases) == rank(factors, cases)
    assert rank(lambda users: dense[users], cases) == rank(factors, cases)


def counted_one_by_one(scores: np.ndarray, held: np.ndarray, seen: np.ndarray) -> tuple[list, list, list]:
    rest = np.delete(scores, np.concatenate([held, seen]))
    mine = scores[held]
    return (
        [(rest > t).sum() for t in mine],
        [(rest == t).sum() for t in mine],
        [(mine > t).sum() for t in mine],
    )


@pytest.mark.parametrize(
    "shape",
    ["normal", "few levels", "one level", "an outlier above", "an outlier below", "huge", "tiny", "near a level"],
)
@pytest.mark.parametrize("held_out", [3, 65, 400])
def test_many_held_out_items_are_counted_exactly(shape: str, held_out: int) -> None:
    rng = np.random.default_rng(held_out)
    items = 1500
    scores = rng.standard_normal(items)
    scores = {
        "normal": scores,
        "few levels": np.round(2 * scores),
        "one level": np.zeros(items),
        "an outlier above": np.where(np.arange(items) == 700, 1e30, scores),
        "an outlier below": np.where(np.arange(items) == 700, -1e30, scores),
        "huge": np.clip(scores * 2e38, -3.3e38, 3.3e38),
        "tiny": scores * 1e-44,  # denormal
        "near a level": 1 + np.round(scores * 3) * 1e-7,
    }[shape].astype(np.float32)
    drawn = rng.permutation(items)
    held, seen = np.sort(drawn[:held_out]), np.sort(drawn[held_out : held_out + 200])
    ids = Ids([0]), Ids.numbered(items)
    parts = [Interactions.of(np.zeros_like(part), part, users=ids[0], items=ids[1]) for part in (seen, held)]
    found = rank(scores[None, :], Split(*parts))
    assert (found.above.tolist(), found.tied.tolist(), found.relevant_above.tolist()) == counted_one_by_one(
        scores, held, seen
    )
    assert found.pool.tolist() == [items - held_out - 200]


def test_users_can_be_drawn_and_the_interval_tells_what_that_costs() -> None:
    split, factors = world()
    cases = cases_of(split)
    whole = evaluate(rank(factors, cases), [ndcg, auc])
    few = cases.drawn(60, seed=1)
    found = rank(factors, few)
    assert len(found) == 60
    assert found.about.notes == (f"estimated from 60 of {len(cases)} cases, drawn at random",)
    every = rank(factors, cases)
    for case, user in enumerate(found.user.tolist()):
        twin = every.user.tolist().index(user)
        rows, twins = (slice(r.start[c], r.start[c + 1]) for r, c in ((found, case), (every, twin)))
        assert found.above[rows].tolist() == every.above[twins].tolist()
        assert found.item[rows].tolist() == every.item[twins].tolist()
    results = [evaluate(rank(factors, cases.drawn(60, seed)), [ndcg, auc]) for seed in range(80)]
    for name, truth in whole.mean().items():
        means = np.array([result.mean()[name] for result in results])
        assert abs(means.mean() - truth) < 3 * means.std() / np.sqrt(80)
        inside = [low <= truth <= high for low, high in (r.interval(repeats=200)[name] for r in results)]
        assert np.mean(inside) > 0.9  # more than 95%, as a third of all cases are in the sample
    assert cases.drawn(10**6) is cases
    with pytest.raises(DataError, match="cannot be compared"):
        results[0].versus(results[1])
    with pytest.raises(ParameterError, match="'n' parameter"):
        cases.drawn(0)


def test_item_and_user_order_do_not_matter() -> None:
    split, (left, right) = world()
    rng = np.random.default_rng(2)
    users, items = rng.permutation(200), rng.permutation(300)

    def renamed(data: Interactions) -> Interactions:
        return Interactions.of(
            users[data.user], items[data.item], data.value, users=Ids.numbered(200), items=Ids.numbered(300)
        )

    moved = Split(renamed(split.train), renamed(split.held_out))
    left_moved, right_moved = np.empty_like(left), np.empty_like(right)
    left_moved[users], right_moved[items] = left, right
    one, two = rank((left, right), split), rank((left_moved, right_moved), moved)

    def rows(ranks: Ranks, user_names: np.ndarray, item_names: np.ndarray) -> list:
        who = user_names[ranks.user[ranks.case]]
        return sorted(zip(who, item_names[ranks.item], ranks.above, ranks.tied, ranks.relevant_above, strict=True))

    assert rows(one, users, items) == rows(two, np.arange(200), np.arange(300))


def test_a_leak_is_told_and_stays_a_candidate() -> None:
    ids = Ids([0]), Ids.numbered(4)
    train = Interactions.of([0, 0], [0, 1], users=ids[0], items=ids[1])
    held = Interactions.of([0, 0], [1, 2], users=ids[0], items=ids[1])
    found = rank(np.array([[4, 3, 2, 1]], dtype=np.float32), Split(train, held))
    assert (found.above.tolist(), found.pool.tolist()) == ([0, 0], [1])
    assert found.about.notes == ("1 held-out items are among the excluded ones too (leak)",)
    sampled = rank(np.array([[4, 3, 2, 1]], dtype=np.float32), Split(train, held), Sampled(5))
    assert (sampled.pool.tolist(), sampled.about.notes) == ([1], found.about.notes)


@given(problem=problems())
def test_an_item_excluded_twice_counts_once(problem: tuple) -> None:
    scores, split = problem
    once = Split(split.train, split.held_out)
    assert rank(scores, Split(split.train, split.held_out, split.train)) == rank(scores, once)
    everything = Sampled(10)
    assert rank(scores, Split(split.train, split.held_out, split.train), everything) == rank(scores, once, everything)


def _with_a(wrong: float, place: str) -> tuple[np.ndarray, Split[Interactions]]:
    """Scores of three users with a wrong one of user 1, who has one item in each part."""
    items = {"train": 0, "valid": 1, "held_out": 2, "candidates": 3}
    scores = np.arange(15, dtype=np.float32).reshape(3, 5)
    scores[1, items[place]] = wrong
    ids = {"users": Ids.numbered(3), "items": Ids.numbered(5)}
    parts = {name: Interactions.of([0, 1, 2], [items[name]] * 3, **ids) for name in ("train", "held_out", "valid")}
    return scores, Split(**parts)


def test_refusals() -> None:
    split, factors = world()
    bad = factors[0].copy()
    bad[3, 0] = np.nan
    with pytest.raises(DataError, match=r"tuple: a score for user 3 is NaN or infinite; fit with"):
        rank((bad, factors[1]), split)
    for wrong in (np.nan, np.inf, -np.inf):
        for place in ("train", "valid", "held_out", "candidates"):
            scores, parted = _with_a(wrong, place)
            with pytest.raises(DataError, match="a score for user 1 is NaN or infinite"):
                rank(scores, parted)
            with pytest.raises(DataError, match="a score for user 1 is NaN or infinite"):
                top(scores, parted)
    with pytest.raises(DataError, match=r"expected .200, 300.: a row per user"):
        rank(np.zeros((2, 2)), split)
    with pytest.raises(DataError, match="do not fit"):
        rank((factors[0], factors[1][:5]), split)
    with pytest.raises(DataError, match="cannot rank a int"):
        rank(7, split)
    with pytest.raises(DataError, match="gave scores of shape"):
        rank(lambda users: np.zeros(3), split)
    with pytest.raises(ParameterError, match="'m' parameter"):
        Sampled(0)
    with pytest.raises(ParameterError, match="'exclude' parameter"):
        rank(factors, split, exclude="valid")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="is relevant at 9"):
        rank(factors, split, relevant=9)
