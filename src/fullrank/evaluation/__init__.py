"""Scores to ranks, ranks to numbers, and how sure these are."""

from fullrank.evaluation.candidates import Everything, Offered, Sampled
from fullrank.evaluation.cases import cases_of
from fullrank.evaluation.conventions import as_library
from fullrank.evaluation.corrections import corrected
from fullrank.evaluation.methods import bias_variance, constrained, least_squares, rank_estimate
from fullrank.evaluation.rank import rank, rank_and_top
from fullrank.evaluation.result import Result, evaluate
from fullrank.evaluation.top import TopN, top

__all__ = [
    "Everything",
    "Offered",
    "Result",
    "Sampled",
    "TopN",
    "as_library",
    "bias_variance",
    "cases_of",
    "constrained",
    "corrected",
    "evaluate",
    "least_squares",
    "rank",
    "rank_and_top",
    "rank_estimate",
    "top",
]
