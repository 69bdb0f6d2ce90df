"""From a score to the share of items below it: the distribution of scores, and curves close to it (Steck 2015).

All have the width of `rank_se`, so that targets are 1 and 0: their slope at 0 is 1. A distribution of standard
deviation 1 has the argument x = s / sqrt(2 pi).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from fullrank.arrays import Doubles

Curve: TypeAlias = Callable[[Doubles], Doubles]


class Activation(NamedTuple):
    """A curve and its slope."""

    value: Curve
    slope: Curve


def _logistic(x: Doubles) -> Doubles:
    """sigma(4 x): sigma(s sqrt(8 / pi)) for s = x sqrt(2 pi)."""
    return np.asarray(0.5 * (1 + np.tanh(2 * np.asarray(x, dtype=np.float64))))


def _logistic_slope(x: Doubles) -> Doubles:
    return np.asarray(np.cosh(2 * np.clip(np.asarray(x, dtype=np.float64), -100, 100)) ** -2)


def _probit(x: Doubles) -> Doubles:
    """Phi(x sqrt(2 pi)), the distribution function itself."""
    from scipy.special import ndtr

    return np.asarray(ndtr(np.sqrt(2 * np.pi) * np.asarray(x, dtype=np.float64)))


def _probit_slope(x: Doubles) -> Doubles:
    return np.asarray(np.exp(-np.pi * np.square(np.asarray(x, dtype=np.float64))))


def _above(x: Doubles) -> Doubles:
    return np.asarray(np.maximum(x, 0.0))


def _quad(x: Doubles) -> Doubles:
    """1 - [1 - x]_+^2 / 2 from 0 on, [1 + x]_+^2 / 2 below."""
    return np.where(np.asarray(x) >= 0, 1 - _above(1 - x) ** 2 / 2, _above(1 + x) ** 2 / 2)


def _quad_slope(x: Doubles) -> Doubles:
    return _above(1 - np.abs(x))


def _rank_se(x: Doubles) -> Doubles:
    """1 - [1 - x]_+^2 / 2 everywhere: the squared error that stops at the target."""
    return np.asarray(1 - _above(1 - x) ** 2 / 2)


def _rank_se_slope(x: Doubles) -> Doubles:
    return _above(1 - x)


ACTIVATIONS = {
    "probit": Activation(_probit, _probit_slope),
    "logistic": Activation(_logistic, _logistic_slope),
    "quad": Activation(_quad, _quad_slope),
    "rankSE": Activation(_rank_se, _rank_se_slope),
}
