"""RecTools' metrics of a table of recommendations with ranks, with its defaults."""

import pandas as pd
from judging import grades_of, judge
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics


def measure(lists, k):
    rows = lists["listed"] + lists["extra"]
    reco = pd.DataFrame(
        [(at, item, rank) for at, row in enumerate(rows) for rank, item in enumerate(row or [], 1)],
        columns=[Columns.User, Columns.Item, Columns.Rank],
    )
    pairs = enumerate(zip(lists["relevant"], grades_of(lists), strict=True))
    held = pd.DataFrame(
        [(at, item, grade) for at, (row, grades) in pairs for item, grade in zip(row, grades, strict=True)],
        columns=[Columns.User, Columns.Item, Columns.Weight],
    )
    names = {"precision": Precision, "recall": Recall, "hit_rate": HitRate, "map": MAP, "ndcg": NDCG, "mrr": MRR}
    return calc_metrics({f"{name}@{k}": make(k=k) for name, make in names.items()}, reco=reco, interactions=held)


if __name__ == "__main__":
    judge("rectools", measure)
