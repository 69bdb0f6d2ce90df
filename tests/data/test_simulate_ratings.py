"""Simulated ratings: they look like ML-100K, and are missing as Steck 2010 assumes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data import simulate
from fullrank.data.interactions import Interactions
from fullrank.data.split import leave_last
from fullrank.errors import DataError
from tests.data.simulated import dense, looks, subset_z

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


@pytest.fixture(scope="module")
def usual() -> simulate.RatingsWorld:
    return simulate.ratings()


@pytest.fixture(scope="module")
def many() -> list[simulate.RatingsWorld]:
    return [simulate.ratings(150, 300, density=0.08, seed=seed) for seed in range(20)]


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
