"""Columns as shops and platforms call them, and what the name of a value says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from fullrank.data import kind_of
from fullrank.data.read import read
from fullrank.data.reading.names import COUNTS, RATINGS, USUAL_NAMES, meaning_of, plain
from fullrank.data.split import holdout
from fullrank.data.write import write as write_data
from fullrank.errors import DataError
from tests.data.shops import ta_feng, write

DAYS = ["11/1/2000", "11/2/2000", "12/13/2000", "1/31/2001", "2/1/2001", "11/1/2000"]


def test_a_shop_s_file_is_read_without_a_word(tmp_path: Path) -> None:
    data = read(write(tmp_path, ta_feng(DAYS, [2, 1, 1, 3, 1, 4])))
    assert data.users.names.tolist() == [f"{n:08}" for n in range(5)]
    assert data.items.names.tolist() == [int(f"4710{n}") for n in range(6)]
    assert data.value is not None
    assert data.time is not None
    assert data.value.tolist() == [2, 4, 1, 1, 3, 1]
    assert str(data.time[3].astype("datetime64[D]")) == "2000-12-13"
    assert kind_of(data) == "events"
    assert "AMOUNT taken as counts" in data.intake.notes
    assert "times read as dates %m/%d/%Y" in data.intake.notes
    assert data.intake.doubts == ()


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ("InvoiceNo,StockCode,Quantity,InvoiceDate,UnitPrice,CustomerID", "CustomerID StockCode Quantity InvoiceDate"),
        ("t_dat,customer_id,article_id,price,sales_channel_id", "customer_id article_id - t_dat"),
        ("review_id,user_id,business_id,stars,date", "user_id business_id stars date"),
        ("household_key,BASKET_ID,DAY,PRODUCT_ID,QUANTITY,SALES_VALUE", "household_key PRODUCT_ID QUANTITY DAY"),
        ("rating,title,asin,parent_asin,user_id,timestamp", "user_id asin rating timestamp"),
        ("User-ID,ISBN,Book-Rating", "User-ID ISBN Book-Rating -"),
        ("user,artist,track,play_count", "user track play_count -"),
        ("client,sku,price,total,revenue,cost", "client sku - -"),
        ("product,product_id,date,timestamp,count,stars,client,client_id", "client_id product_id stars timestamp"),
        ("order_date,buyer,goods,qty,amount", "buyer goods qty order_date"),
        ("username,game,hours", "username game hours -"),
        ("date,subscriber,show,episode,watch_time", "subscriber show watch_time date"),
    ],
)  # fmt: skip
def test_columns_are_found_by_what_they_are_called(header: str, taken: str) -> None:
    """Each column holds its own number, so that what was read tells from where."""
    names = header.split(",")
    frame: dict[str, Any] = {name: [10**9 + place] for place, name in enumerate(names)}
    user, item, value, time = taken.split()
    data = read(frame)
    assert data.users.names.tolist() == frame[user]
    assert data.items.names.tolist() == frame[item]
    assert (data.value is None, data.time is None) == (value == "-", time == "-")
    if data.value is not None:
        assert data.value.tolist() == np.float32(frame[value]).tolist()
    if data.time is not None:
        assert data.time.astype("datetime64[s]").astype(int).tolist() == frame[time]


def test_every_name_that_was_promised_is_known() -> None:
    promised = {
        "user": "customer_id client shopper buyer account household panelist subscriber userid user_name username "
        "listener reader",
        "item": "sku product product_id productid article article_id goods material upc ean gtin barcode asin "
        "parent_asin artist track song album title_id show episode business_id listing property recipe_id game app "
        "content_id news_id document place poi venue",
        "value": "rating stars score review_score grade qty quantity amount units plays play_count listen_count views "
        "clicks visits minutes watch_time weight count frequency",
        "time": "transaction_dt transaction_date order_date purchase_date invoice_date trans_date event_time "
        "event_timestamp created_at updated review_date unix_review_time day datetime date_time ts",
    }
    for role, names in promised.items():
        assert {plain(name) for name in names.split()} <= set(USUAL_NAMES[role]), role


def test_names_are_written_as_they_are_compared_and_money_is_no_value() -> None:
    for role, names in USUAL_NAMES.items():
        assert [plain(name) for name in names] == list(names), role
        assert len(set(names)) == len(names), role
    assert not set(USUAL_NAMES["value"]) & {"price", "salesprice", "total", "revenue", "cost", "unitprice"}
    assert not set(RATINGS) & set(COUNTS)
    assert not set(USUAL_NAMES["user"]) & set(USUAL_NAMES["item"])


@pytest.mark.parametrize("name", ["qty", "AMOUNT", "Play_Count", "views", "weight"])
@pytest.mark.parametrize("kind", ["csv", "frame", "parquet"])
def test_counts_are_added_up_and_above_zero(tmp_path: Path, name: str, kind: str) -> None:
    frame = {"user": [1, 1, 2], "item": [7, 7, 7], name: [2, 3, 1]}
    source: Any = {
        "csv": lambda: write(tmp_path, pl.DataFrame(frame).write_csv()),
        "frame": lambda: frame,
        "parquet": lambda: pl.DataFrame(frame).write_parquet(tmp_path / "f.parquet") or tmp_path / "f.parquet",
    }[kind]()
    data = read(source)
    assert data.value is not None
    assert data.value.tolist() == [5, 1]
    assert kind_of(data) == "events"
    assert f"{name} taken as counts" in data.intake.notes
    assert kind_of(read(source, feedback="explicit", duplicates="max")) == "ratings"
    assert read(source, feedback="implicit").intake.notes.count(f"{name} taken as counts") == 0
    with pytest.raises(DataError, match=r"value 0 is no count above 0.*--on-bad skip.*--kind ratings"):
        read({**frame, name: [2, 3, 0]})


def test_a_rating_is_one_however_many_values_it_has() -> None:
    many = {"user": list(range(60)), "item": [1] * 60, "score": list(range(60))}
    assert kind_of(read(many)) == "ratings"
    unnamed = {"user": many["user"], "item": many["item"], "value": many["score"]}
    assert kind_of(read(unnamed)) == "events"  # the number of different values decides
    assert kind_of(read({**unnamed, "value": [1, 2] * 30})) == "ratings"
    assert kind_of(read({"user": [1, 2], "item": [1, 1], "rating": [1, 1]})) == "events"  # nothing is graded
    assert meaning_of("value") is None


def test_what_values_are_stays_with_the_data(tmp_path: Path) -> None:
    data = read({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "plays": [1, 2, 3, 4]})
    split = holdout(data, 0.5)
    assert {part.kind for part in (split.train, split.held_out, split.whole(), data.catalogue(items=[9]))} == {"events"}
    write_data(data, tmp_path / "x.csv")
    assert (read(tmp_path / "x.csv").kind, read(tmp_path / "x.csv")) == ("events", data)
    assert read(csr_array(np.eye(2)), feedback="implicit").kind == "events"
    assert read(csr_array(np.eye(2))).kind is None


def test_an_amount_that_is_not_whole_may_be_money() -> None:
    frame = {"user": [1, 2], "item": [1, 1], "amount": [12.99, 3.0]}
    assert [doubt for doubt in read(frame).intake.doubts if "if it is money" in doubt]
    assert read({**frame, "amount": [12.0, 3.0]}).intake.doubts == ()
    assert read({"user": [1, 2], "item": [1, 1], "minutes": [12.99, 3.0]}).intake.doubts == ()
