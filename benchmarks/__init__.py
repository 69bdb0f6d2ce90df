"""Measurements as ratios: to a peer, or to a floor, both taken in the same run."""
