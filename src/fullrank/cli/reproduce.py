"""fullrank reproduce"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.options import Json
from fullrank.cli.printing import note, print_json


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="s1-table3; s1: all of S1.")] = None,
    list_them: Annotated[bool, typer.Option("--list", help="Show what there is.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Run all of them.")] = False,
    data: Annotated[Path | None, typer.Option(help="The folder with the data sets.")] = None,
    out: Annotated[Path, typer.Option(help="The folder for pages and what is kept.")] = Path("reproduced"),
    json: Json = False,
) -> None:
    """Run tables and figures of the papers again: published numbers beside ours."""
    from fullrank.errors import ParameterError
    from fullrank.experiments.exhibits import Bench, named
    from fullrank.experiments.exhibits import reproduce as run
    from fullrank.experiments.papers import EXHIBITS
    from fullrank.experiments.parts import output_folder
    from fullrank.report.exhibits import write_site

    if list_them:
        _listed(list(EXHIBITS.values()), json)
        return
    if not names and not everything:
        raise ParameterError("reproduce what? Give names, --all, or --list to see what there is.")
    chosen = list(EXHIBITS.values()) if everything else named(names or (), EXHIBITS)
    bench = Bench(data, output_folder(out) / "kept", told=lambda step: note(f"running {step}"))
    shown: list[dict[str, Any]] = []
    for exhibit in chosen:
        shown.append(run(exhibit, bench).to_json())
        if not json:
            print("\n".join(_lines(shown[-1])))
    if json:
        print_json({"exhibits": shown})
    note(f"pages: {write_site(shown, out)}")


def _listed(exhibits: list[Any], json: bool) -> None:
    if json:
        print_json({one.name: {"title": one.title, "place": one.place, "needs": list(one.needs)} for one in exhibits})
        return
    for one in exhibits:
        print(f"{one.name:<12} {one.title} ({one.place}{'; needs ' + ', '.join(one.needs) if one.needs else ''})")


def _lines(one: dict[str, Any]) -> list[str]:
    """One exhibit for a terminal."""
    if one["missing"]:
        return [f"{one['name']}: not run, {', '.join(one['missing'])} is not there; give its folder with --data."]
    lines = [f"{one['name']}: {one['colour']}. {one['title']} ({one['place']})"]
    for row in one["numbers"]:
        published = "" if row["published"] is None else f"{row['published']:.{row['digits']}f}"
        ours, mark = f"{row['ours']:.{row['digits']}f}", " " if row["holds"] else "!"
        lines.append(f"  {mark} {row['what']:<40} {published:>10} {ours:>10}")
    lines += [f"  {' ' if claim['holds'] else '!'} {claim['text']} ({claim['seen']})" for claim in one["claims"]]
    return lines
