"""One version of a model as it is served: loaded, warmed up, with what is known of its items."""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from fullrank.arrays import frozen
from fullrank.data.attributes import Attributes
from fullrank.data.ids import Ids, Name, is_canonical_integer
from fullrank.errors import FullrankError, ParameterError
from fullrank.models.kinds.linear import Linear
from fullrank.models.kinds.model import Model
from fullrank.models.storage.files import identify
from fullrank.recommending.candidates import Candidates, find_candidates
from fullrank.recommending.one import recommend_one
from fullrank.recommending.rules import Rules
from fullrank.recommending.where import TOKEN

KEPT = 64 << 20  # bytes of candidates that are kept for rules
QUICK = 0.002  # seconds: what takes no longer is done where requests are read, other lists by threads


@dataclass(frozen=True, eq=False)
class Served:
    """A model that is ready; nothing of it changes but the candidates it keeps for rules."""

    name: str
    version: str  # the sha256 of its file
    file: str
    model: Model
    about: Attributes | None
    titles: dict[Name, str]
    identity: dict[str, str]
    quick: bool  # whether a list takes so little that no thread is worth it
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    _kept: OrderedDict[str, Candidates] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def has(self, where: str | None) -> bool:
        """Whether the candidates of an expression are known already."""
        return where is None or where in self._kept

    def candidates(
        self, exclude: Iterable[Name] = (), only: Iterable[Name] | None = None, *, where: str | None, repeat: bool
    ) -> Candidates | None:
        """What these rules leave; None where they leave everything. Expressions are evaluated once."""
        if not exclude and only is None and where is None and not repeat:
            return None
        named = find_candidates(self.model, Rules(exclude, only, repeat))
        if where is None:
            return named
        chosen = self._choose(where)
        left = frozen(named.left & chosen.left)
        return Candidates(self.model, named.rules, left, None, (*chosen.notes, *named.notes))

    def _choose(self, where: str) -> Candidates:
        """The items of an expression, of those that were used last as many as there is room for."""
        with self._lock:
            if where in self._kept:
                self._kept.move_to_end(where)
                return self._kept[where]
        if self.about is None:
            raise ParameterError("where: nothing is known of items here; ask whoever runs the service for --items.")
        check_expression(where)
        chosen = find_candidates(self.model, Rules(where=where, items=self.about))
        with self._lock:
            self._kept[where] = chosen
            while len(self._kept) > max(KEPT // max(self.model.train.n_items, 1), 1):
                self._kept.popitem(last=False)
        return chosen


def check_expression(where: str) -> None:
    """Refuse functions: comparisons of columns take a known time and memory, functions any.

    >>> check_expression("year >= 2000 and genre in ('Drama', 'f(x)') and not (price > 3)")
    >>> check_expression("repeat(title, 1000000000) = 'x'")
    Traceback (most recent call last):
    fullrank.errors.ParameterError: where: 'repeat(...)' is a function; compare columns with values.
    """
    words = [token for token in TOKEN.finditer(where) if not token[0].isspace()]
    for token, after in itertools.pairwise(words):
        if token["name"] and after[0] == "(" and token[0].lower() not in ("in", "and", "or", "not"):
            raise ParameterError(f"where: '{token[0][:40]}(...)' is a function; compare columns with values.")


def make_served(name: str, version: str, file: str, model: Model, about: Attributes | None) -> Served:
    """A model that has been warmed up: kernels are compiled, vectors transposed, popularity counted."""
    ids = model.train.items
    titles = {} if about is None else {item: title for item, title in zip(ids, about.titles_for(ids), strict=True) if title}  # fmt: skip # noqa: E501
    return Served(name, version, file, model, about, titles, identify(model), quick=warm_up(model) <= QUICK)


def warm_up(model: Model) -> float:
    """Make what first requests would wait for; the seconds a list takes afterwards."""
    train = model.train
    if isinstance(model, Linear):
        _ = model.item_vectors.across, model.item_vectors.reach, model.item_vectors.furthest
    users = [train.users.name(code) for code in range(min(len(train.users), 20))]
    items = [train.items.name(code) for code in range(min(len(train.items), 3))]
    ways: list[Callable[[], object]] = [
        lambda: recommend_one(model, None, None, items, 10),
        lambda: recommend_one(model, find_candidates(model, Rules(exclude=items)), None, (), 10),
    ]
    ways += [lambda user=user: recommend_one(model, None, user, None, 10) for user in users]  # type: ignore[misc]
    seconds = []
    for way in [*ways, *ways]:
        start = time.perf_counter()
        try:
            way()
        except FullrankError:  # a model that folds nobody in says so to whoever asks
            continue
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds[len(seconds) // 2 :])) if seconds else 0.0


def as_known(name: Name, ids: Ids) -> Name:
    """An id as the model has it: text that is an integer where all are; an integer where they are text is refused.

    >>> as_known("7", Ids([7])), as_known("07", Ids([7])), as_known(7, Ids([7]))
    (7, '07', 7)
    """
    if isinstance(name, str):
        return int(name) if not ids.are_strings and is_canonical_integer(name) else name
    if ids.are_strings and len(ids):
        raise ParameterError(f'the ids of this model are text; write "{name}" in place of {name}.')
    return name
