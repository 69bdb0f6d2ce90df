"""Containers are canonical, frozen, and never lie about what they hold."""

from __future__ import annotations

import itertools
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.data.feedback import as_graded, as_interactions
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.data.read import read, read_preferences, read_sessions
from fullrank.errors import DataError, ParameterError, StorageError
from tests.data.strategies import columns, interactions, strings


class TestIds:
    @given(st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1)), unique=True))
    def test_integers_round_trip(self, names: list[int]) -> None:
        ids = Ids(names)
        assert list(ids) == names
        assert [ids.name(ids.code(name)) for name in names] == names
        assert ids.codes(names).tolist() == list(range(len(names)))
        assert list(ids.sorted()) == sorted(names)

    @given(st.lists(strings, unique=True), st.lists(strings, unique=True))
    def test_strings(self, names: list[str], more: list[str]) -> None:
        ids = Ids(names)
        assert list(ids) == names
        assert list(ids.union(more)) == sorted({*names, *more})
        assert ids == Ids(names)
        assert hash(ids) == hash(Ids(names))
        assert (ids == Ids(names[::-1])) == (len(names) < 2)
        for name in more:
            assert (name in ids) == (name in names)

    def test_unknown_ids_get_a_hint(self) -> None:
        with pytest.raises(DataError, match=r"unknown id '7'. The ids here are integers: use 7."):
            Ids([7]).code("7")
        with pytest.raises(DataError, match=r"unknown id 7. The ids here are strings: use '7'."):
            Ids(["7"]).code(7)
        with pytest.raises(DataError, match="2 unknown ids, the first is 'x'"):
            Ids(["a"]).codes(["a", "x", "y"])

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            ([1, "1"], "mix integers and strings"),
            ([1.0], "is a float"),
            ([None], "id missing in row 0"),
            ([float("nan")], "id missing in row 0"),
            (["a", ""], r"id '' \(row 1\) is empty"),
            (["a", "a"], "id 'a' is given twice"),
            ([3, 1, 3], "id 3 is given twice"),
            ([True], "neither an integer nor a string"),
            ([b"x"], "neither an integer nor a string"),
            ([2**64], "64 bits"),
            (np.array([2**63], dtype=np.uint64), "63 bits"),
            (np.zeros((2, 2), dtype=int), "one column"),
        ],
    )
    def test_refused(self, names: list, message: str) -> None:
        with pytest.raises(DataError, match=message):
            Ids(names)

    def test_numbers_and_strings_do_not_mix(self) -> None:
        with pytest.raises(DataError, match="do not mix"):
            Ids([1]).union(["a"])

    def test_names_are_frozen(self) -> None:
        names = np.array([5, 6])
        ids = Ids(names)
        names[0] = 9
        assert list(ids) == [5, 6]
        with pytest.raises(ValueError, match="read-only"):
            ids.names[0] = 1


class TestInteractions:
    @given(columns())
    def test_matrices_hold_the_rows(self, rows: dict) -> None:
        data = Interactions.of(**rows, duplicates="max")
        dense = data.by_user().toarray()
        assert (data.by_item().toarray() == dense.T).all()
        pairs = set(zip(rows["user"], rows["item"], strict=True))
        assert {(data.users.name(u), data.items.name(i)) for u, i in zip(data.user, data.item, strict=True)} == pairs
        assert data.by_user().nnz == len(data) == len(pairs) == data.intake.kept
        for user, item, value in zip(rows["user"], rows["item"], rows.get("value", []), strict=False):
            assert dense[data.users.code(user), data.items.code(item)] >= np.float32(value)

    def test_frozen(self) -> None:
        data = read({"user": [1, 2], "item": [1, 2], "value": [3, 4], "time": [1, 2]})
        for column in (data.user, data.item, data.value, data.time, data.starts):
            assert column is not None
            with pytest.raises(ValueError, match="read-only"):
                column[0] = column[1]
        with pytest.raises(AttributeError):
            data.user = data.item  # type: ignore[misc]

    def test_relevant(self) -> None:
        data = read({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "value": [3.3, 3.2, 5, 1]})
        assert len(data.relevant(3.3)) == 2
        assert len(data.relevant(np.float64(3.3))) == 2
        assert data.relevant(np.array([3.25, 0.5])).item.tolist() == [0, 0, 1]
        assert data.relevant(None) is data
        assert read({"user": [1], "item": [1]}).relevant(4).n_items == 1
        with pytest.raises(DataError, match="thresholds per user: expected 2"):
            data.relevant(np.array([1.0]))
        with pytest.raises(DataError, match="NaN"):
            data.relevant(float("nan"))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"user": [1, 0]}, "not sorted"),
            ({"user": [0, 0], "item": [1, 1]}, "not sorted"),
            ({"user": [0, 9]}, "user code 9 is outside 0..1"),
            ({"item": [-1, 0]}, "item code -1 is outside 0..1"),
            ({"value": [1.0]}, "value has 1 rows"),
            ({"value": [1.0, np.nan]}, "NaN"),
            ({"time": [1, -1]}, "before 1970"),
            ({"user": [0.0, 1.0]}, "integers"),
        ],
    )
    def test_crafted_columns_are_refused(self, change: dict, message: str) -> None:
        good = {"user": [0, 1], "item": [0, 1], "value": [1.0, 2.0], "time": [1, 2]} | change
        with pytest.raises(DataError, match=message):
            Interactions(**{k: np.array(v) for k, v in good.items()}, users=Ids([1, 2]), items=Ids([1, 2]))

    def test_unknown_rules_and_columns(self) -> None:
        rows = {"user": [1, 1], "item": [1, 1]}
        with pytest.raises(ParameterError, match="'duplicates' parameter must be one of last"):
            read(rows, duplicates="newest")  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="'feedback' parameter"):
            read(rows, feedback="both")  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="'columns' parameter must be a mapping from user, item"):
            read(rows, {"user": 0, "item": 1, "rating": 2})
        with pytest.raises(ParameterError, match="tells the item column"):
            read(rows, {"user": 0})
        with pytest.raises(ParameterError, match="on_bad"):
            read(rows, on_bad="ignore")
        with pytest.raises(ParameterError, match="quarantine"):
            read(rows, on_bad="quarantine")

    def test_given_catalogue(self) -> None:
        items = Ids(["z", "a", "m"])
        data = read({"user": [1], "item": ["a"]}, items=items)
        assert data.items is items
        assert data.item.tolist() == [1]
        with pytest.raises(DataError, match="items outside the given catalogue: 1 unknown ids, the first is 'q'"):
            read({"user": [1], "item": ["q"]}, items=items)


class TestGraded:
    @given(interactions())
    def test_pairs_by_brute_force(self, data: Interactions) -> None:
        graded = data.graded()
        pairs = set()
        counts = []
        for case in range(len(graded)):
            rows = range(graded.start[case], graded.start[case + 1])
            better = [(i, j) for i, j in itertools.permutations(rows, 2) if graded.grade[i] > graded.grade[j]]
            counts.append(len(better))
            pairs |= {(graded.user[case], graded.item[i], graded.item[j]) for i, j in better}
        assert graded.count_pairs().tolist() == counts
        found = graded.pairs()
        assert set(zip(found.user, found.better, found.worse, strict=True)) == pairs
        assert len(found) == len(pairs)

    def test_plus_and_minus_zero_are_one_grade(self) -> None:
        graded = Graded.of([1, 1, 1], [1, 2, 3], [0.0, -0.0, 1.0])
        assert graded.count_pairs().tolist() == [2]
        assert sorted(zip(graded.pairs().better, graded.pairs().worse, strict=True)) == [(2, 0), (2, 1)]

    def test_best_action_counts(self) -> None:
        rows = {"session": [1, 1, 1, 2], "item": ["a", "a", "b", "a"], "action": ["shown", "bought", "shown", "shown"]}
        data = read_sessions(rows, scale=("shown", "clicked", "bought"))
        assert data.grade.tolist() == [2, 0, 0]
        assert (len(data), data.intake.merged, data.case.tolist()) == (2, 1, [0, 0, 1])
        assert data.where(np.array([False, True])).names == Ids([2])

    def test_refused(self) -> None:
        rows = {"session": [1, 1], "user": [1, 2], "item": [1, 2], "grade": [0, 1]}
        with pytest.raises(DataError, match="session 1 has rows of several users"):
            read_sessions(rows)
        with pytest.raises(
            DataError, match=r"row 0: column 'action': action 'stolen' is not on the scale shown, bought"
        ):
            read_sessions({"session": [1], "item": [1], "action": ["stolen"]}, scale=("shown", "bought"))
        skipped = {"session": [1, 1, 1], "item": [1, 2, 3], "action": [0, 7, 1]}
        data = read_sessions(skipped, scale=("0", "1"), on_bad="skip")
        assert (data.grade.tolist(), data.intake.dropped) == ([0, 1], {"action not allowed": 1})
        with pytest.raises(DataError, match="no grade column"):
            read_sessions({"session": [1], "item": [1]})
        with pytest.raises(ParameterError, match="names of actions, worst first, each once"):
            read_sessions({"session": [1], "item": [1], "action": ["a"]}, scale=("a", "a"))
        with pytest.raises(DataError, match="starts must rise"):
            Graded(np.array([0, 2, 1]), np.array([0]), np.array([1.0]), np.array([0, 0]), Ids([1]), Ids([1]))
        with pytest.raises(StorageError, match="1 pairs need about"):
            Graded.of([1, 1], [1, 2], [0, 1]).pairs(limit=0)

    def test_ratings_are_graded_cases(self) -> None:
        data = read({"user": ["a", "a", "c"], "item": [1, 2, 1], "value": [5, 3, 4]}).catalogue(users=["b"])
        graded = data.graded()
        assert graded.user.tolist() == [0, 2]
        assert graded.start.tolist() == [0, 2, 3]

    @given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 90)), max_size=25), st.sampled_from([0, 5, 7.5, 30]))
    def test_sessions_by_pauses(self, events: list[tuple[int, int]], pause: float) -> None:
        user, time = [who for who, _ in events], [when for _, when in events]
        data = Interactions.of(user, np.arange(len(events))[::-1].copy(), time, time)
        expected, last = [], {}
        for who, when in sorted(events):
            if who not in last or when - last[who] > pause:
                expected.append((who, []))
            expected[-1][1].append(when)
            last[who] = when
        found = data.sessions(pause)
        grades = [found.grade[a:b] for a, b in itertools.pairwise(found.start)]
        assert [(data.users.name(u), sorted(g)) for u, g in zip(found.user, grades, strict=True)] == expected
        assert found.time is not None
        assert found.time.view(np.int64).tolist() == [1_000_000 * times[0] for _, times in expected]
        assert data.sessions(timedelta(seconds=pause)) == found

    def test_sessions_need_times(self) -> None:
        with pytest.raises(DataError, match="no times to cut sessions by"):
            Interactions.of([1], [1]).sessions(60)
        for pause in (-1, timedelta(seconds=-1), "1h", float("nan")):
            with pytest.raises(ParameterError, match="'pause' parameter"):
                Interactions.of([1], [1], time=[0]).sessions(pause)  # type: ignore[arg-type]

    def test_grades_as_ratings(self) -> None:
        sessions = Graded.of([1, 1, 2, 2], ["a", "b", "a", "c"], [2, 0, 1, 1], user=["u"] * 4)
        found = as_interactions(sessions)
        assert (found.items.names.tolist(), found.value.tolist()) == (["a", "b", "c"], [1.5, 0, 1])


class TestPreferences:
    @given(interactions())
    def test_every_preference_is_a_case(self, data: Interactions) -> None:
        pairs = data.graded().pairs()
        cases = as_graded(pairs)
        assert cases.count_pairs().tolist() == [1] * len(pairs)
        assert (cases.item[cases.grade == 1] == pairs.better).all()
        assert (cases.item[cases.grade == 0] == pairs.worse).all()
        assert (cases.user == pairs.user).all()

    def test_canonical_and_cyclic(self) -> None:
        data = Preferences.of([1, 1, 1, 1], ["b", "a", "c", "a"], ["c", "b", "a", "b"])
        assert (len(data), data.intake.merged) == (3, 1)
        assert data.where(np.array([True, False, False])).better.tolist() == [0]

    def test_refused(self) -> None:
        with pytest.raises(DataError, match="1 preferences of an item over itself, the first of 'x'"):
            read_preferences({"user": [1], "better": ["x"], "worse": ["x"]})
        with pytest.raises(DataError, match="ids mix"):
            read_preferences({"user": [1], "better": ["x"], "worse": [1]})
        with pytest.raises(DataError, match="both be"):
            Preferences.of([1], ["x"], [1])
        with pytest.raises(DataError, match="not sorted"):
            Preferences(np.array([0, 0]), np.array([1, 0]), np.array([0, 1]), Ids([1]), Ids([1, 2]))


def test_intake_tells_everything() -> None:
    intake = Intake(rows=10, merged=1, dropped={"a": 2, "b": 3}, notes=("noted",))
    assert (intake.kept, str(intake)) == (4, "10 rows read, 1 merged as duplicates, 5 dropped (a: 2; b: 3); noted")
