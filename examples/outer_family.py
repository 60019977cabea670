"""A case family in one file: A = u·vᵀ with positive u and v, of which W·H must be exactly A.

Registered through an entry point, `nmfcheck run SUBJECT --family outer` runs it:

    [project.entry-points."nmfcheck.families"]
    outer = "outer_family:FAMILY"
"""

import re

import numpy as np

from nmfcheck.errors import InputError
from nmfcheck.families import Ask, Case, Cell, Family
from nmfcheck.judging.judgement import Judgement
from nmfcheck.judging.measures import balance, clipped_factors, product_defect, validity
from nmfcheck.judging.objectives import FROBENIUS
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.judging.sentences import invalid_entry, product_miss
from nmfcheck.judging.tolerances import TOLERANCE


class Outer(Family):
    """Matrices of rank one."""

    name = "outer"
    summary = "rank one: A = u·vᵀ, of which W·H must be exactly A"
    headings = ("shape", "entries")
    example = "outer/6x4/uniform#7/seed=7"
    asks = (Ask("whole", "exact"),)
    required = 0.95  # of the trials of each cell; None would ask for a baseline

    def cells(self, suite):
        """Return each cell of a suite with its number of trials."""
        shapes = ["6x4", "3x8"] if suite == "quick" else ["6x4", "3x8", "20x30"]
        return {self.cell(f"{shape}/uniform"): 100 for shape in shapes}

    def cell(self, name):
        """Return the cell of a name such as ``6x4/uniform``."""
        match = re.fullmatch(r"([1-9]\d{0,2})x([1-9]\d{0,2})/uniform", name)
        if match is None:
            raise InputError(f"no cell {name!r} of outer; expected one such as '6x4/uniform'")
        m, n = int(match[1]), int(match[2])
        return Cell("outer", name, m, n, 1, columns=(f"{m}×{n}", "uniform"))

    def case(self, trial, ask):
        """Return A of a draw."""
        m, n = trial.cell.m, trial.cell.n
        rng = np.random.Generator(np.random.PCG64([m, n, trial.draw]))
        u, v = rng.uniform(0.5, 2, m), rng.uniform(0.5, 2, n)
        return Case(self.case_id(trial, ask), np.outer(u, v), rank=1)

    def judge(self, cases, W, H):
        """Judge a batch: the product is all there is to know."""
        unit = np.array([case.A.max() for case in cases])
        A = np.stack([case.A for case in cases]) / unit[:, None, None]
        valid, clipped = validity(W, H, unit)
        X, Y = balance(*clipped_factors(W, H, valid), unit)  # in units of A, however W is scaled
        defect = product_defect(A, X, Y)
        kkt = FROBENIUS.kkt_residual(A, X, Y)
        judgements = []
        for i in range(len(cases)):
            if not valid[i]:
                judgements.append(Judgement(Outcome.INVALID, invalid_entry(W[i], H[i])))
                continue
            outcome = Outcome.EXACT if defect[i] <= TOLERANCE.exact else Outcome.UNCONVERGED
            sentence = f"{product_miss(A[i] - X[i] @ Y[i])}."
            measures = {"product_defect": float(defect[i]), "kkt_residual": float(kkt[i])}
            judgements.append(Judgement(outcome, sentence, measures, clipped=bool(clipped[i])))
        return judgements


FAMILY = Outer()
