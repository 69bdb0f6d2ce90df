"""Public data sets as they are, with exactly the counts of their README; skipped where they are not here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.data import sources
from fullrank.data.interactions import Interactions
from fullrank.data.reading.table import read_table
from fullrank.data.sources.ta_feng import FIELDS as TA_FENG_FIELDS
from fullrank.data.split import Split, leave_last
from tests.data.sources_by_hand import seconds

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


def real(name: str) -> Path:
    """The folder of a real data set, or a skip that says what is missing."""
    roots = [Path(root) for root in (os.environ.get("FULLRANK_DATA"), SHARED) if root]
    for root in roots:
        if (root / name).is_dir():
            return root / name
    pytest.skip(f"the data set {name} is in none of {', '.join(map(str, roots))}")


# -- the real ones, with exactly the counts of their README ---------------------------------------------------


@pytest.fixture(scope="module")
def ml_1m() -> sources.Source[Interactions]:
    return sources.movielens_1m(real("ml-1m"))


@pytest.fixture(scope="module")
def ncf() -> sources.Source[Split[Interactions]]:
    return sources.ncf(real("ml-1m"))


def counts(data: Interactions) -> tuple[int, int, int]:
    touched = len(np.unique(data.user)), len(np.unique(data.item))
    assert touched == (data.n_users, data.n_items)
    return data.intake.rows, *touched


def test_movielens_100k() -> None:
    source = sources.movielens_100k(real("ml-100k"))
    assert counts(source.data) == (100_000, 943, 1_682)
    assert len(source.data) == 100_000
    assert source.name == "MovieLens 100K"
    assert source.notes == ()
    assert len(source.titles) == 1_682
    assert all(source.titles)
    assert all(source.genres)
    code = source.items.code(543)  # latin-1
    assert source.titles[code] == "Misérables, Les (1995)"
    assert source.genres[code] == ("Drama", "Musical")


def test_movielens_1m_counts(ml_1m: sources.Source[Interactions]) -> None:
    data = ml_1m.data
    assert counts(data) == (1_000_209, 6_040, 3_706)
    assert len(data) == 1_000_209
    assert data.value is not None
    assert np.bincount(data.value.astype(int)).tolist() == [0, 56_174, 107_557, 261_197, 348_971, 226_310]
    assert (min(seconds(data)), max(seconds(data))) == (956_703_932, 1_046_454_590)


def test_movielens_1m_titles_and_note(ml_1m: sources.Source[Interactions]) -> None:
    assert ml_1m.title(ml_1m.items.code(1)) == "Toy Story (1995)"
    assert all(ml_1m.titles)
    assert ml_1m.genres[ml_1m.items.code(1)] == ("Animation", "Children's", "Comedy")
    if (real("ml-1m") / "ratings.rebuilt.dat.gz").exists():
        assert ml_1m.name == "MovieLens 1M, rebuilt"
        assert len(ml_1m.notes) == 1
        assert "MovieLens 1M, rebuilt" in ml_1m.notes[0]
        assert "70,964" in ml_1m.notes[0]


def test_movielens_1m_catalogue_has_movies_nobody_rated(ml_1m: sources.Source[Interactions]) -> None:
    whole = sources.movielens_1m(real("ml-1m"), catalogue=True)
    assert (len(whole.data), whole.data.n_items, len(whole.titles)) == (1_000_209, 3_883, 3_883)
    assert len(np.unique(whole.data.item)) == 3_706
    assert all(whole.titles)
    assert whole.data.where(whole.data.user == 0).relevant(5).n_items == 3_883
    assert [whole.title(whole.items.code(int(name))) for name in ml_1m.items.names] == list(ml_1m.titles)


def test_coat() -> None:
    source = sources.coat(real("coat"))
    train, held_out = source.data.train, source.data.held_out
    assert (len(train), len(held_out), train.n_users, train.n_items) == (6_960, 4_640, 290, 300)
    assert set(np.bincount(train.user)) == {24}
    assert set(np.bincount(held_out.user)) == {16}
    assert train.users == held_out.users
    assert train.items == held_out.items
    assert set(np.unique(train.value)) == set(np.unique(held_out.value)) == {1, 2, 3, 4, 5}  # type: ignore[arg-type]
    both = train.by_user().multiply(held_out.by_user()).nnz
    assert both == 366
    assert "366" in source.notes[0]
    assert "366" in source.data.how
    weights = source.extra["propensities"]
    assert weights.shape == (290, 300)
    assert not weights.flags.writeable
    assert weights.min() == pytest.approx(0.0025, abs=1e-4)
    assert weights.max() == pytest.approx(0.690, abs=1e-3)
    assert len(source.genres) == 300
    assert "gender:men" in source.genres[0]
    assert held_out.by_user()[:, [299]].nnz > 0  # the last column, before the carriage return


@pytest.mark.parametrize(("overlap", "sizes"), [("train", (6_960, 4_274)), ("held_out", (6_594, 4_640))])
def test_coat_made_disjoint(overlap: Any, sizes: tuple[int, int]) -> None:
    split = sources.coat(real("coat"), overlap=overlap).data
    assert (len(split.train), len(split.held_out)) == sizes
    assert split.train.by_user().multiply(split.held_out.by_user()).nnz == 0


@pytest.mark.parametrize(("which", "items", "orders"), [("10", 10, 4_926), ("100", 100, 5_000), ("scores", 100, 5_000)])
def test_sushi(which: Any, items: int, orders: int) -> None:
    source = sources.sushi(real("sushi"), which=which)
    data = source.data
    assert (len(data), len(data.users), len(data.items), len(data.item)) == (5_000, 5_000, items, 50_000)
    assert set(np.diff(data.start)) == {10}
    assert len(np.unique(data.item)) == items
    assert len(source.titles) == items
    assert all(source.titles)
    assert "ebi (shrimp)" in source.titles
    cases = {(data.item[rows].tobytes(), data.grade[rows].tobytes()) for rows in map(slice, data.start, data.start[1:])}
    assert len(cases) == orders
    strict = data.count_pairs() == 45
    assert strict.all() if which != "scores" else (~strict).all() and data.grade.max() <= 4


def test_sushi_grades_follow_the_order() -> None:
    source = sources.sushi(real("sushi"), which="10")
    first = source.data.grade[:10]  # 3: 7,4,5,1,10,2,8,3,9,6
    assert [source.items.name(int(item)) for item in np.argsort(-first)] == [7, 4, 5, 1, 10, 2, 8, 3, 9, 6]
    assert (source.data.grade[:30].reshape(3, 10) == first).all()


def test_lastfm() -> None:
    source = sources.lastfm_2k(real("lastfm-2k"))
    assert counts(source.data) == (92_834, 1_892, 17_632)
    assert len(source.data) == 92_834
    assert source.notes == ()
    assert source.data.time is None
    assert source.title(source.items.code(289)) == "Britney Spears"
    assert all(source.titles)


def test_ta_feng() -> None:
    folder = real("ta-feng")
    source = sources.ta_feng(folder)
    data = source.data
    assert counts(data) == (817_741, 32_266, 23_812)
    assert len(data) + data.intake.merged == 817_741
    assert "01104905" in data.users
    assert source.notes == ()
    assert data.time is not None
    assert str(data.time.min())[:10] == "2000-11-01"
    assert (data.time == data.time.astype("datetime64[D]")).all()
    rows = read_table(folder / "ta_feng_all_months_merged.csv.gz", TA_FENG_FIELDS, separator=",", header=True)
    assert len(rows.ids["session"]) == 120
    assert len(np.unique(rows.columns["user"].astype(np.int64) * 120 + rows.columns["session"])) == 119_578


def test_kuairec_partial() -> None:
    source = sources.kuairec_partial(real("kuairec-partial"))
    assert counts(source.data) == (117_113, 1_411, 2_519)
    assert len(source.data) == 117_113
    assert set(np.bincount(source.data.user)) == {83}


def test_amazon_sequences() -> None:
    source = sources.amazon_video_games_seq(real("amazon-video-games-seq"))
    data = source.data
    assert counts(data) == (287_107, 31_013, 23_715)
    assert len(data) == 287_107
    assert data.value is None
    split = leave_last(data)
    last = split.held_out.where(split.held_out.user == data.users.code(1))
    assert data.items.names[last.item].tolist() == [19263]  # the last line of user 1


def test_ncf_split(ncf: sources.Source[Split[Interactions]]) -> None:
    train, held_out = ncf.data.train, ncf.data.held_out
    assert (len(train), len(held_out), train.n_users, train.n_items) == (994_169, 6_040, 6_040, 3_706)
    assert (held_out.user == np.arange(6_040)).all()  # one each
    assert held_out.items.names[held_out.item[:3]].tolist() == [25, 133, 207]
    assert seconds(held_out)[0] == 978_824_351
    assert train.by_user().multiply(held_out.by_user()).nnz == 0
    assert train.time is not None
    assert held_out.time is not None
    assert (np.maximum.reduceat(train.time, train.starts[:-1]) <= held_out.time).all()


def test_ncf_negatives(ncf: sources.Source[Split[Interactions]]) -> None:
    negatives, held_out = ncf.extra["negatives"], ncf.data.held_out
    assert negatives.shape == (6_040, 99)
    assert negatives[0, :3].tolist() == [1064, 174, 2791]
    assert negatives.min() >= 0
    assert negatives.max() < 3_706
    assert not negatives.flags.writeable
    assert (negatives == held_out.item[:, None]).sum() == 156
    assert any(note.startswith("156 of the 597,960 negatives") for note in ncf.notes)


def test_ncf_is_movielens_under_other_names(
    ncf: sources.Source[Split[Interactions]], ml_1m: sources.Source[Interactions]
) -> None:
    user = 4_000
    rows = ml_1m.data.user == ml_1m.data.users.code(user + 1)
    theirs = {ml_1m.title(int(item)) for item in ml_1m.data.item[rows]}
    parts = (ncf.data.train, ncf.data.held_out)
    assert {ncf.title(int(item)) for part in parts for item in part.item[part.user == user]} == theirs
    assert ncf.titles[0] == "One Flew Over the Cuckoo's Nest (1975)"  # the first line of the ratings


def test_known_names_are_found_without_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLRANK_DATA", str(real("lastfm-2k").parent))
    assert sources.load("lastfm-2k").data.n_users == 1_892
    assert sources.load(real("lastfm-2k")).data.n_users == 1_892
