"""The main job: recommenders on the same data, judged on the full ranking, with a verdict."""

from fullrank.comparison.compare import compare
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.judge import judge
from fullrank.comparison.merge import merge

__all__ = [
    "Comparison",
    "compare",
    "judge",
    "merge",
]
