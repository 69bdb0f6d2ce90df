"""Traffic: stable, in the shares asked for, and moving nobody without need."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from scipy.stats import chisquare

from fullrank.errors import ParameterError
from fullrank.serving.experiments import assign

PEOPLE = range(20_000)


def dealt(shares: dict[str, float], salt: str = "salt") -> list[str]:
    return [assign(user, salt, shares) for user in PEOPLE]


@pytest.mark.parametrize("shares", [{"a": 0.9, "b": 0.1}, {"a": 0.5, "b": 0.2, "c": 0.3}, {"b": 1.0}])
def test_shares_are_exact_in_the_limit(shares: dict[str, float]) -> None:
    arms = dealt(shares)
    counts = [arms.count(arm) for arm in shares]
    assert sum(counts) == len(arms)
    if len(shares) > 1:
        assert chisquare(counts, [share * len(arms) for share in shares.values()]).pvalue > 1e-4


def test_exact_logarithms_decide_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = dealt({"a": 0.5, "b": 0.2, "c": 0.3})[:2000]
    monkeypatch.setattr("fullrank.serving.assigning.NEAR", 2.0)  # every race is near
    assert [assign(user, "salt", {"a": 0.5, "b": 0.2, "c": 0.3}) for user in PEOPLE[:2000]] == quick


def test_another_process_deals_the_same() -> None:
    code = (
        "from fullrank.serving.experiments import assign\n"
        "print(*(assign(n, 'é', {'b': .3, 'a': .7}) for n in range(200)))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert printed == {" ".join(assign(str(n), "é", {"a": 0.7, "b": 0.3}) for n in range(200)) + "\n"}


def test_a_share_that_is_moved_moves_as_few_as_can_be() -> None:
    before, after = dealt({"a": 0.9, "b": 0.1}), dealt({"a": 0.7, "b": 0.3})
    moved = [(one, two) for one, two in zip(before, after, strict=True) if one != two]
    assert set(moved) == {("a", "b")}
    assert len(moved) == after.count("b") - before.count("b")
    off = dealt({"a": 0.9, "b": 0.1, "c": 0.0})
    assert off == before


def test_among_three_arms_no_more_move_than_is_promised() -> None:
    before, after = dealt({"a": 0.5, "b": 0.3, "c": 0.2}), dealt({"a": 0.4, "b": 0.4, "c": 0.2})
    moved = sum(one != two for one, two in zip(before, after, strict=True)) / len(before)
    assert 0.1 * 0.9 < moved < 2 * 0.1 / 1.1


def test_another_salt_deals_anew() -> None:
    one, two = dealt({"a": 0.5, "b": 0.5}, "one"), dealt({"a": 0.5, "b": 0.5}, "two")
    both = sum(x == y for x, y in zip(one, two, strict=True)) / len(one)
    assert abs(both - 0.5) < 0.02


@pytest.mark.parametrize(
    "shares", [{}, {"a": 0.5}, {"a": 1.5, "b": -0.5}, {"a": True}, {"": 1.0}, {"a": float("nan"), "b": 1.0}]
)
def test_shares_that_are_none(shares: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="'shares' parameter must be a share from 0 to 1 for every name, 1 in all"):
        assign("ann", "salt", shares)
