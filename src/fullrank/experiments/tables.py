"""What a comparison found, as a table for a terminal, a README or a paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

Results: TypeAlias = Mapping[str, Any]  # what results.json holds

MARK = "†"
UNBIASED = "stays unbiased when ratings are missing not at random, as long as relevant ones are missing at random"
GROUPS = "models that share a letter cannot be told apart"
NOTHING = "–"
LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    MARK: r"$^\dagger$",
    "–": "--",
}
MARKDOWN = {char: f"\\{char}" for char in "\\`*_[]<>|#~$"} | {"&": "&amp;"}


def text(results: Results, width: int = 100) -> str:
    """An aligned table, metrics in as many blocks as `width` asks for, and the verdict.

    >>> value = {"mean": 0.21, "low": 0.19, "high": 0.23, "group": "a"}
    >>> found = {"metrics": [{"name": "recall@10", "ubm": True, "lower_is_better": False}],
    ...          "models": [{"name": "AllRank", "failed": None, "metrics": {"recall@10": value}}],
    ...          "verdict": {"sentence": "Use AllRank."}}
    >>> print(text(found))
             recall@10†
    AllRank  0.210 [0.190, 0.230] a
    <BLANKLINE>
    In brackets 95% intervals; models that share a letter cannot be told apart.
    † stays unbiased when ratings are missing not at random, as long as relevant ones are missing at random
    Use AllRank.
    """
    head, *rows = _grid(results)
    blocks = [
        "\n".join(_aligned([[row[i] for i in some] for row in (head, *rows)])) for some in _fitting(head, rows, width)
    ]
    return "\n\n".join(
        [*(blocks if rows else []), "\n".join([*_legend(results), *_failures(results), _verdict(results)])]
    )


def markdown(results: Results) -> str:
    """A table of pipes, the leading models of each metric in bold.

    >>> value = {"mean": 0.21, "low": 0.19, "high": 0.23, "group": "a"}
    >>> found = {"metrics": [{"name": "recall@10", "ubm": False, "lower_is_better": False}],
    ...          "models": [{"name": "All|Rank", "failed": None, "metrics": {"recall@10": value}}],
    ...          "verdict": {"sentence": "Use it."}}
    >>> print(markdown(found))
    | model | recall@10 |
    |:---|---:|
    | All\\|Rank | **0.210** [0.190, 0.230] a |
    <BLANKLINE>
    In brackets 95% intervals; models that share a letter cannot be told apart.
    <BLANKLINE>
    Use it.
    """
    head, *rows = _grid(results, escape=lambda part: _escaped(part, MARKDOWN), bold="**{}**")
    lines = [["model", *head[1:]], [":---", *["---:"] * (len(head) - 1)], *rows]
    table = "\n".join(
        "|" + "|".join(cell if cell.strip("-:") == "" else f" {cell} " for cell in line) + "|" for line in lines
    )
    below = [_escaped(line, MARKDOWN) for line in (*_legend(results), *_failures(results), _verdict(results))]
    return "\n\n".join([table, *below])


def latex(results: Results) -> str:
    """A `booktabs` table; intervals small, the leading models of each metric in bold.

    >>> value = {"mean": 0.21, "low": 0.19, "high": 0.23, "group": "a"}
    >>> found = {"metrics": [{"name": "recall@10", "ubm": True, "lower_is_better": False}],
    ...          "models": [{"name": "All_Rank", "failed": None, "metrics": {"recall@10": value}}],
    ...          "verdict": {"sentence": "100% sure."}}
    >>> print(latex(found))
    % needs \\usepackage{booktabs}
    \\begin{tabular}{lr}
    \\toprule
    Model & recall@10$^\\dagger$ \\\\
    \\midrule
    All\\_Rank & \\textbf{0.210} {\\scriptsize [0.190, 0.230]}\\textsuperscript{a} \\\\
    \\bottomrule
    \\end{tabular}
    % In brackets 95% intervals; models that share a letter cannot be told apart.
    % † stays unbiased when ratings are missing not at random, as long as relevant ones are missing at random
    % 100% sure.
    """
    head, *rows = _grid(
        results, escape=lambda part: _escaped(part, LATEX), bold=r"\textbf{{{}}}",
        around=r" {{\scriptsize {}}}", group=r"\textsuperscript{{{}}}",
    )  # fmt: skip
    lines = [" & ".join(row) + r" \\" for row in (["Model", *head[1:]], *rows)]
    below = [f"% {' '.join(line.split())}" for line in (*_legend(results), *_failures(results), _verdict(results))]
    columns = "l" + "r" * (len(head) - 1)
    top = [r"% needs \usepackage{booktabs}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule", lines[0], r"\midrule"]
    return "\n".join([*top, *lines[1:], r"\bottomrule", r"\end{tabular}", *below])


def ranked(results: Results, metric: str | None = None) -> list[Mapping[str, Any]]:
    """The models that were measured, best first by a metric (the deciding one); those without a value last."""
    name = metric or (results["metrics"][0]["name"] if results["metrics"] else "")
    sign = 1 if lower_is_better(results, name) else -1
    there = [model for model in results["models"] if not model["failed"]]
    return sorted(there, key=lambda model: _order(model["metrics"].get(name), sign))


def leaders(results: Results, metric: str) -> set[str]:
    """The best model by a metric and all that share a letter with it."""
    best = next(iter(ranked(results, metric)), None)
    if best is None or _mean(best, metric) is None:
        return set()
    letters = set(best["metrics"][metric]["group"])
    sharing = {
        m["name"] for m in ranked(results, metric) if letters & set((m["metrics"].get(metric) or {}).get("group", ""))
    }
    return {best["name"], *sharing}


def lower_is_better(results: Results, metric: str) -> bool:
    """Whether small values of a metric are good."""
    return any(m["name"] == metric and m["lower_is_better"] for m in results["metrics"])


def marked(results: Results, metric: str) -> str:
    """The name of a metric, with the mark of those that stay unbiased."""
    return metric + (MARK if any(m["name"] == metric and m["ubm"] for m in results["metrics"]) else "")


def decimals(values: Iterable[Mapping[str, Any] | None]) -> int:
    """As many places as intervals of typical width have two digits that say something.

    >>> decimals([{"mean": 0.21, "low": 0.19, "high": 0.23}]), decimals([{"mean": 400.0, "low": 340.0, "high": 460.0}])
    (3, 0)
    """
    there = [v for v in values if v and v["low"] is not None and v["high"] is not None]
    widths = sorted(v["high"] - v["low"] for v in there if v["high"] > v["low"])
    if not widths:
        return 4
    return min(max(math.ceil(-math.log10(widths[len(widths) // 2])) + 1, 0), 6)


def number(value: float | None, places: int) -> str:
    """A number with so many places; a dash where there is none."""
    return NOTHING if value is None else f"{value:,.{places}f}"


def _grid(
    results: Results, *, escape: Any = str, bold: str = "{}", around: str = " {}", group: str = " {}"
) -> list[list[str]]:
    """Head and rows of cells, models best first."""
    metrics = results["metrics"]
    rows = [["", *(escape(marked(results, m["name"])) for m in metrics)]]
    best = {m["name"]: leaders(results, m["name"]) for m in metrics}
    places = {m["name"]: decimals(model["metrics"].get(m["name"]) for model in results["models"]) for m in metrics}
    for model in ranked(results):
        cells = [escape(model["name"])]
        for name in (m["name"] for m in metrics):
            value = model["metrics"].get(name)
            style = bold if model["name"] in best[name] else "{}"
            cells.append(_cell(value, places[name], style, around, group) if value else NOTHING)
        rows.append(cells)
    return rows


def _cell(value: Mapping[str, Any], places: int, style: str, around: str, group: str) -> str:
    shown = style.format(number(value["mean"], places)) if value["mean"] is not None else NOTHING
    if value["low"] is not None and value["high"] is not None:
        shown += around.format(f"[{number(value['low'], places)}, {number(value['high'], places)}]")
    return shown + (group.format(value["group"]) if value["group"] else "")


def _fitting(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Columns in blocks no wider than `width`, the first column in each, at least one more."""
    sizes = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    blocks: list[list[int]] = [[0]]
    for i, size in enumerate(sizes[1:], start=1):
        if len(blocks[-1]) > 1 and sum(sizes[j] + 2 for j in blocks[-1]) + size > width:
            blocks.append([0])
        blocks[-1].append(i)
    return blocks


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    sizes = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{size}}" for cell, size in zip(row, sizes, strict=True)).rstrip() for row in rows]


def _legend(results: Results) -> list[str]:
    marked = any(metric["ubm"] for metric in results["metrics"])
    return [f"In brackets 95% intervals; {GROUPS}.", *([f"{MARK} {UNBIASED}"] if marked else [])]


def _failures(results: Results) -> list[str]:
    return [f"{model['name']} failed: {model['failed']}" for model in results["models"] if model["failed"]]


def _verdict(results: Results) -> str:
    return str(results["verdict"]["sentence"])


def _mean(model: Mapping[str, Any], metric: str) -> float | None:
    found: float | None = (model["metrics"].get(metric) or {}).get("mean")
    return found


def _order(value: Mapping[str, Any] | None, sign: int) -> tuple[bool, float]:
    mean = value["mean"] if value else None
    return (mean is None, 0.0 if mean is None else sign * mean)


def _escaped(part: str, replaced: Mapping[str, str]) -> str:
    return "".join(replaced.get(char, char) for char in " ".join(part.split()))
