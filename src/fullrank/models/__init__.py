"""Recipes and the few kinds of models they make."""
