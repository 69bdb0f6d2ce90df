"""The kinds of models: scoring, fold-in and what is kept of them, once per kind."""
