"""Diagonal matrices (ε = 0): how often W and H are monomial."""

from __future__ import annotations

from ..families.bidiagonal.cases import KINDS_OF_ENTRIES, ONES
from ..intervals import Share
from ..judging.outcomes import Outcome
from .drawing import NAMES, panels, share_curve
from .plan import ALGORITHMS, RANDOM_SIZES, SIZES
from .rules import all_of, in_words, share
from .section import Claim, Drawing, Evidence, Section, Table, graded

RECOMMENDED = 8
"""The paper recommends sizes up to this one."""


def section(evidence: Evidence) -> Section:
    """Return the shares of monomial solutions."""
    counts, rows, others = {}, [], Share(0, 0)
    for algorithm in ALGORITHMS:
        for entries in KINDS_OF_ENTRIES:
            for n in SIZES if entries == ONES else RANDOM_SIZES:
                runs = evidence.runs(algorithm, n, entries, 0.0)
                monomial = counts[algorithm, entries, n] = share(runs.exact)
                collapsed = share(runs.judged.outcome == Outcome.COLLAPSED)
                if entries == ONES:
                    others += share(runs.judged.outcome[~runs.exact] == Outcome.COLLAPSED)
                rows.append(
                    (algorithm, entries, n, monomial.whole, monomial.part, *monomial.interval,
                     collapsed.part, *collapsed.interval)
                )  # fmt: skip
    ones = {key: counted for key, counted in counts.items() if key[1] == ONES}
    whole = all(counted.part == counted.whole for counted in ones.values())
    half = all_of(c.is_above(0.5) for (_, _, n), c in ones.items() if n <= RECOMMENDED)
    largest = {a: ones[a, ONES, RECOMMENDED] for a in ALGORITHMS}
    random = {a: counts[a, KINDS_OF_ENTRIES[1], RECOMMENDED] for a in ALGORITHMS}
    listed = "; ".join(
        f"Algorithm {NAMES[a]} {in_words(largest[a])}, with random entries {in_words(random[a])}"
        for a in ALGORITHMS
    )
    claim = Claim(
        "monomial",
        "Section II",
        "Given a diagonal A, all three algorithms find monomial W and H.",
        "Reproduced if every run with a0 ≡ 1, n = 2..20, is monomial with WH = A to 1e-10; with a "
        "correction if that holds for more than half of them (one-sided 95 % bound) for every "
        f"algorithm and n ≤ {RECOMMENDED}.",
        graded(whole=whole, part=half),
        f"Monomial at n = {RECOMMENDED}: {listed}. Of the {others.whole} runs with a0 ≡ 1, all n, "
        f"that are not monomial, {others.part} have collapsed.",
    )
    figure, axes = panels(2, sharey=True)
    for each, entries in zip(axes, KINDS_OF_ENTRIES, strict=True):
        sizes = SIZES if entries == ONES else RANDOM_SIZES
        for algorithm in ALGORITHMS:
            shares = [counts[algorithm, entries, n] for n in sizes]
            share_curve(each, sizes, shares, algorithm)
        each.set(title=f"entries {entries}", xlabel="n", ylim=(0, 1.03))
    axes[0].set_ylabel("monomial at ε = 0")
    axes[0].legend(loc="lower left", fontsize=8)
    drawing = Drawing(
        "monomial",
        figure,
        "Share of runs at ε = 0 that end at monomial W and H, against n, with 95 % intervals.",
    )
    columns = ("algorithm", "entries", "n", "runs", "monomial", "low", "high",
               "collapsed", "collapsed low", "collapsed high")  # fmt: skip
    return Section(
        "Diagonal matrices",
        "With ε = 0 the only exact factorizations are monomial: n! permutations and a scale for "
        "each component.",
        (claim,),
        (Table("monomial", columns, rows),),
        (drawing,),
    )
