"""Data sets of the papers in miniature: the files of each, with made-up content."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

USERS, ITEMS = 60, 120


def write_tiny_data(folder: Path) -> Path:
    """A folder with everything that the tables and figures need."""
    rng = np.random.default_rng(7)
    liked = rng.normal(3, 1, ITEMS)
    rows = [
        (user, item + 1, int(np.clip(round(liked[item] + rng.normal()), 1, 5)))
        for user in range(1, USERS + 1)
        for item in rng.choice(ITEMS, 20, replace=False).tolist()
    ]
    days = np.repeat(rng.integers(0, 280, len(rows) // 5), 5)  # five ratings in a row are given within seconds
    times = 957_139_200 + 86_400 * days + np.arange(len(rows))
    _movielens(folder, rows, times.tolist())
    _purchases(folder / "ta-feng", rng)
    _lines(folder / "lastfm-2k" / "user_artists.dat", ["userID\tartistID\tweight", *_played(rng)])
    _lines(folder / "amazon-video-games-seq" / "Video.txt", _sequence(rng))
    _lines(folder / "sushi" / "00014-00000002.soi", _orders(rng))
    return folder


def write_tiny_netflix(folder: Path) -> Path:
    """The Netflix Prize data in the form of its own files, some of it listed as the probe set."""
    rng = np.random.default_rng(5)
    ratings, probe = [], []
    for movie in range(1, 31):
        users = rng.choice(60, 25, replace=False) + 1
        rated = [f"{user},{rng.integers(1, 6)},2005-0{rng.integers(1, 10)}-01" for user in users]
        ratings += [f"{movie}:", *rated]
        probe += [f"{movie}:", *map(str, users[:5])]
    _lines(folder / "netflix" / "combined_data_1.txt", ratings)
    _lines(folder / "netflix" / "probe.txt", probe)
    _lines(folder / "netflix" / "movie_titles.txt", (f"{movie},2000,Film {movie}" for movie in range(1, 31)))
    return folder


def _movielens(folder: Path, rows: list[tuple[int, int, int]], times: list[int]) -> None:
    """MovieLens 100K and 1M of the same ratings; for 1M also the last rating of everybody, as NCF numbers them."""
    _lines(folder / "ml-100k" / "u.data", (f"{u}\t{i}\t{r}\t{t}" for (u, i, r), t in zip(rows, times, strict=True)))
    one = folder / "ml-1m"
    _lines(one / "ratings.dat", (f"{u}::{i}::{r}::{t}" for (u, i, r), t in zip(rows, times, strict=True)))
    _lines(one / "users.dat", (f"{u}::F::25::6::11413" for u in range(1, USERS + 1)))
    _lines(one / "movies.dat", (f"{i}::Film {i} (2000)::Drama" for i in range(1, ITEMS + 1)))
    number = {item: place for place, item in enumerate(dict.fromkeys(i for _, i, _ in rows))}
    last = {}
    for (u, i, r), t in zip(rows, times, strict=True):
        if u not in last or t > last[u][3]:
            last[u] = (u - 1, number[i], r, t)
    _lines(one / "ml-1m.test.rating", ("\t".join(map(str, row)) for _, row in sorted(last.items())))


def _purchases(folder: Path, rng: np.random.Generator) -> None:
    lines = ['"TRANSACTION_DT","CUSTOMER_ID","PRODUCT_ID","AMOUNT"']
    start = np.datetime64("2000-12-01")
    for day in range(89):
        date = (start + day).astype(object)
        for _ in range(12):
            lines.append(f'"{date.month}/{date.day}/{date.year}","{rng.integers(30)}","{rng.integers(50)}","1"')
    _lines(folder / "ta_feng_all_months_merged.csv", lines)


def _played(rng: np.random.Generator) -> Iterable[str]:
    return (f"{u}\t{i}\t{rng.integers(1, 9)}" for u in range(40) for i in rng.choice(30, 14, replace=False))


def _sequence(rng: np.random.Generator) -> Iterable[str]:
    return (f"{u} {i}" for u in range(1, 41) for i in rng.choice(30, 12, replace=False) + 1)


def _orders(rng: np.random.Generator) -> list[str]:
    head = ["# NUMBER ALTERNATIVES: 20", "# NUMBER VOTERS: 30", "# NUMBER UNIQUE ORDERS: 30"]
    names = [f"# ALTERNATIVE NAME {i}: kind {i}" for i in range(1, 21)]
    orders = [f"1: {','.join(map(str, rng.choice(20, 10, replace=False) + 1))}" for _ in range(30)]
    return [*head, *names, *orders]


def _lines(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
