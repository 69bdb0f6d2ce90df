"""Where a fit is, in a file: an interrupted one goes on and ends with the same bytes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from typing import Any, cast

import numpy as np

from fullrank.data.atomic import check_writable
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, LockedError, ModelFileError
from fullrank.models.als import State
from fullrank.models.files import fingerprint, load, save
from fullrank.models.model import Factors


@dataclass(frozen=True)
class Checkpoint:
    """What a state belongs to, kept in the place of the recipe of a model file without history."""

    recipe: str
    seed: int
    data: str
    sweeps: int
    objective: float


class Keeper:
    """The checkpoint of one fit: the last state and the one before it, in two files beside a lock."""

    def __init__(self, path: str | os.PathLike[str], recipe: Any, train: Interactions, seed: int) -> None:
        self.path = Path(path)
        check_writable(self.path, overwrite=True)
        self.previous = self.path.with_name(self.path.name + ".previous")
        said = repr(replace(recipe, sweeps=1))  # more sweeps may be asked for later
        self.label = Checkpoint(said, seed, fingerprint(train), 0, 0.0)
        self.size = train.n_users, train.n_items

    def keep(self, state: State) -> None:
        """Write the state; whatever happens meanwhile, one whole file is there."""
        label = replace(self.label, sweeps=state.sweeps, objective=state.objective)
        nobody = Interactions(
            np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), None, None,
            Ids.numbered(self.size[0]), Ids.numbered(self.size[1]),
        )  # fmt: skip
        model = Factors(state.users.copy(), state.items.copy(), nobody, label)
        if self.path.exists():
            os.replace(self.path, self.previous)
        save(model, self.path, overwrite=True, recipes={"Checkpoint": Checkpoint})

    def found(self) -> State | None:
        """The last state that is whole; None where there is none yet."""
        there = [path for path in (self.path, self.previous) if path.exists()]
        faults = []
        for path in there:
            try:
                return self._state(path)
            except ModelFileError as error:
                faults.append(str(error))
        if faults:
            raise ModelFileError(f"no checkpoint can be used ({' '.join(faults)}); remove {self.path} to start again.")
        return None

    def _state(self, path: Path) -> State:
        model = cast(Factors, load(path, recipes={"Checkpoint": Checkpoint}))
        if path != self.path and self.path.exists():
            warnings.warn(f"{self.path} is damaged; going on from {path}", RuntimeWarning, stacklevel=4)
        label: Checkpoint = model.recipe
        for what in ("recipe", "seed", "data"):
            if getattr(label, what) != getattr(self.label, what):
                told = f"{getattr(label, what)} there, {getattr(self.label, what)} here"
                raise DataError(f"{path}: the checkpoint is of another fit: {what} differs ({told}); remove it, or resume that fit.")  # fmt: skip # noqa: E501
        return State(model.users.copy(), model.items.copy(), label.sweeps, label.objective)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one fit at a time writes here; the lock ends with the process, however it ends."""
        import fcntl

        with self.path.with_name(self.path.name + ".lock").open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                raise LockedError(f"{self.path}: locked by process {file.read() or '?'}; wait for it.") from None
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            for half_written in self.path.parent.glob(f".{escape(self.path.name[:100])}.*.tmp"):
                half_written.unlink(missing_ok=True)  # by a fit that was killed
            yield
