"""The tables and figures that need no data: published numbers and statements, run again here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fullrank.reproduction.exhibit import Exhibit, reproduce
from fullrank.reproduction.findings import Findings
from fullrank.reproduction.papers.ackerman2012 import chapter2, chapter3, chapter4, chapter5
from fullrank.reproduction.papers.krichene2020 import figure1, figure2, figure3, figure4, table1, table2
from fullrank.reproduction.workspace import Workspace

EXAMPLES = {
    one.EXHIBIT.name: one.EXHIBIT
    for one in (table1, table2, figure1, figure2, figure3, figure4, chapter2, chapter3, chapter4, chapter5)
}


def run(exhibit: Exhibit) -> Findings:
    result = reproduce(exhibit, Workspace())
    assert not result.missing
    return result.findings


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_was_published_holds(name: str) -> None:
    seen = run(EXAMPLES[name])
    assert [number for number in seen.numbers if not number.holds] == []
    assert [claim for claim in seen.claims if not claim.holds] == []
    assert seen.colour == "green"
    judged = [number for number in seen.numbers if number.within is not None and number.published is not None]
    assert judged or seen.claims
    cells = [(number.row, number.column) for number in seen.numbers]
    assert len(cells) == len(set(cells))


def test_they_need_no_data() -> None:
    assert all(exhibit.needs == () for exhibit in EXAMPLES.values())


@pytest.mark.parametrize(
    "name",
    [
        "krichene2020-table1",
        "krichene2020-figure1",
        "ackerman2012-chapter2",
        "ackerman2012-chapter4",
        "ackerman2012-table5.1",
    ],
)
def test_a_wrong_number_would_be_seen(name: str) -> None:
    exact = [(number, number.published) for number in run(EXAMPLES[name]).numbers if number.within == 0]
    assert exact
    for number, published in exact:
        assert published is not None
        wrong = replace(number, published=published + 2 * 10.0**-number.digits)
        assert Findings((wrong,)).colour == "red"


def test_a_wrong_entry_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(table1.PUBLISHED, "AP", (0.010, 0.011, 0.101))
    assert run(table1.EXHIBIT).colour == "red"


def test_figures_have_the_curves_they_tell_of() -> None:
    by_title = {
        figure.title: figure
        for name in ("krichene2020-figure1", "krichene2020-figure2")
        for figure in run(EXAMPLES[name]).figures
    }
    top = dict(by_title["Metric against rank, top 100 ranks"].lines["AP"])
    assert (top[1], top[2], top[100]) == pytest.approx((1, 1 / 2, 1 / 100))
    auc = by_title["AUC, sampled"].lines
    assert {name: dict(line)[1] for name, line in auc.items()} == pytest.approx(
        {"A": 0.9901, "B": 0.5548, "C": 0.8431}, abs=1e-4
    )
