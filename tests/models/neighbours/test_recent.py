"""Neighbours in the order of time against their definition, written out row by row."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fullrank
from fullrank import ItemCF, RecentItemCF
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ParameterError, StorageError
from fullrank.kernels import cooccurrence as pair_kernels
from fullrank.kernels import sequences as kernels
from fullrank.models.kinds.item_sequences import ItemSequences, fading
from fullrank.models.neighbours import cooccurrence as columns
from fullrank.models.preferences.filters import Filtered

Dense = NDArray[np.float64]


def feedback(ties: bool, seed: int = 0, users: int = 30, items: int = 12, share: float = 0.4) -> Interactions:
    """Random ratings at random times, with many at the same time or all at different ones; nobody took the last."""
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((users, items - 1)) < share)
    time = rng.integers(0, 4, len(user)) if ties else rng.permutation(len(user))
    value = rng.integers(1, 6, len(user))
    return Interactions.of(user, item, value, time, users=Ids.numbered(users), items=Ids.numbered(items))


def places(times: list[int]) -> list[float]:
    """From the first, equal times in the middle of theirs."""
    return [sum(t < own for t in times) + (times.count(own) - 1) / 2 for own in times]


def histories(recipe: RecentItemCF, data: Interactions) -> list[dict[int, float]]:
    """Of every user the places of what counts, by item."""
    assert data.time is not None
    assert data.value is not None
    out = []
    for u in range(data.n_users):
        mine = (data.user == u) & (data.value >= (0 if recipe.relevant is None else float(recipe.relevant)))
        out.append(dict(zip(data.item[mine].tolist(), places(data.time[mine].tolist()), strict=True)))
    return out


def definition(recipe: RecentItemCF, data: Interactions) -> tuple[Dense, Dense]:
    """s_ji and the scores, from the docstring; all neighbours."""
    past = histories(recipe, data)
    s, taken = np.zeros((data.n_items, data.n_items)), np.zeros(data.n_items)
    for mine in past:
        taken[list(mine)] += 1
        for (j, p), (i, q) in product(mine.items(), mine.items()):
            if i != j:
                near = (1 - recipe.nearness) ** max(abs(p - q) - 1, 0)
                s[j, i] += near * (recipe.backward if q < p else 1)
    s /= np.sqrt(np.outer(np.maximum(taken, 1), np.maximum(taken, 1))) + recipe.shrink
    scores = np.zeros((data.n_users, data.n_items))
    for u, mine in enumerate(past):
        for j, p in mine.items():
            scores[u] += (1 - recipe.recency) ** (max(mine.values()) - p) * s[j]
    return s, scores


def dense(model: ItemSequences) -> Any:
    similar: Any = model.similar
    return similar.toarray()


def content(model: ItemSequences) -> list[bytes]:
    similar: Any = model.similar
    arrays = similar.indptr, similar.indices, similar.data, model.moment, model.scores(np.arange(model.train.n_users))
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize(("recency", "nearness"), [(0.2, 0.1), (0, 0), (1, 1), (0.5, 0), (0.0, 0.7)])
def test_is_its_definition(ties: bool, recency: float, nearness: float) -> None:
    data = feedback(ties)
    for backward, shrink, relevant in product((0.25, 0, 1), (30, 0.0), (None, 3)):
        recipe = RecentItemCF(recency, nearness, backward, 1000, shrink, relevant)
        model = recipe.fit(data)
        similar, scores = definition(recipe, data)
        np.testing.assert_allclose(dense(model), similar, rtol=1e-5, atol=1e-7, err_msg=str(recipe))
        np.testing.assert_allclose(model.scores(np.arange(30)), scores, rtol=1e-5, atol=1e-6, err_msg=str(recipe))


def test_only_so_many_neighbours() -> None:
    """Each of the others is smaller; without ties there is nothing to share."""
    data = feedback(ties=False, users=60)
    recipe = RecentItemCF(neighbours=3, shrink=1.7, nearness=0.13)
    kept, (every, _) = dense(recipe.fit(data)), definition(recipe, data)
    for row, expected in zip(kept, every, strict=True):
        best = np.sort(expected)[::-1][:3]
        np.testing.assert_allclose(np.sort(row)[::-1][:3], best, rtol=1e-5)
        assert (row > 0).sum() == (best > 0).sum()


def test_by_hand() -> None:
    """Ann: tea, jam, ham, one after the other. Tea and ham are 2 places apart; Bob has read nothing but tea."""
    data = Interactions.of(["ann"] * 3 + ["bob"], ["tea", "jam", "ham", "tea"], time=[10, 20, 30, 5])
    model = RecentItemCF(recency=0.2, nearness=0.1, backward=0.25, shrink=3).fit(data)
    ham, jam, tea = data.items.codes(["ham", "jam", "tea"])
    s = dense(model)
    assert s[tea, jam] == pytest.approx(1 / (np.sqrt(2) + 3))
    assert s[tea, ham] == pytest.approx(0.9 / (np.sqrt(2) + 3))
    assert s[ham, tea] == pytest.approx(0.9 * 0.25 / (np.sqrt(2) + 3))
    assert s[jam, ham] == pytest.approx(1 / (1 + 3))
    ann, bob = model.scores(data.users.codes(["ann", "bob"]))
    assert ann[ham] == pytest.approx(0.8 * s[jam, ham] + 0.8**2 * s[tea, ham])
    assert bob[[jam, ham]].tolist() == pytest.approx(s[tea, [jam, ham]].tolist())
    assert fullrank.recommend(model, "bob").items == ["jam", "ham"]


def test_the_last_followed_by_what_directly_followed_it() -> None:
    """recency=1, nearness=1, backward=0: how often i came right after u's last."""
    data = Interactions.of([1, 1, 1, 2, 2, 3, 3, 4], [1, 2, 3, 2, 3, 2, 4, 2], time=[1, 2, 3, 1, 2, 1, 2, 1])
    model = RecentItemCF(recency=1, nearness=1, backward=0, shrink=0).fit(data)
    codes = data.items.codes([1, 2, 3, 4])
    assert model.scores(data.users.codes([4]))[0, codes] == pytest.approx([0, 0, 2 / np.sqrt(8), 1 / np.sqrt(4)])
    assert not model.scores(data.users.codes([1])).any()


def test_without_order_in_anything_it_is_the_shrunk_cosine() -> None:
    data = feedback(ties=False)
    order = RecentItemCF(recency=0, nearness=0, backward=1, neighbours=100, shrink=5).fit(data)
    cosine: Any = ItemCF(neighbours=100, voters=None, shrink=5, user_weight=0).fit(data).similar
    np.testing.assert_allclose(dense(order), cosine.toarray(), rtol=1e-6)


def test_places_and_weights_are_counted_among_what_counts() -> None:
    """A dislike in between, or as the last, is as if it were not there."""
    liked = Interactions.of([1, 1, 2, 2], [1, 2, 1, 3], [5, 5, 5, 5], [1, 3, 1, 2])
    more = Interactions.of([1, 1, 1, 1, 2, 2], [1, 3, 2, 4, 1, 3], [5, 1, 5, 1, 5, 5], [1, 2, 3, 9, 1, 2])
    one, other = (RecentItemCF(relevant=4, shrink=0).fit(data) for data in (liked, more))
    assert one.scores(np.arange(2)).tolist() == other.scores(np.arange(2))[:, :3].tolist()


@pytest.mark.identical
def test_same_bytes_for_any_threads_parts_and_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fullrank.threads()
    for ties, recipe in product((True, False), (RecentItemCF(neighbours=3), RecentItemCF(1, 1, 0, 100, 0))):
        data = feedback(ties)
        assert data.time is not None
        assert data.value is not None
        mixed = np.random.default_rng(2).permutation(len(data))
        again = Interactions.of(
            data.user[mixed], data.item[mixed], data.value[mixed], data.time[mixed], users=data.users, items=data.items
        )
        expected = content(recipe.fit(data))
        with monkeypatch.context() as patch:
            for steps, room in ((1, 1), (50, 100)):
                patch.setattr(columns, "STEPS", steps)
                patch.setattr(columns, "PARTS", 1 << 30)
                patch.setattr(columns, "ROOM", room)
                for threads in (1, 2, 4):
                    fullrank.threads(threads)
                    assert content(recipe.fit(again)) == expected
    fullrank.threads(before)


def test_nothing_depends_on_the_order_of_items_nor_on_the_unit_of_time() -> None:
    data = feedback(ties=True)
    order = np.random.default_rng(1).permutation(data.n_items)
    assert data.time is not None
    later = data.time.astype(np.int64) / 1e6 * 86400 + 1e9
    moved = Interactions.of(
        data.user, order[data.item], data.value, later, users=Ids.numbered(30), items=Ids.numbered(12)
    )
    recipe = RecentItemCF(neighbours=3)
    np.testing.assert_allclose(dense(recipe.fit(moved))[np.ix_(order, order)], dense(recipe.fit(data)), rtol=1e-6)


def test_data_without_times_is_refused_in_a_sentence_that_says_what_to_use() -> None:
    data = replace(feedback(ties=False), time=None)
    with pytest.raises(DataError) as error:
        RecentItemCF().fit(data)
    assert str(error.value) == ("RecentItemCF: the data has no times to order histories by; read them, or use ItemCF.")
    with pytest.raises(DataError, match="there is no feedback to train on"):
        RecentItemCF().fit(feedback(ties=False).where(np.zeros(len(data), dtype=bool)))


# somebody new, files, updates


def test_of_somebody_new_the_last_given_is_the_latest() -> None:
    data = feedback(ties=False)
    model = RecentItemCF(neighbours=4, relevant=2).fit(data)
    assert data.time is not None
    assert data.value is not None
    for user in range(data.n_users):
        mine = np.flatnonzero(data.user == user)
        mine = mine[np.argsort(data.time[mine])]
        expected = model.scores([user])[0]  # type: ignore[arg-type]
        assert model.history_scores(data.item[mine], data.value[mine]).tobytes() == expected.tobytes()
        named = dict(zip(data.item[mine].tolist(), data.value[mine].tolist(), strict=True))
        known, new = fullrank.recommend(model, user), fullrank.recommend(model, history=named)
        assert known.items == new.items
        assert known.scores == new.scores


def test_a_history_the_other_way_round_is_another_one() -> None:
    model = RecentItemCF(recency=0.9).fit(feedback(ties=False))
    lists = [fullrank.recommend(model, history=history).scores for history in ([1, 2, 3], [3, 2, 1])]
    assert lists[0] != lists[1]
    other = ItemCF().fit(feedback(ties=False))
    assert fullrank.recommend(other, history=[1, 2, 3]) == fullrank.recommend(other, history=[3, 2, 1])


def test_order_survives_a_filter() -> None:
    model = RecentItemCF(recency=0.9).fit(feedback(ties=False))
    filtered = Filtered(model, np.ones(12, dtype=bool))
    for history in ([1, 2, 3], [3, 2, 1]):
        assert fullrank.recommend(filtered, history=history).items == fullrank.recommend(model, history=history).items


def test_files_keep_the_order_and_no_times(tmp_path: Path) -> None:
    model = RecentItemCF(neighbours=3, relevant=3).fit(feedback(ties=True))
    fullrank.save(model, tmp_path / "model.fr")
    again = fullrank.load(tmp_path / "model.fr")
    assert isinstance(again, ItemSequences)
    assert again.train.time is None
    assert content(again) == content(model)


def test_what_no_model_has_is_refused() -> None:
    model = RecentItemCF(neighbours=3).fit(feedback(ties=True))
    with pytest.raises(DataError, match="moments from 0 for the rows"):
        replace(model, moment=model.moment[1:])
    with pytest.raises(DataError, match="moments from 0 for the rows"):
        replace(model, moment=model.moment - 1)
    with pytest.raises(DataError, match=r"recency of the model is 1\.5"):
        replace(model, recency=1.5)


@pytest.mark.parametrize("reload", [True, False])
def test_an_update_is_a_fit_of_everything(reload: bool, tmp_path: Path) -> None:
    """New rows are later than the old ones; a pair in both takes its new place and value."""
    first, second = feedback(ties=True), feedback(ties=True, seed=1)
    names = ["old", "both", *map(str, range(28))], ["both", "new", *map(str, range(28))]
    old, new = (
        Interactions.of(np.array(called)[data.user], data.item, data.value, since + data.time.astype(np.int64) / 1e6)
        for data, called, since in ((first, names[0], 0), (second, names[1], 100))
        if data.time is not None
    )
    again = Interactions.of(*_joined(old, new))
    model = RecentItemCF(neighbours=4, relevant=2).fit(old)
    if reload:
        fullrank.save(model, tmp_path / "model.fr")
        model = fullrank.load(tmp_path / "model.fr")  # type: ignore[assignment]
    updated = fullrank.update(model, new)
    fresh = model.recipe.fit(again)  # type: ignore[attr-defined]
    assert updated.train.items == fresh.train.items
    assert content(updated) == content(fresh)
    with pytest.raises(DataError, match="the new feedback has no times"):
        fullrank.update(model, replace(new, time=None))


def _joined(one: Interactions, other: Interactions) -> tuple[Any, ...]:
    users, items = (
        np.concatenate([getattr(part, side).names[getattr(part, side[:-1])] for part in (one, other)])
        for side in ("users", "items")
    )
    return users, items, *(np.concatenate([getattr(one, name), getattr(other, name)]) for name in ("value", "time"))


def test_a_pair_that_comes_again_moves_to_its_new_place() -> None:
    old = Interactions.of([1, 1, 2, 2], [1, 2, 2, 3], time=[10, 20, 10, 20])
    updated = fullrank.update(RecentItemCF().fit(old), Interactions.of([1], [1], time=[30]))
    whole = Interactions.of([1, 1, 2, 2], [1, 2, 2, 3], time=[30, 20, 10, 20])
    assert content(updated) == content(RecentItemCF().fit(whole))


def test_each_kernel_has_one_signature() -> None:
    from fullrank.kernels.warmup import warmup

    list(warmup())
    for recipe in (RecentItemCF(), RecentItemCF(1, 1, 0, 3, 0), RecentItemCF(shrink=5, relevant=3)):
        model = recipe.fit(feedback(ties=True))
        model.scores([1, 2])  # type: ignore[arg-type]
        model.history_scores(np.array([1, 2]), np.ones(2))  # type: ignore[arg-type]
    for kernel in (kernels.followers_block, pair_kernels.add_sparse):
        assert len(kernel.signatures) == 1, kernel  # type: ignore[attr-defined]


def test_weights_fall_by_halves_of_a_place() -> None:
    assert fading(4, 0.36) == pytest.approx([1, 0.8, 0.64, 0.8 * 0.64, 0.64**2])
    assert fading(2, 1).tolist() == [1, 0, 0]
    assert fading(3, 0).tolist() == [1, 1, 1, 1]


def test_a_large_catalogue_needs_little_memory() -> None:
    """100,000 items: all pairs would take 40 GB."""
    rng = np.random.default_rng(0)
    user, item = np.repeat(np.arange(20_000), 10), (100_000 * rng.random(200_000) ** 3).astype(int)
    data = Interactions.of(user, item, time=rng.permutation(len(user)), items=Ids.numbered(100_000))
    tracemalloc.start()
    RecentItemCF(neighbours=10).fit(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


@pytest.mark.parametrize(
    ("wrong", "must_be"),
    [
        ({"recency": 1.1}, "a number from 0 to 1. Got 1.1"),
        ({"nearness": -0.1}, "a number from 0 to 1. Got -0.1"),
        ({"backward": "no"}, "a number from 0 to 1. Got 'no'"),
        ({"neighbours": None}, "an integer >= 1. Got None"),
        ({"shrink": float("inf")}, "a number >= 0. Got inf"),
    ],
)
def test_bad_parameters(wrong: dict[str, Any], must_be: str) -> None:
    with pytest.raises(ParameterError) as error:
        RecentItemCF(**wrong)
    assert str(error.value).startswith(f"The '{next(iter(wrong))}' parameter must be {must_be}")


def test_too_many_followers_are_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullrank.runtime.memory.available", lambda: 100.0)
    with pytest.raises(StorageError, match="RecentItemCF: about 22 similarities of 12 items need about"):
        RecentItemCF(neighbours=2).fit(feedback(ties=False))
