"""Comparisons of events: what people had before is left out and told, or stays a candidate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import Bestseller, Events, Interactions, ItemCF, compare
from fullrank.comparison import defaults
from fullrank.comparison.inputs import load
from fullrank.comparison.plan import Plan, as_toml, read_plan
from fullrank.comparison.protocol import make_setting
from fullrank.comparison.splits import parse_split
from fullrank.errors import ParameterError
from fullrank.models.storage.feedback import fingerprint
from tests.comparison.world import timeless
from tests.data.event_cases import events_of

MODELS: dict[str, Any] = {"Bestseller": Bestseller(), "ItemCF": ItemCF()}


def baskets(again: float = 0.5, seed: int = 0) -> Events:
    """Sixty people who buy twelve times, with this chance what they bought before."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, int, int]] = []
    for user in range(60):
        had: list[int] = []
        for time in np.sort(rng.choice(1000, 12, replace=False)).tolist():
            new = (40 * rng.random() ** 2 + 7 * (user % 5)) % 50
            had.append(int(rng.choice(had)) if had and rng.random() < again else int(new))
            rows.append((user, had[-1], time))
    user, item, time = zip(*rows, strict=True)
    return Events.of(user, item, time=time)


EVENTS = baskets()


def test_repeats_are_left_out_and_told() -> None:
    results = compare(EVENTS, MODELS, split="time:0.3").results
    setting = make_setting(EVENTS, split="time:0.3")
    repeats = setting.split.repeats
    assert repeats is not None
    assert results.split.repeats == repeats.share > 0.1
    assert results.split.excluded == "train"
    told = [caveat for caveat in results.trust if "had before; they are left out here" in caveat.text]
    assert [caveat.level for caveat in told] == ["warning"]
    assert told[0].text == (
        f"{repeats.share:.0%} of the held-out events are of items that the person had before; they are left out here. "
        "If people should be offered them again, compare with --repeat (repeat=True)."
    )
    assert results.data.kind == "events"
    assert results.data.description["repeats"] == EVENTS.repeats
    assert results.manifest.data == fingerprint(EVENTS) != fingerprint(EVENTS.merged())
    assert not any("leak" in caveat.text for caveat in results.trust)


def test_repeats_stay_candidates() -> None:
    without, repeated = (compare(EVENTS, MODELS, split="time:0.3", repeat=repeat).results for repeat in (False, True))
    assert repeated.split.excluded == "nothing"
    assert repeated.split.repeats == without.split.repeats
    assert repeated.split.cases >= without.split.cases
    assert repeated.split.rows["held out"] > without.split.rows["held out"]
    assert repeated.split.rows["train"] == without.split.rows["train"]
    assert not any("had before" in caveat.text or "leak" in caveat.text for caveat in repeated.trust)
    split = fullrank.by_time(EVENTS, fraction=0.3, repeat=True)
    ranks = fullrank.rank(Bestseller().fit(split.train), split, exclude=None)
    expected = fullrank.evaluate(ranks, [fullrank.metrics.parse("recall@10")]).mean()["recall@10"]
    assert repeated.models[0].metrics["recall@10"].mean == expected
    seen = {(example.user, known.item) for example in repeated.examples for known in example.history}
    shown = {(e.user, one.item) for e in repeated.examples for one in e.lists["Bestseller"]}
    assert seen & shown  # lists have what people know
    lists = {(e.user, one.item) for e in without.examples for one in e.lists["Bestseller"]}
    assert not {(e.user, known.item) for e in without.examples for known in e.history} & lists


def test_no_list_of_example_people_differs_from_top() -> None:
    split = fullrank.by_time(EVENTS, fraction=0.3, repeat=True)
    model = Bestseller().fit(split.train)
    assert np.array_equal(fullrank.top(model, split, 5).item, fullrank.top(model, split, 5, exclude=None).item)


@pytest.mark.parametrize(("share", "level"), [(0.005, None), (0.05, "note"), (0.2, "warning")])
def test_how_loud_it_is_told(share: float, level: str | None) -> None:
    """200 people with 4 events each, the last one held out; of these so many repeat."""
    n = 200
    repeated = round(share * n)
    user, item, time = (np.repeat(np.arange(n), 4), np.tile(np.arange(4), n), np.tile(np.arange(4), n))
    item = item + 4 * (user % 3)
    last = np.flatnonzero(time == 3)[:repeated]
    item[last] = item[last - 1]
    results = compare(Events.of(user, item, time=time), {"Bestseller": Bestseller()}, split="leave-last:1").results
    assert results.split.repeats == pytest.approx(share)
    assert [c.level for c in results.trust if "had before; they" in c.text] == ([] if level is None else [level])
    assert results.split.left_out == {"held-out events, all of items they had before": repeated}


def test_interactions_know_of_no_repeats() -> None:
    data = EVENTS.merged()
    results = compare(data, MODELS, split="time:0.3", kind="events").results
    assert results.split.repeats is None
    assert any("read_events keeps both" in caveat.text for caveat in results.trust)  # they were merged
    with pytest.raises(ParameterError, match=r"repeat=True \(--repeat\) is for events"):
        compare(data, MODELS, repeat=True)
    with pytest.raises(ParameterError, match="Events are events, not ratings"):
        compare(EVENTS, MODELS, kind="ratings")
    with pytest.raises(ParameterError, match="'repeat' parameter must be True or False"):
        compare(EVENTS, MODELS, repeat="yes")  # type: ignore[arg-type]


def test_a_split_of_events_of_somebodys_own() -> None:
    split = fullrank.holdout(EVENTS, 0.2, valid=0.2, repeat=True)
    setting = make_setting(split)
    assert (setting.kind, setting.exclude, setting.for_tuning()) == ("events", None, split)
    assert split.train_events is not None
    assert setting.split.train == split.train_events.merged()  # in the end all that came before is learned from
    assert setting.data == EVENTS.merged()
    left_out = fullrank.holdout(EVENTS, 0.2, repeat=False)
    assert make_setting(left_out).exclude == "train"
    with pytest.raises(ParameterError, match="this split leaves repeats out"):
        make_setting(left_out, repeat=True)
    halves = fullrank.halved(fullrank.holdout(EVENTS, 0.3, repeat=True))
    assert make_setting(halves).split.train.value.sum() == halves.train.value.sum() + halves.valid.value.sum()  # type: ignore[union-attr]


@pytest.mark.parametrize("repeat", [False, True])
def test_tuning_is_on_training_events(repeat: bool) -> None:
    setting = make_setting(EVENTS, split="time:0.3", repeat=repeat)
    chosen = setting.for_tuning()
    assert setting.split.train_events is not None
    again = parse_split("time:0.3", 0, repeat)(setting.split.train_events)
    assert (chosen.train, chosen.valid) == (again.train, again.held_out)
    assert chosen.held_out == setting.split.held_out
    merged = parse_split("time:0.3")(setting.split.train)
    assert merged.train != chosen.train  # cut from merged rows, training events would have been lost
    assert chosen.train.value.sum() > merged.train.value.sum()


def test_a_tuned_model_is_judged_as_it_was_chosen() -> None:
    pytest.importorskip("optuna")
    setting = make_setting(EVENTS, split="time:0.3", repeat=True)
    tuned = fullrank.tune(ItemCF(), setting.for_tuning(), trials=2)
    split = setting.for_tuning()
    inner = fullrank.Split(split.train, split.valid)  # type: ignore[type-var]
    ranks = fullrank.rank(ItemCF().fit(split.train), inner, exclude=None)
    expected = fullrank.evaluate(ranks, [fullrank.metrics.parse("recall@10")]).mean()["recall@10"]
    assert tuned.points[0].value == expected


def test_where_the_truth_is_known_repeats_are_in_it_too() -> None:
    everything = Interactions.of(
        EVENTS.users.names[EVENTS.user], EVENTS.items.names[EVENTS.item], users=EVENTS.users, items=EVENTS.items
    )
    judged, new = (make_setting(EVENTS, repeat=repeat, truth=lambda: everything).complete for repeat in (True, False))
    assert judged is not None
    assert new is not None
    assert len(judged.item) == len(everything) > len(new.item)


def test_a_resumed_comparison_ends_the_same_and_another_is_not_taken_for_it(tmp_path: Path) -> None:
    options: dict[str, Any] = {"split": "time:0.3", "repeat": True, "sampled": 20}
    whole = compare(EVENTS, MODELS, **options)
    compare(EVENTS, {"Bestseller": Bestseller()}, out=tmp_path, **options)
    first = (tmp_path / "parts" / "Bestseller" / "part.json").stat().st_mtime_ns
    resumed = compare(EVENTS, MODELS, out=tmp_path, **options)
    assert timeless(resumed.to_json()) == timeless(whole.to_json())
    assert (tmp_path / "parts" / "Bestseller" / "part.json").stat().st_mtime_ns == first
    assert json.loads((tmp_path / "results.json").read_text())["split"]["repeats"] == whole.results.split.repeats
    with pytest.raises(fullrank.FullrankError, match="other data or another split"):
        compare(EVENTS, MODELS, out=tmp_path, split="time:0.3")


def test_where_nobody_repeats_in_what_is_held_out_the_candidates_differ_still(tmp_path: Path) -> None:
    """The parts are the same then, but not who stands above whom."""
    events = events_of("a1@1 a1@2 a2@9 b1@1 b3@9 c2@3 c1@9")
    options: dict[str, Any] = {"split": "time:1970-01-01T00:00:09", "sampled": 2, "out": tmp_path}
    without, repeated = (compare(events, ["Bestseller"], repeat=repeat, **options) for repeat in (False, True))
    assert (without.results.split.excluded, repeated.results.split.excluded) == ("train", "nothing")
    assert without.results.split.repeats == repeated.results.split.repeats == 0
    assert without.results.models[0].metrics["auc"] != repeated.results.models[0].metrics["auc"]


def test_plans_say_it(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('repeat = true\n[data]\nsource = "log.csv"\n')
    plan = read_plan(path)
    assert plan.repeat
    assert "repeat = true" in as_toml(plan)
    assert "repeat" not in as_toml(Plan(data=plan.data))


def test_what_people_take_most_is_compared_where_they_may_again() -> None:
    events = Interactions.of([1, 2], [1, 2])
    assert "PersonalFrequency" in defaults.recipes("events", events, repeat=True)
    assert "PersonalFrequency" not in defaults.recipes("events", events)


def test_files_of_events_are_loaded_as_events(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    fullrank.write(EVENTS, path)
    assert load(str(path)).data == EVENTS
    assert load(str(path), kind="events").data == EVENTS
    assert load(str(path), duplicates="first").data == fullrank.read(path, duplicates="first")
    fullrank.write(EVENTS.merged(), tmp_path / "merged.csv")
    counted = load(str(tmp_path / "merged.csv"), kind="events").data
    assert counted == fullrank.read(tmp_path / "merged.csv", feedback="implicit")
    path.write_text("user,item,rating,time\n1,7,3,100\n1,7,4,200\n2,7,5,100\n")
    assert load(str(path), kind="ratings").data == load(str(path)).data == fullrank.read(path)


def test_ta_feng_is_loaded_as_events(tmp_path: Path) -> None:
    head = '"TRANSACTION_DT","CUSTOMER_ID","PRODUCT_ID","AMOUNT"\n'
    rows = '"11/1/2000","0001","7","1"\n"11/3/2000","0001","7","2"\n"11/2/2000","0002","7","1"\n'
    (tmp_path / "ta_feng_all_months_merged.csv").write_text(head + rows)
    events = load(str(tmp_path)).data
    assert isinstance(events, Events)
    assert (
        events.merged()
        == fullrank.sources.ta_feng(tmp_path).data
        == load(str(tmp_path), settings={"events": False}).data
    )
    assert load(str(tmp_path), settings={"duplicates": "first"}).data.value.tolist() == [1, 1]
    with pytest.raises(ParameterError, match="left out where events are kept"):
        load(str(tmp_path), settings={"duplicates": "first", "events": True})
