"""RePlay's metrics of a polars table of recommendations."""

import polars as pl
from judging import judge, with_scores
from replay.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, RocAuc


def measure(lists, k):
    made = [
        (at, i, float(s))
        for at, (row, score) in enumerate(with_scores(lists))
        for i, s in zip(row or [], score, strict=True)
    ]
    held = [(at, item) for at, row in enumerate(lists["relevant"]) for item in row]
    recommended = pl.DataFrame(made, schema=["query_id", "item_id", "rating"], orient="row")
    truth = pl.DataFrame(held, schema=["query_id", "item_id"], orient="row")
    found = {}
    for make in (Precision, Recall, HitRate, MRR, MAP, NDCG, RocAuc):
        found |= make(k)(recommended, truth)
    return found


if __name__ == "__main__":
    judge("replay-rec", measure)
