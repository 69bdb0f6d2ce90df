"""Lists for known, new and unknown people; new feedback folded in."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import fullrank
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ParameterError
from fullrank.models.kinds.factors import Factors
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.least_squares.allrank import AllRank
from fullrank.models.least_squares.allrank_binary import AllRankBinary
from fullrank.models.least_squares.als import solve
from fullrank.models.least_squares.ials import IALS
from fullrank.models.least_squares.rotation import rotate
from fullrank.recommending.merging import merge
from fullrank.recommending.one import history_of
from fullrank.recommending.recommend import recommend
from fullrank.recommending.rules import Rules
from fullrank.recommending.update import update
from fullrank.runtime.threads import one_blas_thread


@pytest.fixture(scope="module")
def world() -> Interactions:
    return fullrank.simulate.ratings(users=120, items=80, density=0.15, seed=5).data


@pytest.fixture(scope="module")
def model(world: Interactions) -> Factors:
    return AllRank(factors=8, solver="exact", sweeps=5).fit(world)


@pytest.mark.identical
def test_lists_equal_those_of_all_users_at_once(world: Interactions, model: Factors) -> None:
    lists = fullrank.top(model, fullrank.Split(world, world.where(np.zeros(len(world), dtype=bool))), 7)
    for user in range(0, 120, 11):
        one = recommend(model, world.users.name(user), n=7)
        assert one.items == lists.names(user)
        assert one.scores == pytest.approx(lists.score[user].tolist(), rel=1e-6)
        assert one.fallback == ""


@pytest.mark.identical
def test_a_history_gives_the_list_of_the_user_who_has_it(world: Interactions, model: Factors) -> None:
    for user in (0, 33):
        rows = slice(world.starts[user], world.starts[user + 1])
        assert world.value is not None
        names = [world.items.name(int(item)) for item in world.item[rows]]
        history = dict(zip(names, world.value[rows].tolist(), strict=True))
        assert recommend(model, history=history, n=5).items == recommend(model, world.users.name(user), n=5).items


def test_exclude_and_only(world: Interactions, model: Factors) -> None:
    user = world.users.name(3)
    seen = {world.items.name(int(item)) for item in world.item[world.starts[3] : world.starts[4]]}
    assert not seen & set(recommend(model, user, n=200).items)
    assert len(recommend(model, user, n=200).items) == 80 - len(seen)
    assert len(recommend(model, user, n=200, repeat=True).items) == 80
    best = recommend(model, user, n=3, repeat=True).items
    assert recommend(model, user, n=2, exclude=best[:1], repeat=True).items == best[1:]
    assert recommend(model, user, n=9, repeat=True, only=best[::-1]).items == best
    assert recommend(model, user, only=list(seen)).items == []


def test_somebody_unknown_gets_what_is_popular_and_is_told(world: Interactions, model: Factors) -> None:
    popular = np.bincount(world.item, minlength=80)
    for listed in (recommend(model, "nobody", n=3), recommend(model, 10**12, n=3), recommend(model, history=[], n=3)):
        assert listed.fallback == "popular"
        assert [popular[world.items.code(name)] for name in listed.items] == np.sort(popular)[::-1][:3].tolist()


def test_of_equal_scores_the_more_popular_item_is_first(world: Interactions) -> None:
    scores = np.zeros(80)
    scores[[3, 9]] = 1
    same = ItemScores(scores, world, IALS())
    counts = np.bincount(world.item, minlength=80)
    by_hand = sorted(range(80), key=lambda item: (-scores[item], -counts[item], item))
    listed = recommend(same, world.users.name(0), n=80, repeat=True)
    assert listed.items == [world.items.name(item) for item in by_hand]
    assert recommend(same, world.users.name(0), n=7, repeat=True).items == listed.items[:7]


def test_what_cannot_be_recommended(world: Interactions, model: Factors) -> None:
    user = world.users.name(0)
    with pytest.raises(ParameterError, match="either a user or a history"):
        recommend(model)
    with pytest.raises(ParameterError, match="either a user or a history"):
        recommend(model, user, history=[])
    for n in (0, -1, 2.5, "10"):
        with pytest.raises(ParameterError, match="'n' parameter"):
            recommend(model, user, n=n)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="unknown ids, the first is 'no such thing'"):
        recommend(model, history=["no such thing"])
    for exclude in ("seen", None):
        with pytest.raises(ParameterError, match="left out in any case, unless repeat=True"):
            recommend(model, user, exclude=exclude)  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="inside of rules"):
        recommend(model, user, exclude=[1], rules=Rules())
    with pytest.raises(ParameterError, match="either a user or a history"):
        recommend(model, user, users="all")  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="users must be 'all' or a list of names"):
        recommend(model, users="everybody")
    name = world.items.name(0)
    with pytest.raises(DataError, match="in the history twice"):
        history_of([name, name], world.items)
    with pytest.raises(DataError, match="NaN or infinite"):
        history_of({name: float("nan")}, world.items)


def parted(data: Interactions, users: int, items: int) -> tuple[Interactions, Interactions]:
    """The feedback of the first users and items, and all the rest."""
    old = (data.user < users) & (data.item < items)
    columns = [(data.users.names[data.user], data.items.names[data.item], data.value)]
    parts = [Interactions.of(*(column[mask] for column in columns[0])) for mask in (old, ~old)]  # type: ignore[index]
    return parts[0], parts[1]


@pytest.mark.parametrize(
    "recipe",
    [
        AllRank(factors=4, solver="exact"),
        IALS(factors=4, weighted=True),
        AllRankBinary(factors=4, relevant=4),
        AllRankBinary(factors=4, relevant=4, loss="logistic", sweeps=3),
    ],
    ids=str,
)
def test_new_feedback_is_folded_in(world: Interactions, recipe: AllRank) -> None:
    old, new = parted(world, 100, 60)
    model = recipe.fit(old)
    updated = update(model, new)
    whole = Interactions.of(world.users.names[world.user], world.items.names[world.item], world.value)
    assert updated.train == whole
    rows = slice(whole.starts[119], whole.starts[120])
    vector = updated.fold_in(whole.item[rows], whole.value[rows])  # type: ignore[index]
    assert updated.users[119] == pytest.approx(vector, abs=2e-4)
    assert recommend(updated, whole.users.name(119)).fallback == ""
    nothing = update(model, new.where(np.zeros(len(new), dtype=bool)))
    assert nothing.users[whole.users.codes(old.users.names)].tobytes() == model.users.tobytes()


def test_a_changed_value_replaces_the_old_one() -> None:
    old = Interactions.of(["a", "b"], ["x", "y"], [1, 2])
    both = merge(old, Interactions.of(["b", "c"], ["y", "x"], [5, 3]))
    assert both == Interactions.of(["a", "b", "c"], ["x", "y", "x"], [1, 5, 3])
    with pytest.raises(DataError, match="has values and the model's has none"):
        merge(old, Interactions.of(["a"], ["x"]))


def test_rows_equal_implicit_s(world: Interactions) -> None:
    """Hu and Koren's row: implicit's confidence is its matrix, ours 1 + confidence x value."""
    als = pytest.importorskip("implicit.als", reason="implicit is not installed")
    rng = np.random.default_rng(0)
    items = rng.standard_normal((80, 6)).astype(np.float32) / 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = als.AlternatingLeastSquares(
            factors=6, regularization=0.7, use_native=True, use_cg=False, num_threads=1
        )
    theirs.item_factors, theirs.user_factors = items, np.zeros((120, 6), dtype=np.float32)
    pairs = world.by_user()
    confidence = csr_matrix((1 + 0.5 * pairs.data, pairs.indices.copy(), pairs.indptr.copy()), shape=pairs.shape)
    with one_blas_thread():
        expected = theirs.recalculate_user(np.arange(120), confidence)
    recipe = IALS(factors=6, reg=0.7, frequency=0.0, confidence=0.5)
    vectors = solve(recipe.side(pairs), recipe.terms, rotate(items))
    assert vectors == pytest.approx(np.asarray(expected), abs=2e-4)
