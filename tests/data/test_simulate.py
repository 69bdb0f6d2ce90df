"""Simulated worlds: the same bytes for the same arguments; implicit feedback and sessions as their models say."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data import simulate
from fullrank.errors import DataError, ParameterError
from tests.data.simulated import dense, looks, subset_z

WORLDS: dict[str, Callable[..., Any]] = {
    "ratings": simulate.ratings,
    "implicit": simulate.implicit,
    "sessions": simulate.sessions,
}


SMALL = {"users": 30, "items": 60}


@pytest.mark.parametrize("name", WORLDS)
def test_same_arguments_give_the_same_bytes_and_other_seeds_other_worlds(name: str) -> None:
    make = WORLDS[name]
    one, again, other = make(**SMALL, seed=3), make(**SMALL, seed=3), make(**SMALL, seed=4)
    assert one.data == again.data
    assert not np.array_equal(one.data.item, other.data.item)
    assert not np.array_equal(one.data.time, other.data.time)


@pytest.mark.identical
def test_neither_threads_nor_the_state_of_numpy_change_a_byte() -> None:
    code = (
        "import hashlib, numpy as np; np.random.seed(%d); from fullrank.data import simulate; h = hashlib.sha256()\n"
        "for w in (simulate.ratings(300, 400), simulate.implicit(300, 400), simulate.sessions(50, 60)):\n"
        "    [h.update(np.ascontiguousarray(c)) for c in (w.data.user, w.data.item, w.data.time.view('i8'))]\n"
        "print(h.hexdigest())"
    )
    hashes = set()
    for threads in (1, 2):
        settings = os.environ | {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        run = subprocess.run([sys.executable, "-c", code % threads], env=settings, capture_output=True, check=True)
        hashes.add(run.stdout)
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("name", "knob", "value"),
    [
        *[(name, "users", value) for name in WORLDS for value in (0, 2.5, True, "many")],
        *[(name, "items", 1) for name in WORLDS],
        *[(name, "factors", value) for name in WORLDS for value in (0, 61)],
        *[(name, "seed", value) for name in WORLDS for value in (-1, 2**32, None)],
        *[(name, "noise", value) for name in WORLDS for value in (-0.1, float("nan"), float("inf"))],
        *[(name, "skew", value) for name in WORLDS for value in (-1, 21)],
        *[(name, "violation", value) for name in ("ratings", "implicit") for value in (-0.1, 1.1, "1")],
        *[(name, "density", value) for name in ("ratings", "implicit") for value in (0, 1.01)],
        *[("ratings", "relevant", value) for value in (1, 6, 4.5)],
        *[("implicit", "observed", value) for value in (0, 1.1)],
        *[("sessions", "sessions", value) for value in (5, (0, 3), (3, 2), (1.5, 2), (1, 2, 3))],
        *[("sessions", "offers", value) for value in (5, (0, 3), (3, 2), (3, 61), (True, 3))],
        *[("sessions", "alpha", value) for value in (0.5, (0.5, 1), (0.5, 0.2), (float("nan"), 0.5))],
        *[("sessions", "idle", value) for value in (-0.1, 1.1)],
    ],
)
def test_bad_knobs_are_refused_in_the_one_form(name: str, knob: str, value: object) -> None:
    with pytest.raises(ParameterError, match=rf"^The '{knob}' parameter must be .+ Got .+ instead\.$"):
        WORLDS[name](**(SMALL | {knob: value}))


def implicit_z(violation: float) -> dict[str, float]:
    worlds = [simulate.implicit(150, 300, density=0.1, violation=violation, seed=seed) for seed in range(20)]
    part, whole = np.vstack([dense(w.data) for w in worlds]), np.vstack([dense(w.complete) for w in worlds])
    values = {
        "quality": np.repeat([w.tastes.items[:, 0] for w in worlds], 150, axis=0),
        "popularity": np.repeat([dense(w.complete).sum(axis=0) for w in worlds], 150, axis=0),
        "liking": np.vstack([w.tastes(np.arange(150, dtype=np.int32)) for w in worlds]),
    }
    return {name: subset_z(part, whole, value) for name, value in values.items()}


def test_observed_items_are_a_simple_random_sample_of_the_relevant() -> None:
    none, weak, strong = map(implicit_z, (0, 0.3, 1))
    assert max(map(abs, none.values())) < 3, none
    assert all(5 < weak[name] < strong[name] for name in none), (weak, strong)


def test_relevant_items_are_those_liked_best() -> None:
    world = simulate.implicit(40, 100, density=0.1)
    likings, relevant = world.tastes(np.arange(40, dtype=np.int32)), dense(world.complete)
    for liking, liked in zip(likings, relevant, strict=True):
        assert liking[liked].min() > liking[~liked].max()
    assert relevant.sum(axis=1).mean() == pytest.approx(10, abs=0.5)


@settings(max_examples=25)
@given(
    users=st.integers(1, 40),
    items=st.integers(2, 80),
    density=st.floats(0.001, 1),
    observed=st.floats(0.01, 1),
    skew=st.floats(0, 4),
    violation=st.floats(0, 1),
)
def test_observed_is_part_of_complete(users: int, items: int, **knobs: Any) -> None:
    world = simulate.implicit(users, items, **knobs)
    seen, liked = dense(world.data), dense(world.complete)
    assert (seen <= liked).all()
    assert seen.any(axis=1).all()
    assert world.data.value is None
    if knobs["observed"] == 1:
        assert np.array_equal(seen, liked)


def test_the_share_observed_and_the_skew_are_as_asked() -> None:
    for observed in (0.1, 0.5, 1):
        world = simulate.implicit(observed=observed)
        assert len(world.data) / len(world.complete) == pytest.approx(observed, abs=0.01)
    ginis = [looks(simulate.implicit(skew=skew).data)["gini"] for skew in (0, 1, 3)]
    assert ginis[0] < 0.5 < ginis[1] < 0.8 < ginis[2]


def in_sessions(world: simulate.SessionsWorld) -> Iterable[tuple[int, np.ndarray, np.ndarray]]:
    data = world.data
    for user, (begin, end) in zip(data.user.tolist(), pairwise(data.start.tolist()), strict=True):
        yield user, data.item[begin:end], data.grade[begin:end]


def violations(world: simulate.SessionsWorld) -> int:
    """Pairs of offers where the better action was on the one of lower true value."""
    wrong = 0
    for user, offers, grade in in_sessions(world):
        value = world.values(user, offers)
        wrong += int(((grade[:, None] > grade) & (value[:, None] < value)).sum())
    return wrong


def test_without_noise_actions_follow_the_true_values_in_context() -> None:
    assert violations(simulate.sessions(100, 80, noise=0)) == 0
    assert violations(simulate.sessions(100, 80, noise=0, alpha=(-2, -1))) == 0
    few, many = (violations(simulate.sessions(100, 80, noise=noise)) for noise in (0.1, 1))
    assert 0 < few < many


def test_values_by_hand_and_that_context_matters() -> None:
    world = simulate.sessions(20, 30)
    b, alpha = world.benefits([4])[0].astype(float), world.alpha[4]
    assert b == pytest.approx((world.users[4].astype(float) * world.items).sum(axis=1))
    value = world.values(4, [7, 2, 9])
    assert value[0] == pytest.approx(b[7] + alpha / 2 * (b[2] + b[9]))
    assert value[2] == pytest.approx(b[9] + alpha / 2 * (b[7] + b[2]))
    assert world.values(4, [7]) == pytest.approx([b[7]])  # nothing is given up
    assert abs(world.values(4, [7, 2])[0] - value[0]) > 0.01
    better = np.argsort(-b)[:2].tolist()
    assert np.argsort(-world.values(4, better)).tolist() == [0, 1]
    with pytest.raises(DataError, match="item code 30 is outside"):
        world.values(4, [30])
    for no_set in ([], [3, 3]):
        with pytest.raises(ParameterError, match="The 'offers' parameter must be one or more distinct items"):
            world.values(4, no_set)


def test_context_decides_what_is_bought() -> None:
    """Without noise, an item of the same benefit to a user is bought beside good offers, not beside poor ones."""
    world = simulate.sessions(200, 20, sessions=(20, 20), offers=(3, 6), noise=0, idle=0, alpha=(0.8, 0.8))
    levels: dict[tuple[int, int], set[float]] = {}
    for user, offers, grade in in_sessions(world):
        for item, g in zip(offers.tolist(), grade.tolist(), strict=True):
            levels.setdefault((user, item), set()).add(g)
    assert sum({0.0, 2.0} <= grades for grades in levels.values()) > 20


@settings(max_examples=20)
@given(
    users=st.integers(1, 20),
    items=st.integers(6, 40),
    sessions=st.tuples(st.integers(1, 3), st.integers(3, 5)),
    offers=st.tuples(st.integers(1, 3), st.integers(3, 6)),
    idle=st.floats(0, 1),
    skew=st.floats(0, 20),
    lean=st.sampled_from([0.0, 1.0, 20.0]),
    noise=st.floats(0, 10),
)
def test_sessions_are_as_asked(
    users: int, items: int, sessions: tuple[int, int], offers: tuple[int, int], idle: float, **knobs: Any
) -> None:
    data = simulate.sessions(users, items, sessions=sessions, offers=offers, idle=idle, **knobs).data
    per_user, sizes = np.bincount(data.user, minlength=users), np.diff(data.start)
    assert sessions[0] <= per_user.min() <= per_user.max() <= sessions[1]
    assert offers[0] <= sizes.min() <= sizes.max() <= offers[1]
    best = np.maximum.reduceat(data.grade, data.start[:-1])
    assert (best == 0).sum() == round(idle * len(data))
    assert data.scale == ("shown", "clicked", "bought")
    assert data.names is not None
    assert data.time is not None
    assert len(data.names) == len(data.time) == len(data)
    same_user = data.user[1:] == data.user[:-1]
    assert (data.time[1:] >= data.time[:-1])[same_user].all()


def test_idle_sessions_are_the_poor_ones_and_known_items_are_offered_more() -> None:
    world = simulate.sessions()
    best = [(grade.max() > 0, world.values(user, offers).max()) for user, offers, grade in in_sessions(world)]
    active, value = map(np.array, zip(*best, strict=True))
    assert value[active].mean() > value[~active].mean() + 1
    flat, skewed = (np.bincount(simulate.sessions(skew=skew).data.item, minlength=300) for skew in (0, 3))
    assert flat.max() < 2 * np.median(flat)
    assert skewed.max() > 10 * skewed.min()
    assert world.alpha.min() >= 0.2
    assert world.alpha.max() <= 0.8


def test_some_are_shown_what_they_like_and_others_what_they_do_not() -> None:
    spread = []
    for lean in (0.0, 1.0, 2.0):
        world = simulate.sessions(lean=lean)
        own = world.benefits()
        shown = [own[user, offers].mean() - own[user].mean() for user, offers, _ in in_sessions(world)]
        by_user = np.bincount(world.data.user, shown) / np.bincount(world.data.user)
        spread.append((np.std(shown), np.std(by_user)))
    for one, more in itertools.pairwise(spread):
        assert more[0] > 1.3 * one[0]
        assert more[1] > 1.3 * one[1]
