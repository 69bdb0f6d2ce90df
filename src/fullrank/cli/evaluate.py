"""fullrank evaluate"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.options import Json, Seed, listed, parse_columns, reads
from fullrank.cli.printing import note, note_data, print_result

METRICS = "recall@10,ndcg@10,rr,adg,atop,auc"


@reads(but=("kind", "scale", "settings"))
def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as 'fullrank fit' writes it.")],
    held_out: Annotated[str, typer.Option(help="What people did afterwards: a file like the training data.")],
    train: Annotated[
        str | None, typer.Option(help="What is excluded from the candidates; by default what the model was fitted on.")
    ] = None,
    metrics: Annotated[str, typer.Option(help="Any of them, with commas between.")] = METRICS,
    candidates: Annotated[str, typer.Option(help="all, or sampled:100.")] = "all",
    correction: Annotated[str | None, typer.Option(help="Of sampled metrics: bv:0.1, ls, constrained or rank.")] = None,
    relevant: Annotated[float | None, typer.Option(help="The least value that counts as relevant.")] = None,
    seed: Seed = 0,
    json: Json = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Measure a model on held-out data, on the full ranking or among sampled candidates."""
    import fullrank
    from fullrank.data.read import read
    from fullrank.data.split import Split
    from fullrank.evaluation.corrections import corrected
    from fullrank.metrics.table import parse
    from fullrank.models.files import load

    fitted = load(model)
    options = {**reading, "columns": parse_columns(reading.get("columns"))}
    seen: Any = fitted.train
    measures = [parse(name) for name in listed(metrics)]
    sampled = _candidates(candidates, seed)
    method = None if correction is None else _method(correction, sampled is not None)
    given = read(held_out, **options)
    note_data(held_out, given)
    after, unknown = know(given, seen)
    if unknown:
        note(f"{unknown:,} held-out rows are of users or items the model does not know, and are left out.")
    before = seen if train is None else know(read(train, **options), seen)[0]
    split = Split(before, after, how=f"{held_out} is held out.")
    ranks = fullrank.rank(fitted, split, sampled, relevant=relevant)
    result = fullrank.evaluate(ranks, [m if method is None else corrected(m, method) for m in measures])
    intervals = result.interval()
    if json:
        print_result(result.to_json(), True)
        return
    width = max(map(len, result.names))
    for name, mean in result.mean().items():
        print(f"{name:<{width}}  {mean:.4f}  [{intervals[name][0]:.4f}, {intervals[name][1]:.4f}]")
    for line in result.notes:
        note(line)


def know(data: Any, like: Any) -> tuple[Any, int]:
    """The rows of users and items there are, with their codes; and how many others."""
    from fullrank.evaluation.aligned import recode

    kept = recode(data, like.users, like.items)
    return kept, len(data) - len(kept)


def _candidates(text: str, seed: int) -> Any:
    from fullrank.errors import ParameterError
    from fullrank.evaluation.candidates import Sampled

    word, _, number = text.partition(":")
    if word == "all" and not number:
        return None
    if word != "sampled" or not number.isdigit() or int(number) < 1:
        raise ParameterError(f"--candidates: {text!r} is neither 'all' nor like 'sampled:100'.")
    return Sampled(int(number), seed=seed)


def _method(text: str, sampled: bool) -> Any:
    from fullrank.errors import ParameterError, did_you_mean
    from fullrank.evaluation import methods

    if not sampled:
        raise ParameterError("--correction is for sampled candidates; give --candidates sampled:100 as well.")
    word, _, number = text.partition(":")
    known = {"bv": methods.bias_variance, "ls": methods.least_squares, "constrained": methods.constrained}
    known["rank"] = methods.rank_estimate
    if word not in known:
        raise ParameterError(f"--correction: '{word}' is none. {did_you_mean(word, list(known))}")
    try:
        return known[word](float(number)) if number else known[word]()
    except (TypeError, ValueError) as error:
        raise ParameterError(f"--correction: {text!r} cannot be used ({error}).") from error
