"""Krichene and Rendle 2020, Figure 6: recall of X and Y by number of samples, and where their order is right."""

from __future__ import annotations

from typing import Any

from fullrank.evaluation.analysis import against_samples
from fullrank.metrics.relevance import recall
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings, Number
from fullrank.reproduction.papers.krichene2020.protocol import DATA, METHODS, PLACE, ranks
from fullrank.reproduction.workspace import Workspace

SAMPLES = {
    "uncorrected": [50, 100, 200, 400, 600, 800, 1000, 1200, 1500, 2000],
    "BV 0.1": [20, 40, 60, 80, 100, 200],
}
PUBLISHED = {"uncorrected": 1000, "BV 0.1": 60}  # samples needed, from the caption
STEP = {"uncorrected": 200, "BV 0.1": 20}  # between numbers of samples tried there


def run(workspace: Workspace) -> Findings:
    """Expected recall@10, uncorrected and corrected by BV 0.1."""

    def values() -> dict[str, dict[str, list[float]]]:
        some = {name: one for name, one in ranks(workspace).items() if name != "Z"}
        means = {name: against_samples(some, recall @ 10, m, method=METHODS[name]) for name, m in SAMPLES.items()}
        return {name: {who: row.tolist() for who, row in rows.items()} for name, rows in means.items()}

    ours = workspace.step("krichene2020/recall-by-samples", values)
    needed = {name: _needed(ours[name], SAMPLES[name]) for name in SAMPLES}
    raw, mended = needed["uncorrected"], needed["BV 0.1"]
    return Findings(
        tuple(Number(name, "samples needed", PUBLISHED[name], needed[name], STEP[name], 0) for name in SAMPLES),
        (
            Claim("uncorrected, X and Y need about 1000 samples to come in order", raw >= 800, f"from {raw} on"),
            Claim("corrected by BV 0.1, fewer than 100", mended < 100, f"from {mended} on"),
        ),
        tuple(_figure(name, ours[name]) for name in SAMPLES),
    )


def _needed(ours: dict[str, list[float]], samples: list[int]) -> int:
    """The fewest samples from which on Y is ahead of X."""
    wrong = [m for m, x, y in zip(samples, ours["X"], ours["Y"], strict=True) if y <= x]
    return next((m for m in samples if m > max(wrong, default=0)), samples[-1] + 1)


def _figure(name: str, ours: dict[str, Any]) -> Figure:
    lines = {who: list(zip(SAMPLES[name], row, strict=True)) for who, row in ours.items()}
    return Figure(f"Recall@10, {name}", "samples", "recall", lines, log="x")


EXHIBIT = Exhibit(
    "krichene2020-figure6", "Recall against the number of samples", f"{PLACE}, Figure 6", run, (DATA,),
    why="The numbers needed are those of a grid; they may be off by a step of it.",
)  # fmt: skip
