"""The main job: recommenders on the same data, judged on the full ranking, with a verdict."""

from fullrank.comparison.compare import compare
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.judge import judge
from fullrank.comparison.merge import merge
from fullrank.comparison.sealed import SealedProtocol, open_protocol, seal

__all__ = [
    "Comparison",
    "SealedProtocol",
    "compare",
    "judge",
    "merge",
    "open_protocol",
    "seal",
]
