"""Lists and models that were made anywhere, judged on what people did afterwards."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fullrank.comparison import defaults
from fullrank.comparison.compare import compare
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.naming import Compared
from fullrank.data.events import Events
from fullrank.data.feedback import kind_of
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.outside import OutsideLists
from fullrank.data.read import read
from fullrank.data.read_lists import read_held_out, read_lists
from fullrank.data.split import Split
from fullrank.errors import DataError, ParameterError
from fullrank.metrics.metric import Metric
from fullrank.models.files import load
from fullrank.models.kinds.model import Model

LENGTH = 10  # of lists that are judged, where nobody says and all have as many


def judge(
    held_out: Any,
    given: Mapping[str, Compared],
    *,
    train: Any = None,
    recipes: Sequence[Compared] = (),
    relevant: float | None = None,
    metrics: Sequence[str | Metric] | None = None,
    **more: Any,
) -> Comparison:
    """Compare lists, scores and fitted models that any system made, on what people did afterwards.

    Parameters
    ----------
    held_out
        What people did afterwards: Interactions, whatever `read` takes, or judgements as TREC qrels.
    given
        What is judged, by name: `OutsideLists`, whatever `read_lists` takes, a model file of ours (.fr) or a fitted
        model, anything that `compare` takes.
    train
        What was known before: what people have is no candidate any more. Without it everything is one, and the
        catalogue is what the lists and the held-out data name.
    recipes
        Recipes, or their names, that are fitted on `train` and compared with the rest.
    relevant
        The least value that counts as relevant; of judgements 1, of ratings as in `compare`.
    metrics
        Names or metrics, the first one decides; by default those of `compare`, cut off where the shortest lists end.
    more
        `exclude`, `seed`, `sampled`, `title`, `titles`, `attributes`, `strict`, `libraries`, `out`, `overwrite` and
        `progress` of `compare`.

    >>> lists = {"mine": {"ann": ["tea", "jam"], "bob": ["jam"]}}
    >>> judge({"user": ["ann", "bob"], "item": ["jam", "tea"]}, lists, metrics=["recall@2"]).to_frame()["mean"][0]
    0.5
    """
    if not given:
        raise ParameterError("there is nothing to judge; give lists by name.")
    if recipes and train is None:
        raise ParameterError("there is nothing to fit recipes on; give the training data (--train).")
    after, least = (held_out, None) if isinstance(held_out, Interactions) else read_held_out(held_out)
    before = read(train) if train is not None and not isinstance(train, Interactions | Events) else train
    judged = read_all(given, recipes)
    rated: Interactions | Events = after if before is None or before.value is None else before
    kind = kind_of(rated)
    if relevant is None:
        relevant = defaults.threshold(rated, kind) if least is None else least
    lists = [one for one in judged.values() if isinstance(one, OutsideLists)]
    graded = least is not None and after.value is not None and float(after.value.max()) > 1
    return compare(
        judged_split(before, after, lists), judged, relevant=relevant,
        metrics=metrics or metrics_within(lists, kind, graded), kind=kind, **more,
    )  # fmt: skip


def read_all(given: Mapping[str, Compared], recipes: Sequence[Compared]) -> dict[str, Compared]:
    """What is judged and the recipes beside it, by name; no two of one name."""
    judged = {name: read_given(one) for name, one in given.items()}
    named = {one if isinstance(one, str) else type(one).__name__: one for one in recipes}
    if twice := named.keys() & judged.keys():
        raise ParameterError(f"two models are called '{sorted(twice)[0]}'; give the lists another name.")
    return judged | named


def read_given(one: Any) -> Any:
    """What is judged: a model file, or lists in a file or a table, read; anything else as it is."""
    if isinstance(one, str | os.PathLike):
        return load(os.fspath(one)) if os.fspath(one).endswith(".fr") else read_lists(one)
    is_table = isinstance(one, Mapping) or hasattr(one, "columns")
    return read_lists(one) if is_table and not isinstance(one, OutsideLists | Model) else one


def judged_split(
    before: Interactions | Events | None, after: Interactions, lists: Sequence[OutsideLists] = ()
) -> Split[Any]:
    """Training and held-out data over one catalogue; without training data, of all that is named anywhere."""
    known = before.merged() if isinstance(before, Events) else before
    if known is None:
        train, held_out = _together(_nothing(after), after, [one.items for one in lists])
        return Split(train, held_out, how="Judged on the held-out data alone: nothing is known of what came before.")
    train, held_out = _together(known, after, [])
    rows = f"{len(known):,} rows to learn from, {len(after):,} held out, as they were given."
    return Split(train, held_out, how=rows)


def _nothing(like: Interactions) -> Interactions:
    none = np.zeros(0, dtype=np.int32)
    value = None if like.value is None else np.zeros(0, dtype=np.float32)
    return replace(like, user=none, item=none, value=value, time=None)


def _together(one: Interactions, other: Interactions, more: Sequence[Ids]) -> tuple[Interactions, Interactions]:
    """Both over all their users and items; integers as strings where one side has strings."""
    users, items = _spelled(one.users, other.users), _spelled(one.items, other.items, *more)
    parts = [replace(part, users=users[n], items=items[n]) for n, part in enumerate((one, other))]
    everybody, everything = ({name for ids in each for name in ids} for each in (users, items))
    return parts[0].catalogue(everybody, everything), parts[1].catalogue(everybody, everything)


def _spelled(*each: Ids) -> list[Ids]:
    """All as strings, where any has strings."""
    if len({ids.are_strings for ids in each if len(ids)}) < 2:
        return list(each)
    return [ids if ids.are_strings else Ids([str(name) for name in ids]) for ids in each]


def metrics_within(lists: Sequence[OutsideLists], kind: str, graded: bool = False) -> tuple[str, ...]:
    """The usual metrics, cut off where the shortest of these lists end; of graded judgements one that knows grades."""
    length = min([LENGTH, *(one.longest for one in lists)])
    if not length:
        raise DataError("the lists are empty; give at least one item for somebody.")
    first, *rest = defaults.METRICS[kind]
    names = [first, *(["graded_ndcg@10"] if graded else []), *rest]
    return tuple(name.replace("@10", f"@{length}") for name in names)
