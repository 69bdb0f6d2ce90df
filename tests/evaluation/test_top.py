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
    ranks, lists = rank_and_top(scores, split, 3, block=block)
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
