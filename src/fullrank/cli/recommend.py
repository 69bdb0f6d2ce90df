"""fullrank recommend"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.options import Json, Overwrite, listed, parse_columns, parse_history, reads, with_options
from fullrank.cli.printing import bar, note, print_json, resumable
from fullrank.cli.rule_options import RULES, read_people, read_rules
from fullrank.errors import ParameterError


@reads(but=("kind", "scale", "settings"))
@with_options(RULES, "given")
def recommend(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as 'fullrank fit' writes it.")],
    user: Annotated[str | None, typer.Option(help="Somebody in the training data.")] = None,
    users: Annotated[
        str | None, typer.Option(help="Many people: all, a file with an id in every line, or id,id,...")
    ] = None,
    history: Annotated[
        str | None, typer.Option(help="Somebody new, by what they did: item,item or item=value,item=value.")
    ] = None,
    n: Annotated[int, typer.Option("-n", help="How many items.", min=1)] = 10,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A file for the lists: .csv, .tsv, .jsonl (.gz) or .parquet.")
    ] = None,
    overwrite: Overwrite = False,
    excel_safe: Annotated[bool, typer.Option("--excel-safe", help="Disarm formulas in a written text.")] = False,
    price: Annotated[bool, typer.Option("--price", help="Tell what the rules cost on --held-out.")] = False,
    held_out: Annotated[str | None, typer.Option(help="What people did afterwards, for --price.")] = None,
    relevant: Annotated[float | None, typer.Option(help="The least held-out value that is relevant.")] = None,
    metrics: Annotated[str | None, typer.Option(help="For --price, cut at -n or less; recall@n unless given.")] = None,
    json: Json = False,
    *,
    given: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> None:
    """The best items for somebody, or for many, by a fitted model and by rules; or what the rules cost."""
    from fullrank.metrics.table import parse
    from fullrank.models.files import load

    _check(price, held_out, {"user": user, "users": users, "history": history}, output)
    fitted = load(model)
    reading = {**reading, "columns": parse_columns(reading.get("columns"))}
    rules, notes = read_rules(fitted, given, reading)
    for line in notes:
        note(line)
    if price:
        split = _split(fitted, str(held_out), reading)
        measures = [parse(name) for name in listed(metrics)] or None
        _tell_price(json, model=fitted, split=split, rules=rules, n=n, relevant=relevant, metrics=measures)
        return
    if users is None:
        _one(fitted, user, history, n, rules, json)
        return
    options: dict[str, Any] = {"n": n, "rules": rules}
    options["users"] = read_people(users, fitted.train.users, reading.get("encoding", "utf-8"))
    if output is None:
        _print_many(fitted, json, **options)
    else:
        _write(fitted, output, json, overwrite=overwrite, excel_safe=excel_safe, **options)


def _check(price: bool, held_out: str | None, who: Mapping[str, str | None], output: Path | None) -> None:
    """Refuse options that do not go together."""
    said = [f"--{name}" for name, value in who.items() if value is not None]
    if price and (said or output is not None):
        raise ParameterError(f"--price is for all people of --held-out; leave out {', '.join(said or ['-o'])}.")
    if price != (held_out is not None):
        raise ParameterError("--price and --held-out go together; give both.")
    if not price and len(said) != 1:
        raise ParameterError("for whom? Give --user ID, --users all|FILE|id,id or --history item,item.")
    if output is not None and who["users"] is None:
        raise ParameterError("-o is for many people; give --users all|FILE|id,id.")


def _one(fitted: Any, user: str | None, history: str | None, n: int, rules: Any, json: bool) -> None:
    from fullrank.data.read_ids import as_id
    from fullrank.recommending.recommend import recommend as best

    past = None if history is None else parse_history(history, fitted.train.items)
    result = best(fitted, None if user is None else as_id(user, fitted.train.users), history=past, n=n, rules=rules)
    for line in result.notes:
        note(line)
    if result.fallback:
        note("nothing is known of them: these are the most popular items.")
    if json:
        print_json({
            "items": result.items, "scores": result.scores, "fallback": result.fallback, "notes": list(result.notes),
        })  # fmt: skip
    else:
        print("\n".join(f"{score:10.4g}  {item}" for item, score in zip(result.items, result.scores, strict=True)))


def _print_many(fitted: Any, json: bool, **options: Any) -> None:
    """Lists for many as a table, or as JSON with a list for each."""
    from fullrank.recommending.recommend import recommend as best

    result = best(fitted, **options)
    for line in result.notes:
        note(line)
    frame = result.to_frame()
    if json:
        print_json({"lists": frame.to_dicts(), "notes": list(result.notes)})
    else:
        print(frame.write_csv(separator="\t", quote_style="necessary"), end="")


def _write(fitted: Any, output: Path, json: bool, **options: Any) -> None:
    from fullrank.recommending.writing import write_recommendations

    with resumable(), bar() as tell:
        progress = None if tell is None else lambda done, of: tell(f"{done:,} of {of:,} people", done / max(of, 1))
        written = write_recommendations(fitted, output, progress=progress, **options)
    for line in written.notes:
        note(line)
    said = {"output": str(output), "people": written.people, "rows": written.rows, "popular": written.popular}
    if json:
        print_json({**said, "notes": list(written.notes)})
    else:
        fallback = f"; {written.popular:,} of them got what is popular" if written.popular else ""
        print(f"{output}: {written.rows:,} rows for {written.people:,} people{fallback}")


def _split(fitted: Any, held_out: str, reading: Mapping[str, Any]) -> Any:
    """What the model was fitted on, and what people did afterwards."""
    from fullrank.cli.evaluate import know
    from fullrank.data.read import read
    from fullrank.data.split import Split

    after, unknown = know(read(held_out, **reading), fitted.train)
    if unknown:
        note(f"{unknown:,} held-out rows are of users or items the model does not know, and are left out.")
    return Split(fitted.train, after, how=f"{held_out} is held out.")


def _tell_price(json: bool, **given: Any) -> None:
    from fullrank.recommending.price import price

    found = price(**given)
    if json:
        print_json(found.to_json())
        return
    for line in found.notes:
        note(line)
    print(found)
