"""A comparison as one page that needs nothing else: results → charts and tables → HTML."""

from fullrank.report.page import render, write

__all__ = ["render", "write"]
