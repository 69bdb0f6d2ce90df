"""An export in a file: parquet, or text."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING

from fullrank.data.write import COMPRESS, SEPARATORS
from fullrank.errors import ParameterError
from fullrank.runtime.atomic import check_writable, write_with

if TYPE_CHECKING:
    from fullrank.serving.exporting import Export


def write_export(export: Export, path: str | Path, *, overwrite: bool = False) -> None:
    """Write an export to .parquet, or to .csv or .tsv, these also with .gz or .zst; whole or not at all.

    Parameters
    ----------
    export
        What `FeedbackStore.export` gives.
    path
        Where to; parquet keeps text ids that look like integers text.
    overwrite
        Whether a file of that name may be replaced.
    """
    target = Path(path)
    suffixes = [suffix for suffix in target.suffixes[-2:] if suffix in (*SEPARATORS, ".parquet", *COMPRESS)]
    kind = suffixes[0] if suffixes else ""
    if kind not in (*SEPARATORS, ".parquet") or (kind == ".parquet" and len(suffixes) > 1):
        raise ParameterError(
            f"cannot tell a format from '{path}'; end it with .csv, .tsv or .parquet (.csv.gz, .csv.zst)."
        )
    check_writable(target, overwrite=overwrite)
    if kind == ".parquet":
        write_with(target, lambda file: _write_parquet(export, file), overwrite=overwrite)
    else:
        compress = COMPRESS[suffixes[1] if len(suffixes) > 1 else ""]
        write_with(target, lambda file: compress(file, lambda out: _write_text(export, out, kind)), overwrite=overwrite)


def _write_parquet(export: Export, file: IO[bytes]) -> None:
    import polars as pl

    pl.concat(list(export)).write_parquet(file)


def _write_text(export: Export, out: IO[bytes], kind: str) -> None:
    for number, frame in enumerate(export):
        text = BytesIO()
        frame.write_csv(
            text, separator=SEPARATORS[kind], include_header=number == 0, quote_style="non_numeric",
            datetime_format="%Y-%m-%d %H:%M:%S%.6f",
        )  # fmt: skip
        out.write(text.getbuffer())
