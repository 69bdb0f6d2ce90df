"""Surprise's SVD++, whose fit of one epoch less one of none is an epoch. It has one thread.

It goes through the ratings one by one, and each moves the vectors of all items of its user.
"""

from collections import defaultdict

from surprise import SVDpp, Trainset

from serving import serve


def prepare(left, right, train, held):
    pairs = train.tocoo()
    by_user, by_item = defaultdict(list), defaultdict(list)
    for user, item, value in zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist(), strict=True):
        by_user[user].append((item, value))
        by_item[item].append((user, value))
    ids = dict(enumerate(range(train.shape[0]))), dict(enumerate(range(train.shape[1])))
    ratings = Trainset(by_user, by_item, *train.shape, train.nnz, (1, 5), *ids)

    def fit(factors, epochs):
        model = SVDpp(n_factors=factors, n_epochs=epochs, cache_ratings=True, random_state=0)  # the faster way
        return lambda: model.fit(ratings) and None

    return fit


if __name__ == "__main__":
    serve(prepare)
