"""The data sets by name, and how they are found, read and fetched."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fullrank.data.sources.amazon import (
    AMAZON_2014,
    AMAZON_2018,
    AMAZON_2023,
    amazon_2014,
    amazon_2018,
    amazon_2023,
)
from fullrank.data.sources.amazon_seq import VIDEO_GAMES_SEQ, amazon_video_games_seq
from fullrank.data.sources.coat import COAT, coat
from fullrank.data.sources.files import is_marked
from fullrank.data.sources.kuairec import KUAIREC, KUAIREC_PARTIAL, kuairec, kuairec_partial
from fullrank.data.sources.lastfm import LASTFM_2K, lastfm_2k
from fullrank.data.sources.million_song import MILLION_SONG, million_song
from fullrank.data.sources.movielens_1m import ML_1M, movielens_1m
from fullrank.data.sources.movielens_10m import ML_10M, movielens_10m
from fullrank.data.sources.movielens_100k import ML_100K, movielens_100k
from fullrank.data.sources.movielens_csv import (
    ML_20M,
    ML_25M,
    ML_32M,
    ML_LATEST,
    ML_LATEST_SMALL,
    movielens_20m,
    movielens_25m,
    movielens_32m,
    movielens_latest,
    movielens_latest_small,
)
from fullrank.data.sources.ncf import NCF, ncf
from fullrank.data.sources.netflix import NETFLIX, NETFLIX_PROBE, netflix, netflix_probe
from fullrank.data.sources.preflib import SUSHI, sushi
from fullrank.data.sources.source import Dataset, Downloaded, Progress, Source
from fullrank.data.sources.ta_feng import TA_FENG, ta_feng
from fullrank.errors import NoInputError, ParameterError, did_you_mean


class Known(NamedTuple):
    """A data set and the function that reads its folder."""

    dataset: Dataset
    read: Callable[..., Source[Any]]


KNOWN: dict[str, Known] = {
    known.dataset.name: known
    for known in (
        Known(ML_100K, movielens_100k),
        Known(ML_1M, movielens_1m),
        Known(ML_10M, movielens_10m),
        Known(ML_20M, movielens_20m),
        Known(ML_25M, movielens_25m),
        Known(ML_32M, movielens_32m),
        Known(ML_LATEST, movielens_latest),
        Known(ML_LATEST_SMALL, movielens_latest_small),
        Known(NCF, ncf),
        Known(NETFLIX, netflix),
        Known(NETFLIX_PROBE, netflix_probe),
        Known(AMAZON_2014, amazon_2014),
        Known(AMAZON_2018, amazon_2018),
        Known(AMAZON_2023, amazon_2023),
        Known(VIDEO_GAMES_SEQ, amazon_video_games_seq),
        Known(COAT, coat),
        Known(LASTFM_2K, lastfm_2k),
        Known(MILLION_SONG, million_song),
        Known(SUSHI, sushi),
        Known(KUAIREC, kuairec),
        Known(KUAIREC_PARTIAL, kuairec_partial),
        Known(TA_FENG, ta_feng),
    )
}


def names() -> list[str]:
    """The names that `load` and `download` know.

    >>> names()[:3]
    ['ml-100k', 'ml-1m', 'ml-10m']
    """
    return list(KNOWN)


def load(source: str | os.PathLike[str], **options: Any) -> Source[Any]:
    """A data set by its name, or from a folder whose name or files tell which it is.

    A name is looked for in $FULLRANK_DATA and in ~/.cache/fullrank; nothing is fetched. Options are those of
    the data set's own function: load("ml-1m", catalogue=True) is movielens_1m(catalogue=True).
    """
    if isinstance(source, str) and source in KNOWN:
        return _read(KNOWN[source], None, options)
    folder = Path(source)
    if folder.is_dir():
        return _read(_recognise(folder), folder, options)
    if folder.exists():
        raise NoInputError(f"{folder}: is a file; read it with fullrank.read, or pass the folder of a data set.")
    raise NoInputError(f"{folder}: neither a folder nor the name of a data set. {did_you_mean(str(source), names())}")


def download(
    name: str,
    to: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
    **parts: str,
) -> Downloaded:
    """Fetch a data set from its public address into the folder `to`/`name`, and say whether it was verified.

    Without `to` it goes where `load` finds it: $FULLRANK_DATA, or ~/.cache/fullrank. The folder appears
    whole or not at all. `progress` is called with the bytes so far and in all. Amazon's need a category:
    download("amazon-2014", "data", category="Video_Games"). Mind the licence, which comes back with it.
    """
    if name not in KNOWN:
        raise NoInputError(f"{name}: not the name of a data set. {did_you_mean(name, names())}")
    from fullrank.data.sources import fetch

    return fetch.download(KNOWN[name].dataset, to, overwrite=overwrite, progress=progress, parts=parts)


def options_of(source: str | os.PathLike[str]) -> list[str]:
    """The options that `load` takes for this data set, given by name or folder.

    >>> options_of("ta-feng")
    ['duplicates', 'events']
    """
    known = KNOWN[source] if isinstance(source, str) and source in KNOWN else _recognise(Path(source))
    return _options(known)


def _options(known: Known) -> list[str]:
    return [name for name in inspect.signature(known.read).parameters if name != "folder"]


def _read(known: Known, folder: Path | None, options: dict[str, Any]) -> Source[Any]:
    accepted = _options(known)
    for option in options:
        if option not in accepted:
            hint = did_you_mean(option, accepted) if accepted else "It has none."
            raise ParameterError(f"The data set '{known.dataset.name}' has no option '{option}'. {hint}")
    return known.read(folder, **options)


def _recognise(folder: Path) -> Known:
    named = KNOWN.get(folder.resolve().name)
    marked = [known for known in KNOWN.values() if is_marked(folder, known.dataset)]
    if named is not None and (named in marked or not marked or not named.dataset.marks):
        return named
    if marked:
        return marked[0]
    content = sorted(os.listdir(folder))[:5]
    raise NoInputError(
        f"{folder}: not the folder of a data set known here; it holds {', '.join(content) or 'nothing'}. "
        f"Known: {', '.join(names())}. Read a single file with fullrank.read."
    )
