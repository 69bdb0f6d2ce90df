"""The tables of conventions.md, from `fullrank.evaluation.conventions`; `python docs/conventions.py` writes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fullrank.evaluation.conventions import CONVENTIONS, IRREGULARITIES, Convention, Measure

PAGE = Path(__file__).resolve().parent / "conventions.md"
BEGIN, END = "<!-- tables: made by conventions.py -->", "<!-- end of tables -->"


def table(head: list[str], rows: Iterable[Iterable[str]]) -> str:
    """Rows in Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in [head, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def plain(text: str) -> str:
    """A name or sentence with k for the cut-off."""
    return text.replace("{k}", "k")


def libraries() -> str:
    """A row for each library: what was run, who is averaged, ties, duplicates."""
    rows = [[c.title, c.checked or "not run", c.averages, c.ties, c.duplicates] for c in CONVENTIONS.values()]
    return table(["library", "checked with", "who is averaged", "ties", "an item listed twice"], rows)


def measures() -> str:
    """A row for each measure."""
    rows = [
        [c.title, f"`{plain(m.name)}`", m.divides, _nearest(m), plain(m.says)]
        for c in CONVENTIONS.values()
        for m in c.measures
    ]
    return table(["library", "measure", "divides by", "our nearest", "how it differs on regular lists"], rows)


def habits() -> str:
    """By irregularity, what libraries do that is not ours."""
    rows = []
    for what, described in IRREGULARITIES.items():
        who: dict[str, list[str]] = {}
        for convention in CONVENTIONS.values():
            for said, names in _said(convention, what).items():
                some = "" if len(names) == len(convention.measures) else f" ({', '.join(names)})"
                who.setdefault(said, []).append(convention.title + some)
        rows += [[described, said, ", ".join(names)] for said, names in who.items()]
    return table(["there is", "what is done", "by whom (all measures, or those in brackets)"], rows)


def _nearest(measure: Measure) -> str:
    return f"`{measure.ours}`" + (f", with grades `{measure.graded}`" if measure.graded else "")


def _said(convention: Convention, what: str) -> dict[str, list[str]]:
    """What is said of an irregularity, and of which measures."""
    found: dict[str, list[str]] = {}
    for measure in convention.measures:
        told = {**convention.habits_of(measure), **convention.refusals_of(measure)}.get(what)
        if told:
            found.setdefault(plain(told), []).append(f"`{plain(measure.name)}`")
    return found


def tables() -> str:
    """What stands between the two marks of the page."""
    parts = [
        "## Libraries", libraries(),
        "## Measures", measures(),
        "## What is done with irregular lists", "Only what differs from ours.", habits(),
    ]  # fmt: skip
    return "\n\n".join(parts)


def renewed(page: str) -> str:
    """The page with its tables as they are now."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
