"""Models in, trusted numbers out: ranks, results, corrections, statistics."""
