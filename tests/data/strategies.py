"""Random feedback for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from fullrank.data.interactions import Interactions

# every character that a text file can hold; NUL and lone surrogates are refused by design
characters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
awkward = st.sampled_from(
    ["01", "1", "nan", "None", "", "a,b", 'q"', "x\ny", "x\r", " s", "s ", "a::b", "'", "=1+1", "\ufeff"]
)
strings = st.one_of(st.text(characters, max_size=12), awkward).filter(bool)
integers = st.integers(-(2**63), 2**63 - 1)
names = st.sampled_from([strings, integers, st.integers(0, 9)])
values = st.one_of(
    st.integers(1, 5).map(float), st.floats(-1000, 1000, width=16).map(lambda v: v if abs(v) > 1e-3 else 0.0)
)
times = st.one_of(st.integers(0, 2**33).map(float), st.integers(0, 2**52).map(lambda micros: micros / 1e6))


@st.composite
def columns(draw: st.DrawFn, min_rows: int = 1, max_rows: int = 25) -> dict[str, list]:
    n = draw(st.integers(min_rows, max_rows))
    users, items = (draw(st.lists(draw(names), min_size=1, max_size=6)) for _ in range(2))
    rows: dict[str, list] = {
        "user": draw(st.lists(st.sampled_from(users), min_size=n, max_size=n)),
        "item": draw(st.lists(st.sampled_from(items), min_size=n, max_size=n)),
    }
    for name, cells in (("value", values), ("time", times)):
        if draw(st.booleans()):
            rows[name] = draw(st.lists(cells, min_size=n, max_size=n))
    return rows


def interactions(min_rows: int = 1, max_rows: int = 25) -> st.SearchStrategy[Interactions]:
    return columns(min_rows, max_rows).map(lambda rows: Interactions.of(**rows, duplicates="max"))
