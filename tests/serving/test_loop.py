"""Lists over HTTP, what was done with them, and back: the store behind the service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullrank
from fullrank.client import Client, ServiceError
from fullrank.serving.application import create_app
from fullrank.serving.registry import open_registry
from fullrank.serving.store import open_store
from fullrank.serving.stored import StoredFeedback, intake_of
from tests.serving.server import served

ROUNDS = 3  # lists for everybody
WORLD = fullrank.simulate.ratings(40, 30, seed=2)


@pytest.fixture
def model(tmp_path: Path) -> str:
    fullrank.save(fullrank.ItemCF().fit(WORLD.data), tmp_path / "m.fr")
    return f"m={tmp_path / 'm.fr'}"


def test_what_is_shown_and_done_becomes_sessions(model: str, where: str, tmp_path: Path) -> None:
    feedback = StoredFeedback(open_store(where))
    people = WORLD.data.users.names.tolist()
    with served(create_app(open_registry([model], None, None), intake_of(feedback))) as running:
        client = Client(f"http://127.0.0.1:{running.port}")
        assert running.ask("GET", "/v2/health/ready").status == 200
        shown = [(user, client.recommend("m", user, n=4)) for user in people for _ in range(ROUNDS)]
        acts = [
            {"kind": "action", "event_id": f"e{n}", "user": user, "action": "clicked",
             "item": one["items"][n % 4]["item"], "on": one["recommendation_id"]}
            for n, (user, one) in enumerate(shown)
        ]  # fmt: skip
        assert {receipt["status"] for receipt in client.events(acts)} == {"stored"}
        assert {receipt["status"] for receipt in client.events(acts)} == {"known"}
        with pytest.raises(ServiceError) as refused:
            client.events([{**acts[0], "action": "bought"}])
        assert refused.value.status == 409
        client.forget(people[0])
        assert client.recommend("m", history=[int(WORLD.data.items.names[0])], n=3)["items"]
    feedback.close()
    with open_store(where) as store:
        frame = pl.concat(store.export("sessions", scale=("shown", "clicked"), ids="text"))
    assert str(people[0]) not in frame["user"].to_list()
    sessions = fullrank.read_sessions(frame, scale=("shown", "clicked"))
    assert len(sessions) == ROUNDS * (len(people) - 1) + 1  # one is forgotten, one had no name
    expected = sorted((act["on"], str(act["user"]), str(act["item"])) for act in acts[ROUNDS:])
    clicked = frame.filter(pl.col("action") == "clicked").select("session", "user", "item")
    assert sorted(clicked.rows()) == expected
    found = fullrank.compare(sessions, ["Bestseller", "RSVD"], split="holdout:0.3")
    assert {one.name for one in found.results.models} == {"Bestseller", "RSVD"}


def test_an_empty_list_is_no_offer(tmp_path: Path) -> None:
    store = open_store(tmp_path / "f.db")
    feedback = StoredFeedback(store)
    assert feedback.offer("r1", 7, [], "m", "v").result() == []
    assert feedback.offer("r2", 7, ["tea"], "m", "v").result()
    assert feedback.forget("7").result() == 1  # whoever is written so, as in an address
    feedback.close()


def test_options_of_serve(model: str, tmp_path: Path, capfd: Any) -> None:
    from tests.cli.test_cli import run

    code, _, err = run(capfd, "serve", model, "--store", tmp_path / "f.db", "--read-only")
    assert (code, "give one of them" in err) == (2, True)
    code, _, err = run(capfd, "serve", model, "--store", tmp_path / "no" / "f.db", "--port", 0)
    assert code in (66, 73), err
