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


def formulas(app, what, name, obj, options, lines):
    """Indented formulas of docstrings as they stand, bars and all."""
    shown = []
    for line in lines:
        formula = line.startswith("    ") and not line.lstrip().startswith((">>>", "..."))
        begins = formula and (not shown or not shown[-1].strip())
        if begins and not any(kept.strip() == "::" for kept in shown[-2:]):
            shown += ["::", ""]
        shown.append(line if formula else line.replace("|", r"\|"))
    lines[:] = shown


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", formulas)
