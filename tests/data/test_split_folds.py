"""Folds, held-out users, validation parts, repetitions and denser data."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.data.split import (
    core,
    densify,
    folds,
    halved,
    held_out_users,
    holdout,
    leave_last,
    repetitions,
    with_valid,
)
from fullrank.errors import DataError, ParameterError
from tests.data.split_cases import brute_share, histories, is_partition, of, pairs, sessions


@given(histories(least=2), st.integers(2, 6), st.booleans(), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_every_row_is_held_out_once(history: Any, k: int, per_user: bool, seed: int) -> None:
    _, data = history
    if len(data) < k:
        with pytest.raises(ParameterError, match=f"at most {len(data)}, the number of rows"):
            folds(data, k)
        return
    splits = list(folds(data, k, per_user=per_user, seed=seed))
    held = Counter(pair for split in splits for pair in pairs(split.held_out))
    assert set(held) == pairs(data)
    assert set(held.values()) == {1}
    sizes = [len(split.held_out) for split in splits]
    assert len(sizes) == k
    assert max(sizes) - min(sizes) <= 1
    for split in splits:
        is_partition(split, data)
    if per_user:
        each = np.array([np.bincount(split.held_out.user, minlength=data.n_users) for split in splits])
        assert (np.ptp(each, axis=0) <= 1).all()


def test_sessions_are_spread_evenly() -> None:
    cases = sessions([7, 1, 3, 12, 0, 5])
    splits = list(folds(cases, 3))
    each = np.array([np.bincount(split.held_out.user, minlength=len(cases.users)) for split in splits])
    assert each.sum(axis=0).tolist() == np.bincount(cases.user, minlength=len(cases.users)).tolist()
    assert (np.ptp(each, axis=0) <= 1).all()
    assert np.ptp(each.sum(axis=1)) <= 1
    assert splits[1].how.startswith("Fold 2 of 3 over each user's cases, spread evenly: 9 of 28 cases are held out")


def test_users_with_one_session_meet_in_different_folds() -> None:
    cases = sessions([1] * 8, times=False)
    together = {tuple(next(folds(cases, 2, seed=seed)).held_out.user) for seed in range(40)}
    assert len(together) > 20  # of 70


def test_folds_over_preferences() -> None:
    data = Preferences.of([1] * 7 + [2] * 6, [*range(7), *range(6)], [9] * 13)
    splits = list(folds(data, 4, seed=2))
    assert sorted(len(split.held_out) for split in splits) == [3, 3, 3, 4]
    held = [(u, b) for split in splits for u, b in zip(split.held_out.user, split.held_out.better, strict=True)]
    assert len(set(held)) == len(held) == 13
    assert splits[0].how == "Fold 1 of 4 over preferences: 4 of 13 preferences are held out at random, seed 2."


def test_folds_refuse_at_once_and_deal_one_at_a_time() -> None:
    data = of("a1@1 a2@2 b1@1")
    with pytest.raises(ParameterError):
        folds(data, 4)  # not only when the first fold is asked for
    dealt = folds(data, 3)
    assert len(next(dealt).held_out) == 1
    assert len(list(dealt)) == 2


@given(histories(), st.sampled_from([0, 1, 2, 0.2, 0.5, 0.8]), st.sampled_from(["random", "time"]), st.integers(0, 9))
@settings(max_examples=80, deadline=None)
def test_held_out_users(history: Any, visible: Any, order: Any, seed: int) -> None:
    _, data = history
    counts = np.bincount(data.user)
    least = 2 if isinstance(visible, float) else visible + 1
    eligible = np.flatnonzero(counts >= least)
    try:
        split = held_out_users(data, n=1, visible=visible, order=order, seed=seed)
    except (ParameterError, DataError):
        assert not len(eligible) or len(counts) == 1
        return
    is_partition(split, data)
    seen: Interactions = split.visible  # type: ignore[assignment]
    [user] = set(split.held_out.user.tolist())
    assert user in eligible
    assert user not in split.train.user
    assert set(seen.user.tolist()) == (set() if visible == 0 else {user})
    n = int(counts[user])
    assert len(seen) == (visible if isinstance(visible, int) else min(max(brute_share(visible, n), 1), n - 1))
    if order == "time" and len(seen):
        assert seen.time.max() <= split.held_out.time.min()  # type: ignore[union-attr]


def test_held_out_users_by_hand() -> None:
    rng = np.random.default_rng(0)
    data = Interactions.of(np.repeat(np.arange(20), 10), rng.permuted(np.tile(np.arange(10), (20, 1)), axis=1).ravel())
    split = held_out_users(data, 0.25, seed=3)
    assert repr(split) == "Split(150 train, 40 visible, 10 held_out)"
    assert split.how == (
        "5 of the 20 users with at least 2 rows, drawn with seed 3, are kept from training; "
        "0.8 of each one's rows, at random, can be seen and the rest is held out (10 of 200 rows)."
    )
    cold = held_out_users(data, n=5, visible=0)
    assert cold.visible is not None
    assert len(cold.visible) == 0
    assert cold.how.endswith("for 5 users with held-out rows there are none to learn from.")
    chosen = Counter(user for seed in range(400) for user in set(held_out_users(data, 0.25, seed=seed).held_out.user))
    assert all(60 < chosen[user] < 140 for user in range(20))  # 100 each, within 4.6 standard deviations


def test_users_to_validate_and_users_to_test() -> None:
    data = Interactions.of(np.repeat(np.arange(20), 10), np.tile(np.arange(10), 20))
    split = with_valid(held_out_users(data, n=4), partial(held_out_users, n=3))
    assert split.valid is not None
    assert split.visible is not None
    is_partition(split, data)
    test, valid = set(split.held_out.user), set(split.valid.user)
    assert (len(test), len(valid), test & valid) == (4, 3, set())
    assert set(split.visible.user) == test | valid
    assert not set(split.train.user) & (test | valid)


def test_halved() -> None:
    data = Interactions.of(np.repeat(np.arange(11), 10), np.tile(np.arange(10), 11), time=np.arange(110))
    whole = leave_last(data, 5)
    split = halved(whole, seed=2)
    assert split.valid is not None
    assert (len(split.valid), len(split.held_out)) == (27, 28)
    assert pairs(split.valid) | pairs(split.held_out) == pairs(whole.held_out)
    assert split.train is whole.train
    assert split.how == whole.how + " Of these 27 at random are for validation and 28 for the test (seed 2)."
    assert halved(whole, seed=3) != split == halved(whole, seed=2)


def test_halves_do_not_follow_the_shuffle_of_ties() -> None:
    """The same seed makes the split and halves it: the two choices must be independent."""
    data = Interactions.of(np.repeat(np.arange(2000), 3), np.tile(np.arange(3), 2000), time=[0] * 6000)
    split = halved(leave_last(data, 2))
    last = leave_last(data, 1).held_out
    assert abs(len(pairs(split.valid) & pairs(last)) - 1000) < 100  # standard deviation about 22


def test_a_second_validation_part_is_refused() -> None:
    split = halved(leave_last(of("a1@1 a2@2 a3@3 a4@4"), 2))
    for make in (halved, partial(with_valid, make=leave_last)):
        with pytest.raises(DataError, match="has a validation part already \\(1 row\\); use one that has none"):
            make(split)
    with pytest.raises(DataError, match="one held-out row cannot be halved; hold out more"):
        halved(leave_last(of("a1@1 a2@2")))
    with pytest.raises(ParameterError, match="The 'split' parameter must be a Split"):
        halved(of("a1@1 a2@2"))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="The 'make' parameter must be a function from data to a Split"):
        with_valid(leave_last(of("a1@1 a2@2")), lambda data: data)  # type: ignore[arg-type, return-value]


def test_repetitions() -> None:
    data = Interactions.of([1] * 40, range(40))
    make = partial(holdout, data, 0.25)
    four = list(repetitions(make, 4, seed=1))
    assert len({tuple(split.held_out.item) for split in four}) == 4
    assert list(repetitions(make, 2, seed=1)) == four[:2]
    assert list(repetitions(make, 2, seed=2)) != four[:2]
    seeds: list[int] = list(repetitions(lambda seed: seed, 3))
    assert f"seed {seeds[2]}," in list(repetitions(make, 3))[2].how  # the report names what to repeat it with
    assert [[len(s.held_out) for s in five] for five in repetitions(partial(folds, data), 2)] == [[8] * 5] * 2


def test_densify_by_hand() -> None:
    #        items 1: abc  2: ab  3: ab  4: cd  5: d
    data = of("a1@1 b1@1 c1@1 a2@1 b2@1 a3@1 b3@1 c4@1 d4@1 d5@1").catalogue(users="z", items="0")
    dense = densify(data, items=3, users=2)
    assert pairs(dense) == {(u, i) for u in "ab" for i in "123"}
    assert (dense.users, dense.items) == (Ids("ab"), Ids("123"))
    assert dense.intake.dropped == {
        "item not among the 3 with the most rows": 3,
        "user not among the 2 with the most rows": 1,
    }
    assert dense.intake.kept == len(dense) == 6
    assert dense.intake.notes == ("kept 2 of 5 users, 3 of 6 items",)
    assert dense.value is not None
    assert dense.value.tolist() == [2, 3, 4, 2, 3, 4]


def test_densify_breaks_ties_by_id_and_keeps_sides_without_a_limit() -> None:
    data = of("a1@1 b2@1 c3@1").catalogue(users="z", items="09")
    assert densify(data, items=2).items == Ids("12")
    assert densify(data, items=2).users == Ids("abcz")
    assert densify(data, users=100).users == Ids("abc")  # never one without rows
    assert densify(data, users=100).items == Ids("01239")
    assert densify(data, users=100).intake.dropped == {}


def test_users_are_counted_on_the_kept_items() -> None:
    data = of("a1@1 a2@1 a3@1 b8@1 c8@1 b9@1 c9@1 d9@1")
    assert densify(data, items=2, users=1).users == Ids("b")  # a has most rows, none of them on 8 or 9


def test_counts_of_the_dropped_add_up_over_steps() -> None:
    data = of("a1@1 b1@1 a2@1 b2@1 a3@1 c4@1")
    twice = densify(densify(data, items=3), items=2)
    assert twice.intake.kept == len(twice) == 4
    part = densify(data.where(data.user < 2), items=2)  # whose intake is unknown
    assert (part.intake.rows, part.intake.kept) == (5, 4)


@given(histories(), st.integers(1, 5), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_densify_against_counting(history: Any, items: int, users: int) -> None:
    _, data = history
    item_counts = Counter(i for _, i in pairs(data))
    best = sorted(item_counts, key=lambda i: (-item_counts[i], data.items.code(i)))[:items]
    user_counts = Counter(u for u, i in pairs(data) if i in best)
    active = sorted(user_counts, key=lambda u: (-user_counts[u], data.users.code(u)))[:users]
    dense = densify(data, items=items, users=users)
    assert pairs(dense) == {(u, i) for u, i in pairs(data) if u in active and i in best}
    assert set(dense.users) == set(active)
    assert set(dense.items) == set(best)
    assert dense.intake.kept == len(dense)


def test_core() -> None:
    data = of("a1@1 a2@1 b1@1 b2@1 c2@1 c3@1 d3@1")  # d falls, then item 3, then c
    kept = core(data, per_user=2, per_item=2)
    assert pairs(kept) == {("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")}
    assert kept.intake.dropped == {"outside the core of 2 rows per user, 2 per item": 3}
    assert core(kept, per_user=2, per_item=2) == kept
    with pytest.raises(DataError, match="nothing has 3 rows per user and 2 per item; choose smaller numbers"):
        core(data, per_user=3, per_item=2)
