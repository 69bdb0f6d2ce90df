"""Ackerman 2012, chapter 3: preferences from what somebody did, and the order that opportunity cost predicts."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from fullrank.data.feedback import seen
from fullrank.data.graded import Graded
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.models.preferences.opportunity import OpportunityCost
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Findings, Number
from fullrank.reproduction.workspace import Workspace

SCALE = ("no interaction", "clicked", "purchased")
ACTIONS = {  # Table 3.1
    "Forrest Gump": "purchased", "Cast Away": "purchased", "Green Mile": "clicked", "Catch Me If You Can": "clicked",
    "Toy Story": "no interaction", "Saving Private Ryan": "no interaction",
}  # fmt: skip
LESS = {  # Table 3.2
    "Forrest Gump": {"Green Mile", "Catch Me If You Can", "Toy Story", "Saving Private Ryan"},
    "Cast Away": {"Green Mile", "Catch Me If You Can", "Toy Story", "Saving Private Ryan"},
    "Green Mile": {"Toy Story", "Saving Private Ryan"},
    "Catch Me If You Can": {"Toy Story", "Saving Private Ryan"},
    "Toy Story": set(),
    "Saving Private Ryan": set(),
}
USERS, FACTORS = 100, 3  # of random values


def query() -> Graded:
    """The session of the query "Tom Hanks actor"."""
    return Graded.of(session=["query"] * 6, item=[*ACTIONS], action=[*ACTIONS.values()], scale=SCALE)


def run(workspace: Workspace) -> Findings:
    """The preferences of a query; and whether values in pairs of random models are an order."""
    likes = query().pairs()
    name = likes.items.name
    ours: dict[str, set[str]] = {movie: set() for movie in LESS}
    for better, worse in zip(likes.better.tolist(), likes.worse.tolist(), strict=True):
        ours[str(name(better))].add(str(name(worse)))
    numbers = [Number(movie, "less preferred movies", len(LESS[movie]), len(ours[movie]), digits=0) for movie in LESS]
    numbers.append(Number("all", "less preferred movies", 12, len(likes), digits=0))
    same = sum(ours[movie] == LESS[movie] for movie in LESS)
    claim = Claim("the less preferred movies are those of Table 3.2", same == 6, f"for {same} of 6")
    return Findings(tuple(numbers), (claim, _order()))


def _order() -> Claim:
    """Random values: i before j by r_ui|j > r_uj|i, and by (1 - alpha) b."""
    rng = np.random.default_rng(0)
    items = [f"item {number}" for number in range(6)]
    offered = Graded.of(
        session=np.repeat(np.arange(USERS), 6), item=items * USERS, grade=[*range(6)] * USERS,
        user=np.repeat(np.arange(USERS), 6),
    )  # fmt: skip
    users, vectors, alpha = (
        rng.normal(scale=scale, size=size).astype(np.float32)
        for scale, size in ((1.0, (USERS, FACTORS)), (1.0, (6, FACTORS)), (2.0, (USERS,)))
    )
    model = CostFactors(users, vectors, alpha, seen(offered), OpportunityCost(FACTORS))
    scores, code = model.scores(np.arange(USERS, dtype=np.int32)), model.train.items.code
    wrong = pairs = turned = 0
    for user in range(USERS):
        turned += bool(model.alpha[user] > 1)
        for one, other in combinations(items, 2):
            first = model.rank_offers(user, [one, other]).items[0]
            wrong += (first == one) != bool(scores[user, code(one)] > scores[user, code(other)])
            pairs += 1
    return Claim(
        "the order in pairs, r_ui|j > r_uj|i, is that of (1 - alpha_u) b_ui, so that there are no cycles",
        wrong == 0, f"in {pairs - wrong:,} of {pairs:,} pairs of {USERS} random users, {turned} of them with alpha > 1",
    )  # fmt: skip


EXHIBIT = Exhibit(
    "ackerman2012-chapter3", "Preferences from actions, and the order of values",
    "Ackerman 2012, Tables 3.1 and 3.2, Eq. 3.2", run,
    why="The thesis fears cycles in what is predicted; the statement on orders is ours.",
)  # fmt: skip
