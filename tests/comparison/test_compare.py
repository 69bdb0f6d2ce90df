"""The main job: what is compared, and what is said of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import Interactions
from fullrank.comparison.compare import compare
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.letters import letters
from fullrank.comparison.pairs import all_pairs
from fullrank.comparison.results import Results
from fullrank.errors import ParameterError
from fullrank.models.kinds.linear import exact_scores_of
from tests.comparison.world import FEW, WORLD


def test_numbers_are_those_of_the_evaluation(comparison: Comparison) -> None:
    split = fullrank.holdout(WORLD.data, 0.3, seed=0)
    for model in comparison.results.models:
        ranks = fullrank.rank(FEW[model.name].fit(split.train), split, relevant=5)
        result = fullrank.evaluate(ranks, [fullrank.metrics.recall @ 10, fullrank.metrics.auc])
        for name, mean in result.mean().items():
            assert model.metrics[name].mean == mean
            assert [model.metrics[name].low, model.metrics[name].high] == pytest.approx(result.interval()[name])
        assert sum(model.histogram.counts) == pytest.approx(len(ranks.above))
        assert model.curve[0][0] == 0
        assert model.curve[-1] == (1, pytest.approx(1))


def test_pairs_are_those_of_single_comparisons(comparison: Comparison) -> None:
    split = fullrank.holdout(WORLD.data, 0.3, seed=0)
    metrics = [fullrank.metrics.recall @ 10, fullrank.metrics.auc]
    results = {
        name: fullrank.evaluate(fullrank.rank(recipe.fit(split.train), split, relevant=5), metrics)
        for name, recipe in FEW.items()
    }
    rows = all_pairs(results)
    assert len(rows) == 3 * 2
    for row in rows:
        alone = results[row.one].versus(results[row.two])[row.metric]
        assert row.difference == pytest.approx(alone.difference)
        assert (row.low, row.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
        assert row.p == pytest.approx(alone.permutation_p, abs=0.03)
        assert (row.won, row.lost, row.needed) == (alone.won, alone.lost, alone.needed)
        assert row.adjusted >= row.p


def test_verdict_and_groups_agree(comparison: Comparison) -> None:
    verdict = comparison.results.verdict
    group = {m.name: m.metrics[verdict.metric].group for m in comparison.results.models}
    sharing = {name for name in group if name != verdict.best and set(group[name]) & set(group[verdict.best])}
    assert set(verdict.tied) == sharing
    assert verdict.sure == (not sharing)
    assert verdict.best in comparison.verdict
    best = max(comparison.results.models, key=lambda m: m.metrics[verdict.metric].mean)
    assert best.name == verdict.best == comparison.best
    assert comparison.model().recipe == FEW[comparison.best]


@pytest.mark.parametrize("seed", range(20))
def test_letters_tell_exactly_what_is_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = list("ABCDEFG")
    apart = {(a, b) for n, a in enumerate(names) for b in names[n + 1 :] if rng.random() < 0.4}
    given = letters(names, apart)
    for n, a in enumerate(names):
        for b in names[n + 1 :]:
            assert ((a, b) in apart) == (not set(given[a]) & set(given[b]))


def test_truth_is_the_complete_one(comparison: Comparison) -> None:
    split = fullrank.holdout(WORLD.data, 0.3, seed=0)
    relevant = WORLD.relevant()
    relevant[split.train.user, split.train.item] = False
    scores = exact_scores_of(FEW["AllRank"].fit(split.train), np.arange(150, dtype=np.int32))
    scores[split.train.user, split.train.item] = -np.inf
    best = np.argsort(-scores, axis=1)[:, :10]
    hits = np.take_along_axis(relevant, best, axis=1).sum(axis=1).astype(float)
    counts = np.bincount(split.train.item, minlength=200).astype(float)
    for user in np.flatnonzero([len(np.unique(row[np.isfinite(row)])) == 1 for row in scores]):  # nothing is known
        popular = np.where(np.isfinite(scores[user]), counts, -np.inf)
        last = np.sort(popular)[-10]
        chance = (popular > last) + (popular == last) * (10 - (popular > last).sum()) / (popular == last).sum()
        hits[user] = chance @ relevant[user]
    some = relevant.any(axis=1)
    row = next(row for row in comparison.results.truth.rows if row.metric == "recall@10")
    expected = (hits[some] / relevant[some].sum(axis=1)).mean()
    assert row.models["AllRank"].truth == pytest.approx(expected)


def test_examples_show_real_lists(comparison: Comparison) -> None:
    assert len(comparison.results.examples) == 10
    split = fullrank.holdout(WORLD.data, 0.3, seed=0)
    model = FEW["ItemCF"].fit(split.train)
    for example in comparison.results.examples:
        expected = fullrank.recommend(model, example.user, n=5).items
        assert [one.item for one in example.lists["ItemCF"]] == expected
        relevant = {one.item for one in example.held_out}
        assert all(one.hit == (one.item in relevant) for one in example.lists["ItemCF"] if len(relevant) < 8)


@pytest.mark.parametrize("kind", [int, str])
def test_titles_by_id_stand_beside_their_items(kind: type) -> None:
    data = WORLD.data
    known = Interactions.of(data.users.names[data.user], [kind(n) for n in data.items.names[data.item]], data.value)
    titles = {name: f"title of {name}" for name in known.items if int(name) % 2} | {kind(9999): "not here"}
    in_a_row = [titles.get(name) for name in known.items]
    for given in (titles, in_a_row, np.array(in_a_row, dtype=object)):
        results = compare(known, ["Bestseller"], split="holdout:0.3", titles=given).results
        shown = [one for case in results.examples for one in (*case.history, *case.lists["Bestseller"])]
        assert {one.title for one in shown} > {None}
        assert all(one.title == titles.get(one.item) for one in shown)


@pytest.mark.parametrize(
    ("titles", "told"),
    [
        (["one"], "a title for each of 200 items. Got ['one'] instead"),
        ("one", "a title for each of 200 items. Got 'one' instead"),
        (7, "a title for each of 200 items. Got 7 instead"),
        ({"1": "one"}, "none of 1 is of an item of the data, the first is of '1'; give titles by ids such as 0"),
        ({1: 1.5}, "each a text or None. Got 1.5 instead"),
    ],
)
def test_titles_that_are_none_are_refused_before_anything_is_trained(titles: Any, told: str) -> None:
    class Untouched:
        def fit(self, *_: Any, **__: Any) -> None:
            pytest.fail("trained before the titles were looked at")

    with pytest.raises(ParameterError, match=re.escape(told)):
        compare(WORLD.data, {"none": Untouched()}, titles=titles)


def test_plain_json_without_nan(comparison: Comparison, tmp_path: Path) -> None:
    comparison.save(tmp_path)
    again = json.loads((tmp_path / "results.json").read_text(), parse_constant=pytest.fail)
    assert again == comparison.to_json()
    assert Results.from_json(again) == comparison.results
    assert fullrank.load(tmp_path / "model.fr").recipe == FEW[comparison.best]
    assert "AllRank" in str(comparison)
    assert "<table>" in comparison._repr_html_()
    assert comparison.markdown().startswith("|")
    assert "toprule" in comparison.latex()
