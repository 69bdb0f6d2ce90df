"""The version, apart from everything else so that any part may ask for it."""

__version__ = "0.1.0"
