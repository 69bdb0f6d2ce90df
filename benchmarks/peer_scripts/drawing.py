"""How many draws a violator takes, counted once more with NumPy for some pairs of a trained model; nothing is timed."""

import numpy as np

PAIRS = 50_000


def drawn(scores, user, positive, items, most, allowed=None):
    """Draws that a pair of user and positive takes, and the share of pairs that find a violator in so many draws.

    That is any of the items that scores higher than the positive less 1 and, where told, is `allowed` for the user.
    """
    rng, left, draws = np.random.default_rng(0), np.arange(len(user)), 0
    threshold = scores(user, positive) - 1
    for _ in range(most):
        item = rng.integers(items, size=len(left)).astype(np.int32)
        draws += len(left)
        found = scores(user[left], item) > threshold[left]
        if allowed is not None:
            found &= allowed(user[left], item)
        left = left[~found]
    return {"draws": draws / len(user), "updates": 1 - len(left) / len(user)}


def dots(users, items, bias):
    """The scores of pairs, without what is the same for all items of a user."""
    return lambda user, item: np.einsum("ij,ij->i", users[user], items[item]) + bias[item]
