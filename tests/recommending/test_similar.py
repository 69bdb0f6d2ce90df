"""Similar items, for every recipe against brute force over the parameters of its model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import (
    BPR,
    EASE,
    IALS,
    RSVD,
    AllRank,
    Bestseller,
    Interactions,
    ItemCF,
    PostFiltered,
    PreFiltered,
    similar,
)
from fullrank.errors import DataError, ParameterError
from fullrank.models.feedback import fit, takes
from fullrank.models.recipes import RECIPES

RATED = fullrank.simulate.ratings(users=50, items=40, density=0.3, seed=3).data
OFFERED = fullrank.simulate.sessions(users=50, items=40, seed=3).data
NO_TASTE = {"Bestseller", "PersonalFrequency"}  # one list for everybody, or what people took themselves
BIASES = {"RSVD": 2, "BPR": 1, "MFAUC": 1, "MFADG": 1}  # of the last columns of an item


def short(name: str) -> Any:
    """A recipe of little work."""
    given = {part: 3 for part in ("sweeps", "epochs") if hasattr(RECIPES[name], part)}
    return RECIPES[name](**given, **({"factors": 6} if hasattr(RECIPES[name], "factors") else {}))


def fitted(recipe: Any) -> Any:
    return fit(recipe, RATED if Interactions in takes(recipe) else OFFERED)


def brute(model: Any, code: int, biases: int) -> Any:
    """What the docstring says, from the arrays alone; NaN where items have no direction or no weight."""
    weights = getattr(model, "similar", None)
    if weights is not None:
        row = np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights)[code].astype(float)
        return np.where(row == 0, np.nan, row)
    vectors = model.items.astype(float)
    vectors = vectors[:, : vectors.shape[1] - biases]
    with np.errstate(invalid="ignore"):
        unit = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    return unit @ unit[code]


@pytest.mark.parametrize("name", sorted(RECIPES.keys() - NO_TASTE))
def test_agrees_with_brute_force(name: str) -> None:
    recipe = EASE(solver="primal") if name == "EASE" else short(name)
    model = fitted(recipe)
    ids, checked = model.train.items, 0
    biases = BIASES.get(name, 0) if getattr(recipe, "bias", True) else 0
    for code in range(0, 40, 3):
        expected = brute(model, code, biases)
        expected[code] = np.nan
        expected[model.positives.popularity == 0] = np.nan
        found = similar(model, ids.name(code), n=1000)
        assert len(found.items) == np.isfinite(expected).sum() > 5
        codes = ids.codes(found.items)
        assert found.scores == pytest.approx(expected[codes], abs=1e-6)
        assert (np.diff(found.scores) <= 0).all()
        assert similar(model, ids.name(code), n=3).items == found.items[:3]
        checked += len(codes)
    assert checked > 100


@pytest.mark.parametrize("binary", [True, False])
def test_the_dual_form_of_ease_has_the_weights_of_the_primal_one(binary: bool) -> None:
    dual, primal = (EASE(reg=20, binary=binary, solver=solver).fit(RATED) for solver in ("dual", "primal"))
    matrix = RATED.by_user().toarray().astype(float)
    if binary:
        matrix = (matrix > 0).astype(float)
    inverse = np.linalg.inv(matrix.T @ matrix + 20 * np.eye(RATED.n_items))
    closed = np.eye(RATED.n_items) - inverse / np.diag(inverse)
    for code in range(0, 40, 7):
        for model in (dual, primal):
            row = model.neighbours(code)
            assert row[code] == 0
            np.fill_diagonal(closed, 0)
            assert row == pytest.approx(closed[code], abs=3e-6)
    assert (closed < -0.01).any()  # negative ones are among them


def test_the_direction_is_that_of_scoring() -> None:
    """Everybody with gin has tea; of tea's many people few have gin: neighbours of gin, cut to one, are tea."""
    took = Interactions.of([1, 1, 2, 2, 3, 3, 4, 4], ["tea", "gin", "tea", "jam", "tea", "jam", "tea", "jam"])
    model = ItemCF(neighbours=1, voters=None, shrink=0, user_weight=0).fit(took)
    assert similar(model, "gin").items == ["tea"]
    assert similar(model, "tea").items == ["jam"]
    scores = fullrank.recommend(model, history=["gin"], repeat=True, n=1)
    assert (scores.items, scores.scores) == (["tea"], pytest.approx(similar(model, "gin").scores))


@pytest.mark.identical
def test_cosines_are_canonical_sums() -> None:
    """In float64 and in the order of the factors, to the last bit; not in the order of BLAS."""
    model = IALS(factors=13, sweeps=3).fit(RATED)

    def dot(one: int, other: int) -> float:
        total = 0.0
        for a, b in zip(model.items[one].tolist(), model.items[other].tolist(), strict=True):
            total += a * b
        return total

    found = similar(model, 3, n=1000)
    size = np.sqrt(dot(3, 3))
    assert found.scores == [dot(3, int(j)) / (np.sqrt(dot(int(j), int(j))) * size) for j in found.items]


def test_biases_do_not_count() -> None:
    for recipe in (BPR(factors=4, epochs=3), RSVD(factors=4, epochs=3)):
        model = recipe.fit(RATED)
        moved = model.items.copy()
        moved[:, -1] = np.random.default_rng(0).normal(size=len(moved)) * 100
        other = type(model)(model.users, moved, model.train, model.recipe)
        assert similar(other, 3) == similar(model, 3)


def test_of_equal_ones_the_popular_is_first() -> None:
    users, items = zip(*[(u, i) for u in range(4) for i in ("a", "b", "c")], (9, "c"), strict=True)  # c is more popular
    data = Interactions.of(users, items)
    model = AllRank(factors=1).fit(Interactions.of(users, items, np.ones(len(users))))
    same = type(model)(model.users, np.ones((3, 1), dtype=np.float32), model.train, model.recipe)
    assert data.popularity.tolist() == [4, 4, 5]
    assert similar(same, "a").items == ["c", "b"]
    assert similar(same, "c").items == ["a", "b"]


def test_as_a_frame() -> None:
    frame = similar(IALS(factors=4).fit(RATED), 3, n=4).to_frame()
    assert frame.columns == ["rank", "item", "score"]
    assert frame["rank"].to_list() == [1, 2, 3, 4]


def test_what_has_no_neighbours_says_so() -> None:
    data = RATED.catalogue(items=[1000])
    for recipe in (IALS(factors=4), ItemCF(), EASE(), BPR(factors=4, epochs=2), EASE(solver="dual")):
        model = recipe.fit(data)
        assert 1000 not in similar(model, 3, n=1000).items
        with pytest.raises(DataError, match=r"item 1000 has no feedback that the model learned from"):
            similar(model, 1000)
        with pytest.raises(DataError, match=r"unknown id '3'\. The ids here are integers: use 3\."):
            similar(model, "3")
        for n in (0, 2.5, True):
            with pytest.raises(ParameterError, match="'n' parameter must be an integer >= 1"):
                similar(model, 3, n=n)  # type: ignore[arg-type]


def test_models_without_items_to_compare_are_refused_in_a_sentence() -> None:
    for name in NO_TASTE:
        with pytest.raises(DataError, match=f"^{name}: .*; fit ItemCF, EASE or IALS for that.$"):
            similar(RECIPES[name]().fit(RATED), 3)
    before = PreFiltered(Bestseller(), lambda data: data.user % 2).fit(RATED)
    with pytest.raises(DataError, match=r"^PreFiltered: .*model.at\(context\)\.$"):
        similar(before, 3)  # type: ignore[arg-type]
    after = PostFiltered(IALS(factors=4), lambda data: data.user % 2).fit(RATED).at(1)
    with pytest.raises(DataError, match=r"^IALS: .*model.model\.$"):
        similar(after, 3)
