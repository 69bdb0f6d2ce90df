"""What was made elsewhere, judged beside recipes: lists, fitted models, functions; and told what cannot be said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fullrank
from fullrank import compare, judge
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.judge import judged_split
from fullrank.comparison.pairs import OPEN
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.aligned import align
from fullrank.metrics.table import parse
from fullrank.models.kinds.linear import exact_scores_of
from tests.comparison.world import WORLD, timeless

SPLIT = fullrank.holdout(WORLD.data, 0.3, seed=2)
IALS = fullrank.IALS(factors=6, relevant=4).fit(SPLIT.train)
LISTS = fullrank.top(IALS, SPLIT, 20).to_frame()
METRICS = ("recall@10", "ndcg@10", "auc")


def means(comparison: Comparison, name: str) -> dict[str, float | None]:
    model = next(model for model in comparison.results.models if model.name == name)
    return {metric: value.mean for metric, value in model.metrics.items()}


@pytest.fixture(scope="module")
def mixed() -> Comparison:
    """A recipe, the model it makes, its lists and its scores."""
    everything = {
        "recipe": IALS.recipe, "fitted": IALS, "lists": fullrank.read_lists(LISTS),
        "scores": IALS.scores, "Bestseller": "Bestseller",
    }  # fmt: skip
    return compare(SPLIT, everything, relevant=4, metrics=METRICS)


def test_all_ways_to_give_a_model_say_the_same(mixed: Comparison) -> None:
    wanted = means(mixed, "recipe")
    assert means(mixed, "fitted") == wanted
    bare = fullrank.rank(IALS.scores, SPLIT, relevant=4)  # which nobody is served instead of, as of functions
    assert means(mixed, "scores") == fullrank.evaluate(bare, [parse(name) for name in METRICS]).mean()
    lists = means(mixed, "lists")
    assert (lists["recall@10"], lists["ndcg@10"]) == (wanted["recall@10"], wanted["ndcg@10"])
    (listed,) = (model for model in mixed.results.models if model.name == "lists")
    bounds = listed.metrics["auc"].bounds
    assert bounds is not None
    assert bounds[0] < (wanted["auc"] or 0) < bounds[1]
    assert listed.recipe == "lists of up to 20 items by rank"
    assert listed.histogram is None
    assert max(share for share, _ in listed.curve) <= 20 / WORLD.data.n_items


def test_what_lists_leave_open_is_decided_by_nobody(mixed: Comparison) -> None:
    pairs = {(pair.metric, pair.one, pair.two): pair for pair in mixed.results.pairs}
    opened = pairs["auc", "fitted", "lists"]
    assert (opened.note, opened.adjusted) == (OPEN, 1.0)
    assert opened.low < 0 < opened.high
    assert pairs["recall@10", "fitted", "lists"].difference == 0.0
    frame = mixed.to_frame().filter(pl.col("least").is_not_null())
    assert frame.select("model", "metric").rows() == [("lists", "auc")]
    assert " to " in mixed._repr_html_()
    text = str(mixed)
    assert " to " in text
    assert "what they leave open" in text


def test_a_model_that_knows_the_answers_is_not_recommended() -> None:
    leaky = fullrank.IALS(factors=6, relevant=4).fit(WORLD.data)
    found = compare(SPLIT, {"leaky": leaky, "Bestseller": "Bestseller"}, relevant=4, metrics=METRICS)
    assert found.best == "Bestseller"
    (warning,) = (caveat.text for caveat in found.results.trust if "leak" in caveat.text)
    assert warning.startswith(f"leaky: it was fitted on {len(SPLIT.held_out):,} of {len(SPLIT.held_out):,} held-out")
    with pytest.raises(DataError, match="leaky: it was fitted on"):
        compare(SPLIT, {"leaky": leaky}, relevant=4, metrics=METRICS, strict=True)


def test_lists_that_are_irregular_are_told_or_refused(tmp_path: Path) -> None:
    judged = SPLIT.train.users.name(int(fullrank.cases_of(SPLIT, 4).user[0]))
    mine = LISTS.filter(pl.col("user") == judged)
    twice = fullrank.read_lists(
        pl.concat([LISTS, mine.head(3).with_columns(rank=pl.lit(99, pl.Int64), score=pl.lit(-9.0))])
    )
    found = compare(SPLIT, {"mine": twice}, relevant=4, metrics=METRICS, out=tmp_path)
    assert any("mine: 3 items that were in the list already: taken out." in c.text for c in found.results.trust)
    with pytest.raises(DataError, match="3 items that were in the list already"):  # also where it was told before
        compare(SPLIT, {"mine": twice}, relevant=4, metrics=METRICS, strict=True, out=tmp_path)


def test_it_goes_on_and_merges(tmp_path: Path) -> None:
    lists = fullrank.read_lists(LISTS)
    one = compare(SPLIT, {"mine": lists}, relevant=4, metrics=METRICS, out=tmp_path / "one")
    again = compare(SPLIT, {"mine": lists}, relevant=4, metrics=METRICS, out=tmp_path / "one")
    assert timeless(one.to_json()) == timeless(again.to_json())
    other = fullrank.read_lists(LISTS.filter(pl.col("rank") <= 5))
    compare(SPLIT, {"mine": other}, relevant=4, metrics=METRICS, out=tmp_path / "two")
    merged = fullrank.merge([tmp_path / "one", tmp_path / "two"])
    together = compare(SPLIT, {"mine": lists, "mine (two)": other}, relevant=4, metrics=METRICS)
    assert timeless(as_models(merged)) == timeless(as_models(together))
    changed = compare(SPLIT, {"mine": other}, relevant=4, metrics=METRICS, out=tmp_path / "one", overwrite=True)
    assert means(changed, "mine") == means(together, "mine (two)")
    assert not (tmp_path / "one" / "model.fr").exists()


def as_models(comparison: Comparison) -> Any:
    return comparison.to_json()["models"]


def test_from_files(tmp_path: Path) -> None:
    fullrank.write(SPLIT.train, tmp_path / "train.csv")
    fullrank.write(SPLIT.held_out, tmp_path / "after.parquet")
    LISTS.write_parquet(tmp_path / "mine.parquet")
    fullrank.save(IALS, tmp_path / "model.fr")
    given = {"mine": tmp_path / "mine.parquet", "fitted": tmp_path / "model.fr", "frame": LISTS}
    found = judge(
        tmp_path / "after.parquet", given, train=tmp_path / "train.csv", recipes=["Bestseller"], relevant=4,
        metrics=METRICS,
    )  # fmt: skip
    split = judged_split(SPLIT.train, SPLIT.held_out)
    assert (split.train, split.held_out) == (SPLIT.train, SPLIT.held_out)
    named = judged_split(fullrank.read(tmp_path / "train.csv"), fullrank.read(tmp_path / "after.parquet"))
    wanted = compare(named, {"fitted": IALS, "Bestseller": "Bestseller"}, relevant=4, metrics=METRICS)
    for name in ("fitted", "Bestseller"):
        assert means(found, name) == means(wanted, name)
    assert means(found, "mine") == means(found, "frame")
    assert means(found, "mine")["recall@10"] == means(wanted, "fitted")["recall@10"]


def test_without_training_data_and_by_judgements(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\nq3 0 d9 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d2 1 9 x\nq1 Q0 d1 2 8 x\nq2 Q0 d3 1 9 x\n")
    found = judge(tmp_path / "a.qrels", {"mine": tmp_path / "a.run"}, metrics=["recall@2", "rr@2"])
    assert means(found, "mine") == {"recall@2": pytest.approx(2 / 3), "rr@2": pytest.approx((1 / 2 + 1 + 0) / 3)}
    assert "1 people without a list" in " ".join(caveat.text for caveat in found.results.trust)
    usual = judge(tmp_path / "a.qrels", {"mine": tmp_path / "a.run"}).results.metrics
    assert [metric.name for metric in usual][:3] == ["recall@2", "graded_ndcg@2", "ndcg@2"]  # there is a grade of 2
    with pytest.raises(ParameterError, match="nothing to fit recipes on"):
        judge(tmp_path / "a.qrels", {"mine": tmp_path / "a.run"}, recipes=["IALS"])
    with pytest.raises(ParameterError, match="nothing to judge"):
        judge(tmp_path / "a.qrels", {})


def test_ids_that_are_integers_here_and_strings_there() -> None:
    data = {"user": ["1", "2", "x"], "item": ["7", "8", "9"]}
    found = judge(data, {"mine": {1: [7, 8], 2: [8, 7]}}, train={"user": [1, 2], "item": [9, 9]}, metrics=["recall@1"])
    assert means(found, "mine") == {"recall@1": pytest.approx(2 / 3)}


RECIPES = [
    fullrank.IALS(factors=4),
    fullrank.ItemCF(),
    fullrank.Bestseller(by="count"),
    fullrank.GaussianRank(factors=4, epochs=1),
    fullrank.EASE(),
    fullrank.RSVD(factors=3, epochs=1),
    fullrank.OrdRec(factors=3, epochs=1),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
def test_a_fitted_model_in_another_catalogue_keeps_its_scores(recipe: Any) -> None:
    """Some users and items are new to the model, one of its users is not in the data."""
    data = WORLD.data
    some = data.where((data.user % 3 > 0) & (data.item % 4 > 0))
    small = fullrank.Interactions.of(data.users.names[some.user], data.items.names[some.item], some.value)
    model, kept = recipe.fit(small), data.where(data.user != some.user[0])
    there = fullrank.Interactions.of(data.users.names[kept.user], data.items.names[kept.item], kept.value)
    aligned = align(model, there.users, there.items)
    user, item = (
        ids.codes(other.names, missing=-1) for ids, other in ((small.users, there.users), (small.items, there.items))
    )
    known = np.flatnonzero(user >= 0).astype(np.int32)
    scores, own = exact_scores_of(aligned, known), exact_scores_of(model, user[known])
    assert np.array_equal(scores[:, item >= 0], own[:, item[item >= 0]])
    lost = small.user == small.users.code(data.users.name(int(some.user[0])))
    assert len(aligned.train) == len(small) - int(lost.sum())
    split = fullrank.Split(there.where(there.item % 2 == 0), there.where(there.item % 2 == 1))
    ranks = fullrank.rank(aligned, split)
    new = 0 if isinstance(recipe, fullrank.Bestseller) else int((user[ranks.user] < 0).sum())
    assert ranks.about.fallback.get("nothing is known of them", 0) == new


def test_sessions_take_no_lists() -> None:
    world = fullrank.simulate.sessions(20, 30, seed=1)
    with pytest.raises(DataError, match="lists are judged on what people did"):
        compare(world.data, {"mine": fullrank.OutsideLists.of([1], [1])}, split="holdout:0.3")


def test_the_same_lists_as_others_count_them(tmp_path: Path) -> None:
    """What pytrec_eval says of the run itself; and beside it our number and what makes them differ."""
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")
    held = SPLIT.held_out.relevant(4)
    qrel: dict[str, dict[str, int]] = {}
    for user, item in zip(held.users.names[held.user].tolist(), held.items.names[held.item].tolist(), strict=True):
        qrel.setdefault(str(user), {})[str(item)] = 1
    run: dict[str, dict[str, float]] = {}
    for user, item, score in LISTS.select("user", "item", "score").iter_rows():
        run.setdefault(str(user), {})[str(item)] = score
    wanted = pytrec_eval.RelevanceEvaluator(qrel, {"P.10", "map_cut.10", "ndcg_cut.10", "recip_rank"}).evaluate(run)
    lists = fullrank.read_lists(LISTS.drop("rank"))
    found = compare(SPLIT, {"mine": lists}, relevant=4, metrics=METRICS, libraries=["trec_eval"], out=tmp_path / "one")
    rows = {row.measure: row for row in found.results.models[0].libraries}
    for measure in ("P_10", "map_cut_10", "ndcg_cut_10", "recip_rank"):
        assert rows[measure].value == pytest.approx(np.mean([values[measure] for values in wanted.values()]), abs=1e-12)
    assert rows["ndcg_cut_10"].our_value == means(found, "mine")["ndcg@10"]
    assert rows["map_cut_10"].sentence.startswith("divides by all relevant items, ours by min(10, relevant items)")
    again = compare(SPLIT, {"mine": lists}, relevant=4, metrics=METRICS, libraries=["trec_eval"], out=tmp_path / "one")
    assert again.results.models[0].libraries == found.results.models[0].libraries
    with pytest.raises(ParameterError, match="'trec' is no library whose counting is known"):
        compare(SPLIT, {"mine": lists}, libraries=["trec"])


def test_models_are_counted_by_their_lists() -> None:
    found = compare(
        SPLIT, {"fitted": IALS, "Bestseller": "Bestseller"}, relevant=4, metrics=METRICS, libraries=["ranx"]
    )
    assert {row.library for model in found.results.models for row in model.libraries} == {"ranx"}
    text = str(found)
    assert "fitted as ranx counts (ranx 0.3.21), beside ours:" in text


def test_every_fault_of_an_evaluation_is_told(tmp_path: Path) -> None:
    """FAULTS E1 to E9, all in two small files and a list."""
    (tmp_path / "train.csv").write_text("user,item\n1,1\n1,2\n2,1\n3,3\n")
    (tmp_path / "after.csv").write_text("user,item\n1,3\n1,3\n1,9\n2,2\n4,1\n3,3\n")  # E8 1,3; E6 item 9; E7 3,3
    (tmp_path / "lists.csv").write_text(
        "user,item,score\n1,3,1\n1,4,1\n1,3,1\n1,1,1\n2,77,5\n2,2,4\n5,1,1\n"
    )  # E1 ties; E9 3 twice; 1 is seen; 77 is outside; 4 and 3 without a list; 5 is nobody; 4 is outside as well
    found = judge(
        tmp_path / "after.csv", {"mine": tmp_path / "lists.csv"}, train=tmp_path / "train.csv", metrics=["recall@2"]
    )
    said = " ".join(caveat.text for caveat in found.results.trust)
    for part in (
        "1 people who are not in the data", "2 people without a list", "1 items that were in the list already",
        "1 items that the person has already", "2 items outside the catalogue",
        "20% of what is relevant are items without any training data", "1 held-out items are among the excluded ones",
    ):  # fmt: skip
        assert part in said, (part, said)
    # 1: item 3 of two, alone in the list; 2: item 2 moves up; 4 and 3 have no list
    assert means(found, "mine") == {"recall@2": pytest.approx((1 / 2 + 1 + 0 + 0) / 4)}
    assert found.results.data.description is not None
    with pytest.raises(DataError, match=r"1 of 5 held-out rows are in the training data too \(leak\)"):
        judge(tmp_path / "after.csv", {"mine": tmp_path / "lists.csv"}, train=tmp_path / "train.csv", strict=True)
    (tmp_path / "nan.csv").write_text("user,item,score\n1,3,nan\n")
    with pytest.raises(DataError, match=r"nan\.csv:2: score contains NaN"):  # E2
        judge(tmp_path / "after.csv", {"mine": tmp_path / "nan.csv"})
    for cut in ("recall@0", "recall@-1", "recall@2.5"):  # E5
        with pytest.raises(ParameterError):
            judge(tmp_path / "after.csv", {"mine": tmp_path / "lists.csv"}, metrics=[cut])
    longer = judge(tmp_path / "after.csv", {"mine": tmp_path / "lists.csv"}, metrics=["recall@100"])
    assert means(longer, "mine")["recall@100"] is not None


def test_anything_that_scores_is_judged() -> None:
    users, items = IALS.users, IALS.items
    whole = IALS.item_vectors.exact(IALS.people(np.arange(SPLIT.train.n_users, dtype=np.int32)))
    found = compare(SPLIT, {"pair": (users, items), "array": whole}, relevant=4, metrics=METRICS)
    assert means(found, "pair") == means(found, "array")
    assert {model.fed for model in found.results.models} == {"trained elsewhere: what it learned from is not known"}
