"""LensKit's metrics of lists, by its RunAnalysis, with its defaults."""

from judging import grades_of, judge, with_scores
from lenskit.data import ItemList, ItemListCollection
from lenskit.metrics import NDCG, Hit, Precision, Recall, RecipRank, RunAnalysis
from lenskit.metrics.ranking import AveragePrecision

METRICS = (Precision, Recall, Hit, RecipRank, AveragePrecision, NDCG)


def measure(lists, k):
    made = ItemListCollection(["user_id"])
    for at, (row, score) in enumerate(with_scores(lists)):
        if row:
            made.add(ItemList(item_ids=row, scores=list(score), ordered=True), user_id=at)
    held = ItemListCollection(["user_id"])
    for at, (row, grade) in enumerate(zip(lists["relevant"], grades_of(lists), strict=True)):
        held.add(ItemList(item_ids=row, rating=[float(value) for value in grade]), user_id=at)
    return {metric.label: value_of(metric, made, held) for metric in (make(n=k) for make in METRICS)}


def value_of(metric, made, held):
    """Each by itself, so that an error of one is not one of all."""
    try:
        return RunAnalysis(metric).measure(made, held).list_summary()["mean"][metric.label]
    except Exception as error:
        return error


if __name__ == "__main__":
    judge("lenskit", measure)
