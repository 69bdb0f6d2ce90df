"""irspack's evaluator, given scores from factors."""

from irspack import BaseRecommender, Evaluator

from serving import serve


class Product(BaseRecommender, register_class=False):
    def __init__(self, train, left, right):
        super().__init__(train)
        self.left, self.right = left, right

    def _learn(self):
        pass

    def get_score(self, user_indices):
        return self.left[user_indices] @ self.right.T

    def get_score_block(self, begin, end):
        return self.left[begin:end] @ self.right.T


def prepare(left, right, train, held):
    model, evaluators = Product(train, left, right), {}

    def ready(mb_size, threads):
        if mb_size not in evaluators:
            evaluators[mb_size] = Evaluator(held, cutoff=10, n_threads=threads, mb_size=mb_size)
        return lambda: evaluators[mb_size].get_score(model)

    return ready


if __name__ == "__main__":
    serve(prepare)
