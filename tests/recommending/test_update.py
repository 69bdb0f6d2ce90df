"""New feedback in fitted models: as a fit of everything, as fold-in, or refused with a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import (
    CCF,
    EASE,
    IALS,
    RSVD,
    AllRank,
    AllRankBinary,
    Bestseller,
    Graded,
    Ids,
    Interactions,
    ItemCF,
    OpportunityCost,
    OrdRec,
    PersonalFrequency,
    PostFiltered,
    Preferences,
    PreFiltered,
    PureSVD,
    SessionCost,
    SVDpp,
    update,
)
from fullrank.data.feedback import as_interactions
from fullrank.errors import DataError

RATED = fullrank.simulate.ratings(users=60, items=40, density=0.3, seed=2).data
OFFERED = fullrank.simulate.sessions(users=60, items=40, seed=2).data
COSTS = [OpportunityCost(factors=4, sweeps=3), SessionCost(factors=4, epochs=3), CCF(factors=4, epochs=3)]


def of(data: Interactions, rows: Any) -> Interactions:
    """These rows as feedback of its own, with no ids but theirs."""
    assert data.value is not None
    return Interactions.of(data.users.names[data.user[rows]], data.items.names[data.item[rows]], data.value[rows])


def cut(data: Interactions) -> tuple[Interactions, Interactions, Interactions]:
    """Old feedback; new, with ten new users, five new items and values that changed; and both in one."""
    new = (data.user >= 50) | (data.item >= 35)
    before, after = of(data, ~new), of(data, new)
    changed = of(data, np.flatnonzero(~new)[::7])
    assert after.value is not None
    assert changed.value is not None
    user = np.append(after.users.names[after.user], changed.users.names[changed.user])
    item = np.append(after.items.names[after.item], changed.items.names[changed.item])
    value = np.append(after.value, 6 - changed.value)
    assert data.value is not None
    whole = data.value.copy()
    whole[np.flatnonzero(~new)[::7]] = 6 - changed.value
    both = Interactions.of(data.users.names[data.user], data.items.names[data.item], whole)
    return before, Interactions.of(user, item, value), both


def arrays(model: Any) -> dict[str, bytes]:
    parts = {name: array for name, array in vars(model).items() if isinstance(array, np.ndarray)}
    if hasattr(getattr(model, "similar", None), "indptr"):
        parts |= {name: getattr(model.similar, name) for name in ("data", "indices", "indptr")}
    return {name: array.tobytes() for name, array in parts.items()}


@pytest.mark.parametrize(
    "recipe",
    [
        *(Bestseller(by=by) for by in ("mean", "count", "relevant")),
        EASE(reg=20), EASE(reg=20, binary=False), EASE(reg=20, solver="dual"),
        PersonalFrequency(), ItemCF(), ItemCF(neighbours=None, binary=False),
    ],
    ids=str,
)  # fmt: skip
def test_lists_and_neighbours_are_those_of_a_fit_of_everything(recipe: Any) -> None:
    old, new, both = cut(RATED)
    updated, fresh = update(recipe.fit(old), new), recipe.fit(both)
    assert updated.train == both
    assert arrays(updated) == arrays(fresh)
    assert arrays(updated)


@pytest.mark.parametrize(
    "recipe",
    [
        AllRank(factors=4, missing_weight=0.5, reg=0.5),
        AllRankBinary(factors=4, relevant=4, missing_weight=0.5, reg=0.5),
        AllRankBinary(factors=4, relevant=4, missing_weight=0.5, reg=0.5, loss="logistic", sweeps=3),
        IALS(factors=4, missing_weight=0.5, reg=0.5),
        PureSVD(factors=4),
        RSVD(factors=4, epochs=5),
    ],
    ids=str,
)
def test_an_item_is_as_fold_in_has_it_whoever_else_is_new(recipe: Any) -> None:
    """As many users are new in the batch as were known: no ridge counts them."""
    kept = np.isin(RATED.user, np.arange(30)) & (RATED.item < 35)
    old, new = of(RATED, kept), of(RATED, ~kept)
    model = recipe.fit(old)
    updated = update(model, new)
    both = updated.train
    known = old.users.codes(both.users.names, missing=-1)
    pairs = both.by_item()
    compared = 0
    for name in (int(RATED.items.name(code)) for code in (3, 35, 37)):
        row = slice(*pairs.indptr[both.items.code(name) :][:2])
        users, mine = known[pairs.indices[row]], known[pairs.indices[row]] >= 0
        assert not mine.all()
        alone = model.fold_in_item(users[mine], pairs.data[row][mine])
        assert updated.items[both.items.code(name)] == pytest.approx(alone, rel=1e-6, abs=1e-7)
        compared += int(mine.sum())
    assert compared > 10
    for name in both.users.names[[0, -1]].tolist():
        user = both.users.code(name)
        rows = slice(both.starts[user], both.starts[user + 1])
        assert both.value is not None
        assert updated.users[user] == pytest.approx(
            updated.fold_in(both.item[rows], both.value[rows]), rel=1e-6, abs=1e-7
        )


@pytest.mark.parametrize("recipe", COSTS, ids=str)
def test_costs_of_ratings_find_the_users_of_the_batch(recipe: Any) -> None:
    """Somebody known too: from their old and new ratings together. Items and everybody else stay."""
    old, new = of(RATED, RATED.user < 50), of(RATED, (RATED.user >= 50))
    assert old.value is not None
    taught = Interactions.of([old.users.name(3)] * 2, old.items.names[:2], [5, 1])
    model = recipe.fit(old)
    for more in (new, taught):
        updated = update(model, more)
        place = updated.train.users.codes(more.users.names)
        both = updated.train.where(np.isin(updated.train.user, place))
        for user in place.tolist():
            alone = model.fold_in(of(both, both.user == user).catalogue(items=old.items.names))
            assert updated.users[user] == pytest.approx(alone.users[0], rel=1e-6, abs=1e-7)
            assert updated.alpha[user] == pytest.approx(alone.alpha[0], rel=1e-6, abs=1e-7)
        others = np.setdiff1d(updated.train.users.codes(old.users.names), place)
        assert (
            updated.users[others].tobytes() == model.users[old.users.codes(updated.train.users.names[others])].tobytes()
        )
        assert updated.items.tobytes() == model.items.tobytes()


@pytest.mark.parametrize("recipe", COSTS, ids=str)
def test_costs_of_sessions_find_new_users(recipe: Any) -> None:
    old, new = OFFERED.where(OFFERED.user < 50), OFFERED.where(OFFERED.user >= 50)
    case = new.case
    backwards = -1 - np.arange(len(new.item))
    names = new.items.names[new.item][backwards], new.grade[backwards]
    apart = Graded.of(case[backwards], *names, user=new.users.names[new.user[case]][backwards])
    model = recipe.fit(old)
    updated, alone = update(model, apart), model.fold_in(new)
    assert updated.users[50:] == pytest.approx(alone.users[50:], rel=1e-6, abs=1e-7)
    assert updated.alpha[50:] == pytest.approx(alone.alpha[50:], rel=1e-6, abs=1e-7)
    assert updated.users[:50].tobytes() == model.users[:50].tobytes()
    assert fullrank.recommend(updated, updated.train.users.name(55)).fallback == ""
    seen = set(new.item[new.user[case] == 55].tolist())
    assert set(updated.train.item[updated.train.starts[55] : updated.train.starts[56]].tolist()) == seen


def test_preferences_of_new_users_over_a_catalogue_in_an_order_of_its_own() -> None:
    given = OFFERED.pairs()
    last, items = len(given.items) - 1, Ids(given.items.names[::-1])
    order = np.lexsort((last - given.worse, last - given.better, given.user))
    columns = given.user[order], last - given.better[order], last - given.worse[order]
    turned = Preferences(*columns, given.users, items)
    old, new = (turned.where(mask) for mask in (turned.user < 50, turned.user >= 50))
    named = new.items.names[new.better], new.items.names[new.worse]
    model = OpportunityCost(factors=4, sweeps=3).fit(old)
    updated, alone = update(model, Preferences.of(new.users.names[new.user], *named)), model.fold_in(new)
    assert updated.train.items == given.items
    assert updated.items[::-1].tobytes() == model.items.tobytes()
    assert updated.users[50:] == pytest.approx(alone.users[50:], abs=1e-5)  # float32, summed in another order
    assert np.abs(updated.users[50:]).max() > 0.1


@pytest.mark.parametrize("recipe", COSTS, ids=str)
def test_costs_refuse_what_they_cannot_know(recipe: Any) -> None:
    name = type(recipe).__name__
    for data in (RATED, OFFERED):
        new = Graded.of([1, 1], [3, 777], [1, 0], user=[1000] * 2)
        more = as_interactions(new) if isinstance(data, Interactions) else new
        with pytest.raises(DataError, match=f"{name}: .* 1 new items, the first is 777, .*; fit again with all"):
            update(recipe.fit(data), more)
    with pytest.raises(DataError, match=f"{name}: .* 1 known users, the first is 3, .*; fit again with all"):
        update(recipe.fit(OFFERED), Graded.of([1, 1], [3, 4], [1, 0], user=[3, 3]))


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (OrdRec(factors=2, epochs=1).fit(RATED), "OrdRec: the thresholds"),
        (PreFiltered(Bestseller(), "weekday").fit(RATED), "PreFiltered: which feedback"),
        (PostFiltered(IALS(2), "weekday").fit(RATED), "PostFiltered: which feedback"),
        (PostFiltered(IALS(2), "weekday").fit(RATED).at(0), "IALS: which feedback"),
        (np.zeros((3, 4)), "ndarray: nothing is known"),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_what_takes_in_nothing_says_why_and_what_to_do(model: Any, why: str) -> None:
    with pytest.raises(DataError, match=rf"^{why}.*, so a fitted model takes in no new feedback; fit again with all"):
        update(model, RATED)


@pytest.mark.parametrize("recipe", [AllRank(2), SVDpp(2, epochs=2), Bestseller(), EASE(), *COSTS], ids=str)
def test_nothing_new_changes_nothing_and_other_feedback_is_refused(recipe: Any) -> None:
    model = recipe.fit(RATED)
    nothing = RATED.where(np.zeros(len(RATED), dtype=bool))
    assert arrays(update(model, nothing)) == arrays(model)
    with pytest.raises(DataError, match=r"fitted on Interactions and the new feedback is Graded; give as_interactions"):
        update(model, OFFERED)
    with pytest.raises(DataError, match="integers and strings do not mix"):
        update(model, Interactions.of(["a"], ["b"], [1]))
