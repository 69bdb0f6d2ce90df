"""Where training is, whatever is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

Parameters: TypeAlias = dict[str, Any]  # arrays of float32


class State(NamedTuple):
    """The parameters by name, after so many sweeps or epochs, with this objective."""

    parameters: Parameters
    done: int
    objective: float

    def copied(self) -> State:
        """The same, not to be changed by what training does next."""
        return self._replace(parameters={name: array.copy() for name, array in self.parameters.items()})


Watch: TypeAlias = Callable[[State], bool]  # called after every sweep or epoch; True stops
