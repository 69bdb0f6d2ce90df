"""Exported files: inner products there have the model's order, ids are exact, folders are complete or say nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fullrank
from fullrank import BPR, EASE, IALS, RSVD, Bestseller, Interactions, ItemCF, OrdRec, PostFiltered, export
from fullrank.errors import DataError, OutputError, ParameterError
from fullrank.models.kinds.linear import exact_scores_of
from fullrank.models.recipes import RECIPES
from tests.recommending.test_similar import RATED, fitted, short

TABLES = {"Bestseller", "PersonalFrequency", "ItemCF", "RecentItemCF", "EASE"}  # without vectors
STRANGE = ["01", "1", "ünïcode", 'quo"te', "nan", "a\nb"]


def arrays(folder: Path) -> dict[str, Any]:
    """Vectors and ids of an export as arrays."""
    sides = {}
    for side in ("items", "users"):
        ids = [json.loads(line) for line in (folder / f"{side}.jsonl").read_text(encoding="utf-8").splitlines()]
        sides[side] = np.load(folder / f"{side}.npy"), ids
    return sides


@pytest.mark.parametrize("name", sorted(RECIPES.keys() - TABLES))
def test_inner_products_have_the_order_of_recommend(name: str, tmp_path: Path) -> None:
    model = fitted(short(name))
    manifest = export(model, tmp_path / "out", format="numpy").manifest
    (items, item_ids), (users, user_ids) = arrays(tmp_path / "out").values()
    assert item_ids == list(model.train.items)
    assert user_ids == list(model.train.users)
    assert items.dtype == users.dtype == np.float32
    assert manifest["files"]["users.npy"] == {"rows": len(users), "width": items.shape[1]}
    scores = exact_scores_of(model, np.arange(len(users), dtype=np.int32))
    products = users.astype(float) @ items.astype(float).T
    if name != "OrdRec":  # whose scores rise with the products, but not in equal steps
        away = products - scores
        assert np.ptp(away, axis=1).max() < 1e-6 * np.abs(scores).max()
    for row in (0, 17, 42):
        listed = fullrank.recommend(model, user_ids[row], n=len(items), repeat=True).items
        order = products[row][[item_ids.index(item) for item in listed]]
        assert (np.diff(order) <= 1e-6 * np.abs(products).max()).all()
        assert np.ptp(order) > 0


def test_all_formats_have_the_same_vectors(tmp_path: Path) -> None:
    model = RSVD(factors=5, epochs=3).fit(RATED)
    export(model, tmp_path / "n", format="numpy")
    export(model, tmp_path / "p")
    for side, (vectors, ids) in arrays(tmp_path / "n").items():
        frame = pl.read_parquet(tmp_path / "p" / f"{side}.parquet")
        assert frame.schema == {"id": pl.Int64, "vector": pl.List(pl.Float32)}
        assert frame["id"].to_list() == ids
        assert np.array_equal(np.array(frame["vector"].to_list(), dtype=np.float32), vectors)


def test_blocks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = short("GaussianRank").fit(RATED)
    for form in ("numpy", "parquet"):
        export(model, tmp_path / "whole", format=form, overwrite=True)  # type: ignore[arg-type]
        with monkeypatch.context() as small:
            small.setattr(sys.modules["fullrank.recommending.export"], "ROWS", 7)
            export(model, tmp_path / "small", format=form, overwrite=True)  # type: ignore[arg-type]
        if form == "numpy":
            for name in ("items.npy", "users.npy", "items.jsonl", "manifest.json"):
                assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "small" / name).read_bytes()
        else:
            whole, parts = (pl.read_parquet(tmp_path / one / "users.parquet") for one in ("whole", "small"))
            assert whole.equals(parts)


def test_the_bias_is_a_column_and_is_told(tmp_path: Path) -> None:
    model = short("SVDpp").fit(RATED)
    how = export(model, tmp_path, format="numpy").manifest["how"]
    (items, _), (users, _) = arrays(tmp_path).values()
    assert np.array_equal(items[:, -1], model.bias)
    assert (users[:, -1] == 1).all()
    assert "The last column of an item is its bias, and that of a user is 1." in how


@pytest.mark.parametrize("ids", [STRANGE, [2**53 + 1, 2**53, -(2**63), 2**63 - 1, 0, 7]], ids=["text", "large"])
def test_ids_are_exact(ids: list[Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    users, items = rng.integers(6, size=40), rng.integers(6, size=40)
    data = Interactions.of([ids[u] for u in users], [ids[i] for i in items])
    export(IALS(factors=2).fit(data), tmp_path / "n", format="numpy")
    assert arrays(tmp_path / "n")["items"][1] == list(data.items)
    for model, table, column in (
        (IALS(factors=2).fit(data), "items", "id"),
        (Bestseller().fit(data), "scores", "item"),
        (ItemCF().fit(data), "neighbours", "item"),
    ):
        export(model, tmp_path / table)
        assert set(pl.read_parquet(tmp_path / table / f"{table}.parquet")[column]) == set(data.items)


@pytest.mark.parametrize("recipe", [ItemCF(), ItemCF(voters=None), EASE(solver="primal"), EASE(solver="dual")], ids=str)
def test_neighbours_are_the_weights(recipe: Any, tmp_path: Path) -> None:
    """A sum over them gives the scores; of every item the largest are first."""
    model = recipe.fit(RATED)
    export(model, tmp_path)
    table = pl.read_parquet(tmp_path / "neighbours.parquet")
    assert table.schema == {"item": pl.Int64, "neighbour": pl.Int64, "weight": pl.Float32}
    weights = np.zeros((40, 40))
    weights[RATED.items.codes(table["item"].to_numpy()), RATED.items.codes(table["neighbour"].to_numpy())] = table[
        "weight"
    ]
    assert (table["weight"] != 0).all()
    scores = (RATED.by_user().toarray() > 0) @ weights
    assert scores == pytest.approx(model.scores(np.arange(50, dtype=np.int32)), abs=1e-5)
    for item in (0, 20):
        mine = table.filter(pl.col("item") == item)
        assert mine["weight"].is_sorted(descending=True)
        assert [one for one in mine["neighbour"] if one != item] == fullrank.similar(model, item, n=1000).items


def test_lists_for_everybody(tmp_path: Path) -> None:
    model = Bestseller(by="count").fit(RATED)
    assert export(model, tmp_path).manifest["content"] == "scores"
    table = pl.read_parquet(tmp_path / "scores.parquet")
    assert dict(table.iter_rows()) == dict(zip(RATED.items, RATED.popularity.tolist(), strict=True))


def test_users_of_whom_nothing_is_known_have_no_vector(tmp_path: Path) -> None:
    data = RATED.catalogue(users=[1000, 1001])
    made = export(BPR(factors=4, epochs=2).fit(data), tmp_path, format="numpy")
    assert arrays(tmp_path)["users"][1] == list(RATED.users)
    assert made.manifest["users_without_vector"] == 2
    assert "Users without a vector, since nothing is known of their taste: 2." in made.manifest["how"]


def test_a_folder_with_a_manifest_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (IALS(factors=f).fit(RATED) for f in (3, 4))
    export(first, tmp_path)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OutputError, match=r"items\.parquet: exists; pass overwrite=True"):
        export(second, tmp_path)
    with pytest.raises(OutputError, match=r"manifest\.json: exists"):
        export(second, tmp_path, format="numpy")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept

    def fail(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(type(second), "people", fail)
        with pytest.raises(fullrank.FullrankError, match="no space left on the disk"):
            export(second, tmp_path, overwrite=True)
    assert {path.name for path in tmp_path.iterdir()} == {"items.parquet", "users.parquet"}
    assert (tmp_path / "users.parquet").read_bytes() == kept["users.parquet"]
    export(second, tmp_path, overwrite=True)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["files"]["items.parquet"]["width"] == 4
    assert manifest["model_sha256"] != json.loads(kept["manifest.json"])["model_sha256"]
    assert manifest["training_data"] == json.loads(kept["manifest.json"])["training_data"]


def test_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = IALS(factors=3).fit(RATED)
    with pytest.raises(ParameterError, match="'format' parameter must be 'parquet', 'numpy' or 'faiss'"):
        export(model, tmp_path, format="csv")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"^EASE: the model has no vectors to write; use format='parquet'\.$"):
        export(EASE().fit(RATED), tmp_path, format="numpy")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file; give a folder"):
        export(model, tmp_path / "file")
    filtered = PostFiltered(IALS(factors=4), lambda data: data.user % 2).fit(RATED).at(1)
    with pytest.raises(DataError, match=r"^IALS: there is nothing of this kind of model"):
        export(filtered, tmp_path)
    ordinal = OrdRec(factors=3, epochs=2).fit(RATED)
    turned = type(ordinal)(**{**vars(ordinal), "weights": ordinal.weights[::-1]})
    with pytest.raises(DataError, match=r"^OrdRec: the weights of levels do not rise"):
        export(turned, tmp_path)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ParameterError, match=r"pip install 'fullrank\[faiss\]'"):
        export(model, tmp_path, format="faiss")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["IALS", "SVDpp", "OpportunityCost"])
def test_an_index_of_faiss_finds_the_list(name: str, tmp_path: Path) -> None:
    faiss = pytest.importorskip("faiss", reason="faiss-cpu is an extra that tests do without")
    model = fitted(short(name))
    export(model, tmp_path, format="faiss")
    index = faiss.read_index(str(tmp_path / "items.faiss"))
    users = np.load(tmp_path / "users.npy")
    assert (index.ntotal, index.d) == (40, users.shape[1])
    ids = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    found, numbers = index.search(users[:10], 5)
    for row in range(10):
        listed = fullrank.recommend(model, model.train.users.name(row), n=5, repeat=True)
        assert [ids[number] for number in numbers[row]] == listed.items
        assert np.diff(found[row]) == pytest.approx(np.diff(listed.scores), abs=1e-5)
