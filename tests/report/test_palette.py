"""The colours of models can be told apart, from each other and from the page, by colour-blind readers too."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from fullrank.report.vega import COLOURS

STYLE = files("fullrank.report").joinpath("style.css").read_text("utf-8")
THEMES = dict(zip(("light", "dark"), re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL), strict=True))
# linear RGB as seen without one kind of cone: Machado, Oliveira and Fernandes 2009, severity 1
SEEN = {
    "all cones": np.eye(3),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritanopia": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(name: str, theme: str) -> NDArray[np.float64]:
    found = re.search(rf"--{name}: #(\w+);", THEMES[theme])
    assert found
    code = found[1] if len(found[1]) == 6 else "".join(2 * char for char in found[1])
    rgb = np.array([int(code[i : i + 2], 16) / 255 for i in (0, 2, 4)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    xyz = XYZ @ np.clip(rgb, 0, 1) / XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("theme", THEMES)
def test_colours_differ(theme: str, seen: str) -> None:
    places = [lab(SEEN[seen] @ linear(f"c{i}", theme)) for i in range(COLOURS)]
    assert min(np.linalg.norm(one - two) for one, two in combinations(places, 2)) > 15


@pytest.mark.parametrize("theme", THEMES)
def test_colours_and_texts_stand_out_from_the_page(theme: str) -> None:
    def contrast(name: str) -> float:
        one, two = sorted(float(XYZ[1] @ linear(part, theme)) for part in (name, "paper"))
        return (two + 0.05) / (one + 0.05)

    assert min(contrast(f"c{i}") for i in range(COLOURS)) > 2.95
    assert min(contrast(name) for name in ("ink", "soft", "accent", "warn", "good", "bad")) > 4.5
