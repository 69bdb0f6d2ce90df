"""Public data sets: read from a folder, found by name, fetched only when asked.

>>> source = load("ml-1m", catalogue=True)                           # doctest: +SKIP
>>> source.data, source.title(0)                                     # doctest: +SKIP
(Interactions(1,000,209 rows, 6,040 users, 3,883 items, ...), 'Toy Story (1995)')
"""

from fullrank.data.sources.amazon import amazon_2014, amazon_2018, amazon_2023
from fullrank.data.sources.amazon_seq import amazon_video_games_seq
from fullrank.data.sources.coat import coat
from fullrank.data.sources.known import download, load, names, options_of
from fullrank.data.sources.kuairec import kuairec, kuairec_partial
from fullrank.data.sources.lastfm import lastfm_2k
from fullrank.data.sources.million_song import million_song
from fullrank.data.sources.movielens_1m import movielens_1m
from fullrank.data.sources.movielens_10m import movielens_10m
from fullrank.data.sources.movielens_100k import movielens_100k
from fullrank.data.sources.movielens_csv import (
    movielens_20m,
    movielens_25m,
    movielens_32m,
    movielens_latest,
    movielens_latest_small,
)
from fullrank.data.sources.ncf import ncf
from fullrank.data.sources.netflix import netflix, netflix_probe
from fullrank.data.sources.preflib import preflib, sushi
from fullrank.data.sources.source import Dataset, Download, Downloaded, Source
from fullrank.data.sources.ta_feng import ta_feng

__all__ = [
    "Dataset",
    "Download",
    "Downloaded",
    "Source",
    "amazon_2014",
    "amazon_2018",
    "amazon_2023",
    "amazon_video_games_seq",
    "coat",
    "download",
    "kuairec",
    "kuairec_partial",
    "lastfm_2k",
    "load",
    "million_song",
    "movielens_1m",
    "movielens_10m",
    "movielens_20m",
    "movielens_25m",
    "movielens_32m",
    "movielens_100k",
    "movielens_latest",
    "movielens_latest_small",
    "names",
    "ncf",
    "netflix",
    "netflix_probe",
    "options_of",
    "preflib",
    "sushi",
    "ta_feng",
]
