"""Lim et al. 2015: average discounted gain (ADG) on implicit feedback with missing items, and training toward it."""

from __future__ import annotations

from fullrank.reproduction.papers.lim2015 import table1, table2

EXHIBITS = (table1.EXHIBIT, table2.EXHIBIT)
