"""Recommenders trained and judged on the full ranking, when most feedback is missing.

In reading order: what people did, reading it, cutting it into parts, worlds whose truth is known;
recipes that make models; ranking what was held out, measuring it, and how sure that is;
all of it in one: compare.
"""

# ruff: noqa: I001, RUF022 (in reading order, not in that of the alphabet)

from fullrank._version import __version__
from fullrank.errors import FullrankError
from fullrank.runtime.threads import threads

# what people did
from fullrank.data import Attributes, Events, Graded, Ids, Intake, Interactions, OutsideLists, Preferences
from fullrank.data import as_graded, as_interactions, describe, relevance_classes
from fullrank.data import read, read_attributes, read_events, read_ids, read_lists, read_preferences, read_sessions
from fullrank.data import write
from fullrank.data import simulate, sources
from fullrank.data.split import Split, by_time, densify, folds, halved, held_out_users, holdout, leave_last, repetitions

# recipes, which make models
from fullrank.models import IterativeRecipe, Model, Recipe
from fullrank.models import Bestseller, EASE, ItemCF, PersonalFrequency, RecentItemCF
from fullrank.models import AllRank, AllRankBinary, IALS, PureSVD
from fullrank.models import BPR, MFADG, MFAUC
from fullrank.models import GaussianRank, HistoryBPR, RankLoss, SoftmaxNegatives, SquaredNegatives
from fullrank.models import OrdRec, RSVD, SVDpp
from fullrank.models import CCF, OpportunityCost, PostFiltered, PreFiltered, SessionCost
from fullrank.models import load, save
from fullrank.recommending import Recommendations, Recommended, Rules, recommend, write_recommendations
from fullrank.recommending import Price, price
from fullrank.recommending import Explained, Exported, Similar, explain, export, similar, update

# where what was held out stands, and what that is worth
from fullrank.ranks import Ranks
from fullrank import metrics
from fullrank.evaluation import Everything, Offered, Sampled, TopN, cases_of, rank, rank_and_top, top
from fullrank.evaluation import Result, evaluate
from fullrank.evaluation import bias_variance, constrained, corrected, least_squares, rank_estimate
from fullrank.evaluation import as_library

# all of it in one
from fullrank.comparison import Comparison, compare, judge, merge
from fullrank.comparison import SealedProtocol, open_protocol, seal
from fullrank.tuning import Tuned, tune
from fullrank.report.page import write as write_report

# fmt: off
__all__ = [
    "__version__", "FullrankError", "threads",
    "Attributes", "Events", "Graded", "Ids", "Intake", "Interactions", "OutsideLists", "Preferences",
    "as_graded", "as_interactions", "describe", "relevance_classes",
    "read", "read_attributes", "read_events", "read_ids", "read_lists", "read_preferences", "read_sessions", "write",
    "simulate", "sources",
    "Split", "by_time", "densify", "folds", "halved", "held_out_users", "holdout", "leave_last", "repetitions",
    "IterativeRecipe", "Model", "Recipe",
    "Bestseller", "PersonalFrequency", "EASE", "ItemCF", "RecentItemCF",
    "AllRank", "AllRankBinary", "IALS", "PureSVD",
    "BPR", "MFADG", "MFAUC",
    "GaussianRank", "HistoryBPR", "RankLoss", "SoftmaxNegatives", "SquaredNegatives", "OrdRec", "RSVD", "SVDpp",
    "CCF", "OpportunityCost", "PostFiltered", "PreFiltered", "SessionCost",
    "load", "save",
    "Recommendations", "Recommended", "Rules", "recommend", "write_recommendations", "Price", "price",
    "similar", "Similar", "explain", "Explained", "update", "export", "Exported",
    "Ranks", "metrics", "Everything", "Offered", "Sampled", "TopN", "cases_of", "rank", "rank_and_top", "top",
    "Result", "evaluate", "bias_variance", "constrained", "corrected", "least_squares", "rank_estimate",
    "as_library",
    "Comparison", "compare", "judge", "merge", "SealedProtocol", "open_protocol", "seal",
    "Tuned", "tune", "write_report",
]
