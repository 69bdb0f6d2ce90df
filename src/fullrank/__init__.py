"""Recommenders trained and judged on the full ranking, when most feedback is missing."""

__version__ = "0.1.0"
