"""RecBole's top-k metrics, of the hits of lists; where lists are shorter than k, the rest are misses.

Its evaluator draws lists from scores by itself; what comes after that is what is asked here.
"""

import numpy as np
import torch
from judging import judge

for name, kind in (("float", float), ("bool", bool)):  # which RecBole 1.2.1 still takes from NumPy
    if not hasattr(np, name):
        setattr(np, name, kind)

from recbole.evaluator.metrics import MAP, MRR, NDCG, Hit, Precision, Recall  # noqa: E402


def measure(lists, k):
    rows = []
    for row, relevant in zip(lists["listed"], lists["relevant"], strict=True):
        hits = [int(item in relevant) for item in (row or [])[:k]]
        rows.append([*hits, *[0] * (k - len(hits)), len(relevant)])
    data = {"rec.topk": torch.tensor(rows)}
    config, found = {"topk": [k], "metric_decimal_place": 17}, {}
    for make in (Hit, MRR, MAP, Recall, NDCG, Precision):
        found |= make(config).calculate_metric(data)
    return found


if __name__ == "__main__":
    judge("recbole", measure)
