"""Results: means, intervals, comparisons, and what they say about themselves."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.corrections import corrected
from fullrank.evaluation.methods import bias_variance
from fullrank.evaluation.paired import paired
from fullrank.evaluation.result import Result, evaluate
from fullrank.evaluation.statistics import holm
from fullrank.metrics import RANKED, adg, auc, ndcg, recall, rr, topk
from fullrank.metrics.missing import ips
from fullrank.ranks import About, Ranks


def ranks(seed: int = 0, cases: int = 300, better: float = 0.0, full: int = 100, **about: object) -> Ranks:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, cases)
    start = np.concatenate([[0], np.cumsum(sizes)])
    above = (100 * np.random.default_rng(seed + 1).random(start[-1]) ** (1 + better)).astype(int)
    return Ranks(
        start=start, above=above, tied=np.zeros(start[-1], int), pool=np.full(cases, 100), full=np.full(cases, full),
        about=About(**about),  # type: ignore[arg-type]
    )  # fmt: skip


def test_means_and_weights() -> None:
    found = ranks()
    per_case = (recall @ 10)(found)
    assert evaluate(found, [recall @ 10]).mean()["recall@10"] == pytest.approx(per_case.mean())
    by_pairs = evaluate(found, [recall @ 10], weights="by_relevant").mean()["recall@10"]
    assert by_pairs == pytest.approx((per_case * found.sizes).sum() / found.sizes.sum())
    given = np.zeros(300)
    given[7] = 2.0
    assert evaluate(found, [rr], weights=given).mean()["rr"] == pytest.approx(rr(found)[7])
    assert evaluate(found, [rr]).of("rr").tolist() == rr(found).tolist()


def test_the_order_of_cases_changes_no_bit() -> None:
    parts = [ranks(seed, cases=3) for seed in range(40)]
    one = evaluate(Ranks.concat(parts), [ndcg, rr, auc]).mean()
    assert one == evaluate(Ranks.concat(parts[::-1]), [ndcg, rr, auc]).mean()


def test_intervals_cover_the_truth() -> None:
    truth = float(np.mean([rr(ranks(seed, cases=2000)).mean() for seed in range(100, 110)]))
    inside = sum(
        low <= truth <= high for low, high in (evaluate(ranks(s), [rr]).interval(repeats=300)["rr"] for s in range(60))
    )
    assert 50 <= inside <= 60  # 95% of 60 is 57; 50 has a chance below 1 in 1000


def test_versus_finds_the_better_model_and_its_side() -> None:
    good, bad = evaluate(ranks(better=1.0, model="good"), [rr, auc]), evaluate(ranks(model="bad"), [rr, auc])
    found = good.versus(bad)["auc"]
    assert found.difference > 0
    assert 0 < found.low < found.difference < found.high
    assert found.permutation_p < 0.01
    assert found.wilcoxon_p < 0.01
    assert found.won > found.lost
    back = bad.versus(good)["auc"]
    assert back.difference == pytest.approx(-found.difference)
    assert back.permutation_p == found.permutation_p
    same = good.versus(good)["rr"]
    assert (same.difference, same.permutation_p, same.wilcoxon_p, same.effect) == (0, 1, 1, 0)


def test_p_values_are_uniform_under_no_difference() -> None:
    rng = np.random.default_rng(0)
    found = [paired(rng.random(40), rng.random(40), np.ones(40), repeats=200, seed=s).permutation_p for s in range(200)]
    assert stats.kstest(found, "uniform").pvalue > 0.001


def test_permutation_test_against_scipy() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.random(12), rng.random(12) + 0.15
    exact = stats.permutation_test(
        (one, two), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    found = paired(one, two, np.ones(12), repeats=20_000)
    assert found.permutation_p == pytest.approx(exact.pvalue, abs=0.02)


def test_several_cases_of_a_person_are_no_more_people() -> None:
    """The same sessions five times over tell nothing new: intervals and p-values stay as they were."""
    one, two = (ranks(cases=60, better=better) for better in (1.0, 0.0))
    people = [evaluate(replace(r, user=np.arange(60)), [rr, recall @ 10]) for r in (one, two)]
    often = [evaluate(Ranks.concat([replace(r, user=np.arange(60))] * 5), [rr, recall @ 10]) for r in (one, two)]
    blind = evaluate(replace(Ranks.concat([one] * 5), user=np.arange(300)), [rr])
    for name, interval in people[0].interval().items():
        assert often[0].interval()[name] == pytest.approx(interval)
    wide, narrow = (np.diff(result.interval()["rr"])[0] for result in (often[0], blind))
    assert narrow < 0.6 * wide
    alone, found = people[0].versus(people[1])["rr"], often[0].versus(often[1])["rr"]
    assert (found.cases, found.won, found.permutation_p) == (60, alone.won, alone.permutation_p)
    assert (found.difference, found.low, found.effect) == pytest.approx((alone.difference, alone.low, alone.effect))


def test_what_cannot_be_compared_is_refused() -> None:
    one = evaluate(ranks(), [rr])
    with pytest.raises(DataError, match="among everything, the other among 100 sampled"):
        one.versus(evaluate(ranks(candidates="100 sampled"), [rr]))
    with pytest.raises(DataError, match="one has 300 cases, the other 200"):
        one.versus(evaluate(ranks(cases=200), [rr]))
    with pytest.raises(DataError, match="weights differ"):
        one.versus(evaluate(ranks(), [rr], weights="by_relevant"))


def test_notes_tell_what_to_distrust() -> None:
    plain = evaluate(ranks(), [recall @ 10, adg])
    assert plain.notes == ()
    drawn = {"candidates": "100 sampled", "sampled": 100, "full": 500}
    sampled = evaluate(ranks(**drawn, skipped={"none relevant": 3}), [ndcg @ 10, auc])  # type: ignore[arg-type]
    assert "without correction: ndcg@10, and which model leads by them, cannot be trusted" in sampled.notes[0]
    biased = "biased where relevant items are missing from the held-out data: "
    assert evaluate(ranks(**drawn), [auc]).notes == (biased + "auc",)  # type: ignore[arg-type]
    assert "biased where relevant items are missing" in sampled.notes[1]
    assert sampled.notes[2] == "3 cases left out: none relevant"


def test_measuring_some_cases_at_a_time_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [ranks(seed, cases=50) for seed in range(4)]
    found = Ranks.concat(parts)
    tied = np.minimum(np.arange(len(found.above)) % 5, 100 - found.above)
    found = replace(found, tied=tied, relevant_above=None, item=np.zeros(len(tied), dtype=int))
    metrics = [metric @ 7 if metric.cut else metric for metric in RANKED.values() if metric.name != "graded_ndcg"]
    metrics += [metric for metric in RANKED.values() if metric.name != "graded_ndcg"]
    metrics += [ips(recall @ 5, [0.5])]
    one = evaluate(found, metrics)
    for rows in (1, 7, 100):
        monkeypatch.setattr("fullrank.evaluation.result.ROWS", rows)
        assert evaluate(found, metrics).values.tobytes() == one.values.tobytes()
    assert found.some(slice(50, 100)).above.tolist() == parts[1].above.tolist()
    assert Ranks.concat([found.some(slice(0, 33)), found.some(slice(33, 200))]) == found


def test_ties_at_the_cut_off_are_told() -> None:
    above, tied = np.full(300, 20), np.zeros(300, dtype=int)
    tied[:3] = 5
    above[:3] = 8  # three of 300 cases: 1%, which is still silent
    few = Ranks(start=np.arange(301), above=above, tied=tied, pool=np.full(300, 100))
    assert evaluate(few, [recall @ 10, topk @ 0.1, adg]).notes == ()
    above[3], tied[3] = 9, 1
    four = Ranks(start=np.arange(301), above=above, tied=tied, pool=np.full(300, 100))
    assert evaluate(four, [recall @ 10, recall @ 5, adg]).notes == (
        "equal scores leave open who is above the cut-off in 1.3% of the cases, and the mean over their orders is "
        "taken: recall@10",
    )
    assert evaluate(four, [topk @ 0.085]).notes == ()  # the first 9: three cases only
    assert "topk@0.095" in evaluate(four, [topk @ 0.11, topk @ 0.095]).notes[0]


def test_sampled_numbers_say_so_in_their_names() -> None:
    sampled = Ranks(
        start=[0, 1, 2], above=[0, 4], tied=[0, 0], pool=[100, 100], full=[3700, 3500],
        about=About(candidates="100 sampled", sampled=100),
    )  # fmt: skip
    honest = corrected(recall @ 10, bias_variance(0.1))
    result = evaluate(sampled, [recall @ 10, honest, auc])
    assert list(result.mean()) == ["recall@10 from 100", "recall@10 from 100, bv 0.1", "auc"]
    assert result.of("recall@10 from 100").tolist() == result.of(recall @ 10).tolist()
    assert list(result.versus(result)) == list(result.mean())
    assert sum("corrected for sampling" in note for note in result.notes) == 1


def test_too_few_cases_for_the_difference_are_told_with_the_number_needed() -> None:
    rng = np.random.default_rng(4)
    base = rng.standard_normal(4000)
    worse = base - 0.05 - rng.standard_normal(4000)
    few = paired(base[:200], worse[:200], np.ones(200))
    assert "too few cases for the difference seen: 200, and about" in str(few)
    assert few.needed > 200
    assert paired(base, base, np.ones(4000)).note == "no difference"
    # with as many cases as are needed for a true effect of .1, four tests out of five find it
    needed = paired(*_effect(rng, 100_000, 0.1), np.ones(100_000), repeats=100).needed
    assert needed == pytest.approx(7.849 / 0.01, rel=0.1)
    found = [paired(*_effect(rng, int(needed), 0.1), np.ones(int(needed)), repeats=400, seed=s) for s in range(100)]
    assert np.mean([one.permutation_p < 0.05 for one in found]) == pytest.approx(0.8, abs=0.16)  # 4 standard errors
    assert all(one.note == "" for one in found if one.low > 0)


def _effect(rng: np.random.Generator, cases: int, effect: float) -> tuple[np.ndarray, np.ndarray]:
    return rng.standard_normal(cases) + effect, np.zeros(cases)


def test_shown_and_written() -> None:
    result = evaluate(ranks(model="<b>bold</b>"), [ndcg @ 10])
    assert "<b>" not in result._repr_html_()
    assert json.loads(json.dumps(result.to_json()))["cases"] == 300
    assert "ndcg@10=" in repr(result)


def test_refused() -> None:
    with pytest.raises(ParameterError, match="at least one metric"):
        evaluate(ranks(), [])
    with pytest.raises(ParameterError, match="weights must be"):
        evaluate(ranks(), [rr], weights="users")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="300 numbers"):
        evaluate(ranks(), [rr], weights=np.zeros(300))
    with pytest.raises(ParameterError, match="'ap' was not measured; there are rr"):
        evaluate(ranks(), [rr]).of("ap")


def test_holm_is_monotone_and_at_least_as_large() -> None:
    rng = np.random.default_rng(3)
    raw = {n: float(p) for n, p in enumerate(rng.random(20) ** 3)}
    adjusted = holm(raw)
    assert list(adjusted) == list(raw)
    assert all(adjusted[n] >= raw[n] for n in raw)
    order = sorted(raw, key=raw.__getitem__)
    assert [adjusted[n] for n in order] == sorted(adjusted.values())


def test_results_are_frozen() -> None:
    result = evaluate(ranks(), [rr])
    with pytest.raises(AttributeError):
        result.about = About()  # type: ignore[misc]
    assert isinstance(replace(result, about=About(model="x")), Result)
