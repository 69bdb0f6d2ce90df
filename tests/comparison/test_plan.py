"""Plans: read as written, written as read, and refused with line and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank import IALS
from fullrank.comparison.plan import DataPlan, ModelPlan, Plan, as_toml, line_of, read_plan, write_plan
from fullrank.errors import ConfigError, NoInputError

WHOLE = """\
title = "Shop"
split = "time:0.2"
relevant = 4
metrics = ["ndcg@10", "recall@20"]
tune = 5

[data]
source = "log.parquet"
columns = {user = "uid", item = 2}

[[model]]
recipe = "IALS"
factors = 7

[[model]]
recipe = "ials"
name = "small IALS"
factors = 3
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    return path


def test_a_whole_plan(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, WHOLE))
    assert plan.recipes() == {"IALS": IALS(factors=7), "small IALS": IALS(factors=3)}
    suited = plan.recipes({"relevant": 4.0, "missing_value": 0.5})
    assert suited == {"IALS": IALS(factors=7, relevant=4.0), "small IALS": IALS(factors=3, relevant=4.0)}
    assert (plan.split, plan.relevant, plan.metrics, plan.tune) == ("time:0.2", 4, ("ndcg@10", "recall@20"), 5)
    assert plan.data.columns == {"user": "uid", "item": 2}
    write_plan(plan, tmp_path / "again.toml")
    assert read_plan(tmp_path / "again.toml") == plan
    assert read_plan(written(tmp_path, '[data]\nsource = "x.csv"')).recipes() == {}


words = st.text(st.characters(exclude_categories=["Cs"]))  # TOML has no lone surrogates


@given(
    st.builds(
        Plan,
        data=st.builds(
            DataPlan,
            source=words.filter(bool),
            columns=st.none() | st.dictionaries(words.filter(bool), words | st.integers(0, 9), min_size=1),
        ),
        title=words,
        relevant=st.none() | st.floats(-9, 9),
        seed=st.integers(0, 2**40),
        model=st.lists(st.sampled_from([ModelPlan(recipe="IALS"), ModelPlan(recipe="EASE", reg=5.0)]), max_size=2).map(
            tuple
        ),
    )
)
def test_any_plan_is_read_as_it_was_written(plan: Plan) -> None:
    import tomllib

    assert Plan.model_validate(tomllib.loads(as_toml(plan))) == plan


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tune = 5", "tune = -1", r"plan.toml:5: tune: input should be greater than or equal to 0, got -1"),
        ("tune = 5", "tunes = 5", r"plan.toml:5: tunes: unknown key. Did you mean 'tune'"),
        ("source =", "sauce =", r"plan.toml:7: data.source: is missing"),
        ("factors = 3", "factor = 3", r"plan.toml:15: model.1: 'factor' is not a parameter of IALS. Did you mean 'fac"),
        (
            "factors = 7",
            "factors = 0",
            r"plan.toml:11: model.0: The 'factors' parameter must be an integer from 1 to 4096",
        ),
        ('recipe = "IALS"', 'recipe = "IAL"', r"plan.toml:11: model.0: 'IAL' is not a model. Did you mean 'IALS'"),
        ("ndcg@10", "ndgc@10", r"plan.toml:4: metrics: 'ndgc' is not a metric. Did you mean 'ndcg'"),
        ("time:0.2", "tme:0.2", r"plan.toml:2: split: 'tme' is not a way to split. Did you mean 'time'"),
        ('name = "small IALS"\n', "", r"plan.toml:11: model: two models are called 'IALS'; give one of them"),
        ("[data]", "[data", r"plan.toml: is not TOML: .* line 7"),
    ],
)
def test_what_is_wrong_and_where(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in WHOLE
    with pytest.raises(ConfigError, match=message) as error:
        read_plan(written(tmp_path, WHOLE.replace(old, new)))
    assert error.value.exit_code == 78


def test_no_plan(tmp_path: Path) -> None:
    with pytest.raises(NoInputError, match="cannot be read as a plan"):
        read_plan(tmp_path / "none.toml")
    assert line_of("", ("data", "source")) == 1
