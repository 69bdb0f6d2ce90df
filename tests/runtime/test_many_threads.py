"""Many threads in one process: every result is the serial one, and BLAS is left as it was found."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 (its BLAS counts too)
from threadpoolctl import threadpool_info, threadpool_limits

import fullrank
from fullrank.recommending.update import update
from fullrank.runtime.threads import one_blas_thread

pytestmark = pytest.mark.identical

THREADS, OPERATIONS = 16, 5000


def blas() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_the_limit_holds_until_the_last_is_out_whoever_leaves_first() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas()
        assert set(before) == {2}
        with one_blas_thread():
            assert set(blas()) == {1}
            with one_blas_thread():
                pass
            assert set(blas()) == {1}
        one, two = ExitStack(), ExitStack()
        one.enter_context(one_blas_thread())
        two.enter_context(one_blas_thread())
        one.close()  # the first to come is the first to go
        assert set(blas()) == {1}
        two.close()
        assert blas() == before
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            raise ZeroDivisionError
        assert blas() == before


def test_the_limit_is_entered_by_many_threads_at_once() -> None:
    with threadpool_limits(2, user_api="blas"):
        before, wrong, start = blas(), [], threading.Barrier(THREADS)

        def work(seed: int) -> None:
            luck = random.Random(seed)
            start.wait()
            for _ in range(50):
                with one_blas_thread():
                    if luck.random() < 0.2:
                        wrong.extend(count for count in blas() if count != 1)

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, range(THREADS)))
        assert not wrong
        assert blas() == before


def operations() -> dict[str, Callable[[], Any]]:
    """Fits, ranks, lists, fold-ins, intervals: what people call, just so large that BLAS would use two threads."""
    ratings = fullrank.simulate.ratings(users=120, items=500, density=0.05, seed=3).data
    split = fullrank.leave_last(ratings, 2)
    recipes = {
        "als": fullrank.AllRank(factors=32, sweeps=1),
        "exact": fullrank.IALS(factors=32, sweeps=1, solver="exact"),
        "logistic": fullrank.AllRankBinary(factors=4, sweeps=1, relevant=4, loss="logistic"),
        "svd": fullrank.PureSVD(factors=16),
        "ease": fullrank.EASE(),
        "bpr": fullrank.BPR(factors=48, epochs=1, relevant=4),
        "history": fullrank.GaussianRank(factors=4, epochs=1),
        "ratings": fullrank.SVDpp(factors=4, epochs=1),
        "levels": fullrank.OrdRec(factors=3, epochs=1),
        "costs": fullrank.OpportunityCost(factors=3, sweeps=1),
        "sessions": fullrank.SessionCost(factors=3, epochs=1),
    }
    models = {name: recipe.fit(split.train) for name, recipe in recipes.items()}
    names = ratings.items.names.tolist()
    known = fullrank.Interactions.of(ratings.users.names[:2].tolist(), names[:2], [5, 1])
    jobs: dict[str, Callable[[], Any]] = {}
    for name, recipe in recipes.items():
        model = models[name]
        jobs[f"fit {name}"] = lambda recipe=recipe: vars_of(recipe.fit(split.train, seed=1))
        jobs[f"rank {name}"] = lambda model=model: fullrank.rank(model, split, block=7).above
        jobs[f"top {name}"] = lambda model=model: fullrank.top(model, split, 5).score
        jobs[f"recommend {name}"] = lambda model=model: fullrank.recommend(model, model.train.users.name(7))
        jobs[f"new {name}"] = lambda model=model: fullrank.recommend(model, history={names[1]: 5.0, names[4]: 1.0})
    result = fullrank.evaluate(fullrank.rank(models["als"], split), [fullrank.metrics.ndcg @ 5])
    jobs["interval"] = lambda: str(result.interval(repeats=50))
    jobs["update"] = lambda: update(models["exact"], known).users
    return jobs


def vars_of(model: Any) -> list[Any]:
    return [value for _, value in sorted(vars(model).items()) if isinstance(value, np.ndarray)]


def digest(result: Any) -> str:
    parts = result if isinstance(result, list) else [result]
    return hashlib.sha256(
        b"".join(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode() for part in parts)
    ).hexdigest()


def test_sixteen_threads_find_what_one_finds() -> None:
    with threadpool_limits(2, user_api="blas"):
        todo, before = operations(), blas()
        expected = {name: digest(once()) for name, once in todo.items()}
        names = list(expected)
        order = np.random.default_rng(0).integers(0, len(names), OPERATIONS)

        def work(number: int) -> str | None:
            name = names[number]
            return None if digest(todo[name]()) == expected[name] else name

        with ThreadPoolExecutor(THREADS) as pool:
            wrong = [name for name in pool.map(work, order.tolist()) if name is not None]
        assert not wrong
        assert blas() == before
