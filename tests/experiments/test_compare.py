"""The main job: what is compared, what is said of it, and that an interruption changes nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import AllRank, Bestseller, Graded, Interactions, ItemCF, Preferences, Split
from fullrank.errors import DataError, LockedError, ParameterError, StorageError
from fullrank.experiments.compare import Interrupted, compare, named, recipe_of
from fullrank.experiments.feedback import fit, kind_of
from fullrank.experiments.letters import letters
from fullrank.experiments.merge import merge
from fullrank.experiments.pairs import all_pairs
from fullrank.experiments.portrait import missing, popularity
from fullrank.experiments.setting import setting
from fullrank.experiments.splits import cutter
from fullrank.models.linear import exact_scores_of

WORLD = fullrank.simulate.ratings(150, 200, seed=3)
FEW: dict[str, Any] = {
    "Bestseller": Bestseller(by="relevant"), "AllRank": AllRank(factors=6, sweeps=3), "ItemCF": ItemCF(),
}  # fmt: skip


def timeless(found: Any) -> Any:
    """Results without what differs from run to run."""
    if isinstance(found, dict):
        return {key: timeless(value) for key, value in found.items() if key not in ("seconds", "started")}
    return [timeless(value) for value in found] if isinstance(found, list) else found


@pytest.fixture(scope="module")
def found() -> Any:
    return compare(WORLD.data, FEW, split="holdout:0.3", truth=WORLD.everything, sampled=20)


def test_numbers_are_those_of_the_evaluation(found: Any) -> None:
    split = fullrank.holdout(WORLD.data, 0.3, seed=0)
    for model in found.results["models"]:
        ranks = fullrank.rank(FEW[model["name"]].fit(split.train), split, relevant=5)
        result = fullrank.evaluate(ranks, [fullrank.metrics.recall @ 10, fullrank.metrics.auc])
        for name, mean in result.mean().items():
            assert model["metrics"][name]["mean"] == mean
            assert [model["metrics"][name][end] for end in ("low", "high")] == pytest.approx(result.interval()[name])
        assert sum(model["histogram"]["counts"]) == pytest.approx(len(ranks.above))
        assert model["curve"][0][0] == 0
        assert model["curve"][-1] == [1, pytest.approx(1)]


def test_pairs_are_those_of_single_comparisons(found: Any) -> None:
    split = fullrank.holdout(WORLD.data, 0.3, seed=0)
    metrics = [fullrank.metrics.recall @ 10, fullrank.metrics.auc]
    results = {
        name: fullrank.evaluate(fullrank.rank(recipe.fit(split.train), split, relevant=5), metrics)
        for name, recipe in FEW.items()
    }
    rows = all_pairs(results)
    assert len(rows) == 3 * 2
    for row in rows:
        alone = results[row["one"]].versus(results[row["two"]])[row["metric"]]
        assert row["difference"] == pytest.approx(alone.difference)
        assert (row["low"], row["high"]) == pytest.approx((alone.low, alone.high), abs=1e-9)
        assert row["p"] == pytest.approx(alone.permutation_p, abs=0.03)
        assert (row["won"], row["lost"], row["needed"]) == (alone.won, alone.lost, alone.needed)
        assert row["adjusted"] >= row["p"]


def test_verdict_and_groups_agree(found: Any) -> None:
    verdict = found.results["verdict"]
    group = {m["name"]: m["metrics"][verdict["metric"]]["group"] for m in found.results["models"]}
    sharing = {name for name in group if name != verdict["best"] and set(group[name]) & set(group[verdict["best"]])}
    assert set(verdict["tied"]) == sharing
    assert verdict["sure"] == (not sharing)
    assert verdict["best"] in found.verdict
    best = max(found.results["models"], key=lambda m: m["metrics"][verdict["metric"]]["mean"])
    assert best["name"] == verdict["best"] == found.best
    assert found.model().recipe == FEW[found.best]


@pytest.mark.parametrize("seed", range(20))
def test_letters_tell_exactly_what_is_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = list("ABCDEFG")
    apart = {(a, b) for n, a in enumerate(names) for b in names[n + 1 :] if rng.random() < 0.4}
    given = letters(names, apart)
    for n, a in enumerate(names):
        for b in names[n + 1 :]:
            assert ((a, b) in apart) == (not set(given[a]) & set(given[b]))


def test_truth_is_the_complete_one(found: Any) -> None:
    split = fullrank.holdout(WORLD.data, 0.3, seed=0)
    relevant = WORLD.relevant()
    relevant[split.train.user, split.train.item] = False
    scores = exact_scores_of(FEW["AllRank"].fit(split.train), np.arange(150, dtype=np.int32))
    scores[split.train.user, split.train.item] = -np.inf
    best = np.argsort(-scores, axis=1)[:, :10]
    hits = np.take_along_axis(relevant, best, axis=1).sum(axis=1).astype(float)
    for user in np.flatnonzero([len(np.unique(row[np.isfinite(row)])) == 1 for row in scores]):  # nothing is known
        hits[user] = 10 / np.isfinite(scores[user]).sum() * relevant[user].sum()
    some = relevant.any(axis=1)
    row = next(row for row in found.results["truth"]["rows"] if row["metric"] == "recall@10")
    expected = (hits[some] / relevant[some].sum(axis=1)).mean()
    assert row["models"]["AllRank"]["truth"] == pytest.approx(expected)


def test_examples_show_real_lists(found: Any) -> None:
    assert len(found.results["examples"]) == 10
    split = fullrank.holdout(WORLD.data, 0.3, seed=0)
    model = FEW["ItemCF"].fit(split.train)
    for example in found.results["examples"]:
        expected = fullrank.recommend(model, example["user"], n=5).items
        assert [one["item"] for one in example["lists"]["ItemCF"]] == expected
        relevant = {one["item"] for one in example["held_out"]}
        assert all(one["hit"] == (one["item"] in relevant) for one in example["lists"]["ItemCF"] if len(relevant) < 8)


@pytest.mark.parametrize("kind", [int, str])
def test_titles_by_id_stand_beside_their_items(kind: type) -> None:
    data = WORLD.data
    known = Interactions.of(data.users.names[data.user], [kind(n) for n in data.items.names[data.item]], data.value)
    titles = {name: f"title of {name}" for name in known.items if int(name) % 2} | {kind(9999): "not here"}
    in_a_row = [titles.get(name) for name in known.items]
    for given in (titles, in_a_row, np.array(in_a_row, dtype=object)):
        results = compare(known, ["Bestseller"], split="holdout:0.3", titles=given).results
        shown = [one for case in results["examples"] for one in (*case["history"], *case["lists"]["Bestseller"])]
        assert {one["title"] for one in shown} > {None}
        assert all(one["title"] == titles.get(one["item"]) for one in shown)


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


def test_plain_json_without_nan(found: Any, tmp_path: Path) -> None:
    found.save(tmp_path)
    again = json.loads((tmp_path / "results.json").read_text(), parse_constant=pytest.fail)
    assert again == found.results
    assert fullrank.load(tmp_path / "model.fr").recipe == FEW[found.best]
    assert "AllRank" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.markdown().startswith("|")
    assert "toprule" in found.latex()


def test_interrupted_anywhere_it_ends_the_same(found: Any, tmp_path: Path) -> None:
    whole = compare(WORLD.data, FEW, split="holdout:0.3", truth=WORLD.everything, sampled=20)
    assert timeless(whole.results) == timeless(found.results)
    told: list[str] = []
    for stop in (1, 4, 6):

        def progress(text: str, share: float, stop: int = stop) -> None:
            told.append(text)
            if len(told) == stop:
                raise KeyboardInterrupt

        told.clear()
        with pytest.raises(KeyboardInterrupt) as caught:
            compare(
                WORLD.data, FEW, split="holdout:0.3", truth=WORLD.everything, sampled=20, out=tmp_path,
                progress=progress,
            )  # fmt: skip
        if isinstance(caught.value, Interrupted):
            partial = caught.value.comparison.results
            assert "interrupted" in partial["trust"][0]["text"]
            assert 0 < len(partial["models"]) < 3
            assert json.loads((tmp_path / "results.json").read_text()) == partial
    told.clear()
    again = compare(
        WORLD.data, FEW, split="holdout:0.3", truth=WORLD.everything, sampled=20, out=tmp_path,
        progress=lambda text, share: told.append(text),
    )  # fmt: skip
    assert "Bestseller: ranking" not in told  # done before
    assert timeless(again.results) == timeless(found.results)
    with pytest.raises(fullrank.FullrankError, match=r"holds a comparison of other data or another split"):
        compare(WORLD.data, FEW, split="holdout:0.3", sampled=20, seed=1, out=tmp_path)
    other = compare(WORLD.data, FEW, split="holdout:0.3", sampled=20, seed=1, out=tmp_path, overwrite=True)
    assert timeless(other.results) != timeless(found.results)


KILLED = """
import sys, fullrank
from fullrank.experiments.compare import compare
world = fullrank.simulate.ratings(150, 200, seed=3)
recipes = {"Bestseller": fullrank.Bestseller(by="relevant"), "AllRank": fullrank.AllRank(factors=6, sweeps=3)}
recipes |= {"RSVD": fullrank.RSVD(factors=4, epochs=400)}
print("begun", flush=True)
compare(world.data, recipes, split="holdout:0.3", sampled=20, out=sys.argv[1])
print("ended", flush=True)
"""


def test_killed_and_restarted_it_ends_the_same(tmp_path: Path) -> None:
    def run(folder: Path, wait: float | None) -> None:
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if wait is not None:
            time.sleep(wait)
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()

    run(tmp_path / "whole", None)
    for wait in (0.3, 0.8, 1.4):
        run(tmp_path / "killed", wait)
    run(tmp_path / "killed", None)
    one, two = (timeless(json.loads((tmp_path / f / "results.json").read_text())) for f in ("whole", "killed"))
    assert one == two
    assert not list((tmp_path / "killed").rglob("state*"))


def test_a_part_that_is_damaged_is_made_again(tmp_path: Path) -> None:
    options: dict[str, Any] = {"split": "holdout:0.3", "sampled": 20, "out": tmp_path}
    first = compare(WORLD.data, FEW, **options)
    (tmp_path / "parts" / "AllRank" / "ranks.npz").write_bytes(b"PK broken")
    (tmp_path / "parts" / "ItemCF" / "part.json").write_text("{")
    assert timeless(compare(WORLD.data, FEW, **options).results) == timeless(first.results)


def test_what_another_comparison_left_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while a part was replaced, or in the middle of a fit of something else."""
    recipes = {"AllRank": AllRank(factors=6, sweeps=3)}
    options: dict[str, Any] = {"split": "holdout:0.3", "sampled": 20, "out": tmp_path, "overwrite": True}
    first = compare(WORLD.data, recipes, **options)

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("fullrank.experiments.parts.save", killed)
        with pytest.raises(KeyboardInterrupt):
            compare(WORLD.data, recipes, seed=1, **options)
    assert timeless(compare(WORLD.data, recipes, **options).results) == timeless(first.results)

    def stopped(text: str, share: float) -> None:
        if "2 of 3" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(WORLD.data, recipes, seed=2, progress=stopped, **options)
    assert list(tmp_path.rglob("state-*"))
    again = compare(WORLD.data, recipes, seed=3, **options)
    assert again.results["models"][0]["failed"] is None
    assert not list(tmp_path.rglob("state-*"))


def test_two_at_a_time_in_one_folder_are_refused(tmp_path: Path) -> None:
    def again(text: str, share: float) -> None:
        compare(WORLD.data, {"ItemCF": ItemCF()}, out=tmp_path)

    with pytest.raises(LockedError, match="locked by process"):
        compare(WORLD.data, FEW, out=tmp_path, progress=again)


def test_a_model_that_fails_is_told_and_the_others_go_on() -> None:
    bad = {"Bestseller": Bestseller(), "AllRank": AllRank(factors=4), "RSVD": fullrank.RSVD(rate=1e6)}
    found = compare(WORLD.data, bad, split="holdout:0.3")
    failed = {model["name"]: model["failed"] for model in found.results["models"]}
    assert failed["AllRank"] is None
    assert "objective became" in failed["RSVD"]
    assert any(note["level"] == "warning" and "RSVD failed" in note["text"] for note in found.results["trust"])
    assert "RSVD" in str(found)
    with pytest.raises(DataError, match="no model could be fitted; the first failed because: RSVD"):
        compare(WORLD.data, {"RSVD": fullrank.RSVD(rate=1e6)}, split="holdout:0.3")


def test_a_lock_or_a_full_disk_is_no_fault_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise StorageError("no space left")

    options: dict[str, Any] = {"split": "holdout:0.3", "out": tmp_path}
    with monkeypatch.context() as patch:
        patch.setattr("fullrank.experiments.compare.fit", full)
        with pytest.raises(StorageError):
            compare(WORLD.data, ["Bestseller", "ItemCF"], **options)

    def broken(recipe: Any, *rest: Any, **more: Any) -> Any:
        if isinstance(recipe, ItemCF):
            raise DataError("not today")
        return fit(recipe, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr("fullrank.experiments.compare.fit", broken)
        found = compare(WORLD.data, ["Bestseller", "ItemCF"], **options)
        assert [model["failed"] for model in found.results["models"]] == [None, "not today"]
    again = compare(WORLD.data, ["Bestseller", "ItemCF"], **options)
    assert [model["failed"] for model in again.results["models"]] == [None, None]  # what failed is tried again


def test_a_threshold_is_never_left_out_silently() -> None:
    rng = np.random.default_rng(0)
    cell = rng.choice(60 * 50, 1500, replace=False)
    counts = Interactions.of(cell // 50, cell % 50, rng.integers(1, 60, 1500))
    assert kind_of(counts) == "events"
    assert compare(counts, ["Bestseller"], relevant=30).results["split"]["relevant"] == "value >= 30"
    assert compare(counts, ["Bestseller"]).results["split"]["relevant"] == "all held out"
    with pytest.raises(ParameterError, match="is for ratings and counts; sessions have an order"):
        compare(fullrank.simulate.sessions(20, 20).data, relevant=1)


def test_sessions_and_preferences() -> None:
    sessions = fullrank.simulate.sessions(60, 40, seed=1).data
    found = compare(sessions)
    assert [m["name"] for m in found.results["models"]] == [
        "Bestseller", "RSVD", "OpportunityCost", "SessionCost", "CCF",
    ]  # fmt: skip
    assert found.results["verdict"]["metric"] == "pairwise_loss"
    lowest = min(found.results["models"], key=lambda m: m["metrics"]["pairwise_loss"]["mean"])
    assert found.best == lowest["name"]
    assert found.results["examples"] == []
    pairs = sessions.pairs()
    assert isinstance(pairs, Preferences)
    found = compare(pairs, split="holdout:0.3")
    model = fullrank.OpportunityCost().fit(fullrank.holdout(pairs, 0.3, seed=0).train)
    held = fullrank.holdout(pairs, 0.3, seed=0).held_out
    scores = model.scores(np.arange(60))
    wrong = scores[held.user, held.better] < scores[held.user, held.worse]
    tied = scores[held.user, held.better] == scores[held.user, held.worse]
    measured = next(m for m in found.results["models"] if m["name"] == "OpportunityCost")
    assert measured["metrics"]["pairwise_loss"]["mean"] == pytest.approx((wrong + tied / 2).mean())


def test_events_and_a_split_of_somebodys_own() -> None:
    data = fullrank.simulate.implicit(120, 90, seed=2).data
    split = fullrank.halved(fullrank.holdout(data, 0.4, seed=0), seed=0)
    found = compare(split, ["ItemCF", "bestseller"])
    assert found.results["data"]["kind"] == "events"
    rows = found.results["split"]["rows"]
    assert rows["train"] == len(split.train) + len(split.valid or ())
    assert found.results["split"]["relevant"] == "all held out"
    asked = setting(split)
    assert asked.for_tuning() is split


def test_tuning_is_on_the_training_part_only(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    options: dict[str, Any] = {"split": "holdout:0.3", "tune": 4, "sampled": 20}
    recipes = {"AllRank": AllRank(factors=6, sweeps=3), "Bestseller": Bestseller()}
    one = compare(WORLD.data, recipes, out=tmp_path, **options)
    asked = setting(WORLD.data, split="holdout:0.3")
    chosen = fullrank.tune(AllRank(factors=6, sweeps=3), asked.for_tuning(), trials=4, relevant=5)
    model = next(m for m in one.results["models"] if m["name"] == "AllRank")
    assert model["recipe"] == str(chosen.recipe)
    assert model["tuned"]["trials"] == 4
    assert not any("Nothing was tuned" in note["text"] for note in one.results["trust"])
    seen = set(zip(asked.for_tuning().whole().user, asked.for_tuning().whole().item, strict=True))
    held = set(zip(asked.split.held_out.user, asked.split.held_out.item, strict=True))
    assert held <= seen  # the whole is whole
    assert not held & set(zip(asked.for_tuning().train.user, asked.for_tuning().train.item, strict=True))
    again = compare(WORLD.data, recipes, out=tmp_path, **options)
    assert timeless(again.results) == timeless(one.results)


def test_comparisons_of_one_split_merge(tmp_path: Path) -> None:
    options: dict[str, Any] = {"split": "holdout:0.3", "truth": WORLD.everything, "sampled": 20}
    whole = compare(WORLD.data, FEW, **options)
    some = list(FEW)
    compare(WORLD.data, {name: FEW[name] for name in some[:2]}, out=tmp_path / "a", **options)
    compare(WORLD.data, {name: FEW[name] for name in some[2:]}, out=tmp_path / "b", **options)
    found = merge([tmp_path / "a", tmp_path / "b"]).results
    for part in ("verdict", "models", "pairs", "examples", "truth", "sampled", "split", "metrics"):
        assert timeless(found[part]) == timeless(whole.results[part]), part
    twice = merge([tmp_path / "a", tmp_path / "a"]).results
    assert [m["name"] for m in twice["models"]] == [*some[:2], f"{some[0]} (a)", f"{some[1]} (a)"]
    compare(WORLD.data, FEW, split="holdout:0.3", seed=4, sampled=20, out=tmp_path / "c")
    with pytest.raises(DataError, match="cannot be merged: the split differs"):
        merge([tmp_path / "a", tmp_path / "c"])


def test_names_and_nearest_names() -> None:
    assert list(named(["allrank", Bestseller()])) == ["allrank", "Bestseller"]
    assert recipe_of("IALS", factors=3).factors == 3
    with pytest.raises(ParameterError, match=r"'allrnk' is not a model. Did you mean 'AllRank'"):
        recipe_of("allrnk")
    with pytest.raises(ParameterError, match=r"'factor' is not a parameter of IALS. Did you mean 'factors'"):
        recipe_of("IALS", factor=3)
    with pytest.raises(ParameterError, match="two models are called 'Bestseller'"):
        named([Bestseller(), Bestseller(by="mean")])
    with pytest.raises(ParameterError, match="no model to compare"):
        named([])
    with pytest.raises(ParameterError, match=r"'recal' is not a metric. Did you mean 'recall'"):
        compare(WORLD.data, metrics=["recal@10"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("leave-lst:5", "Did you mean 'leave-last'"),
        ("leave-last:x", "'x' is no number"),
        ("holdout:2", "fraction"),
        ("time", "does not say when"),
        ("time:yesterday", "yesterday"),
    ],
)
def test_splits_that_are_none(text: str, message: str) -> None:
    with pytest.raises((ParameterError, DataError), match=message):
        cutter(text)(WORLD.data)


def test_too_little_to_compare() -> None:
    one = Interactions.of([1], [1], [5], time=[0])
    with pytest.raises(DataError, match=r"nothing is (left to train on|held out)"):
        compare(one)
    alike = Interactions.of([1] * 6 + [2] * 6, [*range(6)] * 2, [5, 1, 1, 1, 1, 1] * 2, time=[*range(6)] * 2)
    with pytest.raises(DataError, match="none of 10 held-out values is relevant at 5"):
        compare(alike, relevant=5)
    with pytest.raises(DataError, match="needs Interactions, Graded, Preferences or a Split"):
        compare([1, 2, 3])


def test_what_kind_of_feedback() -> None:
    assert kind_of(WORLD.data) == "ratings"
    assert kind_of(Interactions.of([1, 2], [1, 2])) == "events"
    assert kind_of(Interactions.of(range(40), range(40), range(1, 41))) == "events"  # counts
    assert kind_of(Graded.of([1], [1], [1])) == "sessions"
    model = fit(Bestseller(by="mean"), Graded.of([1, 1, 2], ["a", "b", "a"], [1, 0, 1]))
    assert model.scores([0]).tolist() == [[1, 0]]


def test_signs_of_missing_not_at_random() -> None:
    found = missing(WORLD.data)
    assert found is not None
    assert found["correlation"] > 0.3
    assert "people rate what they like" in found["sentence"]
    assert sum(point["items"] for point in found["points"]) == len(np.unique(WORLD.data.item))
    rng = np.random.default_rng(0)
    cell = rng.choice(99 * 99, 5000, replace=False)
    by_chance = missing(Interactions.of(cell // 99, cell % 99, rng.integers(1, 6, 5000)))
    assert by_chance is not None
    assert by_chance["p"] > 0.01
    assert "no sign" in by_chance["sentence"]
    curve = popularity(WORLD.data)
    assert curve is not None
    assert curve[0] == [0, 0]
    assert curve[-1] == [1, 1]
    assert curve == sorted(curve)


def test_what_was_dropped_and_who_is_unknown_is_told() -> None:
    rows = {"user": [], "item": [], "rating": [], "time": []}
    rng = np.random.default_rng(0)
    for user in range(60):
        for item in rng.permutation(30)[:8].tolist():
            for name, cell in zip(rows, (user, item, 1 + (item % 5), user), strict=True):
                rows[name].append(cell)
    rows["rating"][3] = float("nan")
    data = fullrank.read(rows, on_bad="skip")
    told = [note["text"] for note in compare(data, ["Bestseller"], split="time:0.3", relevant=1).results["trust"]]
    assert any("1 rows were left out when the data was read" in text for text in told)
    assert any("100% of the cases are of people without any training data" in text for text in told)
    told = [note["text"] for note in compare(data, ["Bestseller"], split="holdout:0.3").results["trust"]]
    assert not any("without any training data" in text for text in told)


def test_a_split_by_time_or_by_chance_is_told() -> None:
    by_chance = compare(WORLD.data, ["Bestseller"], split="holdout:0.2")
    by_time = compare(WORLD.data, ["Bestseller"], split="time:0.2")
    assert any("what people did later" in note["text"] for note in by_chance.results["trust"])
    assert not any("later" in note["text"] for note in by_time.results["trust"])
    assert isinstance(cutter("time:0.2")(WORLD.data), Split)
