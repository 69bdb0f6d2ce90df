"""Where results go: a folder that can be written to, JSON that can be read by anybody."""

from __future__ import annotations

import json
from pathlib import Path

from fullrank.errors import DataError, NotAllowedError, OutputError


def as_json(content: object) -> bytes:
    """JSON as it is written to files; NaN is refused."""
    try:
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        raise DataError(f"a result is NaN or infinite and cannot be written ({error}).") from error


def output_folder(path: Path) -> Path:
    """The folder for the output, made if it is not there."""
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path}: is a file; give a folder for the output.")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except PermissionError as error:
        raise NotAllowedError(f"{path}: no permission to write there ({error.strerror}).") from error
    except OSError as error:
        raise OutputError(f"{path}: cannot be made ({error.strerror or error}); choose another folder.") from error
    return path
