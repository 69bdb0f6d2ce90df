"""Write what was measured into the pages: python docs/papers/measured.py reproduced/shown.json

The part of every page between `<!-- measured steck2010 -->` and `<!-- end -->` is made anew from what
`fullrank reproduce` left in `shown.json`. No number of it is typed in. A document of which nothing was run keeps
what it has.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Shown: TypeAlias = Mapping[str, Any]  # an exhibit, as `Reproduced.to_json` of fullrank.reproduction.findings gives it

PAPERS = ("steck2010", "krichene2020", "ackerman2012", "lim2015", "steck2015")
LONGEST = 24  # rows of a table that stands open
LEGEND = (
    "Written by `docs/papers/measured.py` from the results of `fullrank reproduce`. Ours first, the published number "
    "in brackets; ✗ marks a number that is further from it than its tolerance, and a statement that does not hold."
)


def fill(page: str, paper: str, shown: Mapping[str, Shown]) -> str:
    """The page with what was measured of this paper.

    >>> fill("<!-- measured steck2010 -->\\n<!-- end -->", "steck2010", {})
    '<!-- measured steck2010 -->\\n<!-- end -->'
    """
    mine = [shown[name] for name in sorted(shown, key=natural) if name.startswith(f"{paper}-")]
    part = re.compile(rf"(<!-- measured {paper} -->\n).*?(<!-- end -->)", re.DOTALL)
    if len(part.findall(page)) != 1:
        raise ValueError(f"the page of {paper} needs one '<!-- measured {paper} -->' and one '<!-- end -->' below it.")
    if not mine:
        return page
    text = "\n\n".join([LEGEND, *(exhibit(one) for one in mine)])
    return part.sub(lambda marks: f"{marks[1]}\n{text}\n\n{marks[2]}", page)


def exhibit(one: Shown) -> str:
    """One table or figure: what it is and how it went, then its statements and its numbers."""
    parts = [f"**{plain(one['title'])}** (`{one['name']}`; {plain(one['place'])}): {result(one)}."]
    if one.get("stands_in"):
        parts.append(plain(one["stands_in"]))
    if one["colour"] in ("amber", "red") and one.get("why"):
        parts.append(f"Why that may be: {plain(one['why'])}")
    if one["claims"]:
        parts.append("\n".join(claim(each) for each in one["claims"]))
    if one["numbers"]:
        parts.append(numbers(one["numbers"]))
    if one.get("figures"):
        parts.append(f"Drawn on `{one['name']}.html` of the run.")
    return "\n\n".join(parts)


def result(one: Shown) -> str:
    """How it went, in words.

    >>> result({"colour": "green", "numbers": [], "claims": [{"holds": True}, {"holds": True}]})
    '2 of 2 statements hold'
    >>> result({"colour": None, "missing": ["ml-1m"]})
    'not run, ml-1m is not there'
    """
    if one["colour"] is None:
        return f"not run, {plain(', '.join(one['missing']))} is not there"
    published = [each for each in one["numbers"] if each["published"] is not None]
    judged = [each for each in published if each["within"] is not None]
    said = [_share(one["claims"], "statements hold"), _share(judged, "numbers are within their tolerance")]
    if len(judged) < len(published):
        said.append(f"{len(published) - len(judged)} published numbers are shown beside ours, not judged")
    return ", ".join(filter(None, said)) or "nothing published to judge it by"


def _share(judged: Sequence[Shown], what: str) -> str:
    return f"{sum(each['holds'] for each in judged)} of {len(judged)} {what}" if judged else ""


def claim(one: Shown) -> str:
    """A statement, whether it holds, and what was seen."""
    seen = f" ({plain(one['seen'])})" if one["seen"] else ""
    return f"- {'✓' if one['holds'] else '✗'} {plain(one['text'])}{seen}"


def numbers(given: Sequence[Shown]) -> str:
    """The numbers as a table, folded where it is long."""
    rows, columns = (list(dict.fromkeys(one[key] for one in given)) for key in ("row", "column"))
    cells: dict[tuple[str, str], list[str]] = {}
    for one in given:
        cells.setdefault((one["row"], one["column"]), []).append(cell(one))
    lines = [line(["", *map(plain, columns)]), line(["---", *("---:" for _ in columns)])]
    lines += [line([plain(row), *(", ".join(cells.get((row, each), [])) for each in columns)]) for row in rows]
    table = "\n".join(lines)
    if len(rows) <= LONGEST:
        return table
    return f"<details>\n<summary>{len(rows)} rows</summary>\n\n{table}\n\n</details>"


def cell(one: Shown) -> str:
    """Our number, the published one in brackets.

    >>> cell({"ours": 0.9071, "published": 0.915, "digits": 3, "holds": False})
    '0.907 (0.915) ✗'
    """
    published = "" if one["published"] is None else f" ({number(one['published'], one['digits'])})"
    return f"{number(one['ours'], one['digits'])}{published}{'' if one['holds'] else ' ✗'}"


def number(value: float | None, digits: int) -> str:
    """With so many digits, – where there is none; no minus before a zero."""
    return "–" if value is None or math.isnan(value) else f"{value:z.{digits}f}"


def line(cells: Iterable[str]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Text that Markdown takes as it stands, on one line, also in a cell.

    >>> print(plain("recall@10 of |R| > 1, *all*"))
    recall@10 of \\|R\\| \\> 1, \\*all\\*
    """
    return re.sub(r"([\\`*_{}\[\]<>|#$&~])", r"\\\1", " ".join(text.split()))


def natural(name: str) -> list[tuple[int, str]]:
    """Figure 6.2 comes before figure 6.15.

    >>> sorted(["ackerman2012-figure6.15", "ackerman2012-figure6.2"], key=natural)
    ['ackerman2012-figure6.2', 'ackerman2012-figure6.15']
    """
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def main(arguments: Sequence[str], folder: Path = Path(__file__).parent) -> int:
    """Fill all pages; 0 if that went well."""
    if len(arguments) != 1:
        print("usage: python docs/papers/measured.py reproduced/shown.json", file=sys.stderr)
        return 2
    shown = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    for paper in PAPERS:
        page = folder / f"{paper}.md"
        page.write_text(fill(page.read_text(encoding="utf-8"), paper, shown), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
