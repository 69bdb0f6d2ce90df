"""Krichene and Rendle, On Sampled Metrics for Item Recommendation (KDD 2020): a file for each table and figure."""

from __future__ import annotations

from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.papers.krichene2020 import (
    figure1,
    figure2,
    figure3,
    figure4,
    figure5,
    figure6,
    table1,
    table2,
    table3,
    table4,
)

EXHIBITS: tuple[Exhibit, ...] = tuple(
    one.EXHIBIT for one in (table1, table2, table3, table4, figure1, figure2, figure3, figure4, figure5, figure6)
)
