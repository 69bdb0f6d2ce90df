"""fullrank explain"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullrank.cli.options import Encoding, Items, Json, parse_history, read_titles
from fullrank.cli.printing import note, print_json


def explain(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as 'fullrank fit' writes it.")],
    item: Annotated[str, typer.Option(help="The item whose score it is.")],
    user: Annotated[str | None, typer.Option(help="Somebody in the training data.")] = None,
    history: Annotated[
        str | None, typer.Option(help="Somebody new, by what they did: item,item or item=value,item=value.")
    ] = None,
    n: Annotated[int, typer.Option("-n", help="How many items of the history; the others are added up.", min=1)] = 10,
    items: Items = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """What the score of an item for somebody is the sum of, by a fitted model."""
    from fullrank.data.read_ids import as_id
    from fullrank.models.files import load
    from fullrank.recommending.explain import explain as take_apart

    fitted = load(model)
    users, ids = fitted.train.users, fitted.train.items
    titles = read_titles(items, ids, encoding)
    found = take_apart(
        fitted, None if user is None else as_id(user, users), item=as_id(item, ids), n=n,
        history=None if history is None else parse_history(history, ids),
    )  # fmt: skip
    if json:
        parts = [part._asdict() | ({"title": titles.get(part.item, "")} if titles else {}) for part in found.parts]  # type: ignore[arg-type]
        result = {"item": found.item, "score": found.score, "parts": parts}
        rest = {"not_counted": found.not_counted, "fallback": found.fallback, "sentence": found.sentence}
        print_json(result | rest)
        return
    for part in found.parts:
        if part.item is None:
            print(f"{part.part:10.4g}  {part.name}")
        else:
            print(f"{part.part:10.4g}  {part.item} ({part.value:g})  {titles.get(part.item, '')}".rstrip())
    print(f"{found.score:10.4g}  = the score of {found.item}  {titles.get(found.item, '')}".rstrip())
    note(found.sentence)
