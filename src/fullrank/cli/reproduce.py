"""fullrank reproduce"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullrank.cli.options import Json
from fullrank.cli.printing import note, print_json, resumable
from fullrank.errors import NoInputError, ParameterError

if TYPE_CHECKING:
    from fullrank.reproduction.exhibit import Exhibit
    from fullrank.reproduction.findings import Reproduced

TEXT = 90  # letters in a line of explanation
ASCII = str.maketrans({"✓": "ok", "✗": "no", "–": "-"})  # for terminals that cannot show them


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="steck2010-table2; steck2010: all of it.")
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="Show what there is.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Run all of them.")] = False,
    data: Annotated[Path | None, typer.Option(help="The folder with the data sets.")] = None,
    out: Annotated[Path, typer.Option(help="The folder for pages and what is kept.")] = Path("reproduced"),
    json: Json = False,
) -> None:
    """Run tables and figures of the papers again: published numbers beside ours.

    Ends with 1 where one is red, and with 66 where none of those named could be run because data is missing.
    """
    from fullrank.reproduction.exhibit import select
    from fullrank.reproduction.papers import EXHIBITS

    if list_them:
        _list(list(EXHIBITS.values()), data, json)
        return
    if not names and not everything:
        raise ParameterError("reproduce what? Give names, --all, or --list to see what there is.")
    chosen = EXHIBITS if everything else {one.name: one for one in select(names or (), EXHIBITS)}
    results = _run(list(chosen.values()), data, out, json)
    if not everything and all(one.missing for one in results):
        missing = dict.fromkeys(name for one in results for name in one.missing)
        raise NoInputError(f"nothing was run: there is no {', no '.join(missing)}; give its folder with --data.")
    if any(one.colour == "red" for one in results):
        raise typer.Exit(1)


def _run(chosen: Sequence[Exhibit], data: Path | None, out: Path, json: bool) -> list[Reproduced]:
    """Run them; pages are there after each, and after Ctrl-C what is done is printed."""
    from fullrank.report.exhibits import write_site
    from fullrank.runtime.output import output_folder

    results: list[Reproduced] = []
    with resumable():
        try:
            for one in _each(chosen, data, output_folder(out)):
                results.append(one)
                if not json:
                    _print(_lines(one))
        except KeyboardInterrupt:
            _end(results, json)
            if results:
                note(f"pages: {write_site(results, out)}")
            raise
    _end(results, json)
    note(f"pages: {out / 'index.html'}")
    return results


def _each(chosen: Sequence[Exhibit], data: Path | None, out: Path) -> Iterator[Reproduced]:
    """Run one after the other, and write its page and the index before it is given."""
    from fullrank.report.exhibits import write_site
    from fullrank.reproduction.exhibit import reproduce as run
    from fullrank.reproduction.workspace import Workspace

    workspace = Workspace(data, out / "kept")
    for place, exhibit in enumerate(chosen, start=1):
        heading = f"{place}/{len(chosen)} {exhibit.name}"
        note(heading)
        workspace.announce = lambda step, heading=heading: note(f"{heading}: {step}")
        one = run(exhibit, workspace)
        write_site([one], out)
        yield one


def _end(results: Sequence[Reproduced], json: bool) -> None:
    """All of it as JSON, or how many are green, amber and red."""
    from fullrank.report.exhibit_words import count_results

    if json:
        print_json({"exhibits": [one.to_json() for one in results]})
    elif len(results) > 1:
        print(", ".join(f"{count} {name}" for name, count in count_results(results).items()))


def _list(exhibits: Sequence[Exhibit], data: Path | None, json: bool) -> None:
    """What there is, what it needs, and whether that is there."""
    from fullrank.report.exhibit_words import by_document, document
    from fullrank.reproduction.workspace import Workspace

    workspace = Workspace(data)
    needed = dict.fromkeys(name for one in exhibits for name in (*one.needs, one.better) if name)
    there = {name: workspace.finds(name) for name in needed}
    if json:
        print_json({one.name: _about(one, there) for one in exhibits})
        return
    rows = {one.name: ("", one.name, one.title, one.place, _needs(one, there)) for one in exhibits}
    widths = [max(map(len, column)) for column in zip(*rows.values(), strict=True)]
    for place, (key, group) in enumerate(by_document(exhibits, lambda one: one.name).items()):
        about = document(key)
        lines = [f"{key}  {about.title} ({about.by})" if key else about.title]
        before = ""
        for one in group:
            lines.append(_row(rows[one.name], widths))
            if one.stands_in and not there.get(one.better):
                text = "stands in: the same" if one.stands_in == before else f"stands in: {one.stands_in}"
                lines += [_row(("", "", line), widths) for line in wrap(text, TEXT)]
                before = one.stands_in
        _print([""] * (place > 0) + lines)


def _about(one: Exhibit, there: Mapping[str, bool]) -> dict[str, Any]:
    return {
        "title": one.title, "place": one.place, "needs": list(one.needs), "better": one.better,
        "missing": [name for name in (*one.needs, one.better) if name and not there[name]], "stands_in": one.stands_in,
    }  # fmt: skip


def _needs(one: Exhibit, there: Mapping[str, bool]) -> str:
    """The data sets of an exhibit, and which of them are missing."""
    if one.better and there[one.better]:
        return one.better
    needs = [name if there[name] else f"{name} (missing)" for name in one.needs]
    return ", ".join(needs) + (f", in place of {one.better}" if one.better else "")


def _lines(one: Reproduced) -> list[str]:
    """One exhibit for a terminal."""
    from fullrank.report.exhibit_words import result

    return [
        f"{one.name}: {result(one)}. {one.title} ({one.place})",
        *(f"  {line}" for part in (_data, _numbers, _claims) for line in part(one)),
        "",
    ]


def _data(one: Reproduced) -> list[str]:
    """What is missing and how to get it, what stands in for it, and why a number may differ."""
    lines = [f"missing: {name}; {one.how_to_get[name]}" for name in one.missing]
    if one.stands_in:
        lines.append(f"stands in: {one.stands_in}")
    if one.colour == "amber" and one.why:
        lines.append(f"what may differ: {one.why}")
    return lines


def _numbers(one: Reproduced) -> list[str]:
    """The numbers as an aligned table; ! stands before those outside their tolerance."""
    from fullrank.report.exhibit_words import fixed, signed

    numbers = one.findings.numbers
    if not numbers:
        return []
    rows = [("", "", "", "ours", "published", "difference")]
    for n in numbers:
        values = fixed(n.ours, n.digits), fixed(n.published, n.digits), signed(n.difference, n.digits)
        rows.append(("" if n.holds else "!", n.row, n.column, *values))
    columns = 4 if all(n.published is None for n in numbers) else 6
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:columns]
    widths[0] = 1
    return [_row(row, widths, texts=3) for row in rows]


def _claims(one: Reproduced) -> list[str]:
    from fullrank.report.exhibit_words import statement

    lines = []
    for claim in one.findings.claims:
        seen = f" ({claim.seen})" if claim.seen else ""
        lines.append(f"{'✓' if claim.holds else '✗'} {statement(claim)}{seen}")
    return lines


def _row(cells: Sequence[str], widths: Sequence[int], texts: int | None = None) -> str:
    """Cells under each other: the first are texts, the others numbers."""
    placed = [cell.ljust(width) for cell, width in zip(cells[:texts], widths, strict=False)]
    if texts is not None:
        placed += [cell.rjust(width) for cell, width in zip(cells[texts:], widths[texts:], strict=False)]
    return "  ".join(placed)


def _print(lines: Iterable[str]) -> None:
    """Lines on stdout, whatever letters it can show."""
    text = "\n".join(line.rstrip() for line in lines)
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(ASCII).encode(encoding, "replace").decode(encoding)
    print(text)
