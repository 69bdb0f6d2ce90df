"""Steck, Gaussian Ranking by Matrix Factorization (RecSys 2015); the figures of Table 1 are lost, not its shapes."""

from __future__ import annotations

from fullrank.reproduction.papers.steck2015 import table1, table2

EXHIBITS = (table1.EXHIBIT, table2.EXHIBIT)
