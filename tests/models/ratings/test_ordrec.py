"""OrdRec: its likelihood against plain formulas and numerical differences, distributions, ranking, new people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ModelFileError, ParameterError
from fullrank.kernels.sgd_ratings import ordinal_step
from fullrank.metrics.partial_order import pair_errors
from fullrank.models.kinds.ordinal_factors import OrdinalFactors, distribution, nearest
from fullrank.models.ratings.level_weights import learned_weights
from fullrank.models.ratings.ordrec import OrdRec, rising


@pytest.fixture(scope="module")
def data() -> Interactions:
    return fullrank.simulate.ratings(users=300, items=80, density=0.25, seed=2).data


def log_likelihood(level: int, y: float, own: Any) -> float:
    """log P(level), from the definition: differences of sigma(t - y)."""
    t = own[0] + np.concatenate([[0.0], np.cumsum(np.exp(own[1:]))])
    below = np.concatenate([[0.0], 1 / (1 + np.exp(y - t)), [1.0]])
    return float(np.log(below[level + 1] - below[level]))


@pytest.mark.parametrize("level", range(5))
@pytest.mark.parametrize("y", [-2.0, 0.1, 3.0])
def test_gradients_against_numerical_differences(level: int, y: float) -> None:
    own, common, rate, reg, h = np.array([-1.0, 0.3, -0.4, 0.2]), np.array([-0.7, 0.1, 0.1, 0.1]), 1e-3, 0.2, 1e-5
    after = own.copy()
    g, loss = ordinal_step(level, y, after, common, rate, reg)
    assert loss == pytest.approx(-log_likelihood(level, y, own), abs=1e-10)
    assert g == pytest.approx((log_likelihood(level, y + h, own) - log_likelihood(level, y - h, own)) / (2 * h), abs=1e-5)  # fmt: skip # noqa: E501
    slopes = [(log_likelihood(level, y, own + h * e) - log_likelihood(level, y, own - h * e)) / (2 * h) for e in np.eye(4)]  # fmt: skip # noqa: E501
    assert (after - own) / rate == pytest.approx(slopes - reg * (own - common), abs=1e-5)


def test_extreme_scores_do_not_break_it() -> None:
    for level in range(5):
        for y in (-1e4, 1e4):
            for beta in (-60.0, 5.0):
                own = np.array([0.0, beta, beta, beta], dtype=np.float32)
                g, loss = ordinal_step(level, y, own, own.copy(), 0.01, 0.1)
                assert np.isfinite([g, loss, *own]).all()
                assert abs(g) <= 1


def test_a_step_of_the_whole_model() -> None:
    """Two levels, one rating each: the user, the item, its bias, the threshold."""
    two, rate, reg = Interactions.of([0, 1], [0, 1], [1.0, 2.0]), 0.1, 0.3
    recipe = OrdRec(factors=3, rate=rate, reg=reg)
    rounds = recipe.prepare(two, 5)
    before = rounds.start()
    before["items"][:, -1] = [0.3, -0.2]
    after = {name: array.copy() for name, array in before.items()}
    loss = rounds.run(after, 0)
    losses = []
    for n in range(2):
        p, q, b, t = before["users"][n], before["items"][n, :3], before["items"][n, 3], before["thresholds"][n, 0]
        y = p @ q + b
        losses.append(-log_likelihood(n, y, np.array([t], dtype=float)))
        g = n - 1 / (1 + np.exp(t - y))  # sigma(t - y) below, 1 - that above
        x = p + rate * (g * q - reg * p)
        assert after["users"][n] == pytest.approx(x, abs=1e-6)
        assert after["items"][n] == pytest.approx(np.append(q, b) + rate * (g * np.append(x, 1) - reg * np.append(q, b)), abs=1e-6)  # fmt: skip # noqa: E501
        assert after["thresholds"][n] == pytest.approx([t - rate * g], abs=1e-6)  # it was where everybody is
    assert loss == pytest.approx(np.mean(losses), rel=1e-5)


@pytest.mark.parametrize("implicit", [False, True])
def test_distributions(data: Interactions, implicit: bool) -> None:
    model = OrdRec(factors=4, implicit=implicit, epochs=10).fit(data)
    users, items = np.meshgrid(np.arange(300), np.arange(80), indexing="ij")
    chances = model.probabilities(users.ravel(), items.ravel())
    assert chances.shape == (24000, 5)
    assert chances.dtype == np.float64
    assert (chances >= 0).all()
    assert chances.sum(axis=1) == pytest.approx(np.ones(24000), abs=1e-12)
    assert (np.diff(model.thresholds) > 0).all()
    assert model.scores(np.arange(300)).ravel() == pytest.approx(chances @ model.levels, abs=1e-4)
    shares = model.probabilities(data.user, data.item).mean(axis=0)
    assert shares == pytest.approx(np.bincount(data.value.astype(int))[1:] / len(data), abs=0.03)
    with pytest.raises(DataError, match="2 users but 1 items"):
        model.probabilities(np.array([0, 1]), np.array([0]))


def test_it_predicts_better_than_shares(data: Interactions) -> None:
    split = fullrank.holdout(data, 0.2, seed=0)
    held, model = split.held_out, OrdRec(factors=4).fit(split.train)
    level = nearest(model.levels, held.value)
    chance = model.probabilities(held.user, held.item)[np.arange(len(held)), level]
    shares = np.bincount(split.train.value.astype(int))[1:] / len(split.train)
    assert -np.log(chance).mean() < -np.log(shares[level]).mean() - 0.05


@pytest.mark.parametrize("values", [[0.5, 1.0, 4.5], [-3.0, 7.0], [10.0, 100.0, 1000.0, 1001.0]])
def test_any_levels(values: list[float]) -> None:
    rng = np.random.default_rng(0)
    data = Interactions.of(np.repeat(np.arange(20), 5), np.tile(np.arange(5), 20), rng.choice(values, 100))
    model = OrdRec(factors=2, epochs=3).fit(data)
    assert model.levels.tolist() == values
    scores = model.scores(np.arange(20))
    assert ((scores >= values[0]) & (scores <= values[-1])).all()
    start = distribution(np.zeros(1), rising(OrdRec()._common(data)[1])[None, :])[0]
    assert start == pytest.approx(np.unique(data.value, return_counts=True)[1] / 100, abs=1e-6)


def test_weights_order_training_pairs_at_least_as_well(data: Interactions) -> None:
    mean = OrdRec(factors=4, epochs=15).fit(data)
    weighted = OrdRec(factors=4, epochs=15, rank_by="weights").fit(data)
    assert weighted.weights.tobytes() == learned_weights(mean).weights.tobytes()
    assert weighted.thresholds.tobytes() == mean.thresholds.tobytes()
    assert (np.diff(weighted.weights) > 0).all()
    losses = [
        pair_errors(data.graded(), m.scores(np.arange(300))[data.user, data.item]).pooled() for m in (mean, weighted)
    ]
    assert losses[1] <= losses[0] + 0.002


def test_somebody_new_is_the_most_likely(data: Interactions) -> None:
    model = OrdRec(factors=4, epochs=20, reg=0.05, implicit=True).fit(data)
    items, values = data.item[data.starts[7] : data.starts[8]], data.value[data.starts[7] : data.starts[8]]
    vector, thresholds = model.fold_in(items, values)
    known = model.history[items].sum(axis=0) / np.sqrt(len(items))

    def cost(x: Any) -> float:
        y = (known + x[:4]) @ model.items[items].T.astype(float) + model.bias[items]
        p = distribution(y, np.tile(model.common - x[4], (len(items), 1)))
        return float(-np.log(p[np.arange(len(items)), values.astype(int) - 1]).sum() + 0.025 * len(items) * (x @ x))

    best = np.append(vector - known, (model.common - thresholds)[0])
    slopes = [(cost(best + 1e-4 * e) - cost(best - 1e-4 * e)) / 2e-4 for e in np.eye(5)]
    assert slopes == pytest.approx(np.zeros(5), abs=1e-3)
    assert np.corrcoef(model.history_scores(items, values), model.scores([7])[0])[0, 1] > 0.9
    vector, thresholds = model.fold_in(items[:0], values[:0])
    assert not vector.any()
    assert thresholds.tobytes() == model.common.tobytes()


def test_small_worlds_and_refusals(data: Interactions) -> None:
    for train in (
        Interactions.of([1, 1], [1, 2], [3.0, 4.0]),
        Interactions.of([1, 2], [1, 1], [3.0, 4.0]),
        Interactions.of([1, 1, 2], [1, 2, 1], [4.0, 1.0, 2.0]).catalogue(users=[0, 9], items=[0, 9]),
    ):
        for rank_by in ("mean", "weights"):
            model = OrdRec(factors=2, rank_by=rank_by).fit(train)
            assert np.isfinite(model.scores(np.arange(train.n_users))).all()
    with pytest.raises(DataError, match="OrdRec needs ratings: the data has no values"):
        OrdRec().fit(Interactions.of([1], [1]))
    with pytest.raises(DataError, match="there are 1 different ones; give 2 to 100"):
        OrdRec().fit(Interactions.of([1, 1], [1, 2], [3.0, 3.0]))
    with pytest.raises(DataError, match="there are 101 different ones"):
        OrdRec().fit(Interactions.of([1] * 101, range(101), range(101)))
    with pytest.raises(DataError, match=r"OrdRec: the objective became (nan|inf) in epoch \d+ at rate 1e\+06"):
        OrdRec(rate=1e6, reg=10).fit(data)
    with pytest.raises(DataError, match="takes in no new feedback; fit again"):
        fullrank.update(OrdRec(factors=2, epochs=1).fit(data), data)
    for wrong in ({"rank_by": "mode"}, {"implicit": 1}, {"init": 0}, {"reg": -1}):
        with pytest.raises(ParameterError, match=f"The '{next(iter(wrong))}' parameter must be"):
            OrdRec(**wrong)


def test_a_file_whose_levels_do_not_rise_is_refused(data: Interactions, tmp_path: Path) -> None:
    model = OrdRec(factors=2, epochs=1).fit(data)
    fullrank.save(model, tmp_path / "model.fr")
    again = fullrank.load(tmp_path / "model.fr")
    assert isinstance(again, OrdinalFactors)
    assert again.probabilities([3], [5]).tobytes() == model.probabilities([3], [5]).tobytes()
    object.__setattr__(model, "levels", model.levels[::-1])
    fullrank.save(model, tmp_path / "wrong.fr")
    with pytest.raises(ModelFileError, match="thresholds or levels do not rise"):
        fullrank.load(tmp_path / "wrong.fr")


def test_an_interrupted_fit_ends_with_the_same_bytes(data: Interactions, tmp_path: Path) -> None:
    short, whole = (OrdRec(factors=3, epochs=n, implicit=True, rank_by="weights") for n in (2, 4))
    short.fit(data, checkpoint=tmp_path / "x")
    again, straight = whole.fit(data, checkpoint=tmp_path / "x"), whole.fit(data)
    for name in ("users", "items", "bias", "thresholds", "weights", "history"):
        assert getattr(again, name).tobytes() == getattr(straight, name).tobytes()
