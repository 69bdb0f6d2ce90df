"""One epoch of stochastic descent beside buffalo, implicit, cornac, LightFM and Surprise; one thread beside two.

ML-1M, every rating a positive (SVD++: the ratings), 64 factors, two threads for everybody but Surprise, which has one.
An epoch is timed without set-up, from parameters trained for some epochs: the draws of an update grow with training.
Everybody goes as often for a sample as there are positives, but not every sample ends with an update: `ratio` is of
epochs, `per_update_ratio` of the time an update takes that is really made. What a peer does in an epoch, and how that
is told apart from the rest of a fit, is at the top of its script.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import fullrank
from benchmarks.peers import Peer, Worker
from benchmarks.ranking_data import pattern
from benchmarks.stochastic_turns import FACTORS, Ours, draws_of, less, ours_of, sharing_nothing, ways_of
from benchmarks.training_data import movielens, write
from benchmarks.training_turns import THREADS, Row, against, started, taking_turns
from benchmarks.turns import Times, fastest, ratios

BPR, ADG, SVDPP, SPEED_UP = 1.0, 0.4, 0.2, 0.625  # of a peer's time, of the time with one thread
SECONDS = 15.0  # of turns
SMALL = "ml-100k"  # for more rounds of Surprise's; too few users for two threads to matter
SAMPLERS = (
    Peer("buffalo", "2.0.6", "epoch_buffalo.py", tuple({"batch_size": size} for size in (10_000, 30_000))),
    Peer("implicit", "0.7.3", "epoch_implicit.py"),
    Peer("cornac", "3.0.1", "epoch_cornac.py"),
)
LIGHTFM = Peer("lightfm-next", "1.19.0", "epoch_lightfm.py")
SURPRISE = Peer("scikit-surprise", "1.1.5", "epoch_surprise.py")
HOW = {
    "buffalo": "draws a negative until it is unseen; some epochs are queued at once",
    "implicit": "negatives by popularity; skips a sample whose negative is seen",
    "cornac": "negatives uniformly; skips a sample whose negative is seen",
    "lightfm-next": "WARP: every positive, at most 10 draws; ours: MF-ADG, any user, at most (items - 1) / 100 draws",
    "scikit-surprise": "one thread, double precision, each rating moves the vectors of all items of its user; "
    "ours moves their sum and tells it to the vectors once",
}

Rivals = Mapping[Peer, Worker | str]


def run() -> list[Row]:
    data, source = movielens()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        path = write(folder / "ml-1m.npz", data)
        samplers, lightfm = ({peer: started(peer, folder, stack) for peer in some} for some in (SAMPLERS, [LIGHTFM]))
        surprise = started(SURPRISE, folder, stack)
        rows = beside(ours_of("BPR", data), path, samplers, BPR)
        rows += adg(data, path, lightfm)
        rows += [row for setting in ratings() for row in svdpp(*setting, folder, surprise)]
        rows += beside(ours_of("GaussianRank", data), path, {}, 0)
    fullrank.threads(THREADS)
    return [{**row, "data": row.get("data", source)} for row in rows]


def beside(ours: Ours, path: Path, rivals: Rivals, target: float, made: float = 1.0) -> list[Row]:
    """Ours over every peer's, and with two threads over one, all from the same turns; ours makes so many updates."""
    ways = {peer: ways_of(worker, path) for peer, worker in rivals.items() if isinstance(worker, Worker)}
    theirs = {way: once for found in ways.values() for way, once in found.items()}
    times, others = taking_turns({**ours.epochs, **theirs, **sharing_nothing()}, SECONDS)
    rows = []
    for peer, worker in rivals.items():
        row: Row = {"measure": f"{ours.name} / {peer}"}
        why = worker if isinstance(worker, str) else worker.failure
        if why or isinstance(worker, str):
            rows.append({**row, "not measured": why})
            continue
        way, found = fastest(times, ways[peer]), worker.answer["metrics"]
        row |= against(times[str(THREADS)], times[way], f"<= {target:g}", others)
        row |= {"per_update_ratio": row["ratio"] * found["updates"] / made}
        row |= {"updates_over_positives": made, "other_updates_over_positives": found["updates"]}
        row |= {"other_draws": found["draws"]} if "draws" in found else {}
        rows.append({**row, "how": f"{way}: {HOW[peer.name]}"})
    return [{"setting": _setting("ml-1m", ours), **row} for row in [*rows, speed_up(ours, times, others)]]


def _setting(source: str, ours: Ours) -> str:
    return f"{source}, {FACTORS} factors, one epoch of {ours.name}"


def speed_up(ours: Ours, times: Mapping[str, Times], others: float) -> Row:
    """Two threads over one; what the machine gives threads that share nothing is told beside."""
    row = {"measure": f"{ours.name}, {THREADS} threads / 1"}
    row |= against(times[str(THREADS)], times["1"], f"<= {SPEED_UP:g}", others)
    return {**row, "sharing_nothing": ratios(times["together"], times["alone"])["ratio"]}


def adg(data: fullrank.Interactions, path: Path, rivals: Rivals) -> list[Row]:
    """MF-ADG over WARP, with the microseconds and the draws of a sample, whether or not it ends with an update."""
    ours = ours_of("MFADG", data)
    found = draws_of(ours)
    both = {"microseconds": "seconds", "other_microseconds": "other_seconds"}
    return [
        {**row, **{new: row[old] * 1e6 / len(data) for new, old in both.items() if old in row}, "draws": found["draws"]}
        for row in beside(ours, path, rivals, ADG, found["updates"])
    ]


def ratings() -> Iterable[tuple[str, fullrank.Interactions, int]]:
    """The ratings of two data sets, and the rounds there is time for: Surprise takes a minute for ML-1M."""
    for name, rounds in ((SMALL, 3), ("ml-1m", 2)):
        try:
            data = fullrank.sources.load(name).data
        except fullrank.FullrankError:
            if name == SMALL:
                continue
            data, name = pattern()  # noqa: PLW2901 (it says where they are from)
            data = replace(data, value=np.random.default_rng(0).integers(1, 6, len(data)).astype(np.float32))
        yield name, replace(data, time=None), rounds


def svdpp(source: str, data: fullrank.Interactions, rounds: int, folder: Path, worker: Worker | str) -> list[Row]:
    """Ours with two threads and with one over Surprise's single one; two over one in turns of their own."""
    ours = ours_of("SVDpp", data)
    rows = [] if source == SMALL else [speed_up(ours, *taking_turns({**ours.epochs, **sharing_nothing()}, SECONDS))]
    if isinstance(worker, Worker):
        path = write(folder / f"ratings-{len(data)}.npz", data)
        fit = partial(worker.seconds, data=str(path), factors=FACTORS)
        theirs = less(partial(fit, epochs=1), partial(fit, epochs=0))
        times, others = taking_turns({**ours.epochs, "theirs": theirs}, 0, rounds)
    for threads in (str(THREADS), "1"):
        why = worker if isinstance(worker, str) else worker.failure
        target = f"<= {SVDPP:g}" if threads == str(THREADS) else ""
        found = {"not measured": why} if why else against(times[threads], times["theirs"], target, others)
        rows.append({"measure": f"SVDpp, threads {threads} / {SURPRISE}", **found, "how": HOW[SURPRISE.name]})
    return [{"setting": _setting(source, ours), **row, "data": source} for row in rows]
