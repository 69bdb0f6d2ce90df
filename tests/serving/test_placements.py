"""What a browser may send, and what it may not; the whole study with 100 people whose truth is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

import fullrank
from fullrank import CCF, Graded, OpportunityCost, SessionCost
from fullrank.errors import DataError
from fullrank.serving.examples import movies
from fullrank.serving.placements import Placement, read_participant, read_placement
from fullrank.serving.reversals import PairReversals, reversals
from fullrank.serving.study_results import agreement, progress, taus_of
from fullrank.serving.study_sessions import to_sessions
from tests.serving.participants import START, agreed, everybody, sent

STUDY = movies()
JAWS: dict[str, float | None] = {
    "jaws": 0.9, "raiders": 0.9, "jurassic-park": 0.3, "catch-me": 0.25, "schindlers-list": 0.0,
    "saving-private-ryan": None,
}  # fmt: skip


def placed(who: str = "ann", at: dict[str, float | None] = JAWS) -> Placement:
    return read_placement(STUDY, sent(STUDY, who, "steven-spielberg", at))


def test_a_placement_survives_json() -> None:
    content = json.loads(json.dumps(sent(STUDY, "ann", "steven-spielberg", JAWS)))
    placement = read_placement(STUDY, content)
    assert placement.positions == JAWS
    assert read_placement(STUDY, json.loads(placement.model_dump_json())) == placement
    assert len(placement.moves) == 10


def _set(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(content: Any) -> None:
        for step in path[:-1]:
            content = content[step]
        content[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_set("positions", "jaws", to=1.5), "positions.jaws: input should be less than or equal to 1, got 1.5"),
        (_set("positions", "jaws", to=float("nan")), "positions.jaws: input should be "),
        (_set("positions", "jaws", to=True), "positions.jaws: input should be a valid number, got True"),
        (_set("positions", "jaws", to="0.9"), "positions.jaws: input should be a valid number"),
        (_set("positions", "jaws", to=0.8), "'jaws' stands at 0.8, but its last move was to 0.9"),
        (_set("positions", "saving-private-ryan", to=0.5), "stands at 0.5, but its last move was to None"),
        (_set("positions", to={"jaws": 0.9}), "positions must be of the offers schindlers-list, saving-private-ryan"),
        (_set("positions", "x", to=None), "positions must be of the offers"),
        (_set("moves", 3, "offer", to="titanic"), "move 3 is of 'titanic', which was not offered"),
        (_set("moves", 0, "milliseconds", to=999), "move 1 is earlier than the one before"),
        (_set("moves", 0, "milliseconds", to=-1), "moves.0.milliseconds: input should be greater than or equal to 0"),
        (_set("moves", 0, "mode", to="voice"), "moves.0.mode: input should be 'mouse', 'touch', 'pen' or 'keyboard'"),
        (_set("moves", 0, "extra", to=1), "moves.0.extra is not known."),
        (_set("initial", to=sorted(JAWS)), "the initial order is not the one that this participant was shown"),
        (_set("participant", to="bob"), "the initial order is not the one"),
        (_set("query", to="none"), "there is no such query; there are tom-hanks, steven-spielberg"),
        (_set("seed", to=4), "seed 4 is not the study's, which is 0"),
        (_set("finished", to="2020-01-01T00:00:00Z"), "finished before it was shown"),
        (_set("shown", to="2026-03-01T12:00:00"), "shown: input should have timezone info"),
    ],
)
def test_what_cannot_have_happened_is_refused(change: Callable[[dict[str, Any]], None], says: str) -> None:
    content = sent(STUDY, "ann", "steven-spielberg", JAWS)
    change(content)
    with pytest.raises(DataError, match=says):
        read_placement(STUDY, content)


@pytest.mark.parametrize("content", [None, [], "x", {}, 3])
def test_anything_else_is_refused(content: Any) -> None:
    with pytest.raises(DataError, match="placement: "):
        read_placement(STUDY, content)
    with pytest.raises(DataError, match="participant: "):
        read_participant(content)


def test_consent_and_withdrawal() -> None:
    person = {"participant": "ann", "consented": "2026-03-01T12:00:00Z"}
    assert read_participant(person).withdrawn is None
    with pytest.raises(DataError, match="withdrawn before consent was given"):
        read_participant(person | {"withdrawn": "2026-02-01T12:00:00Z"})


def test_positions_become_classes_and_unplaced_offers_are_told() -> None:
    sessions = to_sessions([placed()], [agreed("ann")], span=0.1)
    grades = {sessions.items.name(i): float(g) for i, g in zip(sessions.item, sessions.grade, strict=True)}
    assert grades == {"jaws": 2, "raiders": 2, "jurassic-park": 1, "catch-me": 1, "schindlers-list": 0}
    assert sessions.names is not None
    assert sessions.names.name(0) == "ann/steven-spielberg"
    assert sessions.time is not None
    assert sessions.time[0] == np.datetime64("2026-03-01T12:00:40")
    assert sessions.intake.dropped == {"left unplaced": 1}
    assert sessions.intake.kept == len(sessions.item)
    assert sessions.intake.notes == ("classes by relevance_classes with span 0.1 and seed 0",)


def test_only_people_who_agreed_and_stayed_count() -> None:
    gone = agreed("bob", withdrawn=START)
    late = agreed("dan").model_copy(update={"consented": START + timedelta(days=1)})
    several = [placed("ann"), placed("bob"), placed("cyd"), placed("dan")]
    sessions = to_sessions(several, [agreed("ann"), gone, late])
    assert sessions.users.names.tolist() == ["ann"]
    assert sessions.intake.dropped == {
        "left unplaced": 1, "of participants who withdrew": 6, "of participants without consent": 12,
    }  # fmt: skip
    assert sessions.intake.kept == len(sessions.item)
    with pytest.raises(DataError, match="there are no sessions yet"):
        to_sessions([placed("bob")], [gone])


def test_of_what_is_placed_again_the_last_counts() -> None:
    again = sent(STUDY, "ann", "steven-spielberg", JAWS | {"jaws": 0.1}, 60)
    for order in ((placed(), read_placement(STUDY, again)), (read_placement(STUDY, again), placed())):
        sessions = to_sessions(order, [agreed("ann")], span=0)
        assert sessions.grade[sessions.items.codes(["jaws"])[0]] == 1
        assert sessions.intake.dropped == {"placed again later": 6, "left unplaced": 1}


def test_an_offer_alone_is_no_session() -> None:
    alone = placed("bob", dict.fromkeys(JAWS) | {"jaws": 0.4})
    sessions = to_sessions([placed(), alone], [agreed("ann"), agreed("bob")])
    assert len(sessions) == 1
    assert sessions.intake.kept == len(sessions.item)


def test_agreement_is_kendall_s_tau_b() -> None:
    rng = np.random.default_rng(0)
    positions = np.round(rng.random((12, 6)), 1)
    positions[rng.random((12, 6)) < 0.2] = np.nan
    expected = []
    for a in range(12):
        for b in range(a + 1, 12):
            both = ~np.isnan(positions[a] + positions[b])
            tau = kendalltau(positions[a][both], positions[b][both]).statistic if both.sum() > 1 else np.nan
            expected += [] if np.isnan(tau) else [tau]
    assert len(expected) > 50
    assert taus_of(positions) == pytest.approx(expected)


def test_agreement_and_progress_of_a_few() -> None:
    turned = {offer: None if at is None else 1 - at for offer, at in JAWS.items()}
    three, people = (
        [placed("ann"), placed("bob"), placed("cyd", turned)],
        [agreed(who) for who in ("ann", "bob", "cyd")],
    )
    agree = agreement(STUDY, three, people)
    assert agree.pairs == 3
    assert agree.mean == pytest.approx(-1 / 3)
    assert agree.queries["tom-cruise"] is None
    assert str(agree) == "Two people agree by -0.33 in the mean (Kendall's tau-b; 1 is one order, 0 chance)."
    assert str(agreement(STUDY, three[:1], people)) == "No two people placed the same offers yet."
    so_far = progress(STUDY, three, [*people, agreed("dan", withdrawn=START)])
    assert (so_far.agreed, so_far.withdrew, so_far.began, so_far.finished) == (4, 1, 3, 0)
    assert so_far.queries["steven-spielberg"] == 3
    assert so_far.unplaced == pytest.approx(1 / 6)
    assert (so_far.moves, so_far.seconds, so_far.modes) == (10, 40, {"mouse": 30})
    assert json.loads(json.dumps([so_far.to_json(), agree.to_json()], allow_nan=False))
    assert progress(STUDY, [], []).unplaced is None


def test_reversals_by_hand() -> None:
    """Ann turns a and b; bob orders them once; cyd never changes; dan meets them once; ann's a and c stay."""
    rows = [
        ("a1", "a", 2, "ann"), ("a1", "b", 1, "ann"), ("a1", "c", 0, "ann"),
        ("a2", "a", 1, "ann"), ("a2", "b", 2, "ann"), ("a3", "a", 1, "ann"), ("a3", "c", 0, "ann"),
        ("b1", "a", 1, "bob"), ("b1", "b", 0, "bob"), ("b2", "a", 1, "bob"), ("b2", "b", 1, "bob"),
        ("c1", "a", 1, "cyd"), ("c1", "b", 0, "cyd"), ("c2", "a", 5, "cyd"), ("c2", "b", 2, "cyd"),
        ("d1", "a", 1, "dan"), ("d1", "b", 0, "dan"),
    ]  # fmt: skip
    session, item, grade, user = map(list, zip(*rows, strict=True))
    found = reversals(Graded.of(session, item, grade, user=user))
    assert (found.people, found.reversed, found.undecided, found.either) == (3, 1, 1, 2)
    assert found.pairs == (PairReversals("a", "b", 3, 1, 1), PairReversals("a", "c", 1, 0, 0))
    none = reversals(Graded.of(["s", "s"], ["a", "b"], [1, 0]))
    assert str(none) == "Nobody met two items in several sessions, so nothing can be said of reversals."
    assert none.pairs == ()


def test_five_queries_by_100_people_whose_truth_is_known() -> None:
    turned = frozenset({3, 17, 58})
    steady, changed = everybody(STUDY), everybody(STUDY, turned=turned)
    assert progress(STUDY, *steady).finished == 100
    assert str(progress(STUDY, *steady)) == (
        "100 of 100 people who agreed placed all 5 queries; 0 are on their way, 0 withdrew."
    )
    exact, with_turns = (to_sessions(*one, span=0) for one in (steady, changed))
    assert (len(exact), len(exact.item), len(exact.items)) == (500, 3000, 25)
    none, some = reversals(exact), reversals(with_turns)
    assert (none.people, none.reversed, none.undecided) == (100, 0, 0)
    assert (some.people, some.reversed, some.undecided) == (100, 3, 0)
    met = {(pair.one, pair.two): (pair.people, pair.reversed) for pair in some.pairs}
    assert met == {("cast-away", "forrest-gump"): (100, 3), ("catch-me", "saving-private-ryan"): (100, 0)}
    classes = reversals(to_sessions(*steady))  # context turns nothing; near places may fall into one class
    assert classes.reversed == 0
    assert classes.undecided > 0


def test_the_study_s_sessions_are_compared_at_once() -> None:
    sessions = to_sessions(*everybody(STUDY))
    recipes = {"SessionCost": SessionCost(), "OpportunityCost": OpportunityCost(), "CCF": CCF()}
    found = fullrank.compare(sessions, recipes, split="leave-last:1")
    losses = {model.name: model.metrics["pairwise_loss"].mean for model in found.results.models}
    assert set(losses) == set(recipes)
    for name, loss in losses.items():
        assert loss is not None, name
        assert loss < 0.4, name  # .5 is chance
