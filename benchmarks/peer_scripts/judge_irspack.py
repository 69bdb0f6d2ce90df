"""irspack's evaluator, given scores: those of the lists, and minus infinity for what is not listed."""

import numpy as np
from irspack import BaseRecommender, Evaluator
from judging import judge, with_scores
from scipy.sparse import csr_matrix


class Given(BaseRecommender, register_class=False):
    def __init__(self, train, scores):
        super().__init__(train)
        self.scores = scores

    def _learn(self):
        pass

    def get_score(self, user_indices):
        return self.scores[user_indices].copy()

    def get_score_block(self, begin, end):
        return self.scores[begin:end].copy()


def matrix(rows, items):
    user = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    item = np.concatenate(rows).astype(int)
    return csr_matrix((np.ones(len(item)), (user, item)), shape=(len(rows), items))


def measure(lists, k):
    extra = [[] for _ in lists["extra"]]
    rows = with_scores(lists)
    scores = np.full((len(rows), lists["catalogue"]), -np.inf)
    for at, (row, values) in enumerate(rows):
        for item, value in zip(row or [], values, strict=True):
            if item < lists["catalogue"]:
                scores[at, item] = max(scores[at, item], value)
    train = matrix(lists["seen"] + extra, lists["catalogue"])
    held = matrix(lists["relevant"] + extra, lists["catalogue"])
    found = Evaluator(held, cutoff=k, n_threads=1).get_score(Given(train, scores).learn())
    return {f"{name}@{k}": found[name] for name in ("hit", "recall", "ndcg", "map", "precision")}


if __name__ == "__main__":
    judge("irspack", measure)
