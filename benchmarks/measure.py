"""Best times of several functions, taken in turn so that a noisy minute hits all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def best_times(functions: Mapping[str, Callable[[], object]], repeats: int = 4) -> dict[str, float]:
    for function in functions.values():
        function()  # imports, compilation, file cache
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - start)
    return best
