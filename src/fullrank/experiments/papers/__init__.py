"""The tables and figures of the five documents: one small file for each document's, with what was published."""

from __future__ import annotations

from fullrank.experiments.exhibits import Exhibit
from fullrank.experiments.papers import s0, s1, s2, s3, s4

EXHIBITS: dict[str, Exhibit] = {exhibit.name: exhibit for paper in (s0, s1, s2, s3, s4) for exhibit in paper.EXHIBITS}
