"""Sampled candidates: which measures keep their expectation, what a result says of it, and pairs ranked one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import fullrank
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.analysis import expected_values, thinned
from fullrank.evaluation.candidates import Everything, Sampled
from fullrank.evaluation.cases import cases_of
from fullrank.evaluation.corrections import corrected
from fullrank.evaluation.methods import bias_variance, rank_estimate
from fullrank.evaluation.rank import rank
from fullrank.evaluation.rank_samples import rank_again
from fullrank.evaluation.result import evaluate
from fullrank.evaluation.sampling import expected, values
from fullrank.metrics import (
    METRICS,
    adg,
    ap,
    atop,
    auc,
    mean_percentile,
    mean_rank,
    metric,
    ndcg,
    precision,
    recall,
    topk,
)
from fullrank.metrics.metric import Metric
from fullrank.metrics.missing import ips, snips
from fullrank.ranks import About, Ranks
from fullrank.runtime.threads import threads

approx = pytest.approx

LINEAR = [auc, atop, mean_rank, mean_percentile]
BIASED = [recall @ 2, topk @ 2, topk @ 0.2, atop @ 0.5, atop @ 3, adg]

# One case: scores of three relevant items, two of them tied, and of seven irrelevant candidates, some tied with them.
RELEVANT, OTHERS = [6.0, 3.0, 3.0], [9.0, 6.0, 5.0, 3.0, 3.0, 1.0, 0.0]


def of(others: list[float], full: int | None = None, *, again: bool = False) -> Ranks:
    """The case ranked among these of its candidates."""
    about = About(candidates="sampled", sampled=len(others), replace=again) if full is not None else About()
    above, tied, before = (
        [sum(compare(other, own) for other in some) for own in RELEVANT]
        for compare, some in (
            (lambda a, b: a > b, others), (lambda a, b: a == b, others), (lambda a, b: a > b, RELEVANT),
        )
    )  # fmt: skip
    return Ranks(
        [0, 3], above, tied, [len(others)], relevant_above=before, item=[0, 1, 2], user=[0],
        full=None if full is None else [full], about=about,
    )  # fmt: skip


def samples(m: int, again: bool) -> Ranks:
    """The case among every sample there is, each as likely."""
    ways = product(OTHERS, repeat=m) if again else combinations(OTHERS, m)
    return Ranks.concat([of(list(way), len(OTHERS), again=again) for way in ways])


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("m", [1, 2, 4])
@pytest.mark.parametrize("measure", LINEAR, ids=str)
def test_linear_measures_are_unbiased_with_several_relevant_items(measure: Metric, m: int, again: bool) -> None:
    """The mean over all samples, enumerated, is the exact value."""
    assert measure(samples(m, again)).mean() == approx(measure(of(OTHERS))[0], abs=1e-12)
    for weighted in (snips(measure, [0.9, 0.2, 0.5]), ips(measure, [0.9, 0.2, 0.5], [4.0])):
        assert weighted(samples(m, again)).mean() == approx(weighted(of(OTHERS))[0], abs=1e-12)
    for how in ({"method": None}, {"method": None, "replace": True}):
        assert expected_values(measure, of(OTHERS), m, **how) == approx(measure(of(OTHERS)), abs=1e-12)
    assert expected(measure, m, 8, [3], again) == approx(values(measure, 8)[[2]], abs=1e-12)


@pytest.mark.parametrize("measure", BIASED, ids=str)
def test_others_are_not_and_say_so(measure: Metric) -> None:
    found = samples(3, False)
    assert abs(measure(found).mean() - measure(of(OTHERS))[0]) > 0.02
    exact, sampled = evaluate(of(OTHERS), [measure, atop]), evaluate(found, [measure, atop])
    assert exact.unbiased == (True, True)
    assert sampled.unbiased == (False, True)
    assert sampled.names == (f"{measure} from 3", "atop")
    assert [m["unbiased"] for m in sampled.to_json()["metrics"].values()] == [False, True]
    assert [row.count(" *") for row in sampled._repr_html_().split("<tr>")[2:]] == [1, 0]
    trust, *_, missing = sampled.notes
    assert trust == f"ranked among 3 sampled candidates without correction: {measure}, and which model leads by " + (
        "them, cannot be trusted"
    )
    assert missing == f"biased where relevant items are missing from the held-out data: {measure}"


def test_every_flagged_measure_was_judged() -> None:
    assert {m.name for m in METRICS.values() if m.unbiased} <= {m.name for m in [*LINEAR, *BIASED]}
    assert {m.name for m in METRICS.values() if m.survives_sampling} == {m.name for m in LINEAR}
    assert not (atop @ 0.5).survives_sampling


def test_corrected_measures_are_nearer_not_unbiased() -> None:
    result = evaluate(samples(3, False), [corrected(recall @ 2, bias_variance(0.1)), corrected(atop, rank_estimate())])
    assert result.unbiased == (False, False)
    assert not corrected(recall @ 2, bias_variance(0.1)).unbiased


def test_expected_values_of_all_samples() -> None:
    for measure in (recall @ 2, ndcg, ap, adg):
        assert expected_values(measure, of(OTHERS), 3) == approx(measure(samples(3, False)).mean())


# -- ranked by a model


def world(users: int = 120, items: int = 150) -> tuple[Split[Interactions], tuple[np.ndarray, np.ndarray]]:
    """Five or so relevant items of each user, and a scorer that finds them early."""
    found = fullrank.simulate.implicit(users, items, density=0.12, observed=0.9, seed=3)
    return fullrank.holdout(found.data, 0.4, minimum=2, seed=1), (found.tastes.users, found.tastes.items)


def z(estimates: list[float], truth: float) -> float:
    return float((np.mean(estimates) - truth) / (np.std(estimates, ddof=1) / np.sqrt(len(estimates))))


@pytest.mark.parametrize("per", ["case", "pair"])
@pytest.mark.parametrize("weights", ["uniform", "by_relevant"])
def test_sampled_atop_has_the_exact_mean(per: str, weights: str) -> None:
    split, model = world()
    measures = [atop, mean_rank, mean_percentile]
    exact = evaluate(rank(model, split), measures, weights).mean()
    draws = rank_again(model, cases_of(split), [Sampled(10, seed, per=per) for seed in range(200)])  # type: ignore[arg-type]
    means = [evaluate(found, measures, weights).mean() for found in draws]
    assert (draws[0].pool == 10).all()
    assert rank(model, split).sizes.mean() > 3
    for name, truth in exact.items():
        assert abs(z([mean[name] for mean in means], truth)) < 4
    recalls = [evaluate(found, [recall @ 3], weights).mean()["recall@3 from 10"] for found in draws]
    assert abs(z(recalls, evaluate(rank(model, split), [recall @ 3], weights).mean()["recall@3"])) > 20


def test_samples_at_or_above_the_pool_are_exact_and_say_so() -> None:
    split, model = world(30, 40)
    honest = corrected(recall @ 5, bias_variance(0.1))
    measures = [recall @ 5, ndcg, atop]
    exact = evaluate(rank(model, split, Everything()), measures)
    ranks = rank(model, split, Sampled(1000, seed=4))
    found = evaluate(ranks, measures)
    assert repr(ranks).endswith("among everything)")
    assert (found.names, found.notes, found.unbiased) == (exact.names, exact.notes, exact.unbiased)
    assert (found.about, found.protocol) == (exact.about, exact.protocol)
    assert (found.values == exact.values).all()
    assert found.versus(exact)["ndcg"].difference == 0
    better = evaluate(ranks, [honest])
    assert better.of(honest) == approx(exact.of(recall @ 5), abs=1e-12)
    assert better.names == ("recall@5, bv 0.1",)
    assert better.notes == ("recall@5, bv 0.1: all candidates were ranked, so there was nothing to correct",)
    assert better.unbiased == (True,)
    again = rank(model, split, Sampled(1000, replace=True))
    assert evaluate(again, [ndcg]).names == ("ndcg from 1000",)  # with replacement there is no whole
    assert evaluate(thinned(rank(model, split), 1000, np.random.default_rng(0)), measures).names == exact.names


def test_where_some_cases_are_whole_the_others_are_counted() -> None:
    about = About(candidates="9 sampled", sampled=9)
    parts = [Ranks([0, 1], [1], [0], [9], full=[full], about=about) for full in (9, 50)]
    assert [part.whole.tolist() for part in parts] == [[True], [False]]
    assert evaluate(parts[0], [ndcg]).names == ("ndcg",)
    for order in (parts, parts[::-1]):
        result = evaluate(Ranks.concat([*order, order[0]]), [ndcg, atop])
        assert result.names == ("ndcg from 9", "atop")
        sampled = sum(not part.whole.all() for part in (*order, order[0]))
        assert result.notes[0].startswith(
            f"ranked among 9 sampled candidates in {sampled} of 3 cases (the others have no more) without correction: "
        )
    shards = [replace(parts[0], about=About()), parts[1]]  # the first shard is exact and says so
    assert evaluate(Ranks.concat(shards), [ndcg]).names == ("ndcg from 9",)


def test_other_draws_are_not_compared() -> None:
    split, model = world(30, 60)
    one, other, again, same = (
        evaluate(rank(model, split, sampled), [ndcg])
        for sampled in (Sampled(9, 1), Sampled(9, 2), Sampled(9, 1, replace=True), Sampled(9, 1))
    )
    assert one.versus(same)["ndcg from 9"].difference == 0
    for wrong in (other, again):
        with pytest.raises(DataError, match="candidates or weights differ"):
            one.versus(wrong)


def test_sampled_ranks_must_tell_of_how_many() -> None:
    with pytest.raises(DataError, match=r"ranks: 100 sampled, but of how many candidates\? Give full="):
        Ranks([0, 1], [3], [0], [100], about=About(sampled=100))
    with pytest.raises(DataError, match="case 0 has none sampled of 7 candidates"):
        Ranks([0, 1], [0], [0], [0], full=[7])


@pytest.mark.parametrize("wrong", [Sampled, 100, "all"])
def test_what_are_no_candidates_is_refused(wrong: object) -> None:
    split, model = world(10, 30)
    with pytest.raises(ParameterError, match=r"'candidates' parameter must be Everything\(\), Sampled\(m\)"):
        rank(model, split, wrong)  # type: ignore[arg-type]


def test_parameters_of_a_sample() -> None:
    with pytest.raises(ParameterError, match="'per' parameter must be 'case' or 'pair'"):
        Sampled(10, per="user")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'m' parameter"):
        Sampled(10**12)


# -- pair by pair


def test_pairs_are_ranked_among_all_others() -> None:
    """With as many as there are, every pair has the place of its item in the whole list, relevant ones in it."""
    split, model = world(40, 60)
    scores = np.round(2 * model[0] @ model[1].T)  # with ties
    for exclude in ("train", None):
        exact = rank(scores, split, exclude=exclude)  # type: ignore[arg-type]
        found = rank(scores, split, Sampled(60, per="pair"), exclude=exclude)  # type: ignore[arg-type]
        assert found.above.tolist() == exact.all_above.tolist()
        assert found.tied.tolist() == (exact.tie_size - 1).tolist()
        assert found.pool.tolist() == (exact.candidates - 1)[exact.case].tolist() == found.full.tolist()
        assert found.item.tolist() == exact.item.tolist()
        assert found.user.tolist() == exact.user[exact.case].tolist()
        assert repr(found).endswith("among everything, pair by pair)")
        measures = [recall @ 3, topk @ 0.1, atop, atop @ 0.2, adg, mean_rank, mean_percentile]
        for weights in ("uniform", "by_relevant"):
            one, two = (evaluate(ranks, measures, weights) for ranks in (exact, found))
            assert one.names == two.names
            assert list(two.mean().values()) == approx(list(one.mean().values()), abs=1e-12)
            assert two.unbiased == (True,) * len(measures)


def test_pairs_are_drawn_without_themselves_and_what_is_excluded() -> None:
    """Item 1 and the relevant ones have one score: half of what may be drawn for each pair is tied with it."""
    ids = {"users": Ids([0]), "items": Ids.numbered(9)}
    train, held = (Interactions.of([0] * len(items), items, **ids) for items in ([0, 8], [2, 4, 6]))
    scores = np.array([[9.0, 1, 1, 0, 1, 0, 1, 0, 9]])  # relevant ones and 1 are tied, 0 and 8 are excluded
    drawn = np.array([rank(scores, Split(train, held), Sampled(1, seed, per="pair")).tied for seed in range(600)])
    assert rank(scores, Split(train, held), Sampled(1, 5, per="pair")).full.tolist() == [6, 6, 6]
    assert drawn.mean(axis=0) == approx(np.full(3, 3 / 6), abs=0.08)  # of 1, 3, 5, 7 and the two others
    assert (drawn[:, 0] != drawn[:, 1]).any()  # each pair has its own draws
    nothing = [rank(scores, Split(train, held), Sampled(1, seed, per="pair")).above.sum() for seed in range(50)]
    assert sum(nothing) == 0
    assert rank(scores, Split(train, held), Sampled(1, 5, per="pair"), exclude=None).full.tolist() == [8, 8, 8]


@pytest.mark.identical
@pytest.mark.parametrize("again", [False, True])
def test_pairs_do_not_depend_on_blocks_threads_shards_or_representation(again: bool) -> None:
    split, model = world(40, 60)
    sampled = Sampled(7, 3, again, "pair")
    one = rank(model, split, sampled)
    before = threads()
    try:
        for count, block in ((1, 1), (2, 7), (4, 13)):
            threads(count)
            assert rank(model, split, sampled, block=block) == one
    finally:
        threads(before)
    exact = np.stack([rank_scores(model, user) for user in range(40)])
    assert rank(exact, split, sampled) == one
    shards = [split.held_out.where(split.held_out.user % 3 == part) for part in range(3)]
    parts = [rank(model, Split(split.train, shard), sampled) for shard in shards]
    columns = [np.concatenate([getattr(part, name) for part in parts]) for name in ("user", "item", "above", "tied")]
    rows = sorted(zip(*columns, strict=True))
    assert rows == sorted(zip(one.user, one.item, one.above, one.tied, strict=True))
    fewer = split.held_out.where(np.arange(len(split.held_out)) % 2 == 0)  # another relevant item changes nothing
    some = rank(model, Split(split.train, fewer, split.held_out.where(np.zeros(len(split.held_out), bool))), sampled)
    known = {(u, i): (a, t) for u, i, a, t in rows}
    assert all(known[u, i] == (a, t) for u, i, a, t in zip(some.user, some.item, some.above, some.tied, strict=True))


def rank_scores(model: tuple[np.ndarray, np.ndarray], user: int) -> np.ndarray:
    """Canonical scores, in float64."""
    total = np.zeros(len(model[1]))
    for factor in range(model[1].shape[1]):
        total = total + np.float64(model[0][user, factor]) * model[1][:, factor].astype(np.float64)
    return total


def test_pairs_only_for_means_over_relevant_items() -> None:
    split, model = world(30, 60)
    found = rank(model, split, Sampled(9, per="pair"))
    for wrong in (ndcg, precision @ 5, auc, snips(atop, np.ones(60)), corrected(ap, bias_variance(0.1))):
        with pytest.raises(ParameterError, match="these were ranked pair by pair; use recall, topk, atop"):
            evaluate(found, [atop, wrong])
    result = evaluate(found, [topk @ 0.1, corrected(recall @ 3, bias_variance(0.1)), atop])
    assert result.names == ("topk@0.1 from 9", "recall@3 from 9, bv 0.1", "atop")
    assert result.user is not None  # intervals draw people
    with pytest.raises(DataError, match="ranked among 9 sampled per pair, the other among 9 sampled"):
        result.versus(evaluate(rank(model, split, Sampled(9)), [atop]))


def test_a_leak_among_pairs_is_told_and_stays_a_candidate() -> None:
    ids = {"users": Ids([0]), "items": Ids.numbered(4)}
    train, held = (Interactions.of([0, 0], items, **ids) for items in ([0, 1], [1, 2]))
    found = rank(np.array([[4.0, 3, 2, 1]]), Split(train, held), Sampled(5, per="pair"))
    assert (found.above.tolist(), found.pool.tolist()) == ([0, 1], [2, 2])  # item 0 is excluded
    assert found.about.notes == ("1 held-out items are among the excluded ones too (leak)",)


def test_a_metric_of_your_own_may_be_linear() -> None:
    @metric("total rank", cut="", linear=True)
    def total_rank(ranks: Ranks, k: object) -> np.ndarray:
        """Sum of positions."""
        return ranks.per_case(ranks.full_positions())

    assert total_rank(samples(2, False)).mean() == approx(total_rank(of(OTHERS))[0])
    assert evaluate(samples(2, False), [total_rank]).names == ("total rank",)
