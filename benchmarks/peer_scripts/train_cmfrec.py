"""cmfrec's implicit alternating least squares, which tells nothing before it is done."""

import time

import numpy as np
from cmfrec import CMF_implicit

from serving import serve


def prepare(left, right, train, held):
    pairs = train.tocoo()  # the form it recommends for speed

    def fitted(factors, sweeps, threads, **given):
        model = CMF_implicit(k=factors, niter=sweeps, nthreads=threads, precompute_for_predictions=False, **given)
        return model.fit(pairs)

    def sweep(factors, exact, threads, sweeps):
        """So many sweeps and the set-up: the difference of two such is the time of sweeps alone."""
        return lambda: fitted(factors, sweeps, threads, use_cg=not exact) and None

    def fit(factors, sweeps, threads, out=None, **given):
        """Seconds of a fit of 1, 2, ... sweeps, or without a place for their factors of the last alone."""

        def run():
            seconds = []
            for sweep in range(sweeps) if out is not None else [sweeps - 1]:
                start = time.perf_counter()
                model = fitted(factors, sweep + 1, threads, **given)
                seconds.append(time.perf_counter() - start)
                if out is not None:
                    np.savez(f"{out}-{sweep}.npz", left=model.A_, right=model.B_)
            return seconds

        return run

    tasks = {"sweep": sweep, "fit": fit}
    return lambda task, **options: tasks[task](**options)


if __name__ == "__main__":
    serve(prepare)
