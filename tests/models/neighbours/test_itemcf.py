"""Item-based collaborative filtering against its definition, written out densely."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fullrank
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ParameterError, StorageError
from fullrank.kernels import cooccurrence as kernels
from fullrank.metrics import rr
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.neighbours import cooccurrence as columns
from fullrank.models.neighbours.itemcf import KRICHENE_Y, KRICHENE_Z, ItemCF
from fullrank.testing.checkerboard import checkerboard

Dense = NDArray[np.float64]
COSINE = ItemCF(voters=None, shrink=0, user_weight=0)  # and nothing else


def feedback(kind: str, seed: int = 0) -> Interactions:
    """Small random data full of ties; "sparse" has lists much shorter than the catalogue, and items nobody took."""
    rng = np.random.default_rng(seed)
    users, items, share = {"dense": (25, 14, 0.4), "sparse": (40, 150, 0.015), "signed": (30, 40, 0.3)}[kind]
    user, item = np.nonzero(rng.random((users, items)) < share)
    value = rng.integers(-2 if kind == "signed" else 1, 6, len(user))  # 0 is a value too
    return Interactions.of(user, item, value, users=Ids.numbered(users), items=Ids.numbered(items))


def matrix(data: Interactions, binary: bool) -> Dense:
    x = np.zeros((data.n_users, data.n_items))
    x[data.user, data.item] = 1 if binary or data.value is None else data.value
    return x


def chances(s: Dense, k: int | None, ties: str) -> Dense:
    """Of every column j the chance of each i to be among its k largest entries above 0."""
    out = (s > 0).astype(float)
    for j in range(s.shape[1]) if k is not None else ():
        column = np.round(s[:, j], 12)  # equal fractions, whatever their rounding
        order = [i for i in sorted(range(len(column)), key=lambda i: (-column[i], i)) if column[i] > 0]
        if len(order) > k:
            bar = column[order[k - 1]]
            above = int((column > bar).sum())
            tied = [i for i in order if column[i] == bar]
            out[:, j] = column > bar
            out[tied, j] = (k - above) / len(tied) if ties == "share" else [i in order[:k] for i in tied]
    return out


def definition(recipe: ItemCF, data: Interactions) -> Dense:
    """s_ij with scored items as rows, from the docstring."""
    x = matrix(data, recipe.binary)
    taken = np.bincount(data.user, minlength=data.n_users)
    dots = x.T @ (x * np.maximum(taken, 1.0)[:, None] ** -recipe.user_weight)
    length = np.sqrt((x * x).sum(axis=0))
    lengths = np.where(np.outer(length, length) > 0, np.outer(length, length), 1)
    cosine = np.maximum(dots, 0) / (lengths + recipe.shrink)
    if not recipe.keep_self:
        np.fill_diagonal(cosine, 0)
    s = cosine**recipe.power
    s = s * chances(cosine, recipe.neighbours, recipe.ties) * chances(cosine, recipe.voters, recipe.ties).T
    if recipe.scale is not None:
        size = np.sqrt((s**2).sum(axis=1)) if recipe.scale == "unit" else s.sum(axis=1)
        s /= np.where(size > 0, size, 1)[:, None]
    return s


def dense(model: ItemItem) -> Dense:
    similar: Any = model.similar
    return np.asarray(similar if isinstance(similar, np.ndarray) else similar.toarray(), dtype=np.float64)


def same_bytes(one: ItemItem, other: ItemItem) -> bool:
    a, b = one.similar, other.similar
    if isinstance(a, np.ndarray):
        return a.tobytes() == b.tobytes()
    return all(getattr(a, part).tobytes() == getattr(b, part).tobytes() for part in ("indptr", "indices", "data"))


FAIR = ItemCF(neighbours=5, scale=None, shrink=10, user_weight=0.5)
ORDERLESS = [KRICHENE_Y, KRICHENE_Z, FAIR, ItemCF(neighbours=3, voters=4), ItemCF(2, 5, binary=False)]
LIMITS = [(None, None), (1, None), (3, None), (None, 2), (4, 3), (1000, None)]


@pytest.mark.parametrize("kind", ["dense", "sparse", "signed"])
@pytest.mark.parametrize(("neighbours", "voters"), LIMITS)
def test_is_its_definition(kind: str, neighbours: int | None, voters: int | None) -> None:
    data = feedback(kind)
    choices = product((1.0, 2.5), (True, False), ("unit", "sum", None), ("share", "first"), (True, False))
    for power, keep_self, scale, ties, binary in choices:
        recipe = ItemCF(power, neighbours, voters, keep_self, scale, ties, binary)  # type: ignore[arg-type]
        model = recipe.fit(data)
        expected = definition(recipe, data)
        np.testing.assert_allclose(dense(model), expected.T, atol=2e-6, err_msg=str(recipe))
        scores = matrix(data, binary) @ expected.T
        np.testing.assert_allclose(model.scores(np.arange(data.n_users)), scores, atol=2e-5)


@pytest.mark.parametrize("kind", ["dense", "sparse", "signed"])
@pytest.mark.parametrize(("shrink", "user_weight"), [(3.0, 0.0), (0.0, 0.5), (10, 0.5), (0.5, 1)])
def test_is_its_definition_with_a_shrink_and_weighted_users(kind: str, shrink: float, user_weight: float) -> None:
    data = feedback(kind)
    limits = LIMITS[:1] if kind == "sparse" and not shrink else LIMITS  # weighted sums tie there but for rounding
    for (neighbours, voters), scale, binary, ties in product(limits, ("unit", None), (True, False), ("share", "first")):
        recipe = ItemCF(1.5, neighbours, voters, scale=scale, ties=ties, binary=binary, shrink=shrink,
                        user_weight=user_weight)  # type: ignore[arg-type]  # fmt: skip
        expected = definition(recipe, data)
        np.testing.assert_allclose(dense(recipe.fit(data)), expected.T, atol=2e-6, err_msg=str(recipe))


def test_a_shrink_and_weighted_users_by_hand() -> None:
    """Ann took both and two more, Bob both: 4^-1/2 + 2^-1/2 over 2 + 3; both lengths are sqrt(2) as ever."""
    data = Interactions.of(["ann"] * 4 + ["bob"] * 2, [0, 1, 2, 3, 0, 1])
    similar = ItemCF(neighbours=1, scale=None, shrink=3, user_weight=0.5).fit(data).similar.toarray()
    assert similar[0, 1] == similar[1, 0] == pytest.approx((1 / 2 + 1 / np.sqrt(2)) / (2 + 3))


def test_only_what_counts_makes_a_user_count_less() -> None:
    """Ann's two dislikes are no positives of hers."""
    data = Interactions.of(["ann"] * 4, [0, 1, 2, 3], [5, 5, 1, 1])
    similar = replace(COSINE, neighbours=1, relevant=4, user_weight=1).fit(data).similar.toarray()
    assert similar[0, 1] == pytest.approx(1 / 2)


def test_neither_shrink_nor_weights_are_the_plain_cosine_to_the_bit() -> None:
    for kind, k in product(("dense", "sparse", "signed"), (None, 4)):
        data = feedback(kind)
        model = replace(COSINE, neighbours=k).fit(data)
        x = matrix(data, binary=True)
        lengths = np.sqrt(np.maximum((x**2).sum(axis=0), 1))
        cosine2 = (x.T @ x) ** 2 / np.outer(lengths, lengths) ** 2
        np.fill_diagonal(cosine2, 0)
        kept = dense(model) > 0
        np.testing.assert_array_equal(dense(model)[kept] > 0, np.sqrt(cosine2)[kept] > 0)
        if k is None:
            np.testing.assert_array_equal(dense(model), np.sqrt(cosine2).astype(np.float32))


def test_no_limit_is_a_limit_of_all_items() -> None:
    data = feedback("signed")
    for binary in (True, False):
        every, limited = (ItemCF(2, k, binary=binary).fit(data) for k in (None, data.n_items))
        np.testing.assert_allclose(dense(every), dense(limited), atol=1e-7)


def test_ties_share_the_places_that_are_left() -> None:
    # item 0 is taken with 1, 2, 3 by one person each, and with 4 by two: 2 places, one of them for 1, 2 or 3
    user = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    item = [0, 1, 0, 2, 0, 3, 0, 4, 0, 4]
    data = Interactions.of(user, item)
    shared = replace(COSINE, neighbours=2).fit(data).similar.toarray()[0]
    cosine, top = 1 / np.sqrt(5), 2 / np.sqrt(10)
    assert shared == pytest.approx([0, cosine / 3, cosine / 3, cosine / 3, top])
    first = replace(COSINE, neighbours=2, ties="first").fit(data).similar
    assert first.toarray()[0] == pytest.approx([0, cosine, 0, 0, top])
    assert np.diff(first.indptr).max() == 2


def test_equal_cosines_of_different_counts_are_ties() -> None:
    taken = {0: range(3), 1: range(1), 2: range(9)}  # item: its users
    assert 1 / np.sqrt(3 * 1) != 3 / np.sqrt(3 * 9)  # as floats; as fractions both are 1/3 squared
    pairs = [(user, item) for item, users in taken.items() for user in users]
    similar = replace(COSINE, neighbours=1).fit(Interactions.of(*zip(*pairs, strict=True))).similar.toarray()
    assert similar[0, 1] == similar[0, 2] == pytest.approx(1 / np.sqrt(3) / 2)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("recipe", ORDERLESS)
def test_nothing_depends_on_the_order_of_items(recipe: ItemCF, kind: str) -> None:
    data = feedback(kind)
    order = np.random.default_rng(1).permutation(data.n_items)
    moved = Interactions.of(
        data.user, order[data.item], data.value, users=Ids.numbered(data.n_users), items=Ids.numbered(data.n_items)
    )
    np.testing.assert_allclose(dense(recipe.fit(moved))[np.ix_(order, order)], dense(recipe.fit(data)), rtol=1e-6)


@pytest.mark.identical
def test_same_bytes_for_any_threads_parts_and_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fullrank.threads()
    for kind, recipe in product(
        ("dense", "sparse"), (KRICHENE_Y, KRICHENE_Z, FAIR, ItemCF(neighbours=2, voters=3, binary=False))
    ):
        data = feedback(kind)
        shuffled = np.random.default_rng(2).permutation(len(data))
        value = None if data.value is None else data.value[shuffled]
        again = Interactions.of(
            data.user[shuffled], data.item[shuffled], value, users=data.users, items=data.items
        )  # fmt: skip
        expected = recipe.fit(data)
        scores = expected.scores(np.arange(data.n_users))
        with monkeypatch.context() as patch:
            for steps, room, rows in ((1, 1, 1), (50, 100, 5)):
                patch.setattr(columns, "STEPS", steps)
                patch.setattr(columns, "PARTS", 1 << 30)
                patch.setattr(columns, "ROOM", room)
                patch.setattr(columns, "ROWS", rows)
                for threads in (1, 2, 4):
                    fullrank.threads(threads)
                    model = recipe.fit(again)
                    assert same_bytes(model, expected)
                    assert model.scores(np.arange(data.n_users)).tobytes() == scores.tobytes()
    fullrank.threads(before)


def test_full_buffers_are_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for one item's neighbours only, every part is made of many pieces."""
    data = feedback("signed")
    expected = replace(COSINE, neighbours=20).fit(data)
    monkeypatch.setattr(columns, "ROOM", 1)
    whole = columns.Columns.of(data, True)
    pieces = list(whole.nearest(0, data.n_items, 20, keep_self=False, share=True))
    assert len(pieces) > 5
    assert np.concatenate([piece[1] for piece in pieces]).tobytes() == expected.similar.indices.tobytes()


@pytest.mark.parametrize(
    "recipe", [KRICHENE_Y, KRICHENE_Z, ItemCF(binary=False), ItemCF(neighbours=None, binary=False)]
)
def test_a_new_history_scores_as_a_known_one(recipe: ItemCF) -> None:
    data = feedback("dense")
    model = recipe.fit(data)
    assert data.value is not None
    for user in range(data.n_users):
        mine = data.user == user
        new = model.history_scores(data.item[mine], data.value[mine])
        assert new.tobytes() == model.scores([user])[0].tobytes()  # type: ignore[arg-type]
    assert not model.history_scores(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)).any()


def test_codes_outside_are_refused() -> None:
    model = KRICHENE_Z.fit(feedback("dense"))
    with pytest.raises(DataError, match=r"item code 99 is outside 0\.\.13"):
        model.history_scores(np.array([99]), np.ones(1, dtype=np.float32))
    with pytest.raises(DataError, match="a history of 2 items has 1 values"):
        model.history_scores(np.array([1, 2]), np.ones(1, dtype=np.float32))
    with pytest.raises(DataError, match="user code -1"):
        model.scores(np.array([-1]))


def test_each_kernel_has_one_signature() -> None:
    from fullrank.kernels.warmup import warmup

    list(warmup())
    split = fullrank.holdout(feedback("signed"), 0.3)
    every = (KRICHENE_Y, KRICHENE_Z, ItemCF(voters=2, binary=False), ItemCF(neighbours=None, binary=False), FAIR)
    for recipe in (*every, replace(FAIR, shrink=10), replace(FAIR, user_weight=1, neighbours=None)):
        model = recipe.fit(split.train)
        fullrank.rank(model, split)
        model.scores([1, 2])  # type: ignore[arg-type]
        model.history_scores(np.array([1, 2]), np.ones(2))  # type: ignore[arg-type]
    wide = ItemCF().fit(split.train)
    wide.similar.indices = wide.similar.indices.astype(np.int64)
    wide.similar.indptr = wide.similar.indptr.astype(np.int64)
    assert wide.scores([0]).tobytes() == ItemCF().fit(split.train).scores([0]).tobytes()  # type: ignore[arg-type]
    for kernel in (kernels.add_dense, kernels.add_sparse, kernels.dots_block, kernels.nearest_block):
        assert len(kernel.signatures) == 1, kernel  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "recipe", [KRICHENE_Y, KRICHENE_Z, ItemCF(), ItemCF(scale=None), ItemCF(scale="sum"), ItemCF(voters=5), FAIR]
)
def test_finds_the_missing_square(recipe: ItemCF) -> None:
    for split in (checkerboard(50), checkerboard(51, value=4)):
        assert (rr(fullrank.rank(recipe.fit(split.train), split)) == 1).all()


def test_a_large_catalogue_needs_little_memory() -> None:
    """100,000 items: all pairs would take 40 GB."""
    rng = np.random.default_rng(0)
    n = 100_000
    data = Interactions.of(
        np.repeat(np.arange(20_000), 10), (n * rng.random(200_000) ** 3).astype(int), items=Ids.numbered(n)
    )
    data.by_item()
    tracemalloc.start()
    similar = ItemCF(neighbours=10).fit(data).similar
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
    chosen = int(data.item[0])
    x = data.by_user()
    dots = (x.T @ x[:, [chosen]]).toarray().ravel()  # one column, by itself
    taken = np.bincount(data.item, minlength=n)
    cosine = dots / np.sqrt(np.maximum(taken * taken[chosen], 1))
    cosine[chosen] = 0
    assert set(np.flatnonzero(cosine > np.sort(cosine)[-11])) <= set(similar[[chosen]].indices)


def test_too_many_items_are_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullrank.runtime.memory.available", lambda: 100.0)
    with pytest.raises(StorageError, match="ItemCF: similarities among all 14 items"):
        ItemCF(voters=None).fit(feedback("dense"))
    with pytest.raises(StorageError, match="ItemCF: about 42 similarities of 14 items need about"):
        ItemCF(neighbours=3, voters=None).fit(feedback("dense"))


@pytest.mark.parametrize("limits", [{}, {"neighbours": 30, "voters": None}, {"neighbours": 150}])
def test_memory_stays_within_what_is_told(limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    n = 6000
    item = (n * rng.random(60_000) ** 2).astype(int)
    data = Interactions.of(np.repeat(np.arange(600), 100), item, duplicates="first")
    told: list[float] = []
    monkeypatch.setattr("fullrank.models.neighbours.cooccurrence.check_fits", lambda needed, *_: told.append(needed))
    ItemCF(**limits).fit(data)
    tracemalloc.start()
    similar = ItemCF(**limits).fit(data).similar
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert similar.nnz * 8 < peak < told[-1]


@pytest.mark.parametrize(
    ("wrong", "must_be"),
    [
        ({"power": 0}, "a number > 0. Got 0"),
        ({"power": float("nan")}, "a number > 0"),
        ({"power": "3"}, "a number > 0. Got '3'"),
        ({"neighbours": 0}, "an integer >= 1. Got 0"),
        ({"neighbours": 2.5}, "an integer >= 1"),
        ({"voters": -1}, "an integer >= 1. Got -1"),
        ({"scale": "none"}, "'unit', 'sum' or None. Got 'none'"),
        ({"ties": "last"}, "'share' or 'first'. Got 'last'"),
        ({"keep_self": 1}, "True or False. Got 1"),
        ({"binary": None}, "True or False. Got None"),
        ({"shrink": -1}, "a number >= 0. Got -1"),
        ({"shrink": float("inf")}, "a number >= 0. Got inf"),
        ({"user_weight": float("nan")}, "a number >= 0. Got nan"),
        ({"user_weight": True}, "a number >= 0. Got True"),
    ],
)
def test_bad_parameters(wrong: dict[str, Any], must_be: str) -> None:
    with pytest.raises(ParameterError) as error:
        ItemCF(**wrong)
    assert str(error.value).startswith(f"The '{next(iter(wrong))}' parameter must be {must_be}")


def test_no_feedback_is_refused() -> None:
    nothing = feedback("dense").where(np.zeros(len(feedback("dense")), dtype=bool))
    with pytest.raises(DataError, match="ItemCF: there is no feedback to train on"):
        ItemCF().fit(nothing)
