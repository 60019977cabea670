"""Of each NMF for another objective in the zoo, the right thing must be said."""

from dataclasses import replace

import numpy as np
import pytest

from kl_zoo import ZOO
from nmfcheck import check
from nmfcheck.diagnosis import Cause
from nmfcheck.trials import suites
from nmfcheck.verdict.decision import Decision

TRIALS = 20
CELLS = (
    "n=3/loguniform", "5x4/k=2/dyadic", "6x5/k=2/zeros", "6x8/k=3/dyadic",
    "k=3/alpha=0.25/extra=0x4/dyadic", "4x3/dyadic", "3x4/dyadic", "4x3/one", "4x3/tiny",
)  # fmt: skip
"""Of the quick suite, to save time."""

USUAL = (Cause.NORMAL, Cause.INEXACT)
FAST = (
    "multiplies_for_itakura_saito", "minimises_frobenius", "has_the_wrong_exponent",
    "minimises_kullback_leibler_for_itakura_saito", "multiplies_20_times",
)  # fmt: skip
"""These are looked at in every run of the tests, the others where there is time."""


def suite_for(objective):
    """Return some cells of the quick suite."""
    whole = suites.find("quick", objective)
    parts = (
        replace(part, cells={c: TRIALS for c in part.cells if c.name.removesuffix(f"/{c.suffix}")
                             in CELLS and not c.warm})
        for part in whole.parts
    )  # fmt: skip
    return replace(whole, parts=tuple(part for part in parts if part.cells))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in FAST)) for n in ZOO]
)
def test_what_is_said_of_it(name):
    kept = ZOO[name]
    with np.errstate(all="ignore"):
        report = check(kept.function, suite_for(kept.objective), isolate=False, whole=True)
    failing = {e.family for e in report.verdict.families if e.test.decision is Decision.FAIL}
    assert (report.decision is Decision.FAIL) == (kept.decision is Decision.FAIL), str(report)
    if kept.failing is not None:
        assert failing == kept.failing, str(report)
    causes = {f.cause for f in report.findings if f.cause not in USUAL}
    if kept.cause is None:
        assert causes <= {Cause.COLLAPSES, Cause.LAW_ASIDE}, report.findings
    else:
        assert kept.cause in causes, report.findings


def test_a_loss_that_nobody_said_is_named():
    kept = ZOO["minimises_kullback_leibler"]
    with np.errstate(all="ignore"):
        suite = suite_for("frobenius").selected(families=["rank-one"])
        report = check(kept.function, suite, isolate=False)
    assert report.findings[0].sentence.startswith(
        "This looks like kl: its answers are stationary for the Kullback–Leibler divergence"
    )
    assert report.findings[0].sentence.endswith("run it with --objective kl.")
