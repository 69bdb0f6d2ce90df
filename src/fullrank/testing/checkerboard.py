"""A board on which any recommender that learns from others must find the square that was taken away."""

from __future__ import annotations

import numpy as np

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import check_integer


def checkerboard(n: int = 50, value: float | None = None) -> Split[Interactions]:
    """n users x n items: user u took every item of u's own colour (u + i even); item u is held out.

    Nothing that user u has not seen is of u's colour but item u, so it must be u's top recommendation. With
    `value`, it is that of every black square.

    >>> checkerboard(4).train.by_user().toarray()
    array([[0., 0., 1., 0.],
           [0., 0., 0., 1.],
           [1., 0., 0., 0.],
           [0., 1., 0., 0.]], dtype=float32)
    """
    check_integer("n", n, 4)
    user, item = (axis.ravel() for axis in np.indices((n, n)))
    black = (user + item) % 2 == 0
    values = None if value is None else np.full(int(black.sum()), value, dtype=np.float32)
    ids = Ids.numbered(n)
    board = Interactions.of(user[black], item[black], values, users=ids, items=ids)
    own = board.user == board.item
    return Split(board.where(~own), board.where(own), how="Each user's own square of a checkerboard is held out.")
