"""Simulated worlds are what they say: the proofs elsewhere stand on them."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data import simulate
from fullrank.data.describe import gini, top_share
from fullrank.data.interactions import Interactions
from fullrank.data.split import leave_last
from fullrank.errors import DataError, ParameterError

# facts about ML-100K, and how far a simulated world may be from them: twice the farthest of 20 seeds, rounded
ML_100K = {
    "rows": (100_000, 100),
    "density": (0.0630467, 0.0001),
    "gini": (0.629, 0.018),
    "top 1%": (0.07634, 0.016),
    "top 5%": (0.26379, 0.014),
    "top 10%": (0.42702, 0.01),
    "top 20%": (0.64619, 0.03),
    "top 50%": (0.92701, 0.012),
    "least active": (20, 0),
    "lower quartile active": (33, 1),
    "median active": (65, 8),
    "upper quartile active": (148, 6),
    "95th active": (310.6, 13),
    "most active": (737, 230),
    "value 1": (0.0611, 0.012),
    "value 2": (0.1137, 0.016),
    "value 3": (0.27145, 0.01),
    "value 4": (0.34174, 0.016),
    "value 5": (0.21201, 0.016),
}

WORLDS: dict[str, Callable[..., Any]] = {
    "ratings": simulate.ratings,
    "implicit": simulate.implicit,
    "sessions": simulate.sessions,
}
SMALL = {"users": 30, "items": 60}


@pytest.fixture(scope="module")
def usual() -> simulate.RatingsWorld:
    return simulate.ratings()


def subset_z(part: np.ndarray, whole: np.ndarray, value: np.ndarray) -> float:
    """How far subsets (one a row) are from simple random ones, in standard errors, by their mean values.

    The mean of a simple random sample of n from N has the mean of all and the variance S^2 (1/n - 1/N).
    """
    able = part.any(axis=1) & (part.sum(axis=1) < whole.sum(axis=1))
    part, whole, value = part[able], whole[able], value[able].astype(np.float64)
    difference = value.mean(axis=1, where=part) - value.mean(axis=1, where=whole)
    spread = value.var(axis=1, where=whole, ddof=1) * (1 / part.sum(axis=1) - 1 / whole.sum(axis=1))
    return float(difference.sum() / np.sqrt(spread.sum()))


def dense(data: Interactions) -> np.ndarray:
    seen = np.zeros((data.n_users, data.n_items), dtype=bool)
    seen[data.user, data.item] = True
    return seen


# ------------------------------------------------------------------------------------------ all worlds


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


# ------------------------------------------------------------------------------------------ ratings


def looks(data: Interactions) -> dict[str, float]:
    """Size, activity of users, popularity of items, and the shares of each value."""
    per_item = np.bincount(data.item, minlength=data.n_items)
    per_user = np.bincount(data.user, minlength=data.n_users)
    quantiles = {"least": 0, "lower quartile": 25, "median": 50, "upper quartile": 75, "95th": 95, "most": 100}
    numbers = {"rows": float(len(data)), "density": data.density, "gini": gini(per_item)}
    numbers |= {f"top {share}%": top_share(per_item, share / 100) for share in (1, 5, 10, 20, 50)}
    numbers |= {f"{name} active": float(np.percentile(per_user, q)) for name, q in quantiles.items()}
    if data.value is not None:
        values, counts = np.unique(data.value, return_counts=True)
        numbers |= {f"value {v:g}": n / len(data) for v, n in zip(values.tolist(), counts.tolist(), strict=True)}
    return numbers


@pytest.mark.parametrize("seed", range(5))
def test_the_usual_ratings_look_like_ml_100k(seed: int) -> None:
    numbers = looks(simulate.ratings(seed=seed).data)
    assert numbers.keys() == ML_100K.keys()
    far = {name: (numbers[name], fact) for name, (fact, off) in ML_100K.items() if abs(numbers[name] - fact) > off}
    assert not far


def test_the_targets_are_facts(shared_data: Path) -> None:
    user, item, value, time = np.loadtxt(shared_data / "ml-100k" / "u.data.gz", dtype=np.int64).T
    numbers = looks(Interactions.of(user, item, value, time))
    assert numbers == pytest.approx({name: fact for name, (fact, _) in ML_100K.items()}, rel=1e-5)


def test_observed_ratings_are_true_ones(usual: simulate.RatingsWorld) -> None:
    truth = usual.truth()
    assert truth.shape == (943, 1682)
    assert np.array_equal(truth[usual.data.user, usual.data.item], usual.data.value)
    assert np.array_equal(usual.relevant([7, 3]), truth[[7, 3]] == 5)


@pytest.mark.identical
def test_truth_does_not_depend_on_the_block(usual: simulate.RatingsWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = usual.truth()
    monkeypatch.setattr("fullrank.data.simulate.shared.BLOCK", 3 * 1682)
    assert np.array_equal(whole, usual.truth())
    assert np.array_equal(whole[[942, 0, 500]], usual.truth([942, 0, 500]))
    assert np.array_equal(whole[[5]], usual.truth(np.array([5])))
    with pytest.raises(DataError, match="user code 943 is outside"):
        usual.truth([943])


@settings(max_examples=20)
@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_scores_are_exact_so_no_order_of_summing_changes_them(factors: int, seed: int) -> None:
    tastes = simulate.ratings(5, 20, factors=factors, seed=seed).tastes
    assert np.array_equal(tastes.users @ tastes.items.T, tastes.users.astype(float) @ tastes.items.astype(float).T)


@settings(max_examples=25)
@given(
    users=st.integers(1, 40),
    items=st.integers(2, 80),
    density=st.floats(0.001, 1),
    skew=st.floats(0, 20),
    violation=st.floats(0, 1),
    relevant=st.integers(2, 5),
    noise=st.floats(0, 100),
)
def test_any_knobs_give_a_world_of_that_size(users: int, items: int, density: float, **knobs: Any) -> None:
    world = simulate.ratings(users, items, density=density, **knobs)
    data, truth = world.data, world.truth()
    assert truth.shape == (data.n_users, data.n_items) == (users, items)
    assert np.array_equal(truth[data.user, data.item], data.value)
    assert set(np.unique(truth)) <= {1, 2, 3, 4, 5}
    rounding = 0.5 * users  # a user has a whole number of ratings, and at least one
    assert abs(len(data) - max(users, density * users * items)) <= rounding + 1


Sets = tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]


def sets_of(worlds: list[simulate.RatingsWorld]) -> Sets:
    """Seen and all relevant items of every user, and what a mechanism that is not random could go by."""
    users, items = worlds[0].data.n_users, worlds[0].data.n_items
    seen, relevant = np.vstack([dense(w.data) for w in worlds]), np.vstack([w.relevant() for w in worlds])

    def shared_by_users(each: list[np.ndarray]) -> np.ndarray:
        return np.repeat(np.array(each), users, axis=0)

    values = {
        "known": shared_by_users([w.selection.other for w in worlds]),
        "liked by many": shared_by_users([r.sum(axis=0) for r in relevant.reshape(-1, users, items)]),
        "lower ratings seen": shared_by_users([r.sum(axis=0) for r in (seen & ~relevant).reshape(-1, users, items)]),
        "liked by this user": np.vstack([w.tastes(np.arange(users, dtype=np.int32)) for w in worlds]),
        "number": shared_by_users([np.arange(items)] * len(worlds)),
    }
    return seen & relevant, relevant, values


@pytest.fixture(scope="module")
def many() -> list[simulate.RatingsWorld]:
    return [simulate.ratings(150, 300, density=0.08, seed=seed) for seed in range(20)]


def test_relevant_ratings_are_missing_at_random_within_a_user(many: list[simulate.RatingsWorld]) -> None:
    part, whole, values = sets_of(many)
    far = {name: subset_z(part, whole, value) for name, value in values.items()}
    assert max(map(abs, far.values())) < 3, far


def test_a_violation_shows() -> None:
    weak, strong = (
        sets_of([simulate.ratings(150, 300, density=0.08, violation=v, seed=seed) for seed in range(20)])
        for v in (0.3, 1)
    )
    for name in ("known", "liked by many", "lower ratings seen"):
        assert 5 < subset_z(*weak[:2], weak[2][name]) < subset_z(*strong[:2], strong[2][name]), name


def test_every_relevant_item_is_seen_equally_often_whatever_its_popularity(many: list[simulate.RatingsWorld]) -> None:
    """Counts of each tenth of the catalogue by how known it is, against hypergeometric ones."""
    part, whole, values = sets_of(many)
    able = whole.sum(axis=1) > 1
    part, whole, known = part[able], whole[able], values["known"][able]
    tenth = np.argsort(np.argsort(-known, axis=1), axis=1) * 10 // part.shape[1]
    n, all_of_them = part.sum(axis=1), whole.sum(axis=1)
    for which in range(10):
        inside = (whole & (tenth == which)).sum(axis=1)
        expected = n * inside / all_of_them
        variance = expected * (1 - inside / all_of_them) * (all_of_them - n) / (all_of_them - 1)
        seen = (part & (tenth == which)).sum(axis=1)
        assert abs((seen - expected).sum()) < 3.3 * np.sqrt(variance.sum())  # one in a thousand


def test_lower_ratings_are_missing_more_often(many: list[simulate.RatingsWorld]) -> None:
    truth, seen = np.vstack([w.truth() for w in many]), np.vstack([dense(w.data) for w in many])
    shares = [seen[truth == rating].mean() for rating in (1, 2, 3, 4, 5)]
    assert all(2 * better > 3 * worse for worse, better in pairwise(shares))


def test_of_one_user_no_lower_rating_is_as_likely_as_a_relevant_one(usual: simulate.RatingsWorld) -> None:
    everyone = np.arange(20, dtype=np.int32)
    truth = usual.truth(everyone)
    for rating, (_, taste, _) in zip(truth, usual.tastes.each(everyone), strict=True):
        weight = usual.selection(rating, taste)
        assert (weight[rating == 5] == 1).all()
        assert weight[rating < 5].max() < 0.7


def test_with_relevant_4_the_fours_are_missing_at_random_too() -> None:
    worlds = [simulate.ratings(150, 300, relevant=4, seed=seed) for seed in range(10)]
    part, whole, values = sets_of(worlds)
    assert np.array_equal(whole, np.vstack([w.truth() for w in worlds]) >= 4)
    for name in ("known", "liked by this user"):
        assert abs(subset_z(part, whole, values[name])) < 3, name


def test_what_was_rated_last_is_a_random_part(many: list[simulate.RatingsWorld]) -> None:
    _, whole, values = sets_of(many)
    last = np.vstack([dense(leave_last(w.data, 3).held_out) for w in many])
    far = {name: subset_z(last & whole, whole, value) for name, value in values.items()}
    assert max(map(abs, far.values())) < 3, far


def test_skew_makes_popularity_and_none_leaves_only_the_truth() -> None:
    flat, usual, steep = (simulate.ratings(300, 300, skew=skew).data for skew in (0, 4.7, 8))
    ginis = [looks(data)["gini"] for data in (flat, usual, steep)]
    assert ginis == sorted(ginis)
    assert ginis[0] < ginis[1] - 0.1


def test_there_is_taste_to_learn_beyond_quality(usual: simulate.RatingsWorld) -> None:
    relevant = usual.relevant()

    def mean_rank(scores: np.ndarray) -> float:
        places = np.argsort(np.argsort(scores, axis=1), axis=1) / (scores.shape[1] - 1)
        return float(places[relevant].mean())

    popular = mean_rank(np.tile(usual.tastes.items[:, 0], (usual.data.n_users, 1)))
    known = mean_rank(usual.tastes.users @ usual.tastes.items.T)
    assert popular < known - 0.05
    assert known < 0.99  # and noise nobody can learn
    assert mean_rank(usual.truth().astype(float)) > known


# ------------------------------------------------------------------------------------------ implicit


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


# ------------------------------------------------------------------------------------------ sessions


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
