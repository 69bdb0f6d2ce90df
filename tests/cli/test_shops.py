"""A shop's own files through the commands: no flags, names for items, and what was not read is told."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fullrank.comparison.inputs import load
from fullrank.data import kind_of
from tests.cli.test_cli import run
from tests.data.shops import HEADER, ta_feng

Capture = pytest.CaptureFixture[str]
TA_FENG = Path(os.environ.get("FULLRANK_DATA", "../shared/data")) / "ta-feng" / "ta_feng_all_months_merged.csv.gz"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Eight customers who buy on days of two months."""
    random = Random(0)
    lines = [HEADER]
    for customer in range(8):
        for product in random.sample(range(12), 9):
            day = f"{random.choice((11, 12))}/{random.randrange(1, 31)}/2000"
            lines.append(f"{day},{customer:08},45-49,115,110411,{4710 + product},{random.randrange(1, 4)},24,30")
    path = tmp_path / "shop.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def compare(capfd: Capture, *arguments: Any, out: Path) -> tuple[int, str, dict[str, Any]]:
    code, _, told = run(capfd, "compare", *arguments, "--models", "bestseller", "--out", out)
    results = json.loads((out / "results.json").read_text()) if code == 0 else {}
    return code, told, results


def test_a_shop_s_file_is_compared_without_a_flag(capfd: Capture, shop: Path, tmp_path: Path) -> None:
    code, printed, told = run(capfd, "data", shop, "--json")
    described = json.loads(printed)
    assert (code, described["rows"], described["users"], described["items"]) == (0, 72, 8, 12)
    assert "AMOUNT taken as counts" in told
    code, told, results = compare(capfd, shop, out=tmp_path / "out")
    assert code == 0
    assert results["data"]["kind"] == "events"
    assert "last 5" in results["split"]["how"]
    trust = {caveat["text"]: caveat["level"] for caveat in results["trust"]}
    assert any("AMOUNT taken as counts" in text and level == "note" for text, level in trust.items())
    assert not any("was not read" in text for text in trust)


def test_kind_overrides_the_name(capfd: Capture, shop: Path, tmp_path: Path) -> None:
    assert compare(capfd, shop, "--kind", "ratings", out=tmp_path / "a")[2]["data"]["kind"] == "ratings"
    returned = shop.with_name("returned.csv")
    returned.write_text(shop.read_text() + "12/31/2000,00000001,45-49,115,110411,9,-1,24,30\n")
    code, told, _ = compare(capfd, returned, out=tmp_path / "b")
    assert (code, told.count("\n")) == (65, 1)
    assert "returned.csv:74: value -1 is no count above 0" in told
    assert compare(capfd, returned, "--on-bad", "skip", out=tmp_path / "c")[2]["data"]["kind"] == "events"
    assert compare(capfd, returned, "--kind", "ratings", out=tmp_path / "d")[2]["data"]["kind"] == "ratings"


def test_no_random_split_in_silence_where_there_are_dates(capfd: Capture, shop: Path, tmp_path: Path) -> None:
    lines = shop.read_text().replace("TRANSACTION_DT", "gekauft").replace("CUSTOMER_ID", "klant")
    shop.write_text(lines)
    code, told, _ = compare(capfd, shop, out=tmp_path / "a")
    assert (code, told.count("\n")) == (65, 1)
    assert "no user column" in told
    assert "gekauft, klant" in told
    columns = "user=klant,item=PRODUCT_ID,value=AMOUNT"
    code, told, results = compare(capfd, shop, "--columns", columns, out=tmp_path / "b")
    said = f"olumn 'gekauft' looks like a time and was not read; name it with --columns {columns},time=gekauft"
    assert said in told
    assert {"level": "warning", "text": f"C{said}."} in results["trust"]
    assert "at random" in results["split"]["how"]
    code, told, results = compare(capfd, shop, "--columns", f"{columns},time=gekauft", out=tmp_path / "c")
    assert "at random" not in results["split"]["how"]
    assert not [caveat for caveat in results["trust"] if "was not read" in caveat["text"]]


def test_items_and_users_have_files_of_their_own(capfd: Capture, shop: Path, tmp_path: Path) -> None:
    items, users = tmp_path / "titles.csv", tmp_path / "people.tsv"
    items.write_text("sku,name,kind\n" + "".join(f"{4710 + n},Product no. {n},a|b\n" for n in range(11)))
    users.write_text("customer_id\tage\n" + "".join(f"{n:08}\t{20 + n}\n" for n in range(8)))
    options = ["--items", items, "--users", users]
    code, told, results = compare(capfd, shop, *options, out=tmp_path / "a")
    assert code == 0
    assert "1 of 12 items of the data have no row there" in told
    assert "Product no. 3" in json.dumps(results["examples"])
    assert run(capfd, "compare", shop, *options, "--models", "bestseller", "--save-plan", tmp_path / "p.toml")[0] == 0
    assert 'items = "' in (tmp_path / "p.toml").read_text()
    code, told, again = compare_plan(capfd, tmp_path / "p.toml", tmp_path / "b")
    assert again["examples"] == results["examples"]
    code, _, told = run(capfd, "compare", tmp_path / "p.toml", "--items", items)
    assert (code, told.count("\n")) == (2, 1)
    loaded = load(str(shop), items=str(items), users=str(users))
    assert loaded.item_attributes is not None
    assert loaded.user_attributes is not None
    assert loaded.item_attributes.column_for("kind", loaded.data.items)[0] == ("a", "b")
    assert loaded.user_attributes.column_for("age", loaded.data.users)[:2] == ("20", "21")
    assert loaded.titles[3] == "Product no. 3"


def compare_plan(capfd: Capture, plan: Path, out: Path) -> tuple[int, str, dict[str, Any]]:
    code, _, told = run(capfd, "compare", plan, "--out", out)
    return code, told, json.loads((out / "results.json").read_text())


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (None, 66, "no such file"),
        ("", 65, "the file is empty"),
        ("sku,name\n4710,A\n4710,B\n", 65, "items.csv:3: item id 4710 is on line 2 already"),
        ("sku,name\n1,A\n", 65, "none of 1 item ids is in the data"),
        ("sku,name\n4710,A,B\n", 65, "items.csv:2: 3 fields, expected 2"),
    ],
)
def test_a_broken_file_of_items_ends_it_before_anything_is_fitted(
    capfd: Capture, shop: Path, tmp_path: Path, content: str | None, code: int, said: str
) -> None:
    path = tmp_path / "items.csv"
    if content is not None:
        path.write_text(content)
    ended, told, _ = compare(capfd, shop, "--items", path, out=tmp_path / "out")
    assert (ended, told.count("\n")) == (code, 1)
    assert said in told
    assert not (tmp_path / "out" / "results.json").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (HEADER + "\n", "no interactions"),
        (HEADER.replace("AMOUNT", "CUSTOMER_ID") + "\n" + "11/13/2000,1,a,b,c,2,1,24,30\n", "occurs twice"),
        (HEADER + "\n" + "11/13/2000,1,a,b,c,2,NaN,24,30\n" * 2, "shop.csv:2: value contains NaN"),
        (HEADER + "\n" + "11/13/2000,1,a,b,c,2,1,24,30\n" * 2 + "x,1,a,b,c,2,1,24,30\n", "shop.csv:4: time 'x' is not"),
        (HEADER + "\n" + "11/13/2000,1,a,b,c,2,five,24,30\n11/13/2000,1,a,b,c,3,1,24,30\n", "shop.csv:2: value 'five'"),
        (HEADER + "\n" + "11/13/0001,1,a,b,c,2,1,24,30\n" * 2, "shop.csv:2: time "),
        (HEADER + "\n" + "11/1/2000,1,a,b,c,2,1,24,30\n" * 2, "read as %d/%m/%Y and as %m/%d/%Y"),
        (ta_feng(["11/13/2000"], [1]) + '"11/13/2000\n', "a quote opens here and is never closed"),
    ],
)
def test_broken_shops_are_refused_in_a_sentence(capfd: Capture, tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "shop.csv"
    path.write_text(content)
    for command in (["data", path], ["compare", path, "--models", "bestseller", "--out", tmp_path / "out"]):
        code, printed, told = run(capfd, *command)
        assert (code, printed, told.count("\n")) == (65, "", 1), told
        assert said in told


@pytest.mark.skipif(not TA_FENG.is_file(), reason="Ta Feng is not here")
def test_ta_feng_as_it_was_published(tmp_path: Path) -> None:
    """Its first 88,274 rows have days before the 13th: the order of day and month is found further down."""
    with gzip.open(TA_FENG, "rb") as file:
        head = file.read(12 << 20)
    path = tmp_path / "shop.csv"
    path.write_bytes(head[: head.rindex(b"\n") + 1])
    loaded = load(str(path))
    assert kind_of(loaded.data) == "events"
    assert str(loaded.data.time.min().astype("datetime64[D]")) == "2000-11-01"
    assert str(loaded.data.time.max().astype("datetime64[M]")) == "2000-11"
