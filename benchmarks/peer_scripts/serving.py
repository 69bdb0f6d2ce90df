"""A worker's side of the line: requests name a file and options, answers give wall and CPU seconds and metrics.

Runs in a peer's environment, which has NumPy and SciPy but not fullrank.
"""

import json
import os
import sys
import time

import numpy as np
from scipy.sparse import csr_matrix


def serve(prepare):
    """Answer until the line is cut; prepare(left, right, train, held) gives a function of the options."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    problems = {}
    for line in sys.stdin:
        options = json.loads(line)
        path = options.pop("data")
        if path not in problems:
            problems[path] = prepare(*read(path))
        run = problems[path](**options)
        cpu, start = time.process_time(), time.perf_counter()
        metrics = run()
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        print(json.dumps({"seconds": seconds, "cpu": cpu, "metrics": metrics}), file=answers, flush=True)


def read(path):
    with np.load(path) as file:
        left, right = file["left"], file["right"]
        shape = len(left), len(right)
        train, held = (matrix(file, part, shape) for part in ("train", "held"))
    return left, right, train, held


def matrix(file, part, shape):
    """Values where the file has some, else ones."""
    user, item = file[f"{part}_user"], file[f"{part}_item"]
    name = f"{part}_value"
    value = file[name] if name in file else np.ones(len(user), dtype=np.float32)
    return csr_matrix((value, (user, item)), shape=shape)
