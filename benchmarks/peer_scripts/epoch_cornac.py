"""One epoch of cornac's BPR: the method that `fit` calls for each.

It draws as many samples as there are positives, negatives uniformly; a sample whose negative the user has seen is
skipped: 10% of them on ML-1M.
"""

import numpy as np
from cornac.models import BPR
from cornac.models.bpr.recom_bpr import RNGVector

from serving import serve


def prepare(left, right, train, held):
    n_users, n_items = train.shape
    users = np.repeat(np.arange(n_users, dtype=train.indices.dtype), np.diff(train.indptr))
    pairs = users, train.indices, np.arange(n_items, dtype=np.int32), train.indptr
    warm = {}

    def prepared(factors, threads, trained):
        """As `fit` begins, and so many epochs."""
        model, rng = BPR(k=factors, num_threads=threads), np.random.default_rng(0)
        both = [((rng.random((n, factors)) - 0.5) / factors).astype(np.float32) for n in train.shape]
        state = *both, np.zeros(n_items, dtype=np.float32)
        drawn = RNGVector(threads, train.nnz - 1, 0), RNGVector(threads, n_items - 1, 1), threads
        for _ in range(trained):
            model._fit_sgd(*drawn, *pairs, *state)
        return model, drawn, state

    def epoch(factors, threads, trained):
        if not warm:
            warm["all"] = prepared(factors, threads, trained)
        model, drawn, state = warm["all"]
        state = [array.copy() for array in state]

        def run():
            _, skipped = model._fit_sgd(*drawn, *pairs, *state)
            return {"updates": 1 - skipped / train.nnz}

        return run

    return epoch


if __name__ == "__main__":
    serve(prepare)
