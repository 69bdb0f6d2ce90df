"""Amazon Video Games, 5-core (McAuley et al. 2014), as SASRec reads it: who reviewed what, in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.interactions import Interactions, canonical
from fullrank.data.reading.fields import Field
from fullrank.data.reading.table import read_table
from fullrank.data.sources.catalogue import described
from fullrank.data.sources.files import Files, Folder
from fullrank.data.sources.source import Dataset, Download, Source

VIDEO_GAMES_SEQ = Dataset(
    name="amazon-video-games-seq",
    title="Amazon Video Games 5-core, order only",
    page="https://github.com/kang205/SASRec",
    licence="none came with it; treat it as research only",
    marks=(("Video.txt",),),
    downloads=(Download("https://raw.githubusercontent.com/kang205/SASRec/master/data/Video.txt", limit=16 << 20),),
    rows=287_107,
    users=31_013,
    items=23_715,
)

ORDER = "times are places in a user's own order, as seconds after 1970: they mean nothing else"


def amazon_video_games_seq(folder: Folder = None) -> Source[Interactions]:
    """287,107 reviews (no ratings) of 31,013 users for 23,715 items, in each user's order.

    Times are places in that order, so that `leave_last` works; between users they mean nothing.
    Licence: none came with it; treat it as research only.
    """
    path = Files(VIDEO_GAMES_SEQ, folder).file("Video.txt")
    table = read_table(path, [Field("user", "id", 0), Field("item", "id", 1)], separator=" ", header=False)
    places = (_places(table.columns["user"]) * 1_000_000).view("datetime64[us]")
    data = canonical({**table.columns, "time": places}, table.ids["user"], table.ids["item"], "last", table.intake)
    return described(VIDEO_GAMES_SEQ, data, None, notes=(ORDER,))


def _places(codes: NDArray[Any]) -> NDArray[np.int64]:
    """For every row how many rows of the same code stand before it."""
    order = np.argsort(codes, kind="stable")
    together = codes[order]
    places = np.empty(len(codes), dtype=np.int64)
    places[order] = np.arange(len(codes)) - np.searchsorted(together, together)
    return places
