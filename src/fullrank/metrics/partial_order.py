"""How well scores keep the order of graded items: pairwise loss, FCP, NDPM, Kendall, Spearman, AP correlation.

Every measure takes graded cases and one score per offer (aligned with `graded.item`, higher is better) and
gives one float64 per case: NaN where the truth holds no preference (see `counted`) and only there, so that
the scores never decide which cases count. A constant scorer gets what a random order gets in expectation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import Codes, Doubles, Ints, repeats
from fullrank.data.canonical import sort_rows
from fullrank.data.graded import Graded
from fullrank.data.preferences import Preferences
from fullrank.errors import DataError, check

Ties = Literal["half", "wrong"]
Along = Literal["prediction", "truth", "both"]


class Counted(NamedTuple):
    """Which cases hold a ground-truth preference, and how many do not, by reason."""

    cases: NDArray[np.bool_]
    skipped: dict[str, int]


class PairErrors(NamedTuple):
    """For every case how many of its ground-truth preferences are predicted wrongly, of how many."""

    wrong: Doubles
    total: Ints

    def per_case(self) -> Doubles:
        """wrong / total of each case; NaN where total is 0."""
        return _divide(self.total > 0, self.wrong, self.total)

    def pooled(self) -> float:
        """Sum of wrong / sum of total: every preference counts the same, whoever has it (Ackerman 2012, Eq. 6.1)."""
        if not self.total.any():
            raise DataError("no case has a ground-truth preference; give cases with two or more different grades.")
        return float(self.wrong.sum() / self.total.sum())


def counted(truth: Graded | Preferences) -> Counted:
    """The cases that count (of `Preferences`: the users), and how many are skipped, by reason.

    >>> counted(Graded.of(session=[1, 1, 2, 2, 3], item=[1, 2, 1, 2, 1], grade=[5, 3, 4, 4, 5]))
    Counted(cases=array([ True, False, False]), skipped={'fewer than two items': 1, 'all grades equal': 1})
    """
    if isinstance(truth, Preferences):
        some = np.bincount(truth.user, minlength=len(truth.users)) > 0
        reasons = {"no preference": int((~some).sum())}
    else:
        some, few = truth.count_pairs() > 0, np.diff(truth.start) < 2
        reasons = {"fewer than two items": int(few.sum()), "all grades equal": int((~some & ~few).sum())}
    return Counted(some, {reason: cases for reason, cases in reasons.items() if cases})


def pair_errors(graded: Graded, scores: ArrayLike, *, ties: Ties = "half") -> PairErrors:
    """Wrongly predicted preferences of each case, and all of them: the counts behind `pairwise_loss`.

    A preference is a pair of a case's items with different grades; it is wrong when the item of the lower
    grade scores higher. A tie counts one half, or as wrong with `ties="wrong"` (as in Ackerman 2012).
    `pair_errors(...).pooled()` weighs preferences equally, `.per_case()` gives each case's share.
    """
    check("ties", ties, ties in ("half", "wrong"), "'half' or 'wrong'")
    pairs = _agreement(*_orders(graded, scores))
    tied = pairs.total - pairs.concordant - pairs.discordant
    return PairErrors(pairs.discordant + tied * (0.5 if ties == "half" else 1.0), pairs.total)


def pairwise_loss(graded: Graded, scores: ArrayLike, *, ties: Ties = "half") -> Doubles:
    """Share of a case's preferences that the scores predict wrongly.

        (contradicted + tied / 2) / preferences

    Denominator: pairs of different grade. Range 0 (best) to 1. Ties of scores count one half, or as wrong.

    >>> case = Graded.of(session=[1, 1, 1], item=["a", "b", "c"], grade=[5, 3, 3])
    >>> pairwise_loss(case, [0.5, 0.9, 0.5])
    array([0.75])
    """
    return pair_errors(graded, scores, ties=ties).per_case()


def fcp(graded: Graded, scores: ArrayLike, *, ties: Ties = "half") -> Doubles:
    """Fraction of concordant pairs: 1 - pairwise loss.

        (concordant + tied / 2) / preferences

    Denominator: pairs of different grade. Range 0 to 1 (best). Ties as in `pairwise_loss`. Koren and Sill
    pool over users; that is 1 - pair_errors(...).pooled(), both counts over the same users.
    """
    return 1 - pairwise_loss(graded, scores, ties=ties)


def ndpm(graded: Graded, scores: ArrayLike) -> Doubles:
    """Normalized distance-based performance measure (Yao 1995).

        (2 contradicted + tied) / (2 preferences)

    Denominator: the largest distance to the truth, 2 for each pair of different grade. Range 0 (best) to 1.
    A tie of scores is at distance 1; pairs of equal grade cost nothing in either order. This is the
    pairwise loss with ties as one half.
    """
    return pairwise_loss(graded, scores)


def kendall(graded: Graded, scores: ArrayLike) -> Doubles:
    """Kendall's tau-b between grades and scores.

        (concordant - discordant) / sqrt(pairs of different grade x pairs of different score)

    Range -1 to 1 (best). Ties on either side are neither concordant nor discordant and leave the
    denominator; scores that are all equal give 0 (where scipy gives NaN).
    """
    pairs = _agreement(*_orders(graded, scores))
    scale = np.sqrt(pairs.total.astype(np.float64) * pairs.apart)
    return _correlation(pairs.concordant - pairs.discordant, scale, pairs.total > 0)


def spearman(graded: Graded, scores: ArrayLike) -> Doubles:
    """Spearman's rho: the correlation of positions by grade with positions by score.

        sum (p - m)(q - m) / sqrt(sum (p - m)^2 x sum (q - m)^2),   m the mean position

    Range -1 to 1 (best). Tied items share their mean position; scores that are all equal give 0
    (where scipy gives NaN).
    """
    truth, predicted = _orders(graded, scores)
    p, q = truth.deviations(), predicted.deviations()
    both, truth_only, predicted_only = (
        np.bincount(graded.case, product, minlength=len(graded)) for product in (p * q, p * p, q * q)
    )
    return _correlation(both, np.sqrt(truth_only * predicted_only), truth_only > 0)


def tau_ap(graded: Graded, scores: ArrayLike, *, along: Along = "prediction") -> Doubles:
    """AP correlation (Yilmaz, Aslam and Robertson 2008): mistakes near the top weigh more.

        2/(N-1) sum_{p=2..N} C(p)/(p-1) - 1

    with C(p) the items above position p that are rightly so. Positions are those of the prediction (as
    defined), of the truth (then it is EDRC with D = R-1 for total orders), or both ways averaged, which is
    symmetric. Denominator: positions below the first. Range -1 to 1 (best).
    Ties: the expectation over all ways to break them, in grades and scores independently. A truth with ties
    keeps the best value below 1; for such partial orders there is `edrc`.
    """
    check("along", along, along in ("prediction", "truth", "both"), "'prediction', 'truth' or 'both'")
    truth, predicted = _orders(graded, scores)
    ways = {"prediction": [(predicted, truth)], "truth": [(truth, predicted)]}
    ways["both"] = ways["prediction"] + ways["truth"]
    means = [_expected_precision(outer, inner) for outer, inner in ways[along]]
    mean: Doubles = np.sum(means, axis=0) / len(means)
    return np.where(truth.pairs() > 0, 2 * mean - 1, np.nan)


def preference_errors(
    preferences: Preferences, scores_of_better: ArrayLike, scores_of_worse: ArrayLike, *, ties: Ties = "half"
) -> PairErrors:
    """Wrongly predicted preferences of each user (of `preferences.users`), and all of them.

    One score of the better and one of the worse item per preference; the order may be any, even cyclic.
    """
    check("ties", ties, ties in ("half", "wrong"), "'half' or 'wrong'")
    better, worse = (_preference_scores(preferences, scores) for scores in (scores_of_better, scores_of_worse))
    wrong = (better < worse) + (better == worse) * (0.5 if ties == "half" else 1.0)
    users = len(preferences.users)
    counts = np.bincount(preferences.user, wrong, minlength=users).astype(np.float64, copy=False)
    return PairErrors(counts, np.bincount(preferences.user, minlength=users))


def preference_loss(
    preferences: Preferences, scores_of_better: ArrayLike, scores_of_worse: ArrayLike, *, ties: Ties = "half"
) -> Doubles:
    """Share of a user's preferences that the scores predict wrongly; NaN for users without any.

        (contradicted + tied / 2) / preferences

    Range 0 (best) to 1. Ties of scores count one half, or as wrong.

    >>> likes = Preferences.of(user=[1, 1], better=["tea", "milk"], worse=["milk", "jam"])
    >>> preference_loss(likes, [0.9, 0.2], [0.2, 0.3])
    array([0.5])
    """
    return preference_errors(preferences, scores_of_better, scores_of_worse, ties=ties).per_case()


def checked_scores(graded: Graded, scores: ArrayLike) -> NDArray[Any]:
    """One finite score per offer, or an error that names the case."""

    def offer(row: int) -> str:
        return f"{case_name(graded, int(graded.case[row]))}, item {graded.items.name(int(graded.item[row]))!r}"

    return _check_scores(scores, len(graded.item), "offer", offer)


def case_name(graded: Graded, case: int) -> str:
    """A case as messages call it."""
    if graded.names is not None:
        return f"case {graded.names.name(case)!r}"
    return f"case {case} (user {graded.users.name(int(graded.user[case]))!r})"


def _preference_scores(preferences: Preferences, scores: ArrayLike) -> NDArray[Any]:
    def preference(row: int) -> str:
        better, worse = (preferences.items.name(int(side[row])) for side in (preferences.better, preferences.worse))
        return f"user {preferences.users.name(int(preferences.user[row]))!r}, {better!r} over {worse!r}"

    return _check_scores(scores, len(preferences), "preference", preference)


def _check_scores(scores: ArrayLike, rows: int, what: str, name: Callable[[int], str]) -> NDArray[Any]:
    array = np.asarray(scores)
    if array.shape != (rows,) or array.dtype.kind not in "fiub":
        raise DataError(f"expected one score per {what} ({rows}), got {array.dtype} of shape {array.shape}.")
    finite = np.isfinite(array)
    if not finite.all():
        row = int(finite.argmin())
        raise DataError(
            f"{name(row)}: the score is {array[row]}; scores must be finite: "
            "train with a smaller rate or more regularisation, or score what the model does not know."
        )
    return array


class Levels(NamedTuple):
    """The items of each case in order of some values, in groups of equal values, best group first."""

    start: Ints
    order: NDArray[np.intp]  # rows by case, best first
    first: Ints  # group g is order[first[g]] .. order[first[g+1] - 1]
    case: Ints  # of each group
    groups: Ints  # of each case
    group: Codes  # of each row: the place of its group in the case, from 0

    def sizes(self) -> Ints:
        """Items of each group."""
        return np.diff(self.first)

    def all_above(self) -> Ints:
        """Items of better groups of the same case, for each group."""
        above: Ints = self.first[:-1] - self.start[self.case]
        return above

    def pairs(self) -> Ints:
        """Pairs of each case's items with different values."""
        return self.per_case(self.all_above() * self.sizes()).astype(np.int64)

    def per_case(self, values: NDArray[Any]) -> Doubles:
        """The sum over the groups of each case; whole numbers stay exact below 2^53."""
        return np.bincount(self.case, values, minlength=len(self.start) - 1).astype(np.float64, copy=False)

    def deviations(self) -> Doubles:
        """Each row's mean position less the case's."""
        middle = self.all_above() + (self.sizes() - np.diff(self.start)[self.case]) / 2
        rows = np.empty(len(self.order))
        rows[self.order] = np.repeat(middle, self.sizes())
        return rows

    def agreeing_with(self, other: Levels) -> tuple[Ints, Ints]:
        """Of the pairs (item of a better group, item of this group): above in the other order too, and tied there."""
        from fullrank.kernels.agreement import count_agreeing

        return count_agreeing(self.first, self.case, other.group[self.order], other.groups)


def levels(graded: Graded, values: NDArray[Any]) -> Levels:
    """Order each case by values that are aligned with `graded.item`, highest first."""
    distinct, code = np.unique(values, return_inverse=True)
    order, (case, falling) = sort_rows((graded.case, len(graded)), (len(distinct) - 1 - code, len(distinct)))
    begins = np.flatnonzero(~repeats(case, falling))
    group_case = case[begins].astype(np.int64)
    groups = np.bincount(group_case, minlength=len(graded)).astype(np.int64)
    place = np.arange(len(begins)) - (np.cumsum(groups) - groups)[group_case]
    first = np.append(begins, len(order)).astype(np.int64)
    group = np.empty(len(order), dtype=np.int32)
    group[order] = np.repeat(place, np.diff(first))
    return Levels(graded.start, order, first, group_case, groups, group)


class _Agreement(NamedTuple):
    """Pairs of each case's items."""

    concordant: Ints  # grades and scores order them alike
    discordant: Ints  # and oppositely
    total: Ints  # different grades
    apart: Ints  # different scores


def _agreement(truth: Levels, predicted: Levels) -> _Agreement:
    agreeing, tied = predicted.agreeing_with(truth)  # grades have few levels: the faster way round
    concordant, same_grade = (predicted.per_case(count).astype(np.int64) for count in (agreeing, tied))
    total, apart = truth.pairs(), predicted.pairs()
    return _Agreement(concordant, apart - same_grade - concordant, total, apart)


def _orders(graded: Graded, scores: ArrayLike) -> tuple[Levels, Levels]:
    return levels(graded, graded.grade), levels(graded, checked_scores(graded, scores))


def _expected_precision(outer: Levels, inner: Levels) -> Doubles:
    """Mean over positions below the first of the expected share of items above that are rightly so.

    A group of g items after a others fills positions q = a .. a+g-1 (from 0). Its item at q has, in
    expectation, (agreeing + tied/2) / g of the a right, and half of the q - a of its own group.
    """
    agreeing, tied = outer.agreeing_with(inner)
    above, sizes = outer.all_above(), outer.sizes()
    position = np.arange(len(outer.order)) - np.repeat(outer.start[:-1], np.diff(outer.start))
    inverse = np.divide(1.0, position, out=np.zeros(len(position)), where=position > 0)
    h = np.add.reduceat(inverse, outer.first[:-1]) if len(sizes) else np.zeros(0)
    precision = (agreeing + tied / 2) / sizes * h + (sizes - (above == 0) - above * h) / 2
    below = np.diff(outer.start) - 1
    return _divide(below > 0, outer.per_case(precision), below)


def _divide(defined: NDArray[np.bool_], above: NDArray[Any], below: NDArray[Any]) -> Doubles:
    """above / below where defined, else NaN."""
    values: Doubles = np.divide(above, below, out=np.full(len(defined), np.nan), where=defined)
    return values


def _correlation(above: NDArray[Any], scale: Doubles, defined: NDArray[np.bool_]) -> Doubles:
    """above / scale, 0 where the scores are all equal, NaN where the truth orders nothing."""
    values: Doubles = np.divide(above, scale, out=np.zeros(len(scale)), where=scale > 0)
    return np.where(defined, values, np.nan)
