"""Lists counted as other libraries count them, by the library's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fullrank.errors import ParameterError, check, check_integer, did_you_mean
from fullrank.evaluation.conventions.convention import Convention, Measure, average, view_of
from fullrank.evaluation.conventions.elliot import ELLIOT
from fullrank.evaluation.conventions.given import Given, check_given, irregularities
from fullrank.evaluation.conventions.implicit import IMPLICIT
from fullrank.evaluation.conventions.irspack import IRSPACK
from fullrank.evaluation.conventions.lenskit import LENSKIT
from fullrank.evaluation.conventions.omnirec import OMNIREC
from fullrank.evaluation.conventions.ranx import RANX
from fullrank.evaluation.conventions.recbole import RECBOLE
from fullrank.evaluation.conventions.rectools import RECTOOLS
from fullrank.evaluation.conventions.replay import REPLAY
from fullrank.evaluation.conventions.trec_eval import TREC_EVAL

CONVENTIONS: dict[str, Convention] = {
    "implicit": IMPLICIT,
    "irspack": IRSPACK,
    "rectools": RECTOOLS,
    "lenskit": LENSKIT,
    "recbole": RECBOLE,
    "ranx": RANX,
    "trec_eval": TREC_EVAL,
    "replay": REPLAY,
    "elliot": ELLIOT,
    "omnirec": OMNIREC,
}


class Counted(NamedTuple):
    """One measure of a library, of given lists."""

    measure: str  #: as the library writes it
    value: float | None  #: None where the library ends with an error
    ours: str  #: our nearest metric
    sentence: str  #: how they differ on these lists; nothing where they do not


def as_library(name: str, given: Given, ks: Sequence[int] = (10,)) -> list[Counted]:
    """Lists counted as a library counts them, each measure beside the name of our nearest and how they differ.

    A sentence tells what the definitions make different, and what is done otherwise with something irregular that
    these lists do have. Measures without a cut-off come last, once.

    Parameters
    ----------
    name
        One of `CONVENTIONS`: implicit, irspack, rectools, lenskit, recbole, ranx, trec_eval, replay, elliot, omnirec.
    given
        The lists as they were given, what is relevant, and what was seen.
    ks
        Cut-offs, integers of 1 and above.
    """
    convention = find_convention(name)
    check("ks", ks, len(ks) > 0, "one cut-off or several")
    for k in ks:
        check_integer("ks", k, 1)
    check_given(given)
    cut = [measure for measure in convention.measures if measure.at]
    whole = [measure for measure in convention.measures if not measure.at]
    rows = [row for k in ks for row in _count(convention, cut, given, k)]
    return rows + (_count(convention, whole, given, max(ks)) if whole else [])


def find_convention(name: str) -> Convention:
    """The convention of a library by its name."""
    if name not in CONVENTIONS:
        raise ParameterError(f"'{name}' is no library whose counting is known. {did_you_mean(name, list(CONVENTIONS))}")
    return CONVENTIONS[name]


def _count(convention: Convention, measures: Sequence[Measure], given: Given, k: int) -> list[Counted]:
    """Measures that all have a cut-off, or none of them; our nearest have this one."""
    there = irregularities(given, k)
    view = view_of(convention, given, k if measures[0].at else None)
    rows = []
    for measure in measures:
        refusals = [says for what, says in convention.refusals_of(measure).items() if what in there]
        habits = [says for what, says in convention.habits_of(measure).items() if what in there]
        parts = dict.fromkeys(refusals or [measure.says, *habits])
        sentence = "; ".join(part.format(k=k) for part in parts if part)
        value = None if refusals else average(convention, measure, given, view)
        rows.append(Counted(measure.label(k), value, measure.nearest(given, k), sentence))
    return rows
