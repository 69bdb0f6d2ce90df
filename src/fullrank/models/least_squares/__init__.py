"""Weighted least squares over all pairs, observed or missing: AllRank, IALS, and PureSVD."""
