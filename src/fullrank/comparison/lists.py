"""What the lists of a model look like, whoever likes them: how much of the catalogue, how well known, how alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Doubles
from fullrank.comparison.results import ListMeasures
from fullrank.data.interactions import Interactions
from fullrank.evaluation.statistics import weighted_mean
from fullrank.metrics.lists import (
    Similarity,
    coverage,
    diversity,
    long_tail,
    long_tail_share,
    novelty,
    personalisation,
    popularity,
)

LENGTH = 10  # items in a list
HEAD = 0.2  # of all feedback is on the bestsellers


def measure_lists(lists: NDArray[np.int32], train: Interactions, similarity: Similarity | None = None) -> ListMeasures:
    """Everybody's lists (people, items); with the similarity of two items their diversity too.

    Without training data nothing is popular: then nothing is said of bestsellers and novelty.
    """
    known = popularity(train)
    tail = _mean(long_tail_share(lists, long_tail(known, head=HEAD))) if len(train) else None
    several = np.count_nonzero(lists[:, 0] >= 0) > 1
    return ListMeasures(
        coverage=coverage(lists, train.n_items),
        bestsellers=None if tail is None else 1 - tail,
        novelty=_mean(novelty(lists, known)) if len(train) else None,
        personalisation=personalisation(lists, train.n_items) if several else None,
        diversity=None if similarity is None else _mean(diversity(lists, similarity=similarity)),
    )


def _mean(values: Doubles) -> float | None:
    """The mean of the lists that have a value, None where none has."""
    mean = weighted_mean(values, np.ones(len(values)))
    return None if np.isnan(mean) else mean
