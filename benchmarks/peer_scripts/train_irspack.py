"""irspack's implicit alternating least squares."""

import time

import numpy as np
from irspack import IALSRecommender

from serving import serve


def prepare(left, right, train, held):
    warm = {}

    def recommender(factors, threads, **given):
        return IALSRecommender(train, n_components=factors, n_threads=threads, **given)

    def sweep(factors, exact, threads):
        """One epoch, from the same factors every time."""
        if factors not in warm:
            model = started(factors, threads, "CG")
            for _ in range(2):
                model.run_epoch()
            core = model.trainer.core_trainer
            both = {False: model, True: started(factors, threads, "CHOLESKY")}
            warm[factors] = both, core.user.copy(), core.item.copy()
        models, users, items = warm[factors]
        core = models[exact].trainer.core_trainer
        core.user, core.item = users, items
        return models[exact].run_epoch

    def started(factors, threads, solver):
        model = recommender(factors, threads, alpha0=0.1, reg=0.003, solver_type=solver)
        model.start_learning()
        return model

    def fit(factors, sweeps, threads, out=None, **given):
        """Seconds until the end of each sweep."""

        def run():
            seconds, saving, start = [], 0.0, time.perf_counter()
            model = recommender(factors, threads, **given)
            model.start_learning()
            for sweep in range(sweeps):
                model.run_epoch()
                now = time.perf_counter()
                seconds.append(now - start - saving)
                if out is not None:
                    np.savez(f"{out}-{sweep}.npz", left=model.get_user_embedding(), right=model.get_item_embedding())
                saving += time.perf_counter() - now
            return seconds

        return run

    tasks = {"sweep": sweep, "fit": fit}
    return lambda task, **options: tasks[task](**options)


if __name__ == "__main__":
    serve(prepare)
