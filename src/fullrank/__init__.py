"""Recommenders trained and judged on the full ranking, when most feedback is missing.

In reading order: what people did, reading it, cutting it into parts, worlds whose truth is known;
recipes that make models; ranking what was held out, measuring it, and how sure that is;
all of it in one: compare.
"""

from fullrank import metrics
from fullrank.data import simulate, sources
from fullrank.data.classes import relevance_classes
from fullrank.data.describe import describe
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.data.read import read, read_preferences, read_sessions
from fullrank.data.split import (
    Split,
    by_time,
    densify,
    folds,
    halved,
    held_out_users,
    holdout,
    leave_last,
    repetitions,
)
from fullrank.data.write import write
from fullrank.errors import FullrankError
from fullrank.evaluation.candidates import Everything, Offered, Sampled
from fullrank.evaluation.cases import cases_of
from fullrank.evaluation.corrections import corrected
from fullrank.evaluation.methods import bias_variance, constrained, least_squares, rank_estimate
from fullrank.evaluation.rank import rank, rank_and_top
from fullrank.evaluation.result import Result, evaluate
from fullrank.evaluation.top import TopN, top
from fullrank.experiments.compare import compare
from fullrank.experiments.comparison import Comparison
from fullrank.experiments.merge import merge
from fullrank.experiments.tune import Tuned, tune
from fullrank.kernels.threads import threads
from fullrank.models.allrank import AllRank
from fullrank.models.allrank_binary import AllRankBinary
from fullrank.models.bestseller import Bestseller
from fullrank.models.bpr import BPR
from fullrank.models.ccf import CCF
from fullrank.models.ease import EASE
from fullrank.models.files import load, save
from fullrank.models.gaussian import GaussianRank
from fullrank.models.ials import IALS
from fullrank.models.in_context import PostFiltered, PreFiltered
from fullrank.models.itemcf import ItemCF
from fullrank.models.mfadg import MFADG, MFAUC
from fullrank.models.negatives import HistoryBPR, SoftmaxNegatives, SquaredNegatives
from fullrank.models.opportunity import OpportunityCost
from fullrank.models.ordrec import OrdRec
from fullrank.models.puresvd import PureSVD
from fullrank.models.rank_loss import RankLoss
from fullrank.models.recommend import recommend
from fullrank.models.rsvd import RSVD
from fullrank.models.session_cost import SessionCost
from fullrank.models.svdpp import SVDpp
from fullrank.models.update import update
from fullrank.ranks import Ranks
from fullrank.report.page import write as write_report

__version__ = "0.1.0"

__all__ = [
    "BPR",
    "CCF",
    "EASE",
    "IALS",
    "MFADG",
    "MFAUC",
    "RSVD",
    "AllRank",
    "AllRankBinary",
    "Bestseller",
    "Comparison",
    "Everything",
    "FullrankError",
    "GaussianRank",
    "Graded",
    "HistoryBPR",
    "Ids",
    "Intake",
    "Interactions",
    "ItemCF",
    "Offered",
    "OpportunityCost",
    "OrdRec",
    "PostFiltered",
    "PreFiltered",
    "Preferences",
    "PureSVD",
    "RankLoss",
    "Ranks",
    "Result",
    "SVDpp",
    "Sampled",
    "SessionCost",
    "SoftmaxNegatives",
    "Split",
    "SquaredNegatives",
    "TopN",
    "Tuned",
    "bias_variance",
    "by_time",
    "cases_of",
    "compare",
    "constrained",
    "corrected",
    "densify",
    "describe",
    "evaluate",
    "folds",
    "halved",
    "held_out_users",
    "holdout",
    "least_squares",
    "leave_last",
    "load",
    "merge",
    "metrics",
    "rank",
    "rank_and_top",
    "rank_estimate",
    "read",
    "read_preferences",
    "read_sessions",
    "recommend",
    "relevance_classes",
    "repetitions",
    "save",
    "simulate",
    "sources",
    "threads",
    "top",
    "tune",
    "update",
    "write",
    "write_report",
]
