"""Every table and figure runs from its data to its page, on data so small that nothing it shows means anything."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fullrank import folds, simulate
from fullrank.report.exhibits import write_site
from fullrank.reproduction.exhibit import reproduce
from fullrank.reproduction.findings import Reproduced
from fullrank.reproduction.papers import EXHIBITS
from fullrank.reproduction.papers.ackerman2012 import quality, sessions, studies, study, sweeps
from fullrank.reproduction.papers.krichene2020 import figure6
from fullrank.reproduction.papers.krichene2020 import protocol as samplings
from fullrank.reproduction.papers.steck2015 import table1 as losses
from fullrank.reproduction.workspace import Workspace
from tests.reproduction.tiny_papers import write_tiny_data, write_tiny_netflix


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Fewer folds, features, worlds and samples, where they do not follow from the data."""
    with pytest.MonkeyPatch.context() as patch:
        most = {"SVD++": 25, "GPW-HVS": 3, "GPW-OPT by Ackerman's descent": 6}
        for name, rows in quality.RUNS.items():
            patch.setitem(quality.RUNS, name, {who: (1, min(k, most.get(who, k))) for who, (_, k) in rows.items()})
        patch.setattr(sweeps, "RATES", sweeps.RATES[::4])
        patch.setattr(sweeps, "REGS", sweeps.REGS[::3])
        patch.setattr(losses, "TIMES", 1)
        patch.setattr(studies, "WORLDS", 1)
        patch.setattr(study, "FACTORS", (3, 6))
        patch.setattr(study, "PREDICTION", {3: study.PREDICTION[3]})
        patch.setattr(study, "SWEPT", study.SWEPT[::5])
        patch.setitem(sessions.STUDIES, "simulated", lambda _: list(folds(simulate.sessions(40, 30).data, 5)))
        patch.setattr(samplings, "DRAWN", 20)
        patch.setattr(figure6, "SAMPLES", {which: [5, 10] for which in figure6.SAMPLES})
        folder = tmp_path_factory.mktemp("papers")
        yield Workspace(write_tiny_data(folder / "data"), folder / "kept")


def finite(value: Any) -> bool:
    """Whether there is no infinity and nothing that is not a number."""
    if isinstance(value, dict | list | tuple):
        return all(map(finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize("name", EXHIBITS)
def test_it_runs(name: str, workspace: Workspace, tmp_path: Path) -> None:
    result = reproduce(EXHIBITS[name], workspace)
    assert not result.missing
    content = result.to_json()
    assert finite(content)
    assert content["numbers"] or content["claims"]
    assert all(figure["lines"] for figure in content["figures"])
    assert Reproduced.from_json(json.loads(json.dumps(content, allow_nan=False))).to_json() == content
    assert write_site([result], tmp_path).with_name(f"{name}.html").stat().st_size > 1000


@pytest.mark.parametrize("name", [name for name, one in EXHIBITS.items() if one.better == "netflix-probe"])
def test_netflix_is_taken_where_it_is_there(name: str, tmp_path: Path) -> None:
    """In its own format; then what was published is judged, and nothing stands in."""
    result = reproduce(EXHIBITS[name], Workspace(write_tiny_netflix(tmp_path)))
    assert (result.stands_in, result.how_to_get, result.missing) == ("", {}, ())
    assert finite(result.to_json())
    assert all(number.within is not None for number in result.findings.numbers)
