"""Ackerman 2012: pairwise preferences, sessions with offer sets, opportunity cost and EDRC (a master's thesis)."""

from __future__ import annotations

from fullrank.reproduction.papers.ackerman2012 import (
    chapter2,
    chapter3,
    chapter4,
    chapter5,
    prediction,
    preferences,
    quality,
    sessions,
    study,
    sweeps,
    times,
)

EXHIBITS = (
    chapter2.EXHIBIT,
    chapter3.EXHIBIT,
    chapter4.EXHIBIT,
    chapter5.EXHIBIT,
    quality.EXHIBIT,
    times.EXHIBIT,
    prediction.EXHIBIT,
    sweeps.GLOBAL,
    preferences.EXHIBIT,
    sweeps.DEALT,
    sessions.CCF_EXHIBIT,
    sessions.VARIANTS_EXHIBIT,
    study.CCF_EXHIBIT,
    study.VARIANTS_EXHIBIT,
    study.SWEEPS_EXHIBIT,
)
