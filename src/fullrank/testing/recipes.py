"""What every recipe must hold, ours and yours: one set of checks."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.kernels.threads import threads
from fullrank.models.files import load, save
from fullrank.models.recommend import recommend


def check_recipe(recipe: Any, split: Split[Interactions]) -> None:
    """Fit on a split and assert what users rely on; an AssertionError says what does not hold.

    The same bytes again, for any number of threads and any order of rows; finite scores of the right shape, the same
    for one user as for many; nothing seen is recommended; nobody unknown fails; a file gives the same model back.
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
    _check_repeatable(recipe, train, scores)
    one = model.scores(everybody[-1:])[0]
    assert one.tobytes() == scores[-1].tobytes(), "scores of a user depend on who is asked for beside"
    _check_lists(model, train)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.fr"
        save(model, path, recipes={type(recipe).__name__: type(recipe)})
        again = load(path, recipes={type(recipe).__name__: type(recipe)})
        assert again.recipe == recipe
        assert again.scores(everybody).tobytes() == scores.tobytes(), "a file gives another model back"


def _check_repeatable(recipe: Any, train: Interactions, scores: Any) -> None:
    before = threads()
    shuffled = np.random.default_rng(0).permutation(len(train))
    user, item = train.users.names[train.user[shuffled]], train.items.names[train.item[shuffled]]
    value = None if train.value is None else train.value[shuffled]
    same = Interactions.of(user, item, value, users=train.users, items=train.items)
    try:
        for count, data in ((1, train), (2, same), (4, train)):
            threads(count)
            again = recipe.fit(data, seed=7).scores(np.arange(train.n_users, dtype=np.int32))
            assert again.tobytes() == scores.tobytes(), f"other bytes with {count} threads, or for shuffled rows"
    finally:
        threads(before)


def _check_lists(model: Any, train: Interactions) -> None:
    user = int(np.argmax(np.bincount(train.user, minlength=train.n_users)))
    seen = {train.items.name(int(item)) for item in train.item[train.starts[user] : train.starts[user + 1]]}
    listed = recommend(model, train.users.name(user), n=train.n_items)
    assert not seen & set(listed.items), "something seen is recommended"
    assert listed.scores == sorted(listed.scores, reverse=True)
    new = recommend(model, history=list(seen)[:3], n=5)
    assert new.fallback == ""
    assert np.isfinite(new.scores).all()
    assert recommend(model, "nobody of this name", n=5).fallback == "popular"
