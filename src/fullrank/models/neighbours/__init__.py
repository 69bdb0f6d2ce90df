"""Counting and comparing items: bestsellers, item-based collaborative filtering, EASE."""
