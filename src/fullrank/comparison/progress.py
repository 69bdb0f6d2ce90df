"""How far a comparison is: told to whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float], None]  # what is going on, and the share of everything that is done
Count: TypeAlias = Callable[[int, int], None]  # how many are done, of how many

TUNED, FITTED, RANKED = 0.7, 0.8, 0.95  # of a model: where tuning, fitting and ranking end
MEASURED = 0.7  # of everything: where all models are measured; then they are compared
PHASES = ("metrics of models,", "pairs of models, metric", "what sampling does,", "intervals of models,")


def silent(done: int, of: int) -> None:
    """Where nobody wants to know."""


class Steps:
    """The models of a comparison, one after the other, and then what is made of them."""

    def __init__(self, names: Sequence[str], progress: Progress | None, tuned: bool = False) -> None:
        self.names, self.progress, self.name, self.share = list(names), progress, "", 0.0
        self.tuned = TUNED if tuned else 0.0

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """While one model is measured."""
        self.name = name
        self.at("fitting", 0.0)
        yield
        self.at("done", 1.0)

    def at(self, what: str, share: float) -> None:
        """The share of this model that is done."""
        models = len(self.names)
        self._tell(f"{self.name}: {what}", MEASURED * (self.names.index(self.name) + share) / models)

    def tuning(self, done: int, of: int, best: float | None, text: str) -> None:
        """After every trial, and between."""
        value = "" if best is None else f", best {best:.4f}"
        self.at(f"tuning, {done} of {of}{value} {text}".rstrip(), self.tuned * done / max(of, 1))

    def fitting(self, done: int, of: int, objective: float) -> None:
        """After every sweep or epoch."""
        self.at(f"fitting, {done} of {of}", self.tuned + (FITTED - self.tuned) * done / max(of, 1))

    def ranking(self, done: int, of: int) -> None:
        """After every block of people."""
        self.at(f"ranking, {done:,} of {of:,}", FITTED + (RANKED - FITTED) * done / max(of, 1))

    def comparing(self, phase: str) -> Count:
        """What to call during one of the phases that follow when all models are measured."""
        first = PHASES.index(phase)

        def tell(done: int, of: int) -> None:
            share = (first + done / max(of, 1)) / len(PHASES)
            self._tell(f"comparing: {phase} {done} of {of}", MEASURED + (1 - MEASURED) * share)

        return tell

    def _tell(self, text: str, share: float) -> None:
        self.share = max(self.share, share)  # a fit that begins again takes nothing back
        if self.progress is not None:
            self.progress(text, self.share)
