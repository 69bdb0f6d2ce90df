"""Worlds whose complete truth is known: to see what a method does where the right answer is at hand.

`ratings` follows the two assumptions of Steck 2010, `implicit` the model of Lim et al. 2015, `sessions` the
opportunity cost of Ackerman 2012. The same
arguments give the same bytes, for any number of threads and any block of users.
"""

from fullrank.data.simulate.implicit_world import ImplicitWorld, implicit
from fullrank.data.simulate.rating_world import RatingsWorld, ratings
from fullrank.data.simulate.session_world import SessionsWorld, sessions

__all__ = ["ImplicitWorld", "RatingsWorld", "SessionsWorld", "implicit", "ratings", "sessions"]
