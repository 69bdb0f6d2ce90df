"""Lists in all the forms that people have them in, and what is wrong with some."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank import OutsideLists, read_lists
from fullrank.data.ids import Ids
from fullrank.data.outside import match
from fullrank.data.read_lists import read_held_out
from fullrank.errors import DataError, NoInputError, ParameterError

ROWS = [("ann", "tea", 0.5), ("ann", "jam", 0.75), ("bob", "tea", 1e-20)]  # ann: jam tea; bob: tea
FRAME = pl.DataFrame(ROWS, schema=["user", "item", "score"], orient="row")
WANTED = {"ann": ["jam", "tea"], "bob": ["tea"]}


def by_name(lists: OutsideLists) -> dict[Any, list[Any]]:
    return {lists.users.name(user): lists.names(user) for user in range(len(lists))}


TEXTS = {
    "scores.csv": "user,item,score\n" + "".join(f"{u},{i},{s}\n" for u, i, s in ROWS),
    "ranks.tsv": "UserId\tItemId\tRank\nann\ttea\t2\nann\tjam\t1\nbob\ttea\t1\n",
    "both.csv": "user,item,rank,score\nann,tea,2,.5\nann,jam,1,.9\nbob,tea,1,3\n",
    "order.csv": "user,item\nann,jam\nbob,tea\nann,tea\n",
    "bare_ranks.csv": "ann,tea,2\nann,jam,1\nbob,tea,1\n",
    "bare_scores.csv": "ann,tea,0.5\nann,jam,0.75\nbob,tea,0.1\n",
    "mine.run": "ann Q0 tea 2 0.5 x\nann\tQ0  jam 1 0.75 x\n\nbob Q0 tea 1 .1 x\n",
    "no_name.run": "ann 0 tea 2 0.5\nann 0 jam 1 0.75\nbob 0 tea 1 .1\n",
    "ranx.json": json.dumps({u: {i: s for w, i, s in ROWS if w == u} for u in WANTED}),
    "pretty.json": json.dumps({u: {i: s for w, i, s in ROWS if w == u} for u in WANTED}, indent=2),
    "lists.json": json.dumps(WANTED),
    "rows.jsonl": "".join(json.dumps({"user": u, "item": i, "score": s}) + "\n" for u, i, s in ROWS),
    "people.jsonl": "".join(json.dumps({"user": u, "items": items}) + "\n" for u, items in WANTED.items()),
    "scored.jsonl": '{"user": "ann", "items": ["tea", "jam"], "scores": [0.5, 0.75]}\n'
    '{"user": "bob", "items": ["tea"], "scores": [1]}\n',
}


@pytest.mark.parametrize("name", TEXTS)
def test_forms_of_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(TEXTS[name])
    assert by_name(read_lists(path)) == WANTED


def test_tables(tmp_path: Path) -> None:
    nested = FRAME.group_by("user", maintain_order=True).agg("item", "score")
    for number, frame in enumerate((FRAME, nested, nested.rename({"item": "items", "score": "scores"}))):
        path = tmp_path / f"{number}.parquet"
        frame.write_parquet(path)
        assert by_name(read_lists(path)) == by_name(read_lists(frame)) == WANTED
    as_dict = FRAME.to_dict(as_series=False)
    for source in (FRAME.to_pandas(), as_dict, WANTED, {"ann": {"tea": 0.5, "jam": 0.75}, "bob": {"tea": 0.0}}):
        assert by_name(read_lists(source)) == WANTED
    renamed = FRAME.rename({"user": "who", "item": "what", "score": "how"})
    assert by_name(read_lists(renamed, {"user": "who", "item": "what", "score": "how"})) == WANTED


def test_scores_are_kept_to_the_last_bit() -> None:
    scores = [0.1 + 2**-54, 0.1, 1e300, -1e-300]
    lists = OutsideLists.of([1] * 4, [1, 2, 3, 4], score=scores)
    assert lists.score.tolist() == sorted(scores, reverse=True)
    assert lists.to_frame()["rank"].to_list() == [1, 2, 3, 4]


def test_what_decides_is_told(tmp_path: Path) -> None:
    turned = read_lists({"user": [1, 1], "item": [5, 6], "rank": [1, 2], "score": [0.1, 0.7]})
    assert (turned.by, turned.names(0)) == ("rank", [5, 6])
    assert turned.intake.doubts == ("scores rise with the rank in the lists of 1 people; the ranks were taken, scores were not",)  # fmt: skip # noqa: E501
    (tmp_path / "t.run").write_text("1 Q0 5 1 .1 x\n1 Q0 6 2 .7 x\n")
    run = read_lists(tmp_path / "t.run")
    assert (run.by, run.names(0)) == ("score", ["6", "5"])
    assert "the scores were taken, as trec_eval does" in run.intake.doubts[0]
    assert "order of the rows" in str(read_lists({"user": [1], "item": [2]}).intake)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "user,item,score\n1,5,nan\n", "a.csv:2: score contains NaN"),
        ("a.csv", "user,item,score\n1,5,inf\n", "a.csv:2: score inf"),
        ("a.csv", "user,item,score\n1,5,high\n", "a.csv:2: score 'high' is not a number"),
        ("a.csv", "user,item,score\n1,,2\n", "a.csv:2: item is empty"),
        ("a.csv", "", "a.csv: no interactions; the file is empty"),
        ("a.run", "1 Q0 5 1 .5 x\n1 Q0 6\n", "a.run:2: '1 Q0 6' is no line of 'user Q0 item rank score name'"),
        ("a.run", "1 Q0 5 1 nan x\n", "a.run:1: score 'nan' is no finite number"),
        ("a.run", "1 Q0 5 first 1 x\n", "a.run:1: rank 'first' is no finite number"),
        ("a.json", '{"1": {"5": 1}', "a.json: is no JSON"),
        ("a.json", '{"1": 5}', "'1' has 5"),
        ("a.json", '{"1": {"5": 1}, "2": ["6"]}', "some lists have scores and some have none"),
        ("a.jsonl", '{"user": 1, "item": 2}\n{"user":\n', "a.jsonl:2:"),
        ("a.jsonl", '{"user": 1, "items": [2, 3], "scores": [1]}\n', "different lengths"),
        ("a.jsonl", '{"who": 1, "item": 2}\n' * 2, "a.jsonl: no user column"),
    ],
)
def test_faults_are_told_with_their_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError) as raised:
        read_lists(path)
    assert said in str(raised.value).replace(f"{tmp_path}/", "")


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(NoInputError):
        read_lists(tmp_path / "nothing.csv")
    with pytest.raises(ParameterError, match="rank, score"):
        read_lists(FRAME, {"user": "user", "item": "item", "points": "score"})
    with pytest.raises(DataError, match=r"score nan of row 1"):
        OutsideLists.of([1, 1], [1, 2], score=[1, float("nan")])
    with pytest.raises(DataError, match="lists of 2 users have 2 items and 1 scores"):
        OutsideLists.of([1, 1], [1, 2], score=[1])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(-3, 3)), min_size=1, max_size=40))
def test_lists_are_sorted_and_nothing_is_lost(rows: list[tuple[int, int, int]]) -> None:
    users, items, scores = zip(*rows, strict=True)
    lists = OutsideLists.of(users, items, score=scores)
    expected = {u: [i for w, i, s in sorted(rows, key=lambda row: -row[2]) if w == u] for u in set(users)}
    assert by_name(lists) == expected
    assert lists.longest == max(map(len, expected.values()))


def test_fingerprints_tell_lists_apart() -> None:
    one = OutsideLists.of([1, 1], [1, 2], score=[2, 1])
    assert one.fingerprint == OutsideLists.of([1, 1], [2, 1], score=[1, 2]).fingerprint
    others = [([1, 1], [1, 2], [2, 1.5]), ([1, 1], [1, 3], [2, 1]), ([1, 2], [1, 2], [2, 1])]
    assert len({one.fingerprint, *(OutsideLists.of(u, i, score=s).fingerprint for u, i, s in others)}) == 4


def test_integers_and_strings_match_by_how_they_are_written() -> None:
    assert match(Ids(["7", "07", "x"]), Ids([5, 7])).tolist() == [1, -1, -1]
    assert match(Ids([7, 8]), Ids(["8", "07"])).tolist() == [-1, 0]


def test_judgements(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("ann 0 jam 1\nann 0 tea 0\nbob 0 tea 2\n")
    (tmp_path / "a.json").write_text('{"ann": {"jam": 1, "tea": 0}, "bob": {"tea": 2}}')
    for name in ("a.qrels", "a.json"):
        judged, least = read_held_out(tmp_path / name)
        assert least == 1.0
        assert judged.relevant(least).items.names[judged.relevant(least).item].tolist() == ["jam", "tea"]
    (tmp_path / "plain.csv").write_text("user,item,rating\n1,2,3\n")
    assert read_held_out(tmp_path / "plain.csv")[1] is None
    (tmp_path / "b.qrels").write_text("ann 0 jam high\n")
    with pytest.raises(DataError, match=r"b.qrels:1: value 'high' is no finite number"):
        read_held_out(tmp_path / "b.qrels")
