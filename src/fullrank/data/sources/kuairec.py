"""KuaiRec (Gao et al. 2022): how much of a short video people watched; a nearly full matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from fullrank.data.canonical import Duplicates
from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.sources.catalogue import Catalogue, as_ids, described
from fullrank.data.sources.files import Files, Folder, table
from fullrank.data.sources.source import Dataset, Download, Source
from fullrank.errors import check

Matrix: TypeAlias = Literal["big", "small"]

KUAIREC = Dataset(
    name="kuairec",
    title="KuaiRec",
    page="https://kuairec.com",
    licence="CC BY-SA 4.0",
    marks=(("big_matrix.csv",), ("small_matrix.csv",)),
    downloads=(
        Download("https://zenodo.org/records/18164998/files/KuaiRec.zip", "md5:261550d472c48eff4990fb13c0e5bcf7"),
    ),
)
KUAIREC_PARTIAL = Dataset(
    name="kuairec-partial",
    title="KuaiRec, a part of the small matrix",
    page="https://kuairec.com",
    licence="CC BY-SA 4.0",
    marks=(("random.txt",),),
    rows=117_113,
    users=1_411,
    items=2_519,
)
PUBLISHED = {"big": (12_530_806, 7_176, 10_728), "small": (4_676_570, 1_411, 3_327)}


def kuairec(folder: Folder = None, *, matrix: Matrix = "big", times: bool | None = None) -> Source[Interactions]:
    """Watch ratios (played / duration, 0 and more): the big matrix, or the small one that is nearly full.

    Big: 12,530,806 rows of 7,176 users on 10,728 videos, some of them several for one pair, of which the
    last counts. Small: 4,676,570 rows, 1,411 users, 3,327 videos; rows shown only to fill the matrix have
    no time, so times are read of the big one alone unless `times` says otherwise (counts as published).
    Genres are the numbers of KuaiRec's tags. Licence: CC BY-SA 4.0.
    """
    check("matrix", matrix, matrix in PUBLISHED, "'big' or 'small'")
    rows, users, items = PUBLISHED[matrix]
    dataset = replace(KUAIREC, title=f"KuaiRec, {matrix} matrix", rows=rows, users=users, items=items)
    files = Files(dataset, folder)
    columns: dict[str, str | int] = {"user": "user_id", "item": "video_id", "value": "watch_ratio"}
    if times if times is not None else matrix == "big":
        columns["time"] = "timestamp"
    duplicates: Duplicates = "last" if "time" in columns else "max"
    data = read(files.file(f"{matrix}_matrix.csv"), columns, separator=",", header=True, duplicates=duplicates)
    tags = files.find("item_categories.csv")
    return described(dataset, data, None if tags is None else _tags(tags))


def kuairec_partial(folder: Folder = None) -> Source[Interactions]:
    """117,113 cells of the small matrix, 1,411 users with 83 videos each, 2,519 videos; no times.

    Somebody drew them without saying how, so they are no random sample to rely on. Licence: CC BY-SA 4.0.
    """
    columns = {"user": 0, "item": 1, "value": 2}
    data = read(Files(KUAIREC_PARTIAL, folder).file("random.txt"), columns, separator=",", header=False)
    return described(KUAIREC_PARTIAL, data, None, notes=("how these cells were drawn is not known",))


def _tags(path: Path) -> Catalogue:
    """Lines of video and its tags, such as 1,"[27, 9]"."""
    import polars as pl

    frame = table(path, ["video_id", "feat"], ",", header=True, quote='"')
    tags = frame.select(pl.col("feat").str.extract_all(r"\d+"))["feat"].to_list()
    return Catalogue(as_ids(frame["video_id"].to_list()), genres=[tuple(row) for row in tags])
