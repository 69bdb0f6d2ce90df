"""Lists of the best items: against sorting, and the same whatever the blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.rank import rank, rank_and_top
from fullrank.evaluation.top import top
from fullrank.ranks import Ranks
from tests.evaluation.test_rank import problems


@given(
    problem=problems(), n=st.integers(1, 9), exclude=st.sampled_from(["train", None]), block=st.sampled_from([None, 1])
)
def test_against_sorting(
    problem: tuple[np.ndarray, Split[Interactions]], n: int, exclude: str | None, block: int | None
) -> None:
    scores, split = problem
    lists = top(scores, split, n, exclude=exclude, block=block)  # type: ignore[arg-type]
    for user, row in enumerate(scores):
        hidden: set[int] = set()
        for part in (split.train, split.valid) if exclude else ():
            assert part is not None
            hidden |= set(part.item[part.user == user].tolist())
        expected = sorted(
            (item for item in range(len(row)) if item not in hidden), key=lambda item: (-row[item], item)
        )[:n]
        assert lists.names(user) == expected
        assert lists.item[user].tolist() == expected + [-1] * (n - len(expected))
        assert lists.score[user, : len(expected)].tolist() == row[expected].tolist()


@pytest.mark.identical
@given(problem=problems(), block=st.sampled_from([None, 1]))
def test_lists_from_the_pass_that_ranks(problem: tuple[np.ndarray, Split[Interactions]], block: int | None) -> None:
    scores, split = problem
    calls: list[tuple[int, int]] = []
    ranks, lists = rank_and_top(scores, split, 3, block=block, progress=lambda done, of: calls.append((done, of)))
    assert calls == sorted(calls)
    assert calls[-1] == (len(lists), len(lists))
    assert ranks == rank(scores, split)
    alone = top(scores, split, 3, users=ranks.user)
    assert lists.user.tolist() == ranks.user.tolist()
    assert (lists.item.tolist(), lists.score.tolist()) == (alone.item.tolist(), alone.score.tolist())
    with pytest.raises(ValueError, match="read-only"):
        lists.item[0] = 1


def test_some_users_and_refusals() -> None:
    data = Interactions.of([0, 1, 2], [0, 1, 2])
    split = Split(data, data.where(np.zeros(3, dtype=bool)))
    scores = np.arange(9, dtype=np.float32).reshape(3, 3)
    assert top(scores, split, 1, users=np.array([2, 0])).item.tolist() == [[1], [2]]
    scores[1, 0] = np.inf
    with pytest.raises(DataError, match="user 1 is NaN or infinite"):
        top(scores, split)
    with pytest.raises(ParameterError, match="'n' parameter"):
        top(scores, split, 0)
    with pytest.raises(DataError, match="user 1 is NaN or infinite"):
        rank_and_top(scores, Split(data.where(np.zeros(3, dtype=bool)), data))


def test_lists_as_a_frame_name_users_and_items_and_leave_out_empty_places() -> None:
    data = Interactions.of(["ann", "bob", "bob"], [10, 10, 20])
    split = Split(data, data.where(np.zeros(3, dtype=bool)))
    frame = top(np.array([[1.0, 2.0], [3.0, 4.0]]), split, 2).to_frame()  # bob has seen everything
    assert frame.to_dict(as_series=False) == {"user": ["ann"], "rank": [1], "item": [20], "score": [2.0]}
    frame = top(np.array([[1.0, 2.0], [3.0, 4.0]]), split, 2, users=np.array([1, 0]), exclude=None).to_frame()
    assert frame.rows() == [("bob", 1, 20, 4.0), ("bob", 2, 10, 3.0), ("ann", 1, 20, 2.0), ("ann", 2, 10, 1.0)]
    nobody = top(np.array([[1.0, 2.0], [3.0, 4.0]]), split, users=np.zeros(0, dtype=int)).to_frame()
    assert nobody.columns == frame.columns
    assert len(nobody) == 0


def test_ranks_as_a_frame_have_a_row_per_relevant_item() -> None:
    # case 0 is user 7's:  R - R(tied with one) - ...      case 1 is user 3's:  - R
    ranks = Ranks(start=[0, 2, 3], above=[0, 1, 1], tied=[0, 1, 0], pool=[8, 9])
    assert ranks.to_frame().to_dict(as_series=False) == {
        "case": [0, 0, 1], "above": [0, 1, 1], "tied": [0, 1, 0], "relevant_above": [0, 1, 0],
        "position": [1.0, 3.5, 2.0], "pool": [8, 8, 9],
    }  # fmt: skip
    known = Ranks(
        start=[0, 2, 3], above=[0, 1, 1], tied=[0, 1, 0], pool=[8, 9], item=[4, 5, 6], user=[7, 3], grade=[5, 4, 3]
    ).to_frame()
    assert known.columns == [
        "case", "user", "item", "above", "tied", "relevant_above", "position", "pool", "grade"
    ]  # fmt: skip
    assert known.select("user", "item", "grade").rows() == [(7, 4, 5.0), (7, 5, 4.0), (3, 6, 3.0)]
