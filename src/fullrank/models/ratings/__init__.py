"""Predicting what was observed: RSVD, SVD++, OrdRec."""
