"""The command line: one verb per command."""

from fullrank.cli.main import main

__all__ = ["main"]
