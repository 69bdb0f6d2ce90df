"""Splits of events: an event stays on its side of the cut, and repeats are told apart from what is new."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank import Events, Interactions, Split, by_time, folds, halved, held_out_users, holdout, leave_last
from fullrank.data.split import Repeats, densify, with_valid
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.cases import cases_of
from tests.data.event_cases import Row, events_of, made, plain_rows, rows_of

Make = Callable[..., Split[Interactions]]

# tea (t) is bought on both sides of the cut at 10, jam (j) before, rye (r) after it; bob only repeats himself
BASKETS = "at@1 at@2 aj@3 at@10 at@11 ar@12 bt@4 bt@13 cj@14"
SPLITS: dict[str, Make] = {
    "last": partial(leave_last, n=2),
    "by time": partial(by_time, fraction=0.4),
    "holdout": partial(holdout, fraction=0.4, seed=3),
    "holdout of all": partial(holdout, fraction=0.4, per_user=False),
    "holdout, valid": partial(holdout, fraction=0.3, valid=0.3),
}


def counts(data: Interactions | None) -> dict[str, float]:
    """The value of each pair."""
    assert data is not None
    assert data.value is not None
    names = data.users.names[data.user], data.items.names[data.item]
    return dict(zip(("".join(pair) for pair in zip(*names, strict=True)), data.value.tolist(), strict=True))


class TestByHand:
    def test_repeats_are_left_out_and_training_events_stay(self) -> None:
        split = by_time(events_of(BASKETS), at=10)
        assert counts(split.train) == {"at": 2, "aj": 1, "bt": 1}  # merged rows would have moved at and bt across
        assert counts(split.held_out) == {"ar": 1, "cj": 1}
        assert split.repeats == Repeats(events=5, repeated=3, users=1, kept=False)
        assert split.how == (
            "Events at or after 1970-01-01T00:00:10 are held out (5 of 9 events); 3 of 5 held-out events (60.0%) "
            "repeat what the person had before, and are left out, and 1 user with them; for 1 user with held-out "
            "events there are none to learn from."
        )
        cases = cases_of(split)
        assert cases.users.names[cases.user].tolist() == ["a", "c"]
        assert cases.skipped == {"held-out events, all of items they had before": 1}
        assert cases.excluded == "train"

    def test_repeats_are_kept(self) -> None:
        events = events_of(BASKETS)
        split = by_time(events, at=10, repeat=True)
        assert counts(split.train) == {"at": 2, "aj": 1, "bt": 1}
        assert counts(split.held_out) == {"at": 2, "ar": 1, "bt": 1, "cj": 1}
        assert split.overlaps
        assert "(60.0%) repeat what the person had before, and are kept" in split.how
        assert split.whole() == events.merged()
        cases = cases_of(split)
        assert (len(cases), cases.skipped, cases.excluded) == (3, {}, "nothing")

    def test_the_last_events_of_everybody(self) -> None:
        split = leave_last(events_of(BASKETS), 2)
        assert counts(split.train) == {"at": 3, "aj": 1, "bt": 2, "cj": 1}
        assert counts(split.held_out) == {"ar": 1}
        assert split.how.startswith(
            "The last 2 events of each user by time are held out (2 of 9 events); "
            "2 users with 2 events or fewer stay in train"
        )

    def test_validation_is_cut_from_the_events(self) -> None:
        split = with_valid(by_time(events_of("at@1 aj@2 at@3 aj@4 ar@5 as@9"), at=9), partial(by_time, at=4))
        assert counts(split.train) == {"at": 2, "aj": 1}  # of merged rows aj, at 4, would have been in neither
        assert counts(split.valid) == {"ar": 1}
        assert counts(split.held_out) == {"as": 1}
        assert split.train_events is not None
        assert counts(split.train_events.merged()) == {"at": 2, "aj": 2, "ar": 1}
        assert "1 of 2 held-out events (50.0%) repeat" in split.how
        with pytest.raises(DataError, match="repeats are kept in one split and left out in the other"):
            with_valid(by_time(events_of(BASKETS), at=10), partial(by_time, at=3, repeat=True))

    def test_what_is_known_is_what_was_trained_and_validated_on(self) -> None:
        events = events_of(" ".join(f"a{i}@{t}" for t, i in enumerate("12121212345")))
        split = holdout(events, 0.3, valid=0.3, seed=1)
        assert split.valid is not None
        known = set(counts(split.train)) | set(counts(split.valid))
        assert not known & set(counts(split.held_out))
        assert not set(counts(split.train)) & set(counts(split.valid))
        assert "validation events" in split.how

    def test_half_of_it_for_validation(self) -> None:
        events = events_of(BASKETS)
        split = halved(by_time(events, at=10, repeat=True))
        assert split.overlaps
        assert split.whole() == events.merged()
        with pytest.raises(DataError, match="the training events of this split are not kept"):
            with_valid(replace_valid(split), partial(by_time, at=3, repeat=True))

    def test_refused(self) -> None:
        events = events_of(BASKETS)
        with pytest.raises(DataError, match=r"all 2 events repeat what the person had before; keep them with repeat="):
            by_time(events_of("at@1 bt@1 at@2 bt@3"), at=2)
        with pytest.raises(ParameterError, match="'repeat' parameter must be False for Interactions"):
            by_time(events.merged(), at=10, repeat=True)  # type: ignore[call-overload]
        with pytest.raises(ParameterError, match="'repeat' parameter must be True or False"):
            by_time(events, at=10, repeat=1)  # type: ignore[call-overload]
        for cannot in (folds, partial(held_out_users, n=1)):
            with pytest.raises(ParameterError, match="must be Interactions, Graded or Preferences"):
                cannot(events)
        with pytest.raises(ParameterError, match="must be Interactions"):
            densify(events, items=1)  # type: ignore[arg-type]
        with pytest.raises(DataError, match="leave_last needs times"):
            leave_last(Events.of([1, 1], [1, 1]))


def replace_valid(split: Split[Any]) -> Split[Any]:
    from dataclasses import replace

    return replace(split, valid=None)


@pytest.mark.parametrize("make", SPLITS.values(), ids=SPLITS)
@given(st.lists(plain_rows, min_size=2, max_size=30), st.randoms(use_true_random=False))
def test_every_event_is_in_exactly_one_part(make: Make, rows: list[Row], random: Any) -> None:
    events = made(rows)
    try:
        kept = make(events, repeat=True)
    except DataError:
        return  # too little of it: said so
    assert kept.train_events is not None
    assert kept.repeats is not None
    assert kept.whole() == events.merged()  # all that was trained on, validated on and held out adds up
    assert len(kept.train_events) + kept.repeats.events == len(rows)
    assert not rows_of(kept.train_events) - rows_of(events)
    shuffled = list(rows)
    random.shuffle(shuffled)
    again = make(made(shuffled), repeat=True)
    assert again == kept
    assert again.how == kept.how
    try:
        new = make(events)
    except DataError:
        assert kept.repeats.repeated == kept.repeats.events or kept.valid is not None
        return
    assert new.train == kept.train
    assert new.train_events == kept.train_events
    assert new.repeats is not None
    assert (new.repeats.events, new.repeats.repeated) == (kept.repeats.events, kept.repeats.repeated)
    known = {(u, i) for u, i, _, _ in rows_of(kept.train_events)}
    assert rows_of(new.held_out) == {row: n for row, n in rows_of(kept.held_out).items() if row[:2] not in known}
    new.whole()  # its parts are disjoint
    judged = {user for user, *_ in rows_of(kept.held_out)}
    assert len(judged) - len({user for user, *_ in rows_of(new.held_out)}) == new.repeats.users


@given(st.lists(plain_rows, min_size=2, max_size=30), st.booleans())
def test_by_time_nothing_held_out_is_before_anything_trained_on(rows: list[Row], repeat: bool) -> None:
    try:
        split = by_time(made(rows), fraction=0.3, repeat=repeat)
    except DataError:
        return
    assert split.train.time is not None
    assert split.held_out.time is not None
    assert split.train.time.max() < split.held_out.time.min()


@given(st.lists(plain_rows, min_size=2, max_size=30), st.booleans())
def test_by_time_counts_by_brute_force(rows: list[Row], value: bool) -> None:
    times = sorted(row[3] for row in rows)
    moment = times[len(times) // 2]
    try:
        split = by_time(made(rows, value), at=moment, repeat=True)
    except DataError:
        assert moment == times[0]
        return
    for part, held in ((split.train, False), (split.held_out, True)):
        sums: dict[Any, float] = {}
        for user, item, much, time in rows:
            if (time >= moment) == held:
                sums[user, item] = sums.get((user, item), 0) + (much if value else 1)
        have = {(user, item): amount for user, item, amount, _ in rows_of(part)}
        assert have.keys() == sums.keys()
        repeated = len({row[:2] for row in rows}) < len(rows)
        assert have == (sums if value or repeated else dict.fromkeys(sums))


@pytest.mark.parametrize("make", [SPLITS["last"], SPLITS["by time"], SPLITS["holdout"]], ids=["last", "time", "random"])
@given(st.lists(plain_rows, min_size=2, max_size=30, unique_by=lambda row: row[:2]))
def test_events_that_do_not_repeat_are_split_like_interactions(make: Make, rows: list[Row]) -> None:
    events = made(rows)
    try:
        plain: Split[Interactions] = make(events.merged())
    except DataError:
        return
    split = make(events)
    assert (split.train, split.held_out) == (plain.train, plain.held_out)
    assert split.repeats is not None
    assert split.repeats.repeated == 0


def test_a_random_part_is_of_events_not_of_pairs() -> None:
    """Every event of one pair has a chance of its own: were the pair drawn, all or none of them would be held out."""
    events = Events.of([1] * 40, [7] * 20 + [*range(8, 28)], time=range(40))
    drawn = [holdout(events, 0.5, repeat=True, seed=seed) for seed in range(30)]
    sevens = [int(split.held_out.by_user().toarray()[0, 0]) for split in drawn]
    assert 8 < np.mean(sevens) < 12
    assert 3 < min(sevens) < max(sevens) < 17
