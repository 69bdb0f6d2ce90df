"""What every recipe must hold, ours and yours: one set of checks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.arrays import Codes
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.evaluation.rank import rank_and_top
from fullrank.models.files import load, save
from fullrank.models.kinds.linear import Linear
from fullrank.models.protocols import Model, Recipe
from fullrank.recommending.recommend import recommend
from fullrank.runtime.threads import threads


def check_recipe(recipe: Recipe[Interactions, Any], split: Split[Interactions]) -> None:
    """Fit on a split and assert what users rely on; an AssertionError says what does not hold.

    On one type of processor the model file has the same bytes again, for any number of threads and any order of rows.
    From a model, ranks and lists are the same for any number of threads, in any block, for one user alone as for all;
    of models whose scores are inner products (`models.kinds.linear`) on any machine. Scores are finite and of the right
    shape, and those of one user are the scores of many to 1e-6 of the product of the norms. Nothing seen is
    recommended; nobody unknown fails; a file gives the same model back.
    """
    train = split.train
    model = recipe.fit(train, seed=7)
    everybody = np.arange(train.n_users, dtype=np.int32)
    scores = model.scores(everybody)
    assert scores.shape == (train.n_users, train.n_items)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all(), "a score is not finite"
    assert model.recipe == recipe
    assert model.train is train
    apart = np.abs(model.scores(everybody[-1:])[0] - scores[-1])
    assert (apart <= 1e-6 * _size(model, everybody[-1:])).all(), "scores of a user depend on who is scored beside"
    recipes = {type(recipe).__name__: type(recipe)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.fr"
        save(model, path, recipes=recipes)
        _check_repeatable(recipe, train, path, recipes)
        again = load(path, recipes=recipes)
        save(again, path.with_name("loaded.fr"), recipes=recipes)
        assert path.with_name("loaded.fr").read_bytes() == path.read_bytes(), "a file gives another model back"
    assert again.recipe == recipe
    _check_ranks(model, again, split)
    _check_lists(model, train)


def _size(model: Model, users: Codes) -> Any:
    """What scores are compared to: the product of the norms; 0 for sums of our own, which have an order."""
    if not isinstance(model, Linear):
        return 0
    people = model.people(users)
    return np.linalg.norm(model.item_vectors.beside(people)) * model.item_vectors.reach + np.abs(people.offset)


@contextmanager
def _use_threads(count: int) -> Iterator[None]:
    before = threads()
    try:
        yield threads(count)  # type: ignore[misc]
    finally:
        threads(before)


def _check_repeatable(
    recipe: Recipe[Interactions, Any], train: Interactions, path: Path, recipes: dict[str, type]
) -> None:
    """The same file for any number of threads, and for shuffled rows."""
    shuffled = np.random.default_rng(0).permutation(len(train))
    user, item = train.users.names[train.user[shuffled]], train.items.names[train.item[shuffled]]
    value = None if train.value is None else train.value[shuffled]
    time = None if train.time is None else train.time[shuffled]
    same = Interactions.of(user, item, value, time, users=train.users, items=train.items)
    for count, data in ((1, train), (2, same), (4, train)):
        with _use_threads(count):
            save(recipe.fit(data, seed=7), path.with_name("again.fr"), recipes=recipes, overwrite=True)
        again = path.with_name("again.fr").read_bytes()
        assert again == path.read_bytes(), f"another file with {count} threads, or for shuffled rows"


def _check_ranks(model: Model, again: Model, split: Split[Interactions]) -> None:
    """The same ranks and lists from model and file, in any block, for any number of threads."""
    ranks, lists = rank_and_top(model, split, 5)
    for which, count, block in ((again, 1, None), (model, 1, 1), (model, 2, 7), (model, 3, 64)):
        with _use_threads(count):
            other_ranks, other_lists = rank_and_top(which, split, 5, block=block)
        how = "from a file" if which is again else f"in blocks of {block}, with {count} threads"
        assert other_ranks == ranks, f"other ranks {how}"
        assert other_lists.item.tobytes() == lists.item.tobytes(), f"other lists {how}"
        assert other_lists.score.tobytes() == lists.score.tobytes(), f"other scores of lists {how}"
    user = int(lists.user[-1])
    if split.train.starts[user + 1] > split.train.starts[user] and split.valid is None and split.visible is None:
        alone = recommend(model, split.train.users.name(user), n=5)
        assert alone.items == lists.names(-1), "another list for one user alone"
        assert alone.scores == lists.score[-1, : len(alone.items)].tolist(), "other scores for one user alone"


def _check_lists(model: Model, train: Interactions) -> None:
    user = int(np.argmax(np.bincount(train.user, minlength=train.n_users)))
    seen = {train.items.name(int(item)) for item in train.item[train.starts[user] : train.starts[user + 1]]}
    listed = recommend(model, train.users.name(user), n=train.n_items)
    assert not seen & set(listed.items), "something seen is recommended"
    assert listed.scores == sorted(listed.scores, reverse=True)
    rows = slice(train.starts[user], train.starts[user + 1])
    values = np.ones(len(seen)) if train.value is None else train.value[rows]
    names = [train.items.name(int(item)) for item in train.item[rows]]
    new = recommend(model, history=dict(zip(names, values.tolist(), strict=True)), n=5)
    assert new.fallback == "", "somebody new with a long history is served what is popular"
    assert np.isfinite(new.scores).all()
    assert np.isfinite(recommend(model, history=names[:3], n=5).scores).all()
    assert recommend(model, "nobody of this name", n=5).fallback == "popular"
