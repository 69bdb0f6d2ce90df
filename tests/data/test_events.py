"""Events: every one kept, in one order; merged only where somebody asks."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullrank
from fullrank import Events, Ids, Interactions, read, read_events
from fullrank.data.canonical import count_up, sort_digits
from fullrank.data.feedback import as_graded, as_interactions, kind_of
from fullrank.data.read import read_with_repeats
from fullrank.errors import DataError, ParameterError
from fullrank.models.feedback import fit
from fullrank.models.storage.feedback import fingerprint
from tests.data.event_cases import Row, any_rows, events_of, made, rows_of


@given(st.lists(any_rows, min_size=1, max_size=25), st.booleans(), st.booleans(), st.randoms(use_true_random=False))
def test_shuffled_rows_are_the_same_events(rows: list[Row], value: bool, time: bool, random: Any) -> None:
    events = made(rows, value, time)
    shuffled = list(rows)
    random.shuffle(shuffled)
    again = made(shuffled, value, time)
    assert again == events
    assert fingerprint(again) == fingerprint(events)
    keys = [events.user, *([] if events.time is None else [events.time]), events.item]
    keys += [] if events.value is None else [events.value]
    in_order = list(zip(*(key.tolist() for key in keys), strict=True))
    assert in_order == sorted(in_order)
    assert (len(events), events.intake.rows, events.intake.merged) == (len(rows), len(rows), 0)


@given(st.lists(any_rows, min_size=1, max_size=25))
def test_repeats_and_occurrences_by_brute_force(rows: list[Row]) -> None:
    events = made(rows)
    seen: dict[tuple[int, int], int] = {}
    expected = []
    for pair in zip(events.user.tolist(), events.item.tolist(), strict=True):
        expected.append(seen.get(pair, 0))
        seen[pair] = expected[-1] + 1
    assert events.occurrence.tolist() == expected
    assert events.repeats == len(rows) - len({row[:2] for row in rows})


@given(st.lists(any_rows, min_size=1, max_size=25), st.booleans())
def test_merged_by_brute_force(rows: list[Row], value: bool) -> None:
    merged = made(rows, value).merged()
    groups = [list(group) for _, group in groupby(sorted(rows), key=lambda row: row[:2])]
    assert len(merged) == len(groups)
    assert merged.time is not None
    assert merged.time.view(np.int64).tolist() == [round(max(row[3] for row in group) * 1e6) for group in groups]
    sums = [sum(row[2] for row in group) if value else len(group) for group in groups]
    if not value and max(map(len, groups)) == 1:
        assert merged.value is None  # plain events stay without values
    else:
        assert merged.value is not None
        assert merged.value.tolist() == pytest.approx(sums, rel=1e-6)
    assert merged.intake.merged == len(rows) - len(groups)


def test_by_hand() -> None:
    events = events_of("b1@5 a2@9 a1@7 a2@3 a2@9")
    assert repr(events) == "Events(5 events, 2 repeats, 2 users, 2 items, 1970-01-01..1970-01-01)"
    assert [(int(u), int(i)) for u, i in zip(events.user, events.item, strict=True)] == [
        (0, 1), (0, 0), (0, 1), (0, 1), (1, 0),
    ]  # fmt: skip
    assert events.where(events.user == 0).n_users == 2
    assert kind_of(events) == "events"
    assert as_interactions(events) == events.merged()
    assert as_graded(events) == events.merged().graded()
    assert events.merged("last").value is None
    numbers = fullrank.describe(events)
    assert (numbers["kind"], numbers["rows"], numbers["repeats"], numbers["share of repeats"]) == ("events", 5, 2, 0.4)
    assert numbers["density"] == 3 / 4
    assert fingerprint(events) != fingerprint(events.merged())
    assert fingerprint(events) != fingerprint(events_of("b1@5 a2@9 a1@7 a2@4 a2@9"))  # another time, another event
    assert events != events.merged()


def test_a_recipe_learns_from_events_what_it_does_from_their_sums() -> None:
    events = events_of("a1@1 a1@2 a2@3 b1@1 b3@2 b3@3")
    one, other = (fit(fullrank.ItemCF(), data) for data in (events, events.merged()))
    assert np.array_equal(one.scores([0, 1]), other.scores([0, 1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"user": [1, 0]}, "events are not sorted"),
        ({"time": [2, 1], "user": [0, 0]}, "events are not sorted"),
        ({"user": [0, 9]}, "user code 9 is outside 0..1"),
        ({"value": [1.0]}, "value has 1 rows, user has 2"),
        ({"value": [1.0, 0.0]}, r"the value 0 of an event \(row 1\) is no count above 0"),
        ({"value": [-1.0, 2.0]}, "is no count above 0"),
        ({"time": [1, -1]}, "before 1970"),
    ],
)
def test_crafted_columns_are_refused(change: dict[str, Any], message: str) -> None:
    good = {"user": [0, 1], "item": [0, 1], "value": [1.0, 2.0], "time": [1, 2]} | change
    with pytest.raises(DataError, match=message):
        Events(**{name: np.array(column) for name, column in good.items()}, users=Ids([1, 2]), items=Ids([1, 2]))


def test_columns_of_different_lengths_and_masks_are_refused() -> None:
    with pytest.raises(DataError, match="columns of different lengths"):
        Events.of([1, 2], [1])
    with pytest.raises(DataError, match="one True or False per row"):
        events_of("a1@1 a2@2").where(np.array([True]))
    empty = events_of("a1@1").where(np.array([False]))
    assert (len(empty), empty.repeats, len(empty.merged())) == (0, 0, 0)


class TestReading:
    rows = "user,item,count,time\n1,7,1,100\n1,7,2,300\n2,7,1,200\n"

    def test_every_event_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "log.csv"
        path.write_text(self.rows)
        events = read_events(path)
        assert rows_of(events) == {(1, 7, 1.0, 10**8): 1, (1, 7, 2.0, 3 * 10**8): 1, (2, 7, 1.0, 2 * 10**8): 1}
        assert (events.intake.rows, events.intake.merged) == (3, 0)
        assert events.merged() == read(path, feedback="implicit")
        for name in ("again.csv", "again.parquet"):
            fullrank.write(events, tmp_path / name)
            assert read_events(tmp_path / name) == events

    def test_what_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "log.csv"
        path.write_text(self.rows.replace("2,7,1", "2,7,0"))
        with pytest.raises(DataError, match=r"log.csv:4.*counts above 0"):
            read_events(path)
        assert read_events(path, on_bad="skip").intake.dropped
        with pytest.raises(ParameterError, match="'duplicates' is no option of reading"):
            read_events(path, duplicates="sum")
        from scipy.sparse import csr_array

        with pytest.raises(DataError, match="a sparse matrix has no events"):
            read_events(csr_array(np.eye(2)))
        with pytest.raises(DataError, match="outside the given catalogue"):
            read_events({"user": [1], "item": [2]}, items=Ids([3]))

    @pytest.mark.parametrize(
        ("text", "options", "kind"),
        [
            ("user,item,time\n1,7,100\n1,7,300\n", {}, Events),
            ("user,item,time\n1,7,100\n1,8,300\n", {}, Interactions),  # nobody has anything twice
            ("user,item\n1,7\n1,7\n", {}, Interactions),  # no order to keep
            ("user,item,time\n1,7,100\n1,7,300\n", {"duplicates": "first"}, Interactions),  # a rule was given
            (rows, {}, Events),  # the column is called count
            (rows.replace("count", "stars"), {}, Interactions),
            (rows.replace("count", "value"), {}, Interactions),  # two different values are ratings
            (rows, {"feedback": "implicit"}, Events),
            (rows, {"feedback": "explicit"}, Interactions),
        ],
    )
    def test_what_stays_events(self, tmp_path: Path, text: str, options: dict[str, Any], kind: type) -> None:
        path = tmp_path / "log.csv"
        path.write_text(text)
        data = read_with_repeats(path, **options)
        assert type(data) is kind
        if kind is Interactions:
            assert data == read(path, **options)

    def test_many_values_are_counts_only_above_zero(self) -> None:
        rows = {"user": [1] * 60, "item": [*range(30)] * 2, "value": [*range(1, 61)], "time": [*range(60)]}
        assert isinstance(read_with_repeats(rows), Events)
        rows["value"][3] = -5
        assert read_with_repeats(rows) == read(rows)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**60), st.integers(0, 2**31 - 1)), min_size=1, max_size=30)
)
def test_any_number_of_digits_is_sorted(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    order = sort_digits((columns[0], 4), (columns[1], 2**60 + 1), (columns[2], 2**31))
    assert order.tolist() == np.lexsort(columns[::-1]).tolist()


def test_numbers_in_their_own_steps() -> None:
    assert count_up(np.array([5, 5]))[1] == 1
    assert count_up(np.zeros(0, dtype=np.int64))[1] == 0
    codes, n = count_up(np.array([7, 1, 4]) * 10**6)
    assert (codes.tolist(), n) == ([2, 0, 1], 3)


def test_half_a_million_events() -> None:
    """What a loop over events would not survive in the time of a test."""
    rng = np.random.default_rng(0)
    user, item = rng.integers(0, 100_000, 500_000), (2000 * rng.random(500_000) ** 3).astype(int)
    events = Events.of(user, item, time=rng.integers(0, 10**9, 500_000), users=Ids.numbered(100_010))
    assert events.repeats == 500_000 - len(np.unique(user * 2000 + item))
    assert events.merged().value.sum() == 500_000  # type: ignore[union-attr]


def test_the_name_of_the_container_is_in_what_it_says() -> None:
    assert re.match(r"Events\(1 events, 0 repeats, 1 users, 1 items\)", repr(Events.of([1], [1])))
