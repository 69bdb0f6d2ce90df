"""One epoch of LightFM's WARP: the method that `fit_partial` calls for each.

It visits every positive once and draws at most `max_sampled` items, 10 by default, until one scores higher than the
positive less 1 and the user has not seen it; then it updates all three. Where none is found nothing is updated.
"""

from copy import deepcopy

import numpy as np
import scipy.sparse as sp
from drawing import PAIRS, dots, drawn
from lightfm import LightFM

from serving import serve


def prepare(left, right, train, held):
    pairs = train.tocoo()
    features = [sp.identity(n, dtype=np.float32, format="csr") for n in train.shape[::-1]]  # of items, of users
    warm = []

    def epoch(factors, threads, trained):
        if not warm:
            model = LightFM(no_components=factors, loss="warp", random_state=0)
            model.fit(pairs, epochs=trained, num_threads=threads)
            warm.extend([model, draws(model)])
        model, found = deepcopy(warm[0]), warm[1]
        weight = model._process_sample_weight(pairs, None)

        def run():
            model._run_epoch(*features, pairs, weight, threads, model.loss)
            return found

        return run

    def draws(model):
        some = np.random.default_rng(0).choice(train.nnz, min(PAIRS, train.nnz), replace=False)
        scores = dots(model.user_embeddings, model.item_embeddings, model.item_biases)
        pairs_of = pairs.row[some], pairs.col[some], train.shape[1]
        return drawn(
            scores, *pairs_of, model.max_sampled, lambda user, item: np.asarray(train[user, item]).ravel() == 0
        )

    return epoch


if __name__ == "__main__":
    serve(prepare)
