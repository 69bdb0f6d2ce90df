"""What a comparison found, as a table for a terminal, a README or a paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from fullrank.comparison.results import Estimate, LibraryCount, ModelSummary, Results
from fullrank.runtime.formatting import NOTHING

MARK = "†"
UNBIASED = "stays unbiased when ratings are missing not at random, as long as relevant ones are missing at random"
BOUNDS = (
    "From ... to ...: lists end before the metric does, and this is the worst and best case of what they leave open."
)
GROUPS = "models that share a letter cannot be told apart"
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
    """An aligned table, metrics in as many blocks as `width` asks for, and the verdict."""
    head, *rows = _grid(results)
    blocks = [
        "\n".join(_aligned([[row[i] for i in some] for row in (head, *rows)])) for some in _fitting(head, rows, width)
    ]
    return "\n\n".join([*(blocks if rows else []), *counted_elsewhere(results), "\n".join(_below(results))])


def markdown(results: Results) -> str:
    """A table of pipes, the leading models of each metric in bold."""
    head, *rows = _grid(results, escape=lambda part: _escaped(part, MARKDOWN), bold="**{}**")
    lines = [["model", *head[1:]], [":---", *["---:"] * (len(head) - 1)], *rows]
    table = "\n".join(
        "|" + "|".join(cell if cell.strip("-:") == "" else f" {cell} " for cell in line) + "|" for line in lines
    )
    below = [_escaped(line, MARKDOWN) for line in _below(results)]
    return "\n\n".join([table, *below])


def latex(results: Results) -> str:
    """A `booktabs` table; intervals small, the leading models of each metric in bold."""
    head, *rows = _grid(
        results, escape=lambda part: _escaped(part, LATEX), bold=r"\textbf{{{}}}",
        around=r" {{\scriptsize {}}}", group=r"\textsuperscript{{{}}}",
    )  # fmt: skip
    lines = [" & ".join(row) + r" \\" for row in (["Model", *head[1:]], *rows)]
    below = [
        f"% {' '.join(line.split())}" for line in (*_legend(results), *_failures(results), results.verdict.sentence)
    ]
    columns = "l" + "r" * (len(head) - 1)
    top = [r"% needs \usepackage{booktabs}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule", lines[0], r"\midrule"]
    return "\n".join([*top, *lines[1:], r"\bottomrule", r"\end{tabular}", *below])


def ranked(results: Results, metric: str | None = None) -> list[ModelSummary]:
    """The models that were measured, best first by a metric (the deciding one); those without a value last."""
    name = metric or (results.metrics[0].name if results.metrics else "")
    sign = 1 if lower_is_better(results, name) else -1
    there = [model for model in results.models if not model.failed]
    return sorted(there, key=lambda model: _order(model.metrics.get(name), sign))


def leaders(results: Results, metric: str) -> set[str]:
    """The best model by a metric and all that share a letter with it."""
    values = {model.name: value for model in ranked(results, metric) if (value := model.metrics.get(metric))}
    best = next(iter(values), None)
    if best is None or values[best].mean is None:
        return set()
    letters = set(values[best].group)
    return {best, *(name for name, value in values.items() if letters & set(value.group))}


def lower_is_better(results: Results, metric: str) -> bool:
    """Whether small values of a metric are good."""
    return any(m.name == metric and m.lower_is_better for m in results.metrics)


def marked(results: Results, metric: str) -> str:
    """The name of a metric, with the mark of those that stay unbiased."""
    return metric + (MARK if any(m.name == metric and m.unbiased for m in results.metrics) else "")


def decimals(values: Iterable[Estimate | None]) -> int:
    """As many places as intervals of typical width have two digits that say something.

    >>> decimals([Estimate(0.21, 0.19, 0.23, "a")]), decimals([Estimate(400.0, 340.0, 460.0, "a")])
    (3, 0)
    """
    ends = [(v.low, v.high) for v in values if v is not None and v.low is not None and v.high is not None]
    widths = sorted(high - low for low, high in ends if high > low)
    if not widths:
        return 4
    return min(max(math.ceil(-math.log10(widths[len(widths) // 2])) + 1, 0), 6)


def number(value: float | None, places: int) -> str:
    """A number with so many places; a dash where there is none."""
    return NOTHING if value is None else f"{value:,.{places}f}"


def _grid(
    results: Results, *, escape: Callable[[str], str] = str, bold: str = "{}", around: str = " {}", group: str = " {}"
) -> list[list[str]]:
    """Head and rows of cells, models best first."""
    names = [metric.name for metric in results.metrics]
    rows = [["", *(escape(marked(results, name)) for name in names)]]
    best = {name: leaders(results, name) for name in names}
    places = {name: decimals(model.metrics.get(name) for model in results.models) for name in names}
    for model in ranked(results):
        cells = [escape(model.name)]
        for name in names:
            value = model.metrics.get(name)
            style = bold if model.name in best[name] else "{}"
            cells.append(_cell(value, places[name], style, around, group) if value else NOTHING)
        rows.append(cells)
    return rows


def _cell(value: Estimate, places: int, style: str, around: str, group: str) -> str:
    cell = style.format(number(value.mean, places)) if value.mean is not None else NOTHING
    if value.bounds is not None:
        cell = f"{number(value.bounds[0], places)} to {number(value.bounds[1], places)}"
    elif value.low is not None and value.high is not None:
        cell += around.format(f"[{number(value.low, places)}, {number(value.high, places)}]")
    return cell + (group.format(value.group) if value.group else "")


class Elsewhere(NamedTuple):
    """A model's lists as one library counts them: what is to be told of all its measures, and the measures."""

    model: str
    library: str
    common: list[str]
    rows: list[tuple[str, str, str, str]]  # its measure and value, ours, what is different

    @property
    def title(self) -> str:
        """What stands above."""
        return f"{self.model} as {self.library}, beside ours"


def elsewhere(results: Results) -> list[Elsewhere]:
    """The lists of all models as other libraries count them."""
    return [
        _counted(model.name, [row for row in model.libraries if row.library == library])
        for model in ranked(results)
        for library in dict.fromkeys(row.library for row in model.libraries)
    ]


def _counted(model: str, counts: Sequence[LibraryCount]) -> Elsewhere:
    told = [row.sentence.split("; ") for row in counts if row.value is not None and row.sentence]
    common = [part for part in (told[0] if told else []) if all(part in parts for parts in told)]
    common = common if len(told) > 1 else []
    by = counts[0].checked or "by its documentation, not run"
    rows = [
        (
            row.measure, number(row.value, 4), f"{row.ours} {number(row.our_value, 4)}",
            "; ".join(part for part in row.sentence.split("; ") if part not in common),
        )
        for row in counts
    ]  # fmt: skip
    return Elsewhere(model, f"{counts[0].library} counts ({by})", common, rows)


def counted_elsewhere(results: Results) -> list[str]:
    """The same for a terminal, a block for each."""
    return [
        "\n".join(
            [f"{one.title}:", *_aligned([["", *row] for row in one.rows]), *(f"  all: {part}" for part in one.common)]
        )
        for one in elsewhere(results)
    ]


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


def _below(results: Results) -> list[str]:
    """What stands below a table."""
    return [*_legend(results), *_failures(results), results.verdict.sentence]


def _legend(results: Results) -> list[str]:
    marked = any(metric.unbiased for metric in results.metrics)
    ends = [BOUNDS] if any(v.bounds for model in results.models for v in model.metrics.values()) else []
    return [f"In brackets 95% intervals; {GROUPS}.", *([f"{MARK} {UNBIASED}"] if marked else []), *ends]


def _failures(results: Results) -> list[str]:
    return [f"{model.name} failed: {model.failed}" for model in results.models if model.failed]


def _order(value: Estimate | None, sign: int) -> tuple[bool, float]:
    mean = value.mean if value else None
    return (mean is None, 0.0 if mean is None else sign * mean)


def _escaped(part: str, replaced: Mapping[str, str]) -> str:
    return "".join(replaced.get(char, char) for char in " ".join(part.split()))
