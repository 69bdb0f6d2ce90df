"""Sphinx: markdown pages and the API from docstrings."""

import json
from pathlib import Path

import fullrank
from fullrank.comparison.results import schema

project = "fullrank"
author = "The fullrank developers"
release = fullrank.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
napoleon_google_docstring = False
autodoc_typehints = "description"
autodoc_member_order = "bysource"
myst_heading_anchors = 3


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


def sentences(app, what, name, obj, options, lines):
    """What is said of a parameter is a sentence: napoleon would take all before its first colon for a type."""
    if what == "attribute" and lines:
        lines[0] = f": {lines[0]}"


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", sentences, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", formulas)
    built = Path(__file__).parent / "_build"
    built.mkdir(exist_ok=True)
    (built / "results.schema.json").write_text(json.dumps(schema(), indent=1) + "\n")
