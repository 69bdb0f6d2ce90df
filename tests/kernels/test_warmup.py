"""Kernels survive a damaged, unwritable or missing cache (FAULTS N6), and homes that are not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PAIRS = """
from fullrank.data.read import read
pairs = read({"user": [1, 1, 1], "item": [1, 2, 3], "value": [5, 3, 3]}).graded().pairs()
print(list(zip(pairs.better.tolist(), pairs.worse.tolist())))
"""


def run(code: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, env=env, check=False)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    assert run(PAIRS, NUMBA_CACHE_DIR=str(tmp_path)).stdout == "[(0, 1), (0, 2)]\n"
    assert list(tmp_path.rglob("*.nbi"))
    return tmp_path


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: bytes(255 - x for x in b)])
def test_damaged_cache_means_compiling_again(cache: Path, damage: object) -> None:
    for file in (*cache.rglob("*.nbi"), *cache.rglob("*.nbc")):
        file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    done = run(PAIRS, NUMBA_CACHE_DIR=str(cache))
    assert done.stdout == "[(0, 1), (0, 2)]\n", done.stderr
    assert run(PAIRS, "-W", "error", NUMBA_CACHE_DIR=str(cache)).stdout == done.stdout  # mended


def test_warmup_compiles_what_is_used() -> None:
    code = """
import numpy as np, fullrank
from fullrank.evaluation.candidates import Sampled
from fullrank.evaluation.rank import rank
from fullrank.evaluation.top import top
from fullrank.kernels import agreement, als, als_cg, als_preferences, arranging, cooccurrence, counting, dual
from fullrank.kernels import expected_level
from fullrank.kernels import newton_logistic, ordered_add, preference_pairs, random, sampled_ranks, topn
from fullrank.kernels import sgd_history, sgd_pairs, sgd_preferences, sgd_ratings, sgd_sessions
from fullrank.kernels.warmup import KERNELS, warmup
from fullrank.metrics.partial_order import pairwise_loss
names = list(warmup())
kernels = [preference_pairs.enumerate_pairs, agreement.count_agreeing, expected_level.expected_worth]
kernels += [als.solve_rows, als_cg.step_rows, newton_logistic.newton_rows]
kernels += [cooccurrence.add_dense, cooccurrence.add_sparse, dual.self_products]
kernels += [cooccurrence.dots_block, cooccurrence.nearest_block, sgd_pairs.deal, sgd_pairs.pair_cell]
kernels += [random.alias_table, ordered_add.add_to_rows, sgd_history.history_gradients, sgd_ratings.descend_users]
kernels += [als_preferences.cost_users, als_preferences.cost_items, als_preferences.cost_matrices]
kernels += [als_preferences.run_sums, sgd_preferences.descend_preferences, sgd_preferences.move_items]
kernels += [sgd_sessions.descend_choices, sgd_sessions.descend_values, sgd_sessions.add_moves]
kernels += [arranging.find_room, arranging.take_best, arranging.take_diverse, arranging.take_calibrated]
assert names == list(KERNELS) and all(len(kernel.signatures) == 1 for kernel in kernels)
kernels += [counting.count_tile, topn.top_tile, dual.sum_people]  # of two types, like those that follow
kernels += [sampled_ranks.sample_block, sampled_ranks.sample_pairs_block]
data = fullrank.read({"user": [1, 1, 1, 2, 2, 2], "item": [1, 2, 3, 1, 2, 3], "value": [1, 2, 3, 3, 2, 1]})
split = fullrank.holdout(data, 0.3, valid=0.3)
for exclude in ("train", None, data):
    rank(np.eye(2, 3), split, exclude=exclude)
    top(np.eye(2, 3), split, 2, exclude=exclude)
    for per in ("case", "pair"):
        rank((np.ones((2, 4)), np.ones((3, 4))), split, Sampled(1, per=per), exclude=exclude)
data.graded().pairs()
pairwise_loss(data.graded(), np.arange(6.0))
recipes = [fullrank.AllRank(solver="exact"), fullrank.AllRank(weight={1: 1, 2: 1, 3: 1})]
recipes += [fullrank.EASE(solver=solver, binary=binary) for solver in ("primal", "dual") for binary in (True, False)]
recipes += [fullrank.AllRankBinary(loss="logistic", relevant=2), fullrank.ItemCF(), fullrank.ItemCF(neighbours=None)]
recipes += [fullrank.BPR(epochs=1, sampler="popularity"), fullrank.MFADG(epochs=1), fullrank.MFAUC(epochs=1)]
recipes += [fullrank.GaussianRank(epochs=1), fullrank.GaussianRank(epochs=1, listwise=True, sampler="popularity")]
recipes += [fullrank.SquaredNegatives(epochs=1), fullrank.RSVD(epochs=1), fullrank.RSVD(epochs=1, by_feature=True)]
recipes += [fullrank.SVDpp(epochs=1), fullrank.SVDpp(epochs=1, factors=3, by_feature=True), fullrank.OrdRec(epochs=1)]
recipes += [fullrank.OrdRec(epochs=1, implicit=True), fullrank.OpportunityCost(sweeps=1)]
recipes += [fullrank.OpportunityCost(factors=2, sweeps=1, solver="sgd"), fullrank.CCF(epochs=1)]
recipes += [fullrank.SessionCost(epochs=1, targets=targets) for targets in ("classes", "items", "heaviside")]
for recipe in recipes:
    model = recipe.fit(data)
    rank(model, split)
    fullrank.recommend(model, history=[1, 2])
about = fullrank.Attributes(data.items, {"kind": (("a", "b"), ("a",), ())})
for how in (None, "mmr:0.5", "mmr:0.5:vectors", "calibrated:0.5"):
    rules = fullrank.Rules(most={"kind": 1}, items=about, diversify=how, exclude=[3])
    model = fullrank.IALS(factors=2).fit(data)
    fullrank.recommend(model, users=[1, 9], rules=rules), fullrank.recommend(model, 1, rules=rules)
    fullrank.recommend(model, history=[1], rules=rules)
print([len(kernel.signatures) for kernel in kernels])
"""
    done = run(code)
    assert done.stdout == str([1] * 30 + [2] * 5) + "\n", done.stderr


def test_eight_processes_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PAIRS]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) for _ in range(8)]
    assert {process.communicate()[0] for process in running} == {"[(0, 1), (0, 2)]\n"}


def test_nowhere_to_write(tmp_path: Path) -> None:
    code = f"import os; os.access = lambda *_, **__: False\n{PAIRS}"  # root may write everywhere, so chmod would not do
    done = run(code, HOME="/nonexistent", TMPDIR=str(tmp_path), NUMBA_CACHE_DIR="")
    assert done.stdout == "[(0, 1), (0, 2)]\n", done.stderr
    folder = next(tmp_path.glob("fullrank-kernels-*"))
    assert folder.stat().st_mode & 0o077 == 0
    assert list(folder.rglob("*.nbi"))
