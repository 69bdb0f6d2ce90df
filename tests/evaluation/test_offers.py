"""Ranking inside offer sets."""

from __future__ import annotations

import numpy as np
import pytest

import fullrank
from fullrank.data.graded import Graded
from fullrank.data.split import Split
from fullrank.errors import DataError
from fullrank.evaluation.candidates import Everything, Offered
from fullrank.evaluation.offers import offer_scores
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.metrics import METRICS, ORDERED, auc, graded_ndcg, partial_order, rr
from fullrank.metrics.edrc import edrc as edrc_of
from fullrank.ranks import Ranks


def sessions(seed: int = 0, cases: int = 60) -> Graded:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, cases)
    session = np.repeat(np.arange(cases), sizes)
    item = np.concatenate([rng.permutation(20)[:n] for n in sizes])
    user = np.repeat(rng.integers(0, 12, cases), sizes)
    return Graded.of(session, item, rng.integers(0, 4, len(item)), user=user)


def by_hand(graded: Graded, scores: np.ndarray, relevant: float | None) -> list[tuple[int, int, int, int, int]]:
    rows = []
    for case in range(len(graded)):
        mine = range(graded.start[case], graded.start[case + 1])
        least = min(graded.grade[mine]) + 0.5 if relevant is None else relevant
        others = [scores[row] for row in mine if graded.grade[row] < least]
        hits = [row for row in mine if graded.grade[row] >= least]
        rows += [
            (
                int(graded.item[row]),
                sum(scores[row] < other for other in others),
                sum(scores[row] == other for other in others),
                sum(scores[row] < scores[other] for other in hits),
                len(others),
            )
            for row in hits
        ]
    return rows


def as_rows(ranks: Ranks) -> list[tuple[int, ...]]:
    columns = (ranks.item, ranks.above, ranks.tied, ranks.relevant_above, ranks.pool[ranks.case])
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("relevant", [None, 1, 2, 0])
def test_against_counting_by_hand(relevant: float | None) -> None:
    graded = sessions()
    dense = np.random.default_rng(1).integers(0, 4, (len(graded.users), len(graded.items))).astype(np.float32)
    scores = dense[graded.user[graded.case], graded.item]
    found = rank(dense, graded, relevant=relevant)
    assert as_rows(found) == by_hand(graded, scores, relevant)
    assert found == rank(scores, graded, Offered(graded), relevant=relevant)  # a score per offer
    assert found.about.candidates == "offered"
    assert len(found) + sum(found.about.skipped.values()) == len(graded)


def test_all_ways_to_score_give_the_same() -> None:
    graded = sessions()
    rng = np.random.default_rng(2)
    left, right = rng.standard_normal((len(graded.users), 5)), rng.standard_normal((len(graded.items), 5))
    dense = left @ right.T

    class InContext:
        def offer_scores(self, offers: Graded) -> np.ndarray:
            return dense[offers.user[offers.case], offers.item]

    one = offer_scores(dense, graded)
    for model in ((left, right), lambda users: dense[users], InContext()):
        assert offer_scores(model, graded) == pytest.approx(one, rel=1e-6)


def test_the_order_of_all_offers_is_what_measures_of_order_read() -> None:
    graded = sessions(3)
    scores = np.random.default_rng(4).integers(0, 5, len(graded.item)).astype(np.float64)
    found = rank(scores, graded, relevant=0)
    for name in ("pairwise_loss", "fcp", "ndpm", "kendall", "spearman", "tau_ap"):
        assert np.array_equal(ORDERED[name](found), getattr(partial_order, name)(graded, scores), equal_nan=True)
    for name, discount in (("edrc", "linear"), ("edrc_log", "logarithmic"), ("edrc_exp", "exponential")):
        assert np.array_equal(ORDERED[name](found), edrc_of(graded, scores, discount), equal_nan=True)  # type: ignore[arg-type]
        assert METRICS[name].doc.startswith("EDRC of each graded case")
    result = evaluate(found, [ORDERED["pairwise_loss"], graded_ndcg])
    undefined = int(np.isnan(result.of("pairwise_loss")).sum())
    assert undefined == sum(partial_order.counted(graded).skipped.values()) > 0
    assert f"pairwise_loss: undefined for {undefined} cases, left out" in result.notes
    known = result.of("pairwise_loss")[~np.isnan(result.of("pairwise_loss"))]
    assert result.mean()["pairwise_loss"] == pytest.approx(known.mean())
    low, high = result.interval()["pairwise_loss"]
    assert low < known.mean() < high
    other = evaluate(rank(-scores, graded, relevant=0), [ORDERED["pairwise_loss"]])
    people = graded.user[~np.isnan(result.of("pairwise_loss"))]
    assert result.versus(other)["pairwise_loss"].cases == len(np.unique(people)) < len(known)


def test_a_split_of_sessions_is_ranked_inside_its_offers() -> None:
    graded = fullrank.simulate.sessions(users=30, items=40, seed=1).data
    split = next(iter(fullrank.folds(graded, 5, seed=0)))
    scores = np.random.default_rng(0).standard_normal((len(graded.users), len(graded.items)))
    assert rank(scores, split) == rank(scores, split.held_out)
    with pytest.raises(DataError, match="not among everything; use Offered"):
        rank(scores, split, Everything())
    other = sessions()
    with pytest.raises(DataError, match="other users or items than the split"):
        rank(scores, split, Offered(other))


def test_refusals() -> None:
    graded = sessions()
    dense = np.zeros((len(graded.users), len(graded.items)), dtype=np.float32)
    with pytest.raises(DataError, match="no offer of 60 cases is relevant at 9; lower the threshold"):
        rank(dense, graded, relevant=9)
    dense[graded.user[5], graded.item[graded.start[5]]] = np.nan
    with pytest.raises(DataError, match="is NaN or infinite"):
        rank(dense, graded)
    with pytest.raises(DataError, match="expected one score per offer"):
        rank(np.zeros(3), graded)
    with pytest.raises(DataError, match="pairwise_loss needs grades"):
        ORDERED["pairwise_loss"](Ranks(start=[0, 1], above=[0], tied=[0], pool=[1]))


def test_a_constant_scorer_gets_the_random_expectation() -> None:
    graded = sessions(5)
    found = rank(np.zeros(len(graded.item)), graded)
    assert (auc(found) == 0.5).all()
    one = Graded.of([1, 1, 1], ["a", "b", "c"], [1, 0, 0])
    assert rr(rank(np.zeros(3), one))[0] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_splits_are_checked_too() -> None:
    graded = sessions()
    split = Split(graded, graded)
    assert len(rank(np.zeros((len(graded.users), len(graded.items))), split)) > 0
