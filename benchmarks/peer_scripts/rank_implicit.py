"""implicit's ranking metrics, of an ALS model with given factors."""

from implicit.cpu.als import AlternatingLeastSquares
from implicit.evaluation import ranking_metrics_at_k

from serving import serve


def prepare(left, right, train, held):
    def ready(threads):
        model = AlternatingLeastSquares(factors=left.shape[1], num_threads=threads)
        model.user_factors, model.item_factors = left, right
        return lambda: ranking_metrics_at_k(model, train, held, K=10, show_progress=False, num_threads=threads)

    return ready


if __name__ == "__main__":
    serve(prepare)
