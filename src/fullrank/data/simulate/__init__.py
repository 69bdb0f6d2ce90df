"""Worlds whose complete truth is known: to see what a method does where the right answer is at hand.

`ratings` follows S0's two assumptions, `implicit` S3's model, `sessions` S2's opportunity cost. The same
arguments give the same bytes, for any number of threads and any block of users.
"""

from fullrank.data.simulate.implicit_world import ImplicitWorld, implicit
from fullrank.data.simulate.rating_world import RatingsWorld, ratings
from fullrank.data.simulate.session_world import SessionsWorld, sessions

__all__ = ["ImplicitWorld", "RatingsWorld", "SessionsWorld", "implicit", "ratings", "sessions"]
