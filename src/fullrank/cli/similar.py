"""fullrank similar"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullrank.cli.options import Encoding, Items, Json, read_titles
from fullrank.cli.printing import print_json


def similar(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as 'fullrank fit' writes it.")],
    item: Annotated[str, typer.Argument(metavar="ITEM", help="An item of the training data.")],
    n: Annotated[int, typer.Option("-n", help="How many items.", min=1)] = 10,
    items: Items = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """The items that are most like an item, by a fitted model."""
    from fullrank.data.read_ids import as_id
    from fullrank.models.files import load
    from fullrank.recommending.similar import similar as nearest

    fitted = load(model)
    ids = fitted.train.items
    name, titles = as_id(item, ids), read_titles(items, ids, encoding)
    found = nearest(fitted, name, n=n)
    if json:
        called = {"titles": [titles[one] for one in found.items]} if titles else {}
        print_json({"item": name, "items": found.items, "scores": found.scores, **called})
        return
    for one, score in zip(found.items, found.scores, strict=True):
        print(f"{score:10.4g}  {one}  {titles.get(one, '')}".rstrip())
