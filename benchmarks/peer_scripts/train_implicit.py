"""implicit's alternating least squares, batches of recommendations and neighbours."""

import time

import numpy as np
from implicit.cpu.als import AlternatingLeastSquares
from implicit.nearest_neighbours import CosineRecommender

from serving import serve


def prepare(left, right, train, held):
    warm = {}

    def sweep(factors, exact, threads):
        """What `fit` does in an iteration, from the same factors every time."""
        if factors not in warm:
            model = AlternatingLeastSquares(factors=factors, iterations=2, num_threads=threads, random_state=0)
            model.fit(train, show_progress=False)
            warm[factors] = model.user_factors, model.item_factors, train.T.tocsr()
        users, items, by_item = (array.copy() for array in warm[factors])
        model = AlternatingLeastSquares(factors=factors, use_cg=not exact, num_threads=threads)

        def run():
            model.solver(train, users, items, model.regularization, num_threads=threads)
            model.solver(by_item, items, users, model.regularization, num_threads=threads)

        return run

    def fit(factors, sweeps, threads, out=None, **given):
        """Seconds until the end of each sweep."""

        def run():
            seconds, saving, start = [], 0.0, time.perf_counter()

            def after(sweep, *_):
                nonlocal saving
                now = time.perf_counter()
                seconds.append(now - start - saving)
                if out is not None:
                    np.savez(f"{out}-{sweep}.npz", left=model.user_factors, right=model.item_factors)
                saving += time.perf_counter() - now

            common = {"factors": factors, "iterations": sweeps, "num_threads": threads, "random_state": 0}
            model = AlternatingLeastSquares(**common, **given)
            model.fit(train, show_progress=False, callback=after)
            return seconds

        return run

    def recommend(batch, threads):
        model = AlternatingLeastSquares(factors=left.shape[1], num_threads=threads)
        model.user_factors, model.item_factors = left, right
        users = np.arange(len(left))
        batches = [users[first : first + batch] for first in range(0, len(users), batch)]

        def run():
            found = [model.recommend(some, train if len(some) == len(users) else train[some], N=10) for some in batches]
            return found[0][0][:100].tolist()

        return run

    def neighbours(count, threads):
        return lambda: CosineRecommender(K=count, num_threads=threads).fit(train, show_progress=False)

    tasks = {"sweep": sweep, "fit": fit, "recommend": recommend, "neighbours": neighbours}
    return lambda task, **options: tasks[task](**options)


if __name__ == "__main__":
    serve(prepare)
