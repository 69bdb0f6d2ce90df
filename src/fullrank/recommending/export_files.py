"""The files of an export: vectors, tables and ids, written some rows at a time, each whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from fullrank.arrays import Array, Floats, row_blocks
from fullrank.data.ids import Ids
from fullrank.errors import ParameterError
from fullrank.runtime.atomic import check_writable, write_bytes, write_with
from fullrank.runtime.output import as_json

Blocks: TypeAlias = Callable[[], Iterator[Floats]]  # rows of vectors, some at a time
Tables: TypeAlias = Callable[[], Iterator[dict[str, Array]]]  # columns, some rows at a time

MANIFEST = "manifest.json"
IDS = 1 << 16  # written at a time


class File(NamedTuple):
    """A file that can be written: its name, what the manifest says of it, and how."""

    name: str
    shape: dict[str, Any]
    write: Callable[[IO[bytes]], object]


class Content(NamedTuple):
    """What another system can use: what the manifest says of it, the files, and how they are used."""

    about: dict[str, Any]
    files: list[File]
    how: list[str]


def write_files(folder: Path, files: Sequence[File], manifest: dict[str, Any], *, overwrite: bool) -> None:
    """All files, and the manifest last; an old manifest goes first, so that none stands beside files of another."""
    for name in (*(file.name for file in files), MANIFEST):
        check_writable(folder / name, overwrite=overwrite)
    (folder / MANIFEST).unlink(missing_ok=True)
    for file in files:
        write_with(folder / file.name, file.write, overwrite=overwrite)
    write_bytes(folder / MANIFEST, as_json(manifest), overwrite=overwrite)


def vector_files(name: str, ids: Ids, width: int, blocks: Blocks, *, parquet: bool) -> list[File]:
    """Vectors with their ids: in one table, or as an array and a file of ids."""
    if not parquet:
        return [_array_file(f"{name}.npy", (len(ids), width), blocks), _ids_file(f"{name}.jsonl", ids)]
    import polars as pl

    def frames() -> Iterator[pl.DataFrame]:
        done = 0
        for block in blocks():
            vectors = pl.Series(block, dtype=pl.Array(pl.Float32, width)).cast(pl.List(pl.Float32))
            yield pl.DataFrame({"id": _names(ids.names[done : done + len(block)]), "vector": vectors})
            done += len(block)

    schema = {"id": _type(ids), "vector": pl.List(pl.Float32)}
    shape = {"rows": len(ids), "columns": ["id", "vector"], "width": width}
    return [File(f"{name}.parquet", shape, lambda file: _sink(frames, schema, file))]


def table_file(name: str, ids: Ids, blocks: Tables, columns: Sequence[str], number: str) -> File:
    """A table of ids, and one number in every row."""
    import polars as pl

    def frames() -> Iterator[pl.DataFrame]:
        for block in blocks():
            yield pl.DataFrame({column: _names(block[column]) for column in columns} | {number: block[number]})

    schema = dict.fromkeys(columns, _type(ids)) | {number: pl.Float32}
    return File(name, {"columns": [*columns, number]}, lambda file: _sink(frames, schema, file))


def index_file(name: str, shape: tuple[int, int], blocks: Blocks) -> File:
    """A flat index of inner products, exact, as faiss reads it."""

    def write(file: IO[bytes]) -> None:
        faiss = find_faiss()
        index = faiss.IndexFlatIP(shape[1])
        for block in blocks():
            index.add(np.ascontiguousarray(block))
        faiss.write_index(index, faiss.PyCallbackIOWriter(file.write))

    return File(name, {"rows": shape[0], "width": shape[1]}, write)


def find_faiss() -> Any:
    """The library, or a sentence that says how to get it."""
    try:
        import faiss
    except ImportError:
        raise ParameterError("an index needs faiss: pip install 'fullrank[faiss]', or use format='numpy'.") from None
    return faiss


def _array_file(name: str, shape: tuple[int, int], blocks: Blocks) -> File:
    """An array as NumPy reads it, float32."""

    def write(file: IO[bytes]) -> None:
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks():
            file.write(np.ascontiguousarray(block, dtype="<f4").data)

    return File(name, {"rows": shape[0], "width": shape[1]}, write)


def _ids_file(name: str, ids: Ids) -> File:
    """An id in every line, as JSON: strings in quotes, integers in full."""

    def write(file: IO[bytes]) -> None:
        for some in row_blocks(len(ids), IDS):
            lines = (json.dumps(one, ensure_ascii=False) for one in ids.names[some].tolist())
            file.write("".join(f"{line}\n" for line in lines).encode())

    return File(name, {"rows": len(ids)}, write)


def _sink(frames: Callable[[], Iterator[Any]], schema: dict[str, Any], file: IO[bytes]) -> None:
    """Frames one after the other into one parquet file, none of them kept."""
    from polars.io.plugins import register_io_source

    register_io_source(lambda *_: frames(), schema=schema).sink_parquet(file)


def _names(names: Array) -> Any:
    import polars as pl

    column = names.tolist()
    return pl.Series(column, dtype=pl.String if names.dtype.kind == "T" else pl.Int64)


def _type(ids: Ids) -> Any:
    import polars as pl

    return pl.String if ids.are_strings else pl.Int64
