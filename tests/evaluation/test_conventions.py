"""Conventions against the figures of the libraries themselves, and their sentences against what differs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.conventions import (
    CONVENTIONS,
    IRREGULARITIES,
    Convention,
    Counted,
    Given,
    Measure,
    as_library,
    average,
    count_cases,
    irregularities,
    view_of,
)
from tests.evaluation.convention_cases import GRADED, IRREGULAR, KS, Lists, all_lists, draw, given_of
from tests.evaluation.convention_reference import our_mean, padded, tidied

FIGURES = json.loads((Path(__file__).parent / "convention_figures.json").read_text())
CLOSE = 1e-12
MEASURES = [
    pytest.param(convention, measure, id=f"{name} {measure.name}")
    for name, convention in CONVENTIONS.items()
    for measure in convention.measures
]
SEEDS = range(3)
CHANGES = {**IRREGULAR, **GRADED}


@cache
def sets() -> dict[str, Given]:
    return {name: given_of(lists) for name, lists in all_lists().items()}


@cache
def changed(what: str) -> list[Given]:
    """Some draws with this irregularity alone, "" for none."""
    draws = [draw(1000 + seed, 50, 60, 12) for seed in SEEDS]
    return [given_of(CHANGES[what](lists) if what else lists) for lists in draws]


@cache
def ours(name: str, what: str, at: int) -> float:
    return our_mean(name, changed(what)[at])


@cache
def counted(name: str, what: str, at: int) -> dict[int, dict[str, Counted]]:
    return {k: {row.measure: row for row in as_library(name, changed(what)[at], [k])} for k in KS}


def value_of(convention: Convention, measure: Measure, given: Given, k: int) -> float:
    return average(convention, measure, given, view_of(convention, given, k if measure.at else None))


def rows_of(convention: Convention, measure: Measure, what: str) -> list[tuple[int, int, Counted]]:
    """Draw, cut-off and row."""
    draws = [(at, counted(convention.name, what, at)) for at in SEEDS]
    return [(at, k, rows[measure.label(k)]) for at, found in draws for k, rows in found.items()]


class TestFigures:
    @pytest.mark.parametrize("name", FIGURES)
    @pytest.mark.parametrize("lists", all_lists())
    def test_equal_the_library_s_own(self, name: str, lists: str) -> None:
        """Values to 1e-12; and where the library ended with an error there is no value, but a sentence."""
        figures = FIGURES[name]["figures"][lists]
        rows = as_library(name, sets()[lists], KS)
        if "refuses" not in figures:
            assert set(figures) == {row.measure for row in rows}
        for row in rows:
            theirs = figures.get(row.measure, figures.get("refuses"))
            if isinstance(theirs, str):
                assert row.value is None
                assert row.sentence.startswith(("refuses", "ends with"))
            else:
                assert row.value == pytest.approx(theirs, abs=CLOSE, rel=0)

    def test_are_there_for_every_convention_that_says_so(self) -> None:
        checked = {name: convention.checked for name, convention in CONVENTIONS.items() if convention.checked}
        assert {name: library["package"] for name, library in FIGURES.items()} == checked
        assert [name for name in CONVENTIONS if name not in checked] == ["elliot"]

    def test_tell_libraries_apart(self) -> None:
        """Each set of lists moves some figure: none of them is idle."""
        for what in CHANGES:
            assert what in irregularities(sets()[what], 10)
        assert irregularities(sets()["regular"], 10) == set()
        assert irregularities(sets()["irregular"], 10) >= set(IRREGULAR)


class TestSentences:
    @pytest.mark.parametrize(("convention", "measure"), MEASURES)
    def test_on_regular_lists_there_is_one_where_definitions_differ(
        self, convention: Convention, measure: Measure
    ) -> None:
        if measure.ours == "auc":
            assert measure.says  # ours needs the whole ranking
            return
        differ = []
        for at, k, row in rows_of(convention, measure, ""):
            assert row.value is not None
            differ.append(abs(row.value - ours(row.ours, "", at)) > CLOSE)
            assert row.sentence == measure.says.format(k=k)
        assert any(differ) == bool(measure.says)

    @pytest.mark.parametrize("what", CHANGES)
    @pytest.mark.parametrize(("convention", "measure"), MEASURES)
    def test_on_irregular_lists_there_is_one_where_values_differ(
        self, convention: Convention, measure: Measure, what: str
    ) -> None:
        if measure.says:
            return  # they differ anyway; see TestHabits
        differ, told = [], []
        for at, _, row in rows_of(convention, measure, what):
            if row.value is None:
                assert row.sentence
                continue
            differ.append(abs(row.value - ours(row.ours, what, at)) > CLOSE)
            told.append(bool(row.sentence))
            assert told[-1] >= differ[-1]
        assert any(differ) == any(told)

    @pytest.mark.parametrize("name", CONVENTIONS)
    @pytest.mark.parametrize("lists", ["mixed", "irregular"])
    def test_where_all_comes_together_nothing_differs_in_silence(self, name: str, lists: str) -> None:
        for row in as_library(name, sets()[lists], KS):
            same = row.value is not None and row.ours != "auc"
            same = same and abs(row.value - our_mean(row.ours, sets()[lists])) <= CLOSE
            assert same or row.sentence

    def test_are_parts_of_one(self) -> None:
        for convention in CONVENTIONS.values():
            for measure in convention.measures:
                said = {**convention.habits_of(measure), **convention.refusals_of(measure)}
                assert set(said) <= set(IRREGULARITIES)
                for part in [measure.says, *said.values()]:
                    assert not part or (part[0].islower() or part[0].isdigit())
                    assert not part.endswith(".")
                    assert "  " not in part

    def test_only_what_these_lists_have_is_told(self) -> None:
        assert all(not row.sentence for row in as_library("recbole", sets()["regular"]))
        rows = as_library("recbole", sets()["seen"])
        assert {row.sentence for row in rows} == {"an item of the training part takes a place"}


def two_orders() -> list[tuple[Given, Given, Given]]:
    """Lists whose places 3 and 4 are tied; and the two orders that this leaves open."""
    found = []
    for given in changed(""):
        score = np.broadcast_to(-np.arange(given.item.shape[1], dtype=np.float64), given.item.shape).copy()
        score[:, 3] = score[:, 2]
        other = given.item.copy()
        other[:, [2, 3]] = other[:, [3, 2]]
        found.append((given._replace(score=score), given, given._replace(item=other)))
    return found


@pytest.mark.parametrize(("convention", "measure"), MEASURES)
class TestHabits:
    """What a library does with an irregularity, against what it does where the lists are as ours would have them."""

    def differs(self, convention: Convention, measure: Measure, pairs: list[tuple[Given, Given]]) -> bool:
        values = [[value_of(convention, measure, given, k) for given in pair] for pair in pairs for k in KS]
        return any(abs(one - other) > CLOSE for one, other in values)

    @pytest.mark.parametrize("what", ["duplicate", "outside", "seen"])
    def test_items_that_we_remove(self, convention: Convention, measure: Measure, what: str) -> None:
        if what in convention.refusals_of(measure):
            return
        pairs = [(given, tidied(given)) for given in changed(what)]
        assert self.differs(convention, measure, pairs) == (what in convention.habits_of(measure))

    @pytest.mark.parametrize("what", ["unlisted", "short"])
    def test_lists_that_are_short(self, convention: Convention, measure: Measure, what: str) -> None:
        pairs = [(given, padded(given)) for given in changed(what)]
        assert self.differs(convention, measure, pairs) == (what in convention.habits_of(measure))

    def test_people_with_nothing_held_out(self, convention: Convention, measure: Measure) -> None:
        if "extra" in convention.refusals_of(measure):
            return
        pairs = [(given, given._replace(extra=0)) for given in changed("extra")]
        assert self.differs(convention, measure, pairs) == ("extra" in convention.habits_of(measure))

    def test_ties(self, convention: Convention, measure: Measure) -> None:
        differ = []
        for tied, one, other in two_orders():
            for k in KS:
                found, first, second = (value_of(convention, measure, given, k) for given in (tied, one, other))
                differ.append(abs(found - (first + second) / 2) > CLOSE)
        assert any(differ) == ("tied" in convention.habits_of(measure))

    def test_rounding(self, convention: Convention, measure: Measure) -> None:
        near = [
            (given._replace(score=100 - 1e-9 * np.arange(given.item.shape[1]) + np.zeros(given.item.shape)), given)
            for given in changed("")
        ]
        assert self.differs(convention, measure, near) == ("rounded" in convention.habits_of(measure))

    @pytest.mark.parametrize("what", ["graded", "low", "fraction"])
    def test_grades(self, convention: Convention, measure: Measure, what: str) -> None:
        """Where our nearest is graded too, its gain is what the grade would be if gains were grades."""
        if what in convention.refusals_of(measure) or (measure.graded and not measure.says):
            return  # those are compared with ours
        pairs = [
            (given, given._replace(grade=2**given.grade - 1 if measure.graded and given.grade is not None else None))
            for given in changed(what)
        ]
        told = ({"graded", what} if measure.graded else {what}) & set(convention.habits_of(measure))
        assert self.differs(convention, measure, pairs) == bool(told)


class TestPerfectLists:
    BELOW = {"rectools ndcg@{k}", "elliot MAP@{k}"}  # 1 only where there are k relevant items or more

    @pytest.mark.parametrize(("convention", "measure"), MEASURES)
    def test_are_1(self, convention: Convention, measure: Measure) -> None:
        """All relevant items first, then others; but what divides by k is as many hits as there can be."""
        lists = draw(5, 20, 60, 12)
        few = [row[:5] for row in lists.relevant]
        perfect = [
            [*row, *(item for item in listed or [] if item not in row)][:12]
            for row, listed in zip(few, lists.listed, strict=True)
        ]
        given = given_of(lists._replace(listed=perfect, relevant=few))
        value = value_of(convention, measure, given, 10)
        if measure.ours == "precision":
            assert value == pytest.approx(np.mean([len(row) for row in few]) / 10)
        elif f"{convention.name} {measure.name}" in self.BELOW:
            assert 0 < value < 1
        else:
            assert value == pytest.approx(1, abs=CLOSE)


def one(listed: list[int], relevant: list[int]) -> Given:
    return given_of(Lists([listed], None, [relevant], None, [[]], 20, []))


def by_name(library: str, measure: str, given: Given, k: int) -> float | None:
    return {row.measure: row for row in as_library(library, given, [k])}[measure].value


class TestByHand:
    def test_a_perfect_list_with_one_relevant_item(self) -> None:
        given = one([3, 1, 2], [3])
        ideal = sum(1 / np.log2(np.arange(2, 12)))
        assert by_name("rectools", "ndcg@10", given, 10) == pytest.approx(1 / ideal)
        assert by_name("elliot", "MAP@3", given, 3) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)

    def test_limited_auc(self) -> None:
        """Two relevant of 20 items, R - R -: pairs of 36; of the 16 other items below all are beaten by both."""
        assert by_name("implicit", "auc@4", one([3, 1, 5, 2], [3, 5]), 4) == pytest.approx((1 + 2 + 2 * 16) / 36)
        assert by_name("implicit", "auc@2", one([3, 1, 5, 2], [3, 5]), 2) == pytest.approx((1 + 1.5 * 17) / 36)

    def test_auc_among_the_first(self) -> None:
        """- R - R: of four pairs of a hit and a miss one is right."""
        given = one([1, 3, 2, 5], [3, 5, 9])
        assert by_name("replay", "RocAuc@4", given, 4) == pytest.approx(1 / 4)
        assert by_name("replay", "RocAuc@1", given, 1) == 0

    def test_hits_are_pooled(self) -> None:
        """1 of 1 and 0 of 3: ours is the mean of the shares."""
        given = given_of(Lists([[1, 2], [4, 5]], None, [[1], [7, 8, 9]], None, [[], []], 20, []))
        assert by_name("implicit", "precision@10", given, 10) == pytest.approx(1 / 4)
        assert our_mean("capped_recall@10", given) == pytest.approx(1 / 2)

    def test_a_duplicate_pushes_above_1(self) -> None:
        assert by_name("omnirec", "Recall@3", one([3, 3, 3], [3]), 3) == pytest.approx(3)
        assert by_name("ranx", "recall@3", one([3, 3, 3], [3]), 3) == pytest.approx(1)
        assert by_name("trec_eval", "recall_3", one([3, 3, 3], [3]), 3) is None

    def test_what_is_removed_makes_a_list_short(self) -> None:
        """irspack masks what is seen, and divides by the two that are left."""
        given = given_of(Lists([[3, 1, 2]], None, [[3]], None, [[1]], 20, []))
        row = next(row for row in as_library("irspack", given, [3]) if row.measure == "precision@3")
        assert row.value == pytest.approx(1 / 2)
        assert row.sentence == "divides by the length of a list that is shorter than 3"

    def test_grades_of_0_gain_something_in_elliot(self) -> None:
        given = one([3], [3])._replace(grade=np.zeros(1))
        row = next(row for row in as_library("elliot", given, [1]) if row.measure == "nDCG@1")
        assert (row.value, row.ours, our_mean(row.ours, given)) == (1, "graded_ndcg@1", 0)
        assert row.sentence == "the gain of an item is 2^(grade + 1) - 1 (threshold 0), where ours is 2^grade - 1"

    @pytest.mark.parametrize("name", CONVENTIONS)
    def test_nobody_has_a_list(self, name: str) -> None:
        given = one([], [3])
        assert given.item.shape == (1, 0)
        for row in as_library(name, given, [3]):
            assert row.value == 0 or np.isnan(row.value) or row.ours == "auc"

    def test_nobody_is_left(self) -> None:
        assert np.isnan(
            by_name("omnirec", "HR@3", given_of(Lists([None, []], None, [[3], [4]], None, [[], []], 20, [])), 3)
        )  # type: ignore[arg-type]

    def test_values_of_cases(self) -> None:
        measure = CONVENTIONS["implicit"].measures[0]
        given = given_of(Lists([[1, 2], None], None, [[1], [7, 8, 9]], None, [[], []], 20, []))
        values, weight = count_cases(
            CONVENTIONS["implicit"], measure, given, view_of(CONVENTIONS["implicit"], given, 2)
        )
        assert (values.tolist(), weight.tolist()) == ([1, 0], [1, 2])
        other = CONVENTIONS["omnirec"]
        _, weight = count_cases(other, other.measures[0], given, view_of(other, given, 2))
        assert weight.tolist() == [1, 0]


class TestAsLibrary:
    def test_rows(self) -> None:
        rows = as_library("trec_eval", sets()["regular"], (3, 10))
        names = [row.measure for row in rows]
        assert names[:2] == ["P_3", "recall_3"]
        assert names[-3:] == ["recip_rank", "map", "ndcg"]  # once
        assert len(names) == len(set(names)) == 13
        assert [row.ours for row in rows if row.measure == "map_cut_10"] == ["ap@10"]
        graded = as_library("trec_eval", sets()["graded"], (3,))
        assert [row.ours for row in graded if row.measure == "ndcg_cut_3"] == ["graded_ndcg@3"]
        assert [row.ours for row in as_library("implicit", sets()["graded"])][-1] == "auc"

    @pytest.mark.parametrize("name", CONVENTIONS)
    def test_changes_nothing_and_does_not_depend_on_the_order_of_people(self, name: str) -> None:
        given = sets()["mixed"]
        before = [None if column is None else np.array(column, copy=True) for column in given]
        rows = as_library(name, given, KS)
        for column, was in zip(given, before, strict=True):
            assert np.array_equal(column, was) if was is not None else column is None
        mixed = all_lists()["mixed"]
        turned = {field: getattr(mixed, field)[::-1] for field in ("listed", "score", "relevant", "grade", "seen")}
        for row, other in zip(rows, as_library(name, given_of(mixed._replace(**turned)), KS), strict=True):
            assert row.value == (other.value if other.value is None else pytest.approx(other.value, abs=CLOSE))
            assert row.sentence == other.sentence

    def test_refuses(self) -> None:
        given = sets()["regular"]
        with pytest.raises(ParameterError, match=r"'rextools' is no library .* Did you mean 'rectools'\?"):
            as_library("rextools", given)
        for ks in ([], [0], [2.5]):
            with pytest.raises(ParameterError, match="The 'ks' parameter must be"):
                as_library("ranx", given, ks)  # type: ignore[arg-type]
        with pytest.raises(DataError, match="case 0 has no relevant item"):
            as_library("ranx", one([1], []))
        with pytest.raises(DataError, match="there is no case"):
            as_library("ranx", given._replace(item=given.item[:0], start=given.start[:1], seen_start=given.start[:1]))
        with pytest.raises(DataError, match="goes on after -1"):
            as_library("ranx", one([1, -1, 2], [1]))
        with pytest.raises(DataError, match="score has the shape"):
            as_library("ranx", given._replace(score=np.zeros(3)))
        with pytest.raises(DataError, match="place 2 of the list of case 0 has the score nan"):
            as_library("ranx", one([1, 2], [1])._replace(score=np.array([[1, np.nan]])))
        with pytest.raises(DataError, match="starts of relevant"):
            as_library("ranx", given._replace(start=given.start[:-1]))
