"""How kernels are compiled, and where the result is kept."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


REORDERED = {"reassoc", "contract", "nsz", "arcp"}  # NaN and infinity keep their meaning


def kernel(function: Function) -> Function:
    """Compile on first call and keep the machine code for the next process.

    A damaged or unwritable cache means compiling again, never a crash.
    """
    return _compiled(function, False)


def summing_kernel(function: Function) -> Function:
    """The same, and sums of floats may be taken in another order than written: the same one in every run."""
    return _compiled(function, REORDERED)


def summing_part(function: Function) -> Function:
    """The same for what such kernels call: always inlined.

    Otherwise the process that compiles would call the copy it compiled first, and every later process the one kept
    with the caller, and the two may sum in different orders.
    """
    return _compiled(function, REORDERED, forceinline=True)


def _compiled(function: Function, fastmath: Any, forceinline: bool = False) -> Function:
    _choose_cache_folder()
    compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath, forceinline=forceinline)(
        function
    )
    _forgive(compiled._cache)
    return cast(Function, compiled)


def _choose_cache_folder() -> None:
    """Beside the package or in the home folder, as numba does; else a private temporary folder."""
    settings: Any = numba.config
    if settings.CACHE_DIR:
        return
    beside = Path(__file__).parent
    home = Path(os.environ.get("HOME") or "/nonexistent")
    if not (os.access(beside, os.W_OK) or os.access(home, os.W_OK)):
        settings.CACHE_DIR = str(_private_folder())


def _private_folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"fullrank-kernels-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if (
        hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()
    ):  # somebody else put it there: do not load code from it
        return Path(tempfile.mkdtemp(prefix="fullrank-kernels-"))
    return folder


def _forgive(cache: Any) -> None:
    """Let a cache whose files are broken count as empty, with a warning."""
    load, save = cache.load_overload, cache.save_overload

    def forgiving_load(signature: Any, target: Any) -> Any:
        try:
            return load(signature, target)
        except Exception as error:
            warnings.warn(f"a kernel's cache cannot be used ({error!r}); compiling again", RuntimeWarning, stacklevel=2)
            cache.flush()
            return None

    def forgiving_save(signature: Any, result: Any) -> None:
        try:
            save(signature, result)
        except Exception as error:
            warnings.warn(f"a kernel's cache cannot be written ({error!r})", RuntimeWarning, stacklevel=2)

    cache.load_overload, cache.save_overload = forgiving_load, forgiving_save
