"""How far a comparison is: told to whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float], None]  # what is going on, and the share of everything that is done


class Steps:
    """The models of a comparison, one after the other."""

    def __init__(self, names: Sequence[str], progress: Progress | None) -> None:
        self.names, self.progress, self.name = list(names), progress, ""

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """While one model is measured."""
        self.name = name
        self.at("fitting", 0.0)
        yield
        self.at("done", 1.0)

    def compare(self) -> None:
        """When all are measured."""
        if self.progress is not None:
            self.progress("comparing them", 1.0)

    def at(self, what: str, share: float) -> None:
        """The share of this model that is done."""
        if self.progress is not None:
            self.progress(f"{self.name}: {what}", (self.names.index(self.name) + share) / len(self.names))

    def fitting(self, done: int, of: int, objective: float) -> None:
        """After every sweep or epoch."""
        self.at(f"fitting, {done} of {of}", 0.9 * done / max(of, 1))

    def tuning(self, done: int, of: int, best: float | None, text: str) -> None:
        """After every trial, and between."""
        value = "" if best is None else f", best {best:.4f}"
        self.at(f"tuning, {done} of {of}{value} {text}".rstrip(), 0.8 * done / max(of, 1))
