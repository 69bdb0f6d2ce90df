"""implicit's list for one user, of an ALS model with given factors."""

from implicit.cpu.als import AlternatingLeastSquares

from serving import serve


def prepare(left, right, train, held):
    model = AlternatingLeastSquares(factors=left.shape[1])
    model.user_factors, model.item_factors = left, right

    def ready(user):
        def run():
            items, _ = model.recommend(user, train[user], N=10)
            return {"items": items.tolist()}

        return run

    return ready


if __name__ == "__main__":
    serve(prepare)
