"""Answers that do not belong together, or that depend on earlier calls: what is said of them."""

import numpy as np
import pytest

from nmfcheck import check
from nmfcheck.diagnosis import Cause, Finding
from nmfcheck.diagnosis.order import with_symptoms
from test_true_sentences import first
from zoo import descend

DIFFERS = Finding(Cause.HARD, "two answers")
NAN = Finding(Cause.HARD, "NaN")
CUT = Finding(Cause.THRESHOLD, "a threshold")
RANDOM = Finding(Cause.RANDOM, "it is random")

KEEPS_ITS_START = """
import numpy as np
STARTS = {}
def keeps_its_start(A, rank, *, seed):
    if (A.shape, rank, seed) not in STARTS:
        rng = np.random.default_rng(seed)
        STARTS[A.shape, rank, seed] = rng.random((len(A), rank)), rng.random((rank, A.shape[1]))
    W, H = STARTS[A.shape, rank, seed]
    for _ in range(5):
        H *= (W.T @ A) / (W.T @ W @ H + 1e-300)
        W *= (A @ H.T) / (W @ (H @ H.T) + 1e-300)
    return W, H
"""


def test_two_answers_are_told_before_what_answers_seem_to_show():
    told = with_symptoms([CUT, RANDOM], [NAN], differs=[DIFFERS])
    assert told == [RANDOM, DIFFERS, CUT, NAN]


def test_factors_of_different_runs_do_not_belong_together():
    def keeps_the_best_w_and_the_last_h(A, rank, *, seed):
        rng = np.random.default_rng(seed)
        runs = []
        for _ in range(3):
            W, H = descend(A, rng.random((len(A), rank)), rng.random((rank, A.shape[1])))
            runs.append((float(abs(A - W @ H).max()), W, H))
        return min(runs, key=lambda run: run[0])[1], runs[-1][2]

    finding = first(keeps_the_best_w_and_the_last_h, "mixed", trials=12)
    assert (finding.cause, finding.certain) == (Cause.APART, True), finding.sentence
    assert "They may come from different runs" in finding.sentence


def test_a_component_whose_partner_is_zero_is_not_left_out():
    def drops_the_last_entry_of_each_row(A, rank, *, W0, H0):
        A = A.copy()
        for row in A:
            row[np.flatnonzero(row)[-1:]] = 0.0
        return descend(A, W0, H0)

    finding = first(drops_the_last_entry_of_each_row, "bidiagonal", trials=12)
    assert finding.cause is not Cause.UNMOVED, finding.sentence


@pytest.mark.slow
def test_what_is_kept_from_one_call_to_the_next_explains_all_else(tmp_path):
    path = tmp_path / "subjects.py"
    path.write_text(KEEPS_ITS_START)
    report = check(f"py:{path}:keeps_its_start", families=["bidiagonal"], trials=12, jobs=1)
    causes = [f.cause for f in report.findings if f.cause not in (Cause.NORMAL, Cause.INEXACT)]
    assert causes[0] in (Cause.HARD, Cause.REMEMBERS)
    assert "something is kept from one call to the next" in report.findings[0].sentence.lower()
    assert not {Cause.THRESHOLD, Cause.EARLY, Cause.LOCKED} & set(causes)
