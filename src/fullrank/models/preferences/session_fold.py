"""People who are new, from their sessions, against items that are known."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Array, Doubles, Floats
from fullrank.models.preferences.comparisons import Comparisons

TURNS = 20  # at most
LEAST = 1e-6  # of a ridge


def chosen_vectors(items: Floats, parts: Comparisons, reg: float) -> Floats:
    """The vector of every user that makes the choices in their sessions likeliest (CCF), by Newton's method."""
    vectors = np.zeros((len(parts.by_user.start) - 1, items.shape[1]), dtype=np.float32)
    for user in range(len(vectors)):
        sessions = _choices(items, parts, user)
        if sessions:
            vectors[user] = _newton(sessions, max(reg, LEAST) * len(sessions))
    return vectors


def _choices(items: Floats, parts: Comparisons, user: int) -> list[tuple[Doubles, Doubles]]:
    """Of every session with a choice the vectors offered, and the mean of the chosen ones."""
    nest, choices = parts.nest, []
    for case in range(nest.user_case[user], nest.user_case[user + 1]):
        runs = nest.run_row[nest.case_run[case] : nest.case_run[case + 1] + 1]
        if len(runs) > 2:
            offered = items[parts.by_user.other[nest.row_entry[runs[0] : runs[-1]]]].astype(np.float64)
            choices.append((offered, offered[: runs[1] - runs[0]].mean(axis=0)))
    return choices


def _newton(sessions: list[tuple[Doubles, Doubles]], ridge: float) -> Doubles:
    """The minimum of  sum over sessions of log sum exp(Q p) - <c, p>  + ridge/2 |p|^2, which is convex."""
    p = np.zeros(sessions[0][0].shape[1])
    value, slope, bend = _logit(sessions, ridge, p)
    for _ in range(TURNS):
        step, size = np.linalg.solve(bend, slope), 1.0
        gain = slope @ step
        while _logit(sessions, ridge, p - size * step)[0] > value - 0.25 * size * gain and size > 1e-6:
            size /= 2
        p = p - size * step
        value, slope, bend = _logit(sessions, ridge, p)
        if gain < 1e-10:
            break
    return p


def _logit(sessions: list[tuple[Doubles, Doubles]], ridge: float, p: Doubles) -> tuple[float, Doubles, Doubles]:
    """That sum, its gradient and its Hessian."""
    value, slope, bend = ridge / 2 * float(p @ p), ridge * p, ridge * np.eye(len(p))
    for offered, chosen in sessions:
        b = offered @ p
        weight = np.exp(b - b.max())
        value += float(np.log(weight.sum()) + b.max() - chosen @ p)
        weight /= weight.sum()
        mean = weight @ offered
        slope = slope + mean - chosen
        bend = bend + (offered * weight[:, None]).T @ offered - np.outer(mean, mean)
    return value, slope, bend


def valued_vectors(items: Floats, parts: Comparisons, used: Array, reg: float) -> tuple[Floats, Floats]:
    """The vector and alpha of every user that bring values near targets at equal gaps, by turns of least squares.

        sum over items i of used sessions of  (t_i - <p, q_i + alpha m_i>)^2 + reg (|p|^2 + alpha^2)

    where m_i is the mean vector of the items beside i.
    """
    users = np.zeros((len(parts.by_user.start) - 1, items.shape[1]), dtype=np.float32)
    alpha = np.zeros(len(users), dtype=np.float32)
    for user in range(len(users)):
        own, beside, target = _values(items, parts, used, user)
        ridge = max(reg, LEAST) * len(target)
        for _ in range(TURNS if len(target) else 0):
            mixed = own + alpha[user] * beside
            p = np.linalg.solve(mixed.T @ mixed + ridge * np.eye(mixed.shape[1]), mixed.T @ target)
            cost = beside @ p
            users[user], alpha[user] = p, cost @ (target - own @ p) / (cost @ cost + ridge)
    return users, alpha


def _values(items: Floats, parts: Comparisons, used: Array, user: int) -> tuple[Doubles, Doubles, Doubles]:
    """Of every item in used sessions its vector, the mean of those beside it, and its target."""
    nest = parts.nest
    own, beside, target = [np.zeros((0, items.shape[1]))], [np.zeros((0, items.shape[1]))], [np.zeros(0)]
    for case in range(nest.user_case[user], nest.user_case[user + 1]):
        if used[case]:
            runs = nest.run_row[nest.case_run[case] : nest.case_run[case + 1] + 1]
            offered = items[parts.by_user.other[nest.row_entry[runs[0] : runs[-1]]]].astype(np.float64)
            own.append(offered)
            beside.append((offered.sum(axis=0) - offered) / max(len(offered) - 1, 1))
            levels = np.linspace(1, 0, len(runs) - 1) if len(runs) > 2 else np.zeros(1)
            target.append(np.repeat(levels, np.diff(runs)))
    return np.concatenate(own), np.concatenate(beside), np.concatenate(target)
