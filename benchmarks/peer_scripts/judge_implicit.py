"""implicit's ranking metrics, of an object that recommends given lists."""

import numpy as np
from implicit.evaluation import ranking_metrics_at_k
from judging import judge
from scipy.sparse import csr_matrix


class Lister:
    def __init__(self, rows):
        self.rows = rows

    def recommend(self, userid, user_items, N=10, **ignored):  # noqa: N803
        ids = np.full((len(userid), N), -1, dtype=np.int32)
        for at, user in enumerate(userid):
            row = (self.rows[user] or [])[:N]
            ids[at, : len(row)] = row
        return ids, np.zeros(ids.shape, dtype=np.float32)


def matrix(rows, values, items):
    user = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    item = np.concatenate(rows).astype(np.int32)
    return csr_matrix((np.concatenate(values), (user.astype(np.int32), item)), shape=(len(rows), items))


def measure(lists, k):
    rows, extra = lists["listed"] + lists["extra"], [[] for _ in lists["extra"]]
    values = (lists["grade"] or [[1.0] * len(row) for row in lists["relevant"]]) + extra
    held = matrix(lists["relevant"] + extra, values, lists["catalogue"])
    train = matrix(lists["seen"] + extra, [[1.0] * len(row) for row in lists["seen"] + extra], lists["catalogue"])
    found = ranking_metrics_at_k(Lister(rows), train, held, K=k, show_progress=False, num_threads=1)
    return {f"{name}@{k}": found[name] for name in ("precision", "map", "ndcg", "auc")}


if __name__ == "__main__":
    judge("implicit", measure)
