"""Sphinx: markdown pages and the API from docstrings."""

import fullrank

project = "fullrank"
author = "The fullrank developers"
release = fullrank.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
autodoc_typehints = "description"
autodoc_member_order = "bysource"
suppress_warnings = ["myst.xref_missing"]
