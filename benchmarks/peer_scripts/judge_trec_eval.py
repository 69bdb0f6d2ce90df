"""trec_eval's measures of a run, by pytrec_eval; the mean is its own too, over whom it answers for."""

import pytrec_eval
from judging import grades_of, judge, with_scores

NAMES = ("P", "recall", "success", "map_cut", "ndcg_cut")


def measure(lists, k):
    lines = [
        f"{at:03} Q0 {i:04} 0 {s!r} x"
        for at, (row, score) in enumerate(with_scores(lists))
        for i, s in zip(row or [], score, strict=True)
    ]
    run = pytrec_eval.parse_run(lines)
    pairs = enumerate(zip(lists["relevant"], grades_of(lists), strict=True))
    qrels = {
        f"{at:03}": {f"{item:04}": grade for item, grade in zip(row, grades, strict=True)}
        for at, (row, grades) in pairs
    }
    wanted = {f"{name}.{k}" for name in NAMES} | {"recip_rank", "map", "ndcg"}
    found = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
    names = next(iter(found.values()))
    mean = pytrec_eval.compute_aggregated_measure
    return {name: mean(name, [values[name] for values in found.values()]) for name in names}


if __name__ == "__main__":
    judge("pytrec_eval-terrier", measure)
