"""How many requests are under way at once; what is beyond that is put off, and only then refused.

A refusal that is sent at once invites the next request at once, and a server under ten times its load would do nothing
but refuse. So a refused request waits a second or more before it hears of it: each connection can bring one in that
time, and what refusals cost stays a small part.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fullrank.serving.problems import busy

FEWEST, MOST = 16, 4096  # requests that are always let in, and never exceeded
PUT_OFF = 4096  # that wait to hear of it; further ones hear it at once
SMOOTH = 0.02  # the weight of a new time in the mean
DELAY, SLOWEST, EACH = 1.0, 5.0, 0.002  # seconds: of the first that is put off, of any, more for each that waits
OVERHEAD = 0.0002  # seconds of a request beside its list


@dataclass
class Gate:
    """Lets in as many requests as can be done within `wait` seconds, by what they took lately."""

    wait: float = 0.25  # seconds
    seconds: float = 0.0005  # what one takes, a moving mean
    active: int = 0
    put_off: int = 0

    @property
    def most(self) -> int:
        """How many may be under way.

        >>> Gate(wait=0.25, seconds=0.0005).most, Gate(seconds=1).most
        (500, 16)
        """
        return max(FEWEST, min(int(self.wait / self.seconds), MOST))

    def note(self, seconds: float) -> None:
        """Take in how long the work of one took."""
        self.seconds += SMOOTH * (seconds + OVERHEAD - self.seconds)

    async def enter(self) -> None:
        """Come in, or be told to come again: late, so that refusals are few."""
        if self.active >= self.most:
            await self._refuse()
        self.active += 1
        await asyncio.sleep(0)  # all that came together are counted before the first of them is done

    def leave(self) -> None:
        """Make room."""
        self.active -= 1

    async def _refuse(self) -> None:
        if self.put_off < PUT_OFF:
            self.put_off += 1
            try:
                await asyncio.sleep(min(DELAY + EACH * self.put_off, SLOWEST))
            finally:
                self.put_off -= 1
        raise busy("too many requests at once; come again in a second.")
