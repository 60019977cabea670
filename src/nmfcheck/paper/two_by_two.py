"""n = 2: equations (9) and (11), for many ε."""

from __future__ import annotations

import numpy as np

from ..families.bidiagonal.cases import KINDS_OF_ENTRIES, LOGUNIFORM, ONES
from ..intervals import Share, holm
from ..text import decimal
from .drawing import panels, share_curve, towards_zero
from .plan import ALGORITHMS, LADDER, NENMF
from .rules import all_of, differ, in_words, share
from .section import LEVEL, Claim, Drawing, Evidence, Section, Table, graded

PAPERS_RUNS = Share(1000, 1000)


def section(evidence: Evidence) -> Section:
    """Return how often the runs have the form of (9) and (11)."""
    shares, rows = {}, []
    for algorithm in (*ALGORITHMS, NENMF):
        for entries in KINDS_OF_ENTRIES:
            for eps in LADDER:
                runs = evidence.runs(algorithm, 2, entries, eps)
                formed, exact = share(runs.formed), share(runs.exact)
                shares[algorithm, entries, eps] = formed
                defects = [
                    np.max(defect, where=runs.formed, initial=0.0)
                    for defect in (runs.judged.form_defect, runs.judged.product_defect)
                ]
                rows.append((algorithm, entries, eps, formed.whole, formed.part, *formed.interval,
                             exact.part, *defects))  # fmt: skip
    columns = ("algorithm", "entries", "eps", "runs", "formed", "low", "high", "exact",
               "largest form defect", "largest product defect")  # fmt: skip
    return Section(
        "Two by two",
        "Up to permutation, a factorization has the form of (9), or of (11) for any entries, "
        "if its entries off the pattern and its product's distance from A are below O(ε²): "
        "here 2·max(e)²/(min a0·max a0), and the largest that occurred is in the table.",
        (_ones(shares), _random(shares, _onto_the_larger(evidence))),
        (Table("two-by-two", columns, rows),),
        (_drawing(shares),),
    )


def _ones(shares: dict[tuple[str, str, float], Share]) -> Claim:
    papers = {k: counted for k, counted in shares.items() if k[0] in ALGORITHMS and k[1] == ONES}
    whole = all(counted.part == counted.whole for counted in papers.values())
    unlike = any(holm([differ(counted, PAPERS_RUNS) for counted in papers.values()], LEVEL))
    a, _, eps = min(papers, key=lambda key: papers[key].value)
    return Claim(
        "form-9",
        "Section III, equation (9)",
        "For a0 = [1 1], a1 = [1], all three algorithms give solutions of the form (9), 1000 times "
        "of 1000, for each of several values of ε.",
        "Reproduced if all runs have the form, for every algorithm and ε; with a correction if no "
        "share can be told from 1000 of 1000 (Fisher's exact test, Holm's method, 1 %).",
        graded(whole=whole, part=not unlike),
        f"{len(LADDER)} values of ε from {decimal(LADDER[0])} to {decimal(LADDER[-1])}: the least "
        f"share is {in_words(papers[a, ONES, eps])}, {a} at ε = {decimal(eps)}.",
    )


def _random(shares: dict[tuple[str, str, float], Share], onto_the_larger: Share) -> Claim:
    papers = {
        k: counted for k, counted in shares.items() if k[0] in ALGORITHMS and k[1] == LOGUNIFORM
    }
    whole = all(counted.part == counted.whole for counted in papers.values())
    half = all_of(counted.is_above(0.5) for counted in papers.values())
    worst = {
        a: min(LADDER, key=lambda eps, a=a: papers[a, LOGUNIFORM, eps].value)  # type: ignore[misc]
        for a in ALGORITHMS
    }
    listed = "; ".join(
        f"{a} {in_words(papers[a, LOGUNIFORM, eps])} at ε = {decimal(eps)}"
        for a, eps in worst.items()
    )
    return Claim(
        "form-11",
        "Section III, equation (11)",
        "With other entries of order 1 the algorithms all satisfy (11), up to permutation.",
        "Reproduced if all runs have the form, for every algorithm and ε, with entries log-uniform "
        "in [0.5, 2]; with a correction if more than half do (one-sided 95 % bound) everywhere.",
        graded(whole=whole, part=half),
        f"The least shares: {listed}. At ε = {decimal(LADDER[-1])}, {onto_the_larger.part} of the "
        f"{onto_the_larger.whole} runs without the form have collapsed onto the larger of a0(1) "
        "and a0(2): both components explain it, and nothing the smaller one.",
    )


def _onto_the_larger(evidence: Evidence) -> Share:
    """Count the runs without the form that explain the larger of a0(1), a0(2) alone."""
    counted = Share(0, 0)
    for algorithm in ALGORITHMS:
        runs = evidence.runs(algorithm, 2, LOGUNIFORM, LADDER[-1])
        explained = runs.judged.explained.sum(axis=2) > 0.5
        larger = np.array([case.a0 == case.a0.max() for case in runs.cases])
        counted += share((explained == larger).all(axis=1)[~runs.formed])
    return counted


def _drawing(shares: dict[tuple[str, str, float], Share]) -> Drawing:
    figure, axes = panels(2, sharey=True)
    for each, entries in zip(axes, KINDS_OF_ENTRIES, strict=True):
        for algorithm in ALGORITHMS:
            curve = [shares[algorithm, entries, eps] for eps in LADDER]
            share_curve(each, LADDER, curve, algorithm, log=True)
        each.set(title=f"entries {entries}", ylim=(0, 1.03))
        towards_zero(each)
    axes[0].set_ylabel("runs of the form (9) or (11)")
    axes[0].legend(loc="lower left", fontsize=8)
    return Drawing(
        "two-by-two",
        figure,
        "Share of runs at n = 2 that have the form of (9), left, and of (11), right, against ε.",
    )
