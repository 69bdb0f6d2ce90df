"""Who is served by which model: a hash of person and salt decides, so that nothing has to be remembered."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import count

from fullrank.errors import check, is_number
from fullrank.metrics.elementary import log2

BITS = 53  # of a hash: as many as a float64 holds
NEAR = 1e-9  # far more than logarithms of two machines differ by


def assign(user: int | str, salt: str, shares: Mapping[str, float]) -> str:
    """The arm of a person: of all arms the one with the least -log2(u) / share, u a hash of salt, arm and person.

    That is a race of exponential clocks, so the chance of an arm is its share exactly. Raising a share lets that arm
    win some people of others and changes nothing else; between two arms as few people move as can. (Among several,
    shares that differ by d in total variation move at most 2 d / (1 + d) of the people, and no rule without memory
    can promise less; Bavarian et al. 2016.) Another salt deals everybody anew. 7 and "7" are the same person.

    >>> assign("ann", "spring", {"a": 0.9, "b": 0.1})
    'a'
    >>> [assign(n, "spring", {"a": 0.5, "b": 0.5}) for n in range(6)]
    ['b', 'b', 'b', 'a', 'b', 'a']
    """
    check_shares(shares)
    arms = [arm for arm in sorted(shares) if shares[arm] > 0]
    drawn = [uniform(salt, arm, str(user)) for arm in arms]
    clocks = [-math.log2(u) / shares[arm] for arm, u in zip(arms, drawn, strict=True)]
    first, *later = sorted(clocks)
    if later and later[0] - first < NEAR * later[0]:  # a machine's own logarithm must not decide
        clocks = [-bits / shares[arm] for arm, bits in zip(arms, log2(drawn).tolist(), strict=True)]
        first = min(clocks)
    return arms[clocks.index(first)]


def check_shares(shares: Mapping[str, float]) -> None:
    """Refuse what is not one share of at least 0 for every arm, 1 in all."""
    numbers = all(is_number(share) and 0 <= share <= 1 for share in shares.values())
    names = all(isinstance(arm, str) and arm for arm in shares)
    whole = numbers and abs(sum(shares.values()) - 1) < 1e-9
    check("shares", dict(shares), names and whole, "a share from 0 to 1 for every name, 1 in all")


def uniform(*words: str) -> float:
    """A number between 0 and 1 that depends on these words only, the same on every machine.

    >>> uniform("spring", "a", "ann") == uniform("spring", "a", "ann") != uniform("spring", "aann", "")
    True
    """
    hashed = int.from_bytes(sha256(json.dumps(words).encode()).digest()[:8], "big")
    return ((hashed >> (64 - BITS)) + 0.5) * 2.0**-BITS


def flips(*words: str) -> Iterator[bool]:
    """A coin thrown again and again that falls the same way for the same words, on every machine.

    >>> from itertools import islice
    >>> [int(side) for side in islice(flips("spring", "recommendation 1"), 12)]
    [1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1]
    """
    for block in count():
        for byte in sha256(json.dumps([*words, block]).encode()).digest():
            yield from (bool(byte >> bit & 1) for bit in range(8))
