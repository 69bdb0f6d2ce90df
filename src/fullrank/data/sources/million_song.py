"""Million Song Dataset: the Echo Nest taste profile (Bertin-Mahieux et al. 2011)."""

from __future__ import annotations

from pathlib import Path

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.sources.catalogue import Catalogue, described
from fullrank.data.sources.files import Files, Folder, table
from fullrank.data.sources.source import Dataset, Download, Source

MILLION_SONG = Dataset(
    name="million-song",
    title="Million Song taste profile",
    page="http://millionsongdataset.com/tasteprofile/",
    licence="research only, no commercial use; cite Bertin-Mahieux et al. 2011",
    marks=(("train_triplets.txt",),),
    downloads=(Download("http://millionsongdataset.com/sites/default/files/challenge/train_triplets.txt.zip"),),
    folders=("msd",),
    rows=48_373_586,
    users=1_019_318,
    items=384_546,
)


def million_song(folder: Folder = None) -> Source[Interactions]:
    """48,373,586 play counts (implicit, no times) of 1,019,318 users for 384,546 songs (counts as published).

    Titles ("artist: song") where `unique_tracks.txt` of the same project is in the folder.
    Licence: research only, no commercial use; cite Bertin-Mahieux et al. 2011.
    """
    files = Files(MILLION_SONG, folder)
    columns = {"user": 0, "item": 1, "value": 2}
    data = read(files.file("train_triplets.txt"), columns, separator="\t", header=False, feedback="implicit")
    tracks = files.find("unique_tracks.txt")
    return described(MILLION_SONG, data, None if tracks is None else _songs(tracks))


def _songs(path: Path) -> Catalogue:
    frame = table(path, ["track", "song", "artist", "title"], "<SEP>")
    titles = [f"{artist}: {title}" for artist, title in frame.select("artist", "title").iter_rows()]
    return Catalogue(frame["song"].to_list(), titles)
