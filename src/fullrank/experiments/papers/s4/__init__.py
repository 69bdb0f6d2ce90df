"""S4: Gaussian ranking by asymmetric matrix factorisation; the figures of its Table 1 are lost, its shapes are not."""

from __future__ import annotations

from fullrank.experiments.papers.s4 import table1, table2

EXHIBITS = (table1.EXHIBIT, table2.EXHIBIT)
