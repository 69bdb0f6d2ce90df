"""Amazon reviews (McAuley et al.): ratings only, of the 2014, 2018 and 2023 releases."""

from __future__ import annotations

import re
from pathlib import Path

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.reading.stream import Stream
from fullrank.data.sources.catalogue import described
from fullrank.data.sources.files import Files, Folder
from fullrank.data.sources.source import Dataset, Download, Source
from fullrank.errors import DataError, check

LICENCE = "none is stated; research use, cite the release's paper"
MCAULEY = "https://mcauleylab.ucsd.edu/public_datasets/data/"

AMAZON_2014 = Dataset(
    "amazon-2014", "Amazon reviews 2014", "https://cseweb.ucsd.edu/~jmcauley/datasets/amazon/links.html", LICENCE,
    marks=(("ratings_*.csv",),), downloads=(
        Download("http://snap.stanford.edu/data/amazon/productGraph/categoryFiles/ratings_{category}.csv"),),
)  # fmt: skip
AMAZON_2018 = Dataset(
    "amazon-2018", "Amazon reviews 2018", "https://nijianmo.github.io/amazon/index.html", LICENCE,
    downloads=(Download(MCAULEY + "amazon_v2/categoryFilesSmall/{category}.csv", limit=16 << 30),),
)  # fmt: skip
AMAZON_2023 = Dataset(
    "amazon-2023", "Amazon reviews 2023", "https://amazon-reviews-2023.github.io", LICENCE,
    downloads=(Download(MCAULEY + "amazon_2023/benchmark/0core/rating_only/{category}.csv.gz"),),
)  # fmt: skip

ASIN = re.compile(r"B[0-9A-Z]{9}|[0-9]{9}[0-9X]")  # an item; users' ids begin with A


def amazon_2014(folder: Folder = None, *, category: str | None = None) -> Source[Interactions]:
    """Ratings 1..5 with times of one category: `ratings_Video_Games.csv`, lines of user, item, rating, time.

    `category` may be left out where the folder has one file. Licence: none is stated; research use.
    """
    return _amazon(AMAZON_2014, folder, category)


def amazon_2018(folder: Folder = None, *, category: str | None = None) -> Source[Interactions]:
    """Ratings 1..5 with times of one category: `Video_Games.csv`, lines of item, user, rating, time.

    `category` may be left out where the folder has one file. Licence: none is stated; research use.
    """
    return _amazon(AMAZON_2018, folder, category)


def amazon_2023(folder: Folder = None, *, category: str | None = None) -> Source[Interactions]:
    """Ratings 1..5 with times of one category: `Video_Games.csv` with a header; an item is a parent_asin.

    `category` may be left out where the folder has one file. Licence: none is stated; research use.
    """
    return _amazon(AMAZON_2023, folder, category)


def _amazon(dataset: Dataset, folder: Folder, category: str | None) -> Source[Interactions]:
    path = _file(Files(dataset, folder), category)
    first, second, header = _first_cells(path)
    name = f"{dataset.title}, {path.name.removeprefix('ratings_').split('.')[0].replace('_', ' ')}"
    if header:
        data = read(path, separator=",", header=True, time_unit="ms", scale=(1, 5))
        return described(dataset, data, None, name=name)
    swapped = bool(ASIN.fullmatch(first)) and not ASIN.fullmatch(second)
    columns = {"user": int(swapped), "item": int(not swapped), "value": 2, "time": 3}
    data = read(path, columns, separator=",", header=False, scale=(1, 5))
    return described(dataset, data, None, name=name)


def _file(files: Files, category: str | None) -> Path:
    if category is not None:
        check("category", category, re.fullmatch(r"\w+", category) is not None, "a name such as 'Video_Games'")
        return files.file(f"ratings_{category}.csv", f"{category}.csv")
    paths = files.all("ratings_*.csv") or files.all("*.csv")
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths[:5])
        raise DataError(f"{files.folder}: several categories ({names}); choose one with category='...'.")
    return paths[0] if paths else files.missing("ratings_CATEGORY.csv", "CATEGORY.csv")


def _first_cells(path: Path) -> tuple[str, str, bool]:
    """The first two cells, which tell the order of the columns, and whether they are a header."""
    with Stream(path) as stream:
        line = stream.read(4096).split(b"\n")[0].decode("utf-8", errors="replace").strip()
    cells = [*line.split(","), "", ""]
    return cells[0], cells[1], "rating" in cells
