"""A program that keeps to nmfcheck's command protocol: cmd:"python3 examples/nmf.py".

It reads one JSON object a line, {"id", "A", "rank", "W0", "H0", "seed"}, and answers each with a
line {"id", "W", "H"}. Anything that is not an answer goes to standard error.
"""

import json
import sys

import numpy as np

ITERATIONS = 2000


def factorize(A, W, H):
    """Run cyclic coordinate descent (HALS) from W, H."""
    for _ in range(ITERATIONS):
        H = descend(A, W, H)
        W = descend(A.T, H.T, W.T).T
    return W, H


def descend(A, W, H):
    """Minimise ‖A − WH‖ over one row of H after the other, keeping it nonnegative."""
    gram, target = W.T @ W, W.T @ A
    for k in range(len(H)):
        if gram[k, k] > 0:
            H[k] = np.maximum(H[k] + (target[k] - gram[k] @ H) / gram[k, k], 0)
    return H


for line in sys.stdin:
    request = json.loads(line)
    try:
        A, W0, H0 = (np.array(request[name]) for name in ("A", "W0", "H0"))
        W, H = factorize(A, W0, H0)
        answer = {"id": request["id"], "W": W.tolist(), "H": H.tolist()}
    except Exception as error:
        answer = {"id": request["id"], "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
