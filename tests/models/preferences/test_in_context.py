"""Contexts before and after fitting: every context its own feedback, and what is seldom met there comes last."""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import CCF, Bestseller, Interactions, OpportunityCost, SessionCost, recommend
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.offers import offer_scores, rank_offers
from fullrank.evaluation.rank import rank
from fullrank.metrics import rr
from fullrank.models.kinds.linear import exact_scores_of
from fullrank.models.preferences.filters import PostFiltered, PreFiltered, labels

DAY = 86400
RATINGS = Interactions.of(
    user=[1, 1, 2, 2, 3, 3, 3], item=["a", "b", "a", "b", "b", "c", "a"], value=[5, 3, 4, 2, 5, 1, 3],
    time=[DAY * 4, DAY * 5, DAY * 4, DAY * 5, DAY * 5, DAY * 5, DAY * 4],
)  # fmt: skip


def test_clocks() -> None:
    """1970-01-05 was a Monday."""
    assert set(labels("weekday", RATINGS).tolist()) == {0, 1}
    assert set(labels("month", RATINGS).tolist()) == {1}
    assert set(labels("hour", RATINGS).tolist()) == {0}
    leap = Interactions.of([1], ["x"], time=[1709247599])  # Thursday 2024-02-29 22:59:59
    assert [labels(column, leap).tolist() for column in ("month", "weekday", "hour")] == [[2], [3], [22]]


def test_before_fitting_each_context_has_its_own_feedback() -> None:
    model = PreFiltered(Bestseller(by="count"), "weekday").fit(RATINGS)
    assert model.contexts == [0, 1]
    for day in model.contexts:
        alone = Bestseller(by="count").fit(RATINGS.where(labels("weekday", RATINGS) == day))
        users = np.arange(3, dtype=np.int32)
        assert model.at(day).scores(users).tobytes() == alone.scores(users).tobytes()
    with pytest.raises(DataError, match=r"nothing was learned in context 6; known are 0, 1\."):
        model.at(6)


def test_after_fitting_what_is_seldom_met_comes_last() -> None:
    recipe = PostFiltered(Bestseller(by="count"), "weekday", least=0.5, smoothing=0.1)
    model, everybody = recipe.fit(RATINGS), np.arange(3, dtype=np.int32)
    monday, tuesday = (model.at(day).scores(everybody) for day in (0, 1))
    plain = Bestseller(by="count").fit(RATINGS).scores(everybody)
    assert (monday[:, 0] > monday[:, 1:].max(axis=1)).all()  # only a is met on Mondays
    assert (tuesday[:, 0] < tuesday[:, 1:].min(axis=1)).all()
    assert (np.sign(monday[:, 1] - monday[:, 2]) == np.sign(plain[:, 1] - plain[:, 2])).all()
    new = recommend(model.at(1), history=["c"], repeat=True, n=3)
    assert new.items[-1] == "a"
    assert model.at(0).recipe == Bestseller(by="count")
    assert "Bestseller" in repr(model.at(0))


def test_nothing_is_filtered_where_contexts_are_alike() -> None:
    data = fullrank.simulate.ratings(users=40, items=30, density=0.3, seed=1).data
    fair = PostFiltered(OpportunityCost(factors=3, sweeps=2), lambda rows: np.arange(len(rows)) % 2, least=0.01)
    everybody = np.arange(40, dtype=np.int32)
    plain, filtered = OpportunityCost(factors=3, sweeps=2).fit(data), fair.fit(data).at(0)
    assert exact_scores_of(filtered, everybody).tobytes() == exact_scores_of(plain, everybody).tobytes()
    assert filtered.scores(everybody) == pytest.approx(plain.scores(everybody), abs=1e-6)


def test_contexts_of_sessions() -> None:
    data = fullrank.simulate.sessions(users=40, items=30, seed=1).data
    day = labels("weekday", data)
    for recipe in (PreFiltered(OpportunityCost(factors=2), "weekday"), PostFiltered(OpportunityCost(2), "weekday")):
        model: Any = recipe.fit(data)
        assert model.contexts == sorted(set(day.tolist()))
        assert np.isfinite(model.at(3).scores(np.arange(40, dtype=np.int32))).all()
    assert PreFiltered(OpportunityCost(factors=2), "weekday").fit(data).at(3).train == (
        OpportunityCost(factors=2).fit(data.where(day == 3)).train
    )


@pytest.mark.parametrize("recipe", [OpportunityCost(2, sweeps=3), SessionCost(2, epochs=3), CCF(2, epochs=3)], ids=str)
def test_offers_are_ranked_where_the_model_ranks_them(recipe: Any) -> None:
    """What is seldom met comes last in every offer, in the order and with the values of the model itself."""
    data = fullrank.simulate.sessions(users=40, items=30, seed=1).data
    plain: Any = recipe.fit(data)
    model: Any = PostFiltered(recipe, "weekday", least=0.9).fit(data).at(3)
    common, offered = model.common, [data.items.name(code) for code in (0, 3, 4, 7, 11)]
    assert common[[0, 3, 4, 7, 11]].any()
    assert not common[[0, 3, 4, 7, 11]].all()
    for user in data.users.names[:5].tolist():
        own, ours = plain.rank_offers(user, offered), model.rank_offers(user, offered)
        good = [common[data.items.code(name)] for name in own.items]
        assert ours.items == [*compress(own.items, good), *compress(own.items, np.logical_not(good))]
        assert dict(zip(ours.items, ours.value, strict=True)) == dict(zip(own.items, own.value, strict=True))
        assert ours.value == pytest.approx(np.add(ours.benefit, ours.cost))
    own, ours = offer_scores(plain, data), offer_scores(model, data)
    for case, rows in enumerate(map(slice, data.start, data.start[1:])):
        good = common[data.item[rows]]
        assert (ours[rows][good] == own[rows][good]).all(), case
        if good.any() and not good.all():
            assert ours[rows][~good].max() < ours[rows][good].min()
        assert (np.argsort(ours[rows][~good]) == np.argsort(own[rows][~good])).all()
    assert rank(model, data).about.candidates == "offered"
    assert rank_offers(model, data).above.sum() != rank_offers(plain, data).above.sum()


def test_before_fitting_a_context_ranks_offers_too() -> None:
    data = fullrank.simulate.sessions(users=40, items=30, seed=1).data
    context: Any = PreFiltered(SessionCost(2, epochs=3), "weekday").fit(data).at(3)
    alone: Any = SessionCost(2, epochs=3).fit(data.where(labels("weekday", data) == 3))
    user, offered = data.users.name(0), data.items.names[:4].tolist()
    assert context.rank_offers(user, offered) == alone.rank_offers(user, offered)
    assert rank_offers(context, data).above.tobytes() == rank_offers(alone, data).above.tobytes()
    assert recommend(context, user, n=3).items == recommend(alone, user, n=3).items


def test_a_model_without_offers_has_none_in_a_context() -> None:
    model = PostFiltered(Bestseller(), "weekday").fit(RATINGS).at(0)
    assert not hasattr(model, "offer_scores")
    assert not hasattr(model, "rank_offers")
    assert rank_offers(model, RATINGS.graded()).about.candidates == "offered"  # by the scores of all items


def test_a_context_is_evaluated_like_any_model() -> None:
    """Two kinds of days on which everybody wants other items: both wrappers find out, one list for all cannot."""
    rng = np.random.default_rng(0)
    user, kind = np.repeat(np.arange(60), 8), np.tile([0, 1], 240)
    item = np.where(kind == 0, 0, 10) + np.concatenate([rng.permutation(10)[:8] for _ in range(60)])
    data = Interactions.of(user, item, np.ones(480), time=kind * DAY, duplicates="max")
    split = fullrank.holdout(data, 0.3, seed=0)
    quality = {}
    for name, recipe in {
        "one": None, "before": PreFiltered(Bestseller(by="count"), "weekday"),
        "after": PostFiltered(Bestseller(by="count"), "weekday"),
    }.items():  # fmt: skip
        model: Any = Bestseller(by="count").fit(split.train) if recipe is None else recipe.fit(split.train).at(3)
        thursday = split.held_out.where(labels("weekday", split.held_out) == 3)
        quality[name] = float(np.mean(rr(rank(model, fullrank.Split(split.train, thursday, how=split.how)))))
    assert quality["before"] > 1.2 * quality["one"]
    assert quality["after"] > 1.2 * quality["one"]


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="'column' parameter must be 'hour'"):
        PreFiltered(Bestseller(), "year").fit(RATINGS)
    with pytest.raises(DataError, match="no times to take the hour from"):
        PreFiltered(Bestseller(), "hour").fit(Interactions.of([1], [1]))
    with pytest.raises(DataError, match=r"7 contexts are needed, one for each; the column has shape \(2,\)"):
        PostFiltered(Bestseller(), lambda rows: [1, 2]).fit(RATINGS)
    with pytest.raises(DataError, match="in context 'x': OpportunityCost: no user prefers anything"):
        PreFiltered(OpportunityCost(), lambda rows: np.array(["x", *"yyyyyy"])).fit(RATINGS)
    with pytest.raises(ParameterError, match="'least' parameter"):
        PostFiltered(Bestseller(), "hour", least=0)
