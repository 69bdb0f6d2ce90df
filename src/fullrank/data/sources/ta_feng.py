"""Ta Feng grocery: what customers of a supermarket bought from November 2000 to February 2001."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, overload

from fullrank.data import events as event_rows
from fullrank.data.canonical import Duplicates
from fullrank.data.events import Events
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions, canonical
from fullrank.data.reading.fields import Field
from fullrank.data.reading.table import read_table
from fullrank.data.sources.catalogue import described
from fullrank.data.sources.files import Files, Folder
from fullrank.data.sources.source import Dataset, Source
from fullrank.data.times import MICROSECONDS, Times
from fullrank.errors import DataError, check, shown

TA_FENG = Dataset(
    name="ta-feng",
    title="Ta Feng grocery",
    page="https://www.kaggle.com/datasets/chiranjivdas09/ta-feng-grocery-dataset",
    licence="none came with the data; treat it as research only",
    marks=(("ta_feng_all_months_merged.csv",),),
    rows=817_741,
    users=32_266,
    items=23_812,
)

FIELDS = (
    Field("user", "id", "CUSTOMER_ID"),
    Field("item", "id", "PRODUCT_ID"),
    Field("value", "number", "AMOUNT"),
    Field("session", "id", "TRANSACTION_DT"),  # few days, so they are numbered like ids
)


@overload
def ta_feng(folder: Folder = ..., *, events: Literal[True]) -> Source[Events]: ...


@overload
def ta_feng(folder: Folder = ..., *, duplicates: Duplicates = ...) -> Source[Interactions]: ...


def ta_feng(
    folder: Folder = None, *, duplicates: Duplicates = "sum", events: bool = False
) -> Source[Interactions] | Source[Events]:
    """817,741 purchases (implicit: amounts, with their day) by 32,266 customers of 23,812 products.

    Amounts of one product bought by one customer are added up, at the last day; `duplicates="first"` keeps the first
    purchase alone, so that what comes later does not move it; `events=True` keeps every purchase. Ids keep their zeros.
    Licence: none came with the data; treat it as research only.
    """
    check("duplicates", duplicates, not events or duplicates == "sum", "left out where events are kept")
    path = Files(TA_FENG, folder).file("ta_feng_all_months_merged.csv")
    bought = read_table(path, FIELDS, separator=",", header=True)
    columns, ids = bought.columns, bought.ids
    columns["time"] = _days(ids["session"], path)[columns.pop("session")]
    if (columns["value"] <= 0).any():
        row = int((columns["value"] <= 0).argmax())
        raise DataError(f"{path}: amount {columns['value'][row]:g} (row {row}); amounts are above 0.")
    if events:
        every = event_rows.canonical(columns, ids["user"], ids["item"], bought.intake)
        return Source(TA_FENG.title, every, notes=TA_FENG.differences(every, every.n_items))
    data = canonical(columns, ids["user"], ids["item"], duplicates, bought.intake, "events")
    return described(TA_FENG, data, None)


def _days(names: Ids, path: Path) -> Times:
    """Days written as month/day/year."""
    import polars as pl

    written = pl.Series(map(str, names))
    days = written.str.to_date("%m/%d/%Y", strict=False)
    if days.null_count():
        raise DataError(f"{path}: date {shown(written.filter(days.is_null())[0])} is not month/day/year.")
    return days.to_numpy().astype(MICROSECONDS)
