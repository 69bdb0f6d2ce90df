"""ranx's measures of a run; people without a list by its own option `make_comparable`."""

import pandas as pd
from judging import grades_of, judge, with_scores
from ranx import Qrels, Run, evaluate

NAMES = ("precision", "recall", "hit_rate", "mrr", "map", "ndcg", "ndcg_burges")


def measure(lists, k):
    run = [
        (f"{at:03}", f"{i:04}", float(s))
        for at, (row, score) in enumerate(with_scores(lists))
        for i, s in zip(row or [], score, strict=True)
    ]
    table = pd.DataFrame(run, columns=["q_id", "doc_id", "score"]).astype({"q_id": object, "doc_id": object})
    pairs = enumerate(zip(lists["relevant"], grades_of(lists), strict=True))
    qrels = {
        f"{at:03}": {f"{item:04}": grade for item, grade in zip(row, grades, strict=True)}
        for at, (row, grades) in pairs
    }
    names = [f"{name}@{k}" for name in NAMES]
    return evaluate(Qrels(qrels), Run.from_df(table), names, make_comparable=True)


if __name__ == "__main__":
    judge("ranx", measure)
