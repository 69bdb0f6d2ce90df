"""The tables and figures of the five documents: one small file for each document's, with what was published."""

from __future__ import annotations

from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.papers import ackerman2012, krichene2020, lim2015, steck2010, steck2015

PAPERS = (steck2010, krichene2020, ackerman2012, lim2015, steck2015)
EXHIBITS: dict[str, Exhibit] = {exhibit.name: exhibit for paper in PAPERS for exhibit in paper.EXHIBITS}
