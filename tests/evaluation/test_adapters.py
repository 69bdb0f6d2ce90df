"""Models of other libraries: their own lists and predictions are the reference. Tables: dense scores are."""

from __future__ import annotations

import dataclasses
import pickle
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix, identity

import fullrank
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.adapters import Adapted, from_implicit, from_lightfm, from_surprise
from fullrank.evaluation.scoring import ByVectors
from fullrank.evaluation.tables import from_table
from fullrank.metrics import recall
from fullrank.runtime.threads import one_blas_thread
from tests.evaluation.test_rank import problems

N = 10


@pytest.fixture(scope="module")
def split() -> Split[Interactions]:
    """A world of counts 1..3, which weigh the history of item-item models."""
    data = fullrank.simulate.implicit(users=100, items=80, density=0.3, seed=1).data
    counts = np.random.default_rng(0).integers(1, 4, len(data)).astype(np.float32)
    return fullrank.holdout(dataclasses.replace(data, value=counts), 0.3)


def writable(data: Interactions) -> csr_matrix:
    return csr_matrix(data.by_user(), copy=True)


def implicit_model(name: str, split: Split[Interactions]) -> Any:
    implicit = pytest.importorskip("implicit", reason="implicit is in the test extra")
    make = {
        "als": lambda: implicit.als.AlternatingLeastSquares(factors=8, iterations=5, random_state=0, num_threads=1),
        "als64": lambda: implicit.als.AlternatingLeastSquares(
            factors=8, iterations=5, random_state=0, num_threads=1, dtype=np.float64
        ),
        "bpr": lambda: implicit.bpr.BayesianPersonalizedRanking(
            factors=8, iterations=30, learning_rate=0.1, random_state=0, num_threads=1
        ),
        "lmf": lambda: implicit.lmf.LogisticMatrixFactorization(
            factors=8, iterations=10, random_state=0, num_threads=1
        ),
        "cosine": lambda: implicit.nearest_neighbours.CosineRecommender(K=20, num_threads=1),
        "tfidf": lambda: implicit.nearest_neighbours.TFIDFRecommender(K=20, num_threads=1),
        "bm25": lambda: implicit.nearest_neighbours.BM25Recommender(K=20, num_threads=1),
    }[name]
    with one_blas_thread(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Method expects CSR input", implicit.utils.ParameterWarning)
        model = make()  # implicit warns of BLAS with several threads
        model.fit(writable(split.train), show_progress=False)
    return model


@pytest.mark.parametrize("name", ["als", "als64", "bpr", "lmf", "cosine", "tfidf", "bm25"])
def test_lists_of_implicit(name: str, split: Split[Interactions]) -> None:
    model = implicit_model(name, split)
    adapted = from_implicit(model, split.train)
    everyone = np.arange(split.train.n_users)
    theirs, their_scores = model.recommend(everyone, writable(split.train), N=N, filter_already_liked_items=True)
    # an item-item model pads short lists with -1, and with items already liked at a score of 0
    real = their_scores > (0 if hasattr(model, "similarity") else -1e38)
    ours = fullrank.top(adapted, split, N)
    scores = adapted.scores(everyone)
    np.testing.assert_allclose(np.take_along_axis(scores, theirs, 1)[real], their_scores[real], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.score[real], their_scores[real], rtol=1e-5, atol=1e-6)
    distinct = np.ones_like(real)
    distinct[:, 1:] &= np.diff(their_scores) < -1e-5
    distinct[:, :-1] &= np.diff(their_scores) < -1e-5
    distinct[:, -1] = False  # it may tie with what follows
    assert (distinct & real).mean() > 0.6
    assert (ours.item == theirs)[distinct & real].all()


@pytest.mark.parametrize("name", ["als", "bpr", "bm25"])
def test_recall_from_the_lists_of_implicit(name: str, split: Split[Interactions]) -> None:
    model = implicit_model(name, split)
    ranks = fullrank.rank(from_implicit(model, split.train), split)
    assert ranks.about.model == type(model).__name__
    lists, scores = model.recommend(ranks.user, writable(split.train)[ranks.user], N=N)
    assert (scores > 0).all() or name != "bm25"  # full lists, without padding
    found = [
        len(set(split.held_out.item[split.held_out.user == user]) & set(row)) / (split.held_out.user == user).sum()
        for user, row in zip(ranks.user, lists, strict=True)
    ]
    assert 0.1 < np.mean(found) < 0.9
    assert (recall @ N)(ranks).tolist() == pytest.approx(found)


def test_a_cold_user_of_an_item_item_model_has_ties_only(split: Split[Interactions]) -> None:
    train = split.train.where(split.train.user != 3)
    model = implicit_model("cosine", Split(train, split.held_out))
    assert not from_implicit(model, train).scores([3]).any()
    assert from_implicit(model, train).scores([2]).any()


class Factored:
    """As implicit's models are: on a GPU, its factors are objects with `to_numpy`."""

    def __init__(self, users: Any, items: Any) -> None:
        self.user_factors, self.item_factors = users, items


class OnGpu:
    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def to_numpy(self) -> np.ndarray:
        return self._array


def test_factors_on_a_gpu(split: Split[Interactions]) -> None:
    rng = np.random.default_rng(3)
    users, items = rng.standard_normal((100, 4)).astype(np.float16), rng.standard_normal((80, 4)).astype(np.float16)
    adapted = from_implicit(Factored(OnGpu(users), OnGpu(items)), split.train)
    expected = users.astype(np.float32), items.astype(np.float32)
    np.testing.assert_allclose(adapted.scores(range(100)), expected[0] @ expected[1].T, rtol=1e-5, atol=1e-6)
    assert fullrank.rank(adapted, split) == fullrank.rank(expected, split)
    assert fullrank.rank(adapted, split, block=7) == fullrank.rank(adapted, split)
    assert fullrank.rank(pickle.loads(pickle.dumps(adapted)), split) == fullrank.rank(adapted, split)


def test_refusals_of_models(split: Split[Interactions]) -> None:
    small = Factored(np.zeros((80, 4)), np.zeros((100, 4)))
    with pytest.raises(DataError, match=r"Factored has 80 users and 100 items, the data has 100 and 80; pass"):
        from_implicit(small, split.train)
    with pytest.raises(DataError, match="Factored has neither factors nor similarities; fit it"):
        from_implicit(Factored(None, None), split.train)
    item_item = Factored(None, None)
    item_item.similarity = csr_array((79, 79))  # type: ignore[attr-defined]
    with pytest.raises(DataError, match="Factored has 100 users and 79 items, the data has 100 and 80"):
        from_implicit(item_item, split.train)
    fine = from_implicit(Factored(np.zeros((100, 4)), np.zeros((80, 4))), split.train)
    other = fullrank.holdout(fullrank.simulate.implicit(users=100, items=50, density=0.3).data, 0.3)
    with pytest.raises(DataError, match="was adapted to 100 users and 80 items, other than"):
        fullrank.rank(fine, other)
    with pytest.raises(DataError, match=r"user code 100 is outside 0\.\.99"):
        fine.scores([100])
    with pytest.raises(DataError, match="Unfitted has no trainset; fit it"):
        from_surprise(type("Unfitted", (), {})(), split.train)


class Representing:
    """As LightFM is: representations are features times embeddings."""

    def __init__(self, users: int, items: int) -> None:
        rng = np.random.default_rng(4)
        self.of_users = rng.standard_normal(users, np.float32), rng.standard_normal((users, 5), np.float32)
        self.of_items = rng.standard_normal(items, np.float32), rng.standard_normal((items, 5), np.float32)

    def get_user_representations(self, features: Any = None) -> tuple[np.ndarray, np.ndarray]:
        return self.of_users if features is None else tuple(features @ part for part in self.of_users)  # type: ignore[return-value]

    def get_item_representations(self, features: Any = None) -> tuple[np.ndarray, np.ndarray]:
        return self.of_items if features is None else tuple(features @ part for part in self.of_items)  # type: ignore[return-value]


def test_representations_with_biases(split: Split[Interactions]) -> None:
    model = Representing(100, 80)
    (user_bias, users), (item_bias, items) = model.of_users, model.of_items
    adapted = from_lightfm(model, split.train)
    expected = users @ items.T + user_bias[:, None] + item_bias
    np.testing.assert_allclose(adapted.scores(range(100)), expected, rtol=1e-4, atol=1e-5)
    features = csr_array(np.random.default_rng(5).random((80, 80), dtype=np.float32))
    mixed = from_lightfm(model, split.train, item_features=features)
    expected = users @ (features @ items).T + user_bias[:, None] + features @ item_bias
    np.testing.assert_allclose(mixed.scores(range(100)), expected, rtol=1e-4, atol=1e-4)
    with pytest.raises(DataError, match="Representing has 100 users and 80 items, the data has 100 and 81; pass"):
        from_lightfm(model, split.train.catalogue(items=[999]))


@pytest.mark.parametrize("with_features", [False, True])
def test_predictions_of_lightfm(split: Split[Interactions], with_features: bool) -> None:
    lightfm = pytest.importorskip("lightfm", reason="LightFM has no wheels; run in a venv with lightfm-next")
    rng = np.random.default_rng(6)
    features = csr_matrix(rng.random((80, 3)) < 0.5, dtype=np.float32)
    given = {"item_features": csr_matrix(np.hstack([identity(80).toarray(), features.toarray()]), dtype=np.float32)}
    given = given if with_features else {}
    model = lightfm.LightFM(no_components=8, loss="warp", random_state=0)
    model.fit(csr_matrix(writable(split.train) > 0, dtype=np.float32).tocoo(), epochs=5, **given)
    adapted = from_lightfm(model, split.train, **given)
    pairs = np.repeat(np.arange(100, dtype=np.int32), 80), np.tile(np.arange(80, dtype=np.int32), 100)
    predicted = model.predict(*pairs, **given).reshape(100, 80)
    np.testing.assert_allclose(adapted.scores(range(100)), predicted, rtol=1e-4, atol=1e-5)
    assert np.abs(model.get_item_representations()[0]).max() > 0.01
    ours, theirs = fullrank.rank(adapted, split), fullrank.rank(predicted, split)
    assert (recall @ N)(ours).mean() == pytest.approx((recall @ N)(theirs).mean())


def trained(make: Any, data: Interactions, kind: type) -> Any:
    surprise = pytest.importorskip("surprise", reason="scikit-surprise is in the test extra")
    names = [[kind(name) for name in ids.names[codes].tolist()] for ids, codes in
             ((data.users, data.user), (data.items, data.item))]  # fmt: skip
    frame = pd.DataFrame({"user": names[0], "item": names[1], "value": data.value})
    rows = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5))).build_full_trainset()
    return make(surprise).fit(rows)


@pytest.fixture(scope="module")
def ratings() -> Interactions:
    """Ratings, with users 3 and 90 and items 5 and 91 of which there is none."""
    data = fullrank.simulate.ratings(users=30, items=25, density=0.3, seed=2).data
    return data.where((data.user != 3) & (data.item != 5)).catalogue([90], [91])


ALGORITHMS = {
    "svd": lambda surprise: surprise.SVD(n_factors=5, random_state=0),
    "svd unbiased": lambda surprise: surprise.SVD(n_factors=5, biased=False, random_state=0),
    "svd++": lambda surprise: surprise.SVDpp(n_factors=5, n_epochs=5, random_state=0),
    "nmf": lambda surprise: surprise.NMF(n_factors=5, random_state=0),
    "nmf biased": lambda surprise: surprise.NMF(n_factors=5, biased=True, random_state=0),
    "knn": lambda surprise: surprise.KNNBasic(verbose=False),
    "baseline": lambda surprise: surprise.BaselineOnly(verbose=False),
}


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_predictions_of_surprise(name: str, kind: type, ratings: Interactions) -> None:
    algo = trained(ALGORITHMS[name], ratings, kind)
    adapted = from_surprise(algo, ratings)
    expected = [[algo.predict(kind(u), kind(i), clip=False).est for i in ratings.items] for u in ratings.users]
    found = adapted.scores(range(ratings.n_users))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert len(np.unique(found[:2])) > 10
    assert adapted.unknown == {"users": 2, "items": 2}
    assert adapted.notes == ("2 users and 2 items are unknown to the model, which has a default for such",)
    assert adapted.name == type(algo).__name__
    assert isinstance(adapted.given, ByVectors) == (name not in ("knn", "baseline"))


def test_an_algorithm_with_its_own_estimate_is_asked(ratings: Interactions) -> None:
    def make(surprise: Any) -> Any:
        class SVD(surprise.SVD):  # type: ignore[misc,name-defined]
            def estimate(self, u: Any, i: Any) -> float:
                return float(-super().estimate(u, i))

        return SVD(n_factors=5, random_state=0)

    plain, turned = (trained(one, ratings, int) for one in (ALGORITHMS["svd"], make))
    expected = -from_surprise(plain, ratings).scores(range(ratings.n_users))
    np.testing.assert_allclose(from_surprise(turned, ratings).scores(range(ratings.n_users)), expected, rtol=1e-6)
    split = fullrank.holdout(ratings, 0.3)
    assert fullrank.rank(from_surprise(turned, ratings), split, block=3) == fullrank.rank(expected, split)


def test_an_algorithm_of_other_names_is_refused(ratings: Interactions) -> None:
    algo = trained(ALGORITHMS["svd"], ratings, int)
    other = Interactions.of(["ann"], [1], [5])
    with pytest.raises(DataError, match=r"SVD knows no user of the data, whose names are Ids\(1: 'ann'\); fit"):
        from_surprise(algo, other)


@given(problem=problems(), seed=st.integers(0, 999), block=st.sampled_from([None, 1]))
def test_a_table_ranks_as_its_scores_do(problem: tuple, seed: int, block: int | None) -> None:
    scores, split = problem
    rng = np.random.default_rng(seed)
    there = rng.random(scores.shape) < 0.6
    there[0, 0] = True
    user, item = np.nonzero(there)
    shuffled = rng.permutation(len(user))
    user, item = user[shuffled], item[shuffled]
    scores = scores.astype(np.float64) - 2
    table = {"user": user, "item": item, "score": scores[user, item]}
    dense = np.where(there, scores, -3).astype(np.float32)
    adapted = from_table(table, split.train)
    assert fullrank.rank(adapted, split, block=block) == fullrank.rank(dense, split)
    assert fullrank.top(adapted, split, 3).item.tolist() == fullrank.top(dense, split, 3).item.tolist()


def names() -> Interactions:
    return Interactions.of(["ann", "bob"], ["jam", "tea"], items=Ids(["jam", "oil", "tea"]))


TABLE = {"user": ["ann", "ann", "bob"], "item": ["tea", "jam", "oil"], "score": [1.5, -2.0, 0.0]}


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_tables_of_all_kinds(frame: Any) -> None:
    found = from_table(frame(TABLE), names())
    assert found.scores([0, 1, 0]).tolist() == [[1, 0, 2], [0, 1, 0], [1, 0, 2]]
    assert (found.name, found.unknown, found.notes) == ("table", {"users": 0, "items": 0, "rows": 0}, ())
    renamed = {"uid": TABLE["user"], "what": TABLE["item"], "est": TABLE["score"], "score": [9, 9, 9]}
    again = from_table(frame(renamed), names(), columns={"user": "uid", "item": "what", "score": "est"})
    assert again.scores([0, 1]).tolist() == [[1, 0, 2], [0, 1, 0]]


@pytest.mark.parametrize(
    "scores",
    [
        [1.0, 1 + 1e-15, -1.0],
        [1e300, 1.7e308, -1.7e308],
        [1e-300, 1e-299, 0.0],
        np.array([2**62, 2**62 + 1, -(2**62)]),
        [Decimal("0.1"), Decimal("0.2"), Decimal("-1.1")],
    ],
)
def test_the_order_is_kept_where_float32_would_not(scores: Any) -> None:
    table = {"user": ["ann"] * 3, "item": ["jam", "oil", "tea"], "score": scores}
    assert from_table(table, names()).scores([0, 1]).tolist() == [[2, 3, 1], [0, 0, 0]]


def test_ties_stay_ties() -> None:
    table = {"user": ["ann"] * 3, "item": ["jam", "oil", "tea"], "score": [0.0, -0.0, 1.0]}
    assert from_table(table, names()).scores([0]).tolist() == [[1, 1, 2]]
    table["score"] = [True, False, True]
    assert from_table(table, names()).scores([0]).tolist() == [[2, 1, 2]]


def test_unknown_names_are_counted() -> None:
    table = {"user": ["ann", "eve", "eve", "bob"], "item": ["tea", "tea", "fig", "fig"], "score": [1, 2, 3, 4]}
    found = from_table(table, names())
    assert found.unknown == {"users": 1, "items": 1, "rows": 3}
    assert found.notes == ("3 rows of the table are left out: 1 users and 1 items are not in the data",)
    assert found.scores([0, 1]).tolist() == [[0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"score": [1, np.nan, 2]}, "user 'ann', item 'jam' has a score that is NaN or infinite"),
        ({"score": [1, 2, -np.inf]}, "user 'bob', item 'oil' has a score that is NaN or infinite"),
        ({"score": [1, None, 2]}, "user 'ann', item 'jam' has a score that is NaN or infinite"),
        ({"score": pd.Series([1, None, 2], dtype="Int64")}, "user 'ann', item 'jam' has a score that is NaN"),
        ({"item": ["tea", "tea", "oil"]}, "user 'ann', item 'tea' is in the table twice; keep one"),
        ({"user": ["x", "y", "z"]}, r"no row of the table has a user and an item of the data; it has Ids\(3: 'x'"),
        ({"user": [1, 2, 3]}, r"it has Ids\(3: 1, 2, 3\), Ids\(3: .*\), the data Ids\(2: 'ann', 'bob'\)"),
        ({"score": ["1", "2", "3"]}, "column 'score' has 3 rows of String; expected 3 numbers"),
        ({"score": [1, 2]}, "column 'score' has 2 rows of Int64; expected 3 numbers"),
        ({"user": ["ann", None, "bob"]}, "row 1: column 'user': user is empty"),
        ({"user": [], "item": [], "score": []}, "no interactions"),
    ],
)
def test_refusals_of_tables(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_table({**TABLE, **changed}, names())


def test_refusals_of_what_is_no_table() -> None:
    with pytest.raises(DataError, match=r"no column 'score' but \['user', 'item'\]; tell it by columns="):
        from_table({"user": ["ann"], "item": ["tea"]}, names())
    with pytest.raises(ParameterError, match="'table' parameter must be a data frame or a dict of columns"):
        from_table("scores.csv", names())
    with pytest.raises(DataError, match="cannot read a int"):
        from_table(7, names())
    with pytest.raises(ParameterError, match="'columns' parameter must be a mapping from user, item and score"):
        from_table(TABLE, names(), columns={"value": "score"})


def test_a_name_of_ones_own() -> None:
    named = dataclasses.replace(from_table(TABLE, names()), name="last year's list")
    assert isinstance(named, Adapted)
    held = Interactions.of(["ann"], ["oil"], users=names().users, items=names().items)
    assert fullrank.rank(named, Split(names(), held)).about.model == "last year's list"
