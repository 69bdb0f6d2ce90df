"""Last.fm 2K (HetRec 2011; Cantador, Brusilovsky and Kuflik)."""

from __future__ import annotations

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.sources.catalogue import Catalogue, as_ids, described
from fullrank.data.sources.files import Files, Folder, table
from fullrank.data.sources.source import Dataset, Download, Source

LASTFM_2K = Dataset(
    name="lastfm-2k",
    title="Last.fm 2K (HetRec 2011)",
    page="https://grouplens.org/datasets/hetrec-2011/",
    licence="non-commercial use; cite HetRec 2011",
    marks=(("user_artists.dat",),),
    downloads=(
        Download(
            "https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-2k.zip",
            "sha256:6738f48195667ff03caaab4d32ca9a3133d8cc026b7c3cdaf6ce1010e913c59c",
            16 << 20,
        ),
    ),
    folders=("hetrec2011-lastfm-2k",),
    rows=92_834,
    users=1_892,
    items=17_632,
)


def lastfm_2k(folder: Folder = None) -> Source[Interactions]:
    """92,834 play counts (implicit, no times) of 1,892 users for 17,632 artists, whose names are the titles.

    Licence: non-commercial use; cite HetRec 2011.
    """
    files = Files(LASTFM_2K, folder)
    columns = {"user": "userID", "item": "artistID", "value": "weight"}
    data = read(files.file("user_artists.dat"), columns, separator="\t", header=True, feedback="implicit")
    artists = files.find("artists.dat")
    if artists is None:
        return described(LASTFM_2K, data, None)
    frame = table(artists, ["id", "name"], "\t", header=True)
    return described(LASTFM_2K, data, Catalogue(as_ids(frame["id"].to_list()), frame["name"].to_list()))
