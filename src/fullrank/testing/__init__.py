"""For tests of recommenders and measures, ours and yours."""
