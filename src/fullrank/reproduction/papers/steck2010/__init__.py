"""Steck, Training and Testing of Recommender Systems on Data Missing Not at Random (KDD 2010)."""

from __future__ import annotations

from fullrank.reproduction.papers.steck2010 import figure1, figure2, figure3, table2, table3

EXHIBITS = (table2.EXHIBIT, table3.EXHIBIT, figure1.EXHIBIT, figure2.EXHIBIT, figure3.EXHIBIT)
