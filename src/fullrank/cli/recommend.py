"""fullrank recommend"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.options import Json, listed, parse_id
from fullrank.cli.printing import note, print_json


def recommend(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as 'fullrank fit' writes it.")],
    user: Annotated[str | None, typer.Option(help="Somebody in the training data.")] = None,
    history: Annotated[
        str | None, typer.Option(help="Somebody new, by what they did: item,item or item=value,item=value.")
    ] = None,
    n: Annotated[int, typer.Option("-n", help="How many items.", min=1)] = 10,
    only: Annotated[str | None, typer.Option(help="Choose among these items: item,item,...")] = None,
    seen: Annotated[bool, typer.Option("--seen", help="Also what they have seen.")] = False,
    json: Json = False,
) -> None:
    """The best items for somebody, by a fitted model."""
    from fullrank.models.files import load
    from fullrank.recommending.recommend import recommend as best

    fitted = load(model)
    users, items = fitted.train.users, fitted.train.items
    past: Any = None
    if history is not None:
        pairs = [part.partition("=") for part in listed(history)]
        with_values = any(equals for _, equals, _ in pairs)
        names = [parse_id(name, items) for name, _, _ in pairs]
        past = {name: _number(value, history) for name, (_, _, value) in zip(names, pairs, strict=True)} if with_values else names  # fmt: skip # noqa: E501
    result = best(
        fitted, None if user is None else parse_id(user, users), history=past, n=n, exclude=None if seen else "seen",
        only=None if only is None else [parse_id(name, items) for name in listed(only)],
    )  # fmt: skip
    if result.fallback:
        note("nothing is known of them: these are the most popular items.")
    if json:
        print_json({"items": result.items, "scores": result.scores, "fallback": result.fallback})
    else:
        print("\n".join(f"{score:10.4g}  {item}" for item, score in zip(result.items, result.scores, strict=True)))


def _number(text: str, history: str) -> float:
    from fullrank.errors import ParameterError

    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"--history: {history!r} has items with and without values; give all one.") from None
