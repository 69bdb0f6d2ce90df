"""A small world with models of every way to score, and what is known of its items."""

from __future__ import annotations

from typing import Any

import fullrank
from fullrank import Attributes

DATA = fullrank.simulate.ratings(users=60, items=50, density=0.15, seed=3).data
GENRES = tuple(
    tuple(name for name, every in (("Drama", 2), ("Comedy", 3), ("News", 7), ("Noir", 11)) if item % every == 0)
    for item in range(50)
)
YEARS = tuple("" if item % 13 == 0 else str(1960 + item) for item in range(50))
ABOUT = Attributes(
    DATA.items,
    {
        "title": tuple(f"Film {item}" + (f" ({year})" if year else "") for item, year in enumerate(YEARS)),
        "genre": GENRES,
        "studio": tuple(("A", "B", "C", "")[item % 4] for item in range(50)),
        "price": tuple(f"{item / 4}" for item in range(50)),
    },
    title="title",
)
RECIPES: dict[str, Any] = {
    "vectors": fullrank.IALS(factors=6, sweeps=3),
    "vectors with biases": fullrank.RSVD(factors=4, epochs=3),
    "rows": fullrank.ItemCF(neighbours=3),
    "one list": fullrank.Bestseller(),
    "levels": fullrank.OrdRec(factors=3, epochs=2),
}
MODELS: dict[str, Any] = {name: recipe.fit(DATA) for name, recipe in RECIPES.items()}
PEOPLE: list[Any] = [*DATA.users.names[:12].tolist(), 10**12]
