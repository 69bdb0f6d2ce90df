"""Scores and their parts: the sum for every recipe, the parts by hand and by dense algebra, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import (
    EASE,
    IALS,
    RSVD,
    AllRank,
    AllRankBinary,
    Bestseller,
    GaussianRank,
    Interactions,
    ItemCF,
    OpportunityCost,
    PersonalFrequency,
    PostFiltered,
    PureSVD,
    RecentItemCF,
    SessionCost,
    SVDpp,
    explain,
)
from fullrank.errors import DataError, ParameterError
from fullrank.models.recipes import RECIPES
from tests.recommending.test_similar import OFFERED, RATED, fitted, short

NO_PARTS = {"BPR", "MFAUC", "MFADG", "OrdRec"}
FORMS = [
    *(short(name) for name in sorted(RECIPES.keys() - NO_PARTS)),
    EASE(reg=20, solver="dual"), EASE(reg=20, binary=False), EASE(reg=200, solver="dual", binary=False),
    IALS(factors=6, solver="exact", relevant=4), IALS(factors=6, confidence=2.0), IALS(factors=6, weighted=True),
    AllRank(factors=6, weight={1: 0.5, 2: 1, 3: 1, 4: 2, 5: 3}), AllRank(factors=6, missing_weight=0.0),
    PureSVD(factors=6, binary=False, relevant="own mean"), ItemCF(voters=None, binary=False), ItemCF(keep_self=True),
    RSVD(factors=6, epochs=3, by_feature=True), SVDpp(factors=6, epochs=3, by_feature=True),
    GaussianRank(factors=6, epochs=3, relevant=4), RecentItemCF(recency=0.5, relevant=4),
]  # fmt: skip


def total(explained: Any) -> float:
    return float(sum(part.part for part in explained.parts))


def of_items(explained: Any) -> dict[Any, float]:
    return {part.item: part.part for part in explained.parts if part.name == "item"}


def others(explained: Any) -> dict[str, float]:
    return {part.name: part.part for part in explained.parts if part.name != "item"}


@pytest.mark.parametrize("recipe", FORMS, ids=str)
def test_the_parts_sum_to_the_score(recipe: Any) -> None:
    """Of known people, and of new ones, who have no part that is left over from training."""
    model = fitted(recipe)
    everybody = np.arange(model.train.n_users, dtype=np.int32)
    scores = model.scores(everybody)
    size, users, items = float(np.abs(scores).max()), model.train.users, model.train.items
    history = {items.name(code): 1.0 + code % 5 for code in range(3, 36, 4)}
    codes = items.codes(list(history))
    new = model.history_scores(codes, np.array(list(history.values()), dtype=np.float32))
    if getattr(model, "ordered", False):
        assert codes.tolist() == sorted(codes.tolist())
    for item in range(0, 40, 3):
        for user in range(0, 50, 9):
            found = explain(model, users.name(user), item=items.name(item))
            assert found.score == pytest.approx(scores[user, item], abs=1e-6 * size)
            assert total(found) == pytest.approx(found.score, abs=1e-5 * size)
            assert abs(others(found).get("rounding", 0)) < 1e-5 * size  # which is in the sum
        found = explain(model, history=history, item=items.name(item))
        assert found.score == pytest.approx(new[item], abs=1e-6 * size)
        assert total(found) == pytest.approx(found.score, abs=1e-5 * size)
        assert not others(found).keys() & {"training", "rounding", "own vector", "user bias"}


@pytest.mark.parametrize("relevant", [None, 4])
@pytest.mark.parametrize("confidence", [None, 2.0])
def test_least_squares_by_dense_algebra(relevant: float | None, confidence: float | None) -> None:
    """p = A^-1 sum of w t q over the history, with every weight of every item written out."""
    recipe = IALS(factors=5, reg=0.3, missing_weight=0.2, relevant=relevant, confidence=confidence)
    model, history = recipe.fit(RATED), {2: 5.0, 7: 2.0, 11: 4.0, 30: 5.0}
    counted = {item: value for item, value in history.items() if relevant is None or value >= relevant}
    q, missing = model.items.astype(float), 0.2 if confidence is None else 1.0
    weight = np.full(RATED.n_items, missing)
    for item, value in counted.items():
        weight[item] += 1 if confidence is None else confidence * value
    ridge = 0.3 * (len(counted) + missing * RATED.n_items) ** 0.4
    inverse = np.linalg.inv((q.T * weight) @ q + ridge * np.eye(5))
    found = explain(model, history=history, item=20)
    target = {i: 1 if confidence is None else 1 + confidence * v for i, v in counted.items()}
    assert of_items(found) == pytest.approx({i: target[i] * q[i] @ inverse @ q[20] for i in counted}, abs=1e-6)
    assert found.not_counted == len(history) - len(counted)
    assert others(found) == {}


def test_ratings_by_dense_algebra() -> None:
    model, history = AllRank(factors=5, reg=0.1, missing_weight=0.2, missing_value=1.0).fit(RATED), {2: 5.0, 7: 2.0}
    q, weight = model.items.astype(float), np.full(RATED.n_items, 0.2)
    weight[[2, 7]] = 1
    inverse = np.linalg.inv((q.T * weight) @ q + 0.1 * weight.sum() * np.eye(5))
    found = explain(model, history=history, item=20)
    assert of_items(found) == pytest.approx({i: (v - 1) * q[i] @ inverse @ q[20] for i, v in history.items()}, abs=1e-6)
    assert others(found) == {"offset": 1.0}

    model = RSVD(factors=5, epochs=5, reg=0.1).fit(RATED)
    q, bias, mean = model.items[:, :6].astype(float), model.items[:, 6].astype(float), model.offset  # with a 1 for b_u
    near = q[[2, 7]]
    inverse = np.linalg.inv(near.T @ near + 0.1 * 2 * np.eye(6))
    found = explain(model, history=history, item=20)
    expected = {i: (v - mean - bias[i]) * q[i] @ inverse @ q[20] for i, v in history.items()}
    assert of_items(found) == pytest.approx(expected, abs=1e-6)
    assert others(found) == {"offset": mean, "item bias": pytest.approx(bias[20])}


def test_item_item_weights_times_values() -> None:
    matrix = RATED.by_user().toarray().astype(float)
    inverse = np.linalg.inv(matrix.T @ matrix + 300 * np.eye(RATED.n_items))
    weights = np.eye(RATED.n_items) - inverse / np.diag(inverse)
    for solver in ("primal", "dual"):
        found = explain(EASE(reg=300, binary=False, solver=solver).fit(RATED), RATED.users.name(4), item=8)
        mine = {int(RATED.items.name(j)): matrix[4, j] * weights[j, 8] * (j != 8) for j in np.flatnonzero(matrix[4])}
        assert of_items(found) == pytest.approx(mine, abs=1e-5)
        assert {part.item: part.value for part in found.parts} == {j: matrix[4, j] for j in mine}
        sizes = [abs(part.part) for part in found.parts]
        assert sizes == sorted(sizes, reverse=True)


def test_what_was_taken_lately_counts_more() -> None:
    took = Interactions.of([1, 1, 2, 2, 3, 3], ["a", "z", "b", "z", "c", "z"], time=[1e9, 2e9] * 3)
    model = RecentItemCF(recency=0.5, shrink=0).fit(took)
    parts = of_items(explain(model, history=["c", "a", "b"], item="z"))
    assert parts["c"] == pytest.approx(parts["a"] / 2) == pytest.approx(parts["b"] / 4)
    assert of_items(explain(model, history=["b", "a", "c"], item="z"))["c"] == pytest.approx(parts["b"])


def test_a_vector_of_ones_own_and_biases_are_parts() -> None:
    model = SVDpp(factors=5, epochs=5).fit(RATED)
    found = explain(model, RATED.users.name(6), item=9)
    mine = RATED.item[RATED.user == 6]
    p = model.items[9].astype(float)
    assert of_items(found) == pytest.approx({int(j): p @ model.history[j] / np.sqrt(len(mine)) for j in mine}, abs=1e-6)
    assert model.users is not None
    assert model.bias is not None
    assert model.user_bias is not None
    assert others(found) == pytest.approx({
        "own vector": p @ model.users[6].astype(float), "item bias": model.bias[9], "user bias": model.user_bias[6],
        "offset": model.offset,
    }, abs=1e-6)  # fmt: skip


@pytest.mark.parametrize("make", [IALS, AllRank, AllRankBinary])
def test_training_leaves_little_where_users_are_solved_for_last(make: Any) -> None:
    """Nothing by exact solves; by three steps of conjugate gradients under a twentieth of the score's size."""
    for solver, most in (("exact", 2e-6), ("cg", 0.05)):
        model = make(factors=6, solver=solver).fit(RATED)
        size = np.abs(model.scores(np.arange(50, dtype=np.int32))).max()
        left = [
            abs(others(explain(model, RATED.users.name(user), item=RATED.items.name(item)))["training"])
            for user in range(0, 50, 7) for item in range(0, 40, 7)
        ]  # fmt: skip
        assert max(left) < most * size


def test_what_training_leaves_is_told() -> None:
    model = RSVD(factors=5, epochs=2).fit(RATED)
    found = explain(model, RATED.users.name(3), item=5)
    assert abs(others(found)["training"]) > 1e-3
    assert "is training, the vector that training left, less the one that the history alone gives" in found.sentence


def test_benefit_and_opportunity_cost() -> None:
    model = OpportunityCost(factors=5, sweeps=4).fit(OFFERED)
    user, (item, other) = OFFERED.users.name(3), OFFERED.items.names[[5, 9]].tolist()
    found = explain(model, user, item=item)
    beside = model.rank_offers(user, [item, other])
    benefit = beside.benefit[beside.items.index(item)]
    assert others(found) == pytest.approx({"benefit": benefit, "opportunity cost": -model.alpha[3] * benefit})
    assert model.alpha[3] != 0
    alone = explain(SessionCost(factors=5, epochs=2).fit(OFFERED), user, item=item)
    assert list(others(alone)) == ["benefit"]  # without a context nothing is given up


def test_one_list_for_everybody() -> None:
    found = explain(Bestseller(by="count").fit(RATED), RATED.users.name(0), item=7)
    assert others(found) == {"everybody": RATED.popularity[7]}
    model = PersonalFrequency().fit(RATED)
    taken = int(RATED.item[RATED.user == 2][0])
    found = explain(model, RATED.users.name(2), item=taken)
    assert of_items(found) == {taken: RATED.by_user()[2, taken]}
    assert others(found) == {"everybody": pytest.approx(model.items[taken])}
    assert of_items(explain(model, history={3: 2.0}, item=7)) == {}


def test_the_rest_of_a_history_is_one_part() -> None:
    model = ItemCF().fit(RATED)
    whole = explain(model, RATED.users.name(4), item=8)
    few = explain(model, RATED.users.name(4), item=8, n=3)
    large = dict(list(of_items(whole).items())[:3])
    assert of_items(few) == large
    assert few.parts[-1].name == "other items"
    assert others(few) == {"other items": pytest.approx(whole.score - sum(large.values()))}
    assert explain(model, RATED.users.name(4), item=8, n=10_000) == whole
    assert few.to_frame().columns == ["name", "item", "value", "part"]
    assert few.to_frame()["part"].sum() == pytest.approx(few.score)


def test_in_words() -> None:
    took = Interactions.of([1, 1, 1, 1, 1, 2, 2], ["a", "b", "c", "d", "z", "a", "z"])
    model = ItemCF(shrink=0, user_weight=0).fit(took)
    found = explain(model, history=["a", "b", "c", "d"], item="z")
    said = "'z' scores 3.121: 1 from 'a', 0.707 from 'b', 0.707 from 'c'; 0.707 from the rest of the history."
    assert found.sentence == said
    assert explain(model, history=["a", "b", "c", "d"], item="z", n=3).sentence == said
    assert "1 from 'a'; 2.12 from the rest" in explain(model, history=["a", "b", "c", "d"], item="z", n=1).sentence
    rated = IALS(factors=4, relevant=4).fit(RATED)
    assert explain(rated, history={1: 5, 2: 1, 3: 2}, item=7).sentence.endswith("; not counted of the history: 2.")


def test_of_somebody_unknown_popularity_is_explained() -> None:
    model = IALS(factors=4, relevant=4).fit(RATED)
    for nobody in ({"user": "nobody"}, {"history": []}, {"history": {3: 1.0}}):
        found = explain(model, item=7, **nobody)  # type: ignore[arg-type]
        assert (found.score, found.fallback) == (RATED.popularity[7], "popular")
        assert others(found) == {"popularity": RATED.popularity[7]}
        assert found.sentence.startswith("nothing is known of this person; 7 is given for its popularity")
        assert fullrank.recommend(model, **nobody).fallback == "popular"  # type: ignore[arg-type]


def test_numbers_that_are_too_short_are_told() -> None:
    """Hardly regularised, the weights of people on people in float32 do not give those of items to six digits."""
    model = EASE(reg=0.05, binary=False, solver="dual").fit(RATED)
    found = explain(model, RATED.users.name(4), item=8)
    assert "rounding" in others(found)
    assert total(found) == pytest.approx(found.score)


@pytest.mark.parametrize("name", sorted(NO_PARTS))
def test_scores_without_parts_are_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(DataError, match=f"^{name}: .*; explain a model of [A-Z].*$"):
        explain(fitted(short(name)), RATED.users.name(0), item=7)


def test_faults() -> None:
    model = IALS(factors=4).fit(RATED.catalogue(items=[1000]))
    assert explain(model, RATED.users.name(0), item=1000).score == 0  # without feedback, and all parts are 0
    logistic = AllRankBinary(factors=3, sweeps=2, loss="logistic").fit(RATED)
    with pytest.raises(DataError, match=r"^AllRankBinary: .*loss='squared'"):
        explain(logistic, RATED.users.name(0), item=7)
    filtered = PostFiltered(IALS(factors=4), lambda data: data.user % 2).fit(RATED).at(1)
    with pytest.raises(DataError, match=r"^IALS: .*model\.model"):
        explain(filtered, RATED.users.name(0), item=7)
    for both in ({}, {"user": 1, "history": [3]}):
        with pytest.raises(ParameterError, match="either a user or a history"):
            explain(model, item=7, **both)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="unknown id 'gin'"):
        explain(model, RATED.users.name(0), item="gin")
    with pytest.raises(DataError, match="unknown ids, the first is 'gin'"):
        explain(model, history=["gin"], item=7)
    with pytest.raises(DataError, match="NaN or infinite"):
        explain(model, history={3: float("nan")}, item=7)
    with pytest.raises(ParameterError, match="'n' parameter must be an integer >= 1"):
        explain(model, RATED.users.name(0), item=7, n=0)
