"""Files as shops and platforms export them."""

from __future__ import annotations

from pathlib import Path

HEADER = "TRANSACTION_DT,CUSTOMER_ID,AGE_GROUP,PIN_CODE,PRODUCT_SUBCLASS,PRODUCT_ID,AMOUNT,ASSET,SALES_PRICE"


def ta_feng(days: list[str], amounts: list[int], *, repeat: int = 1) -> str:
    """The text of a file in the form of Ta Feng: customers in turn buy a product of seven each, on these days."""
    rows = []
    for n, (day, amount) in enumerate(zip(days, amounts, strict=True)):
        cells = (day, f"{n % 5:08}", "45-49", "115", "110411", f"4710{n % 7}", str(amount), "24", "30")
        rows.append(",".join(f'"{cell}"' for cell in cells))
    quoted = ",".join(f'"{name}"' for name in HEADER.split(","))
    return "\ufeff" + "\n".join([quoted, *rows * repeat]) + "\n"


def write(folder: Path, text: str, name: str = "shop.csv") -> Path:
    """Put the text of a file into a folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
