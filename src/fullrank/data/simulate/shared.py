"""What the simulated worlds have in common: random streams, tastes, popularity, activity, time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import Codes, Floats, checked_codes, frozen
from fullrank.errors import check, check_integer, is_integer, is_number

USERS, ITEMS, EACH = 1, 2, 3  # random streams
STEP, MOST_FACTORS = 64, 60  # vectors are multiples of 1/64
BEST = 0.28  # how far the best items stand out
STRONG = 4.0  # at violation 1 the rarest relevant item is exp(4) times less likely to be seen than the best known
KNOWN_FOR_QUALITY = 0.87  # correlation of how known an item is with how good it is
LEAST, SPREAD, MEAN = 20, 800, 106  # a user's number of ratings, as in ML-100K: 20 + 800 Beta(0.56, 4.65)
FIRST_DAY = int(np.datetime64("1997-09-20", "us").astype(np.int64))  # the seven months of ML-100K
WINDOW, SITTING = 214 * 86_400_000_000, 30_000_000  # microseconds in all, and per rating in one sitting
BLOCK = 4_000_000  # pairs looked at together


def number(name: str, value: Any, low: float, high: float) -> None:
    """Refuse what is not a number from low to high."""
    check(name, value, is_number(value) and bool(low <= value <= high), f"a number from {low:g} to {high:g}")


def span(name: str, value: Any, low: float, high: float, *, integers: bool) -> None:
    """Refuse what is not a pair (least, most) inside low..high."""
    right = is_integer if integers else is_number
    pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(right, value))
    kind = "integers" if integers else "numbers"
    must_be = f"two {kind} (least, most) from {low:g} to {high:g}"
    check(name, value, pair and bool(low <= value[0] <= value[1] <= high), must_be)


def size(users: int, items: int, factors: int, seed: int) -> None:
    """Check what every world asks for."""
    check_integer("users", users, 1, 2**31 - 1)
    check_integer("items", items, 2, 2**31 - 1)
    check_integer("factors", factors, 1, MOST_FACTORS)
    check_integer("seed", seed, 0, 2**32 - 1)


def generator(*stream: int) -> np.random.Generator:
    """The random numbers of one stream: (seed, USERS), (seed, ITEMS), or (seed, EACH, user)."""
    return np.random.default_rng(stream)


def exactly(vectors: NDArray[Any], largest: int) -> NDArray[np.float64]:
    """Vectors as multiples of 1/64, below `largest` in size.

    Products are then multiples of 2^-12. Two levels below 32 and 60 products of factors below 8 add to
    less than 2^12, which fits the 24 bits of a float32 without rounding: scores do not depend on BLAS,
    its threads, or the block of users.
    """
    most = largest - 1 / STEP
    steps: NDArray[np.float64] = np.rint(np.clip(vectors, -most, most) * STEP)
    return steps / STEP


@dataclass(frozen=True, eq=False)
class Tastes:
    """How much every user likes every item: a product of vectors, and a noise of each user's own.

        liking_ui = users_u · items_i + noise ε_ui,   ε_ui standard normal

    The first item coordinate is what everybody likes (the first user coordinate is 1), the second user
    coordinate how easily a user likes anything (the second item coordinate is 1), the others are taste.
    """

    users: Floats  # (users, 2 + factors)
    items: Floats  # (items, 2 + factors)
    noise: float
    seed: int

    def __call__(self, users: Codes) -> Floats:
        """The likings of these users, noise included: (these users, items)."""
        rows = np.empty((len(users), len(self.items)), dtype=np.float32)
        for row, (_, _, liking) in zip(rows, self.each(users), strict=True):
            row[:] = liking
        return rows

    def each(self, users: Codes) -> Iterator[tuple[np.random.Generator, Floats, Floats]]:
        """One user after another: the rest of their random stream, their own taste, and their likings."""
        many = max(1, BLOCK // len(self.items))
        for begin in range(0, len(users), many):
            block = users[begin : begin + many]
            for user, known in zip(block.tolist(), products(self.users[block], self.items), strict=True):
                own = generator(self.seed, EACH, user)
                luck = own.standard_normal(len(known), dtype=np.float32)
                taste = known - self.items[:, 0] - self.users[user, 1]
                yield own, taste, known + np.float32(self.noise) * luck


def tastes(
    level: NDArray[Any], quality: NDArray[Any], *, personal: float, factors: int, noise: float, seed: int
) -> Tastes:
    """Tastes with these user levels and item qualities; `personal` is the standard deviation of taste."""
    each = np.sqrt(personal) / factors**0.25  # so that a sum of products of two such has that deviation
    own = exactly(each * generator(seed, USERS, 1).standard_normal((len(level), factors)), 8)
    its = exactly(each * generator(seed, ITEMS, 1).standard_normal((len(quality), factors)), 8)
    users = np.column_stack([np.ones(len(level)), exactly(level, 32), own]).astype(np.float32)
    items = np.column_stack([exactly(quality, 32), np.ones(len(quality)), its]).astype(np.float32)
    return Tastes(frozen(users), frozen(items), float(noise), int(seed))


def selected(users: ArrayLike | None, n: int) -> Codes:
    """The codes of these users, or of all."""
    return np.arange(n, dtype=np.int32) if users is None else checked_codes(np.asarray(users), n, "user")


def evenly(n: int) -> NDArray[np.float64]:
    """n evenly spread quantiles between 0 and 1: less luck than n random numbers."""
    return (np.arange(n) + 0.5) / n


def qualities(items: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How good items are: a log-normal curve, mean 0 and deviation 1, dealt to them at random.

    A few are much better than most: the popularity that comes from the complete truth.
    """
    from scipy.special import ndtri

    curve = np.exp(BEST * ndtri(evenly(items)))
    return rng.permutation((curve - curve.mean()) / curve.std())


def obscurity(quality: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
    """For every item the share of items better known than it; good ones tend to be better known."""
    known = KNOWN_FOR_QUALITY * quality + np.sqrt(1 - KNOWN_FOR_QUALITY**2) * rng.standard_normal(len(quality))
    place = np.empty(len(known))
    place[np.argsort(-known, kind="stable")] = np.arange(len(known))
    return place / len(known)


def activity(users: int, mean: float, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How much each user does: skewed as in ML-100K, with this mean, from 1 to `most`."""
    from scipy.optimize import brentq
    from scipy.special import betaincinv

    shape = rng.permutation(LEAST + SPREAD * betaincinv(0.56, 4.65, evenly(users))) / MEAN
    scale: float = brentq(lambda s: np.minimum(s * shape, most).mean() - mean, 0, most / shape.min() + 1)
    return np.clip(np.rint(scale * shape), 1, most).astype(np.int64)


def smallest(keys: NDArray[Any], n: int) -> Codes:
    """Where the n smallest keys are, in rising order of place.

    With keys drawn as Exponential / weight this is a sample without replacement by weight; items of equal
    weight are exchangeable, so those of them that are taken are a simple random sample.
    """
    return np.sort(np.argpartition(keys, n - 1)[:n]).astype(np.int32)


def moments(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """When a user did n things, in microseconds since 1970, in random order.

    Three users of four come once; one comes back, ever less often, until the seven months are over.
    """
    begin, back = rng.random(), rng.random() < 1 / 4
    length = (1 - begin) * WINDOW if back else n * SITTING
    passed = length * rng.random(n) ** (3 if back else 1)
    return (FIRST_DAY + begin * WINDOW + passed).astype(np.int64)


def products(left: Floats, right: Floats) -> Floats:
    """left @ right.T, summed up in one order: the same bits for a row alone as for many, on every machine."""
    from fullrank.kernels.exact_dot import exact_rows

    out = np.empty((len(left), len(right)))
    exact_rows(np.ascontiguousarray(left), np.ascontiguousarray(right.T), np.zeros(len(left)), out)
    return out.astype(np.float32)
