"""Lists that implicit made, in three forms of files, beside the ranking of its own scores."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fullrank
from fullrank import compare, evaluate, judge, rank, read_lists
from fullrank.evaluation.adapters import from_implicit
from fullrank.metrics.table import parse

implicit = pytest.importorskip("implicit", reason="implicit is not installed")
LENGTH = 35
WITHIN = [parse(f"{name}@{k}") for name in ("recall", "ndcg", "ap", "rr", "hit_rate") for k in (1, 10, LENGTH)]
BEYOND = [parse(name) for name in ("rr", "ndcg", "adg", "atop", "auc")]


def fit(train: Any) -> tuple[Any, pl.DataFrame]:
    """A model of implicit, and its lists for everybody."""
    from implicit.als import AlternatingLeastSquares
    from scipy.sparse import csr_matrix

    rows = csr_matrix(train.by_user(), copy=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own, about BLAS threads
        model = AlternatingLeastSquares(factors=16, iterations=2, random_state=0, use_gpu=False)
        model.fit(rows, show_progress=False)
    item, score = model.recommend(np.arange(train.n_users), rows, N=LENGTH, filter_already_liked_items=True)
    user = np.repeat(train.users.names, LENGTH)
    columns = {"user": user, "item": train.items.names[item.ravel()], "score": score.ravel().astype(np.float64)}
    return model, pl.DataFrame(columns)


def write_lists(frame: pl.DataFrame, folder: Path) -> list[Path]:
    """The same lists as parquet, as a TREC run, and as ranx writes a run."""
    paths = [folder / name for name in ("lists.parquet", "lists.run", "lists.json")]
    frame.write_parquet(paths[0])
    rows = list(frame.iter_rows())
    paths[1].write_text("".join(f"{u} Q0 {i} {n % LENGTH + 1} {s!r} als\n" for n, (u, i, s) in enumerate(rows)))
    run: dict[str, dict[str, float]] = {}
    for user, item, score in rows:
        run.setdefault(str(user), {})[str(item)] = score
    paths[2].write_text(json.dumps(run))
    return paths


def check(data: Any, folder: Path) -> None:
    split = fullrank.leave_last(data, 5)
    model, frame = fit(split.train)
    cases = fullrank.cases_of(split, 4)
    exact = evaluate(rank(from_implicit(model, split.train), cases), WITHIN + BEYOND).mean()
    gone = frame["user"][0]  # somebody without a list
    for path in write_lists(frame, folder):
        found = evaluate(rank(read_lists(path), cases), WITHIN + BEYOND)
        assert found.about.irregular == {}
        for metric in map(str, WITHIN):
            assert found.mean()[metric] == pytest.approx(exact[metric], abs=1e-12)
        for metric, (low, high) in found.bounds().items():
            assert low <= exact[metric] <= high
        assert set(found.bounds()) == set(map(str, BEYOND))
    fewer = read_lists(frame.filter(pl.col("user") != gone))
    assert len(evaluate(rank(fewer, cases), WITHIN)) == len(cases)


def test_lists_of_implicit_say_what_its_scores_say(tmp_path: Path) -> None:
    check(fullrank.simulate.ratings(300, 200, seed=5).data, tmp_path)


def test_two_hundred_thousand_lines(tmp_path: Path, shared_data: Path) -> None:
    check(fullrank.sources.movielens_1m(shared_data / "ml-1m").data, tmp_path)


def test_a_model_of_another_library_in_a_comparison(tmp_path: Path) -> None:
    split = fullrank.leave_last(fullrank.simulate.ratings(200, 150, seed=5).data, 5)
    model, frame = fit(split.train)
    given = {"als": from_implicit(model, split.train), "lists": read_lists(frame), "Bestseller": "Bestseller"}
    found = compare(split, given, relevant=4, metrics=["recall@10", "auc"], out=tmp_path / "out")
    means = {one.name: one.metrics["recall@10"].mean for one in found.results.models}
    assert means["als"] == means["lists"]
    again = judge(split.held_out, {"als": given["als"]}, train=split.train, relevant=4, metrics=["recall@10"])
    assert again.results.models[0].metrics["recall@10"].mean == means["als"]
