"""OmniRec's ranking metrics of a table of predictions."""

import pandas as pd
from judging import judge, with_scores
from omnirec.metrics.ranking import HR, NDCG, Precision, Recall


def measure(lists, k):
    made = [
        (at, item, float(score), rank)
        for at, (row, scores) in enumerate(with_scores(lists))
        for rank, (item, score) in enumerate(zip(row or [], scores, strict=True), 1)
    ]
    predictions = pd.DataFrame(made, columns=["user", "item", "score", "rank"])
    test = pd.DataFrame([(at, i) for at, row in enumerate(lists["relevant"]) for i in row], columns=["user", "item"])
    found = (make(k).calculate(predictions, test) for make in (HR, Recall, Precision, NDCG))
    return {f"{result.name}@{k}": result.result[k] for result in found}


if __name__ == "__main__":
    judge("omnirec", measure)
