"""n = 3: form (12), the four types of Figure 3, and the formulas of the pure types."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..arrays import Array
from ..cases import LOGUNIFORM, ONES
from ..exact import TYPES
from ..intervals import Share, holm
from ..judge import CaseStack
from ..outcomes import Outcome
from .drawing import COLOURS, NAMES, panels
from .plan import ALGORITHMS, MU, SMALL_EPS
from .rules import above, all_of, differ, in_words, share
from .runs import Runs
from .section import LEVEL, Claim, Drawing, Evidence, Section, Status, Table, graded

AS_IN_THE_PAPER = 100
"""So many runs the paper has."""

UNCLEAN = Share(60, 300)
"""About 20 % of the three algorithms' 100 runs each."""

WORDS = {kind: word for word, kind in TYPES.items()}


def section(evidence: Evidence) -> Section:
    """Return the types and the formulas."""
    ones = {a: evidence.runs(a, 3, ONES, SMALL_EPS) for a in ALGORITHMS}
    random = {a: evidence.runs(a, 3, LOGUNIFORM, SMALL_EPS) for a in ALGORITHMS}
    types = {a: _types(runs) for a, runs in ones.items()}
    unclean = {a: share("b" in word for word in _words(runs)) for a, runs in ones.items()}
    return Section(
        "Three by three: form (12) and Figure 3",
        "a0 = [1 1 1], a1 = [1 1], ε = 1e-3. A superdiagonal entry comes from W or from H "
        "alone if the other's share of it is below ε (the paper: entries below O(ε²) are "
        "negligible); a run in which that is so for both is clean. The others are sorted by "
        "the larger share, as in the paper.",
        (
            _form(ones),
            _four(types),
            _most_common(types),
            _unclean(unclean),
            _majority(unclean),
            _similar(ones, random),
            _formulas(ones, random),
        ),
        (_type_table(ones), _formula_table(ones, random)),
        (_drawing(ones),),
    )


def _words(runs: Runs) -> list[str]:
    """Return the words of the runs that have the form."""
    return [str(word) for word in runs.judged.word[runs.formed]]


def _types(runs: Runs, first: int | None = None) -> Counter[str]:
    chosen = runs.judged.type[:first][runs.formed[:first]]
    return Counter({kind: int((chosen == kind).sum()) for kind in WORDS})


def _form(ones: dict[str, Runs]) -> Claim:
    shares = {a: share(runs.formed) for a, runs in ones.items()}
    whole = all(counted.part == counted.whole for counted in shares.values())
    papers = Share(AS_IN_THE_PAPER, AS_IN_THE_PAPER)
    outcomes = [outcome for runs in ones.values() for outcome in runs.judged.outcome[~runs.formed]]
    without = share(outcome == Outcome.COLLAPSED for outcome in outcomes)
    unlike = any(holm([differ(counted, papers) for counted in shares.values()], LEVEL))
    return Claim(
        "form-12",
        "Section III, equation (12)",
        "All three algorithms always give solutions of the form (12).",
        "Reproduced if all runs do, to within 2ε²; with a correction if no algorithm's share "
        "can be told from the paper's 100 of 100 (Fisher's exact test, Holm's method, 1 %).",
        graded(whole=whole, part=not unlike),
        f"{_each(shares)}. Of the {without.whole} runs without the form {without.part} have "
        "collapsed.",
    )


def _each(shares: dict[str, Share]) -> str:
    return "; ".join(f"{a} {in_words(counted)}" for a, counted in shares.items())


def _four(types: dict[str, Counter[str]]) -> Claim:
    there = {a: [kind for kind in WORDS if counts[kind]] for a, counts in types.items()}
    seen = {kind for kinds in there.values() for kind in kinds}
    every = all(len(kinds) == len(WORDS) for kinds in there.values())
    told = "; ".join(
        f"{a} {', '.join(f'{kind} {types[a][kind]}' for kind in WORDS)}" for a in ALGORITHMS
    )
    return Claim(
        "four-types",
        "Section III, Figure 2",
        "There are four types of solutions: I (hh), II (ww), III (hw) and IV (wh).",
        "Reproduced if each algorithm gives all four; with a correction if each is given by some "
        "algorithm.",
        graded(whole=every, part=len(seen) == len(WORDS)),
        f"{told}.",
    )


def _most_common(types: dict[str, Counter[str]]) -> Claim:
    statuses, told = [], []
    for a, counts in types.items():
        (best, number), (second, other) = counts.most_common(2)
        duel = Share(counts["II"], counts["II"] + (other if best == "II" else number))
        low, high = duel.interval
        statuses.append(
            Status.REPRODUCED
            if low > 0.5
            else Status.NOT_REPRODUCED
            if high < 0.5
            else Status.UNDECIDED
        )
        told.append(f"{a}: {best} {number}, {second} {other}")
    return Claim(
        "type-ii",
        "Section III, Figure 3",
        "Type II is the most common in all three algorithms.",
        "Of Type II and the most common other type together, Type II has more than half (95 % "
        "interval), in every algorithm; not reproduced if it has less than half in some.",
        _worst(statuses),
        f"The two most common types: {'; '.join(told)}.",
    )


def _worst(statuses: list[Status]) -> Status:
    order = (Status.NOT_REPRODUCED, Status.UNDECIDED, Status.CORRECTED, Status.REPRODUCED)
    return min(statuses, key=order.index)


def _unclean(unclean: dict[str, Share]) -> Claim:
    whole = sum(unclean.values(), Share(0, 0))
    p = differ(whole, UNCLEAN)
    return Claim(
        "unclean",
        "Section III, before Figure 3",
        "About 20 % of the runs of the three algorithms are not clean.",
        "Reproduced if the share cannot be told from 60 of 300 (Fisher's exact test, 1 %).",
        Status.REPRODUCED if p > LEVEL else Status.NOT_REPRODUCED,
        f"{in_words(whole)}, p = {p:.2g}: {_each(unclean)}. What counts as negligible is only "
        "given as O(ε²), and the share depends on its constant.",
    )


def _majority(unclean: dict[str, Share]) -> Claim:
    of_first = Share(unclean[MU].part, sum(counted.part for counted in unclean.values()))
    low, high = of_first.interval if of_first.whole else (0.0, 1.0)
    return Claim(
        "unclean-majority",
        "Section III, before Figure 3",
        "Most of the runs that are not clean are Algorithm 1's.",
        "Reproduced if more than half are (95 % interval), not reproduced if less than half.",
        Status.REPRODUCED
        if low > 0.5
        else Status.NOT_REPRODUCED
        if high < 0.5
        else Status.UNDECIDED,
        f"{in_words(of_first)} are.",
    )


def _similar(ones: dict[str, Runs], random: dict[str, Runs]) -> Claim:
    shares = {a: (share(ones[a].formed), share(random[a].formed)) for a in ALGORITHMS}
    unlike = holm([differ(*both) for both in shares.values()], LEVEL)
    told = "; ".join(f"{a} {in_words(one)} and {in_words(two)}" for a, (one, two) in shares.items())
    half = all_of(above(two, 0.5) for _, two in shares.values())
    return Claim(
        "other-entries",
        "Section III, after Figure 3",
        "With other entries of order 1 the algorithms behave similarly.",
        "Reproduced if the share of runs of the form (12) is not different with entries "
        "log-uniform in [0.5, 2] (Fisher's exact test, Holm's method, 1 %) in any algorithm; "
        "with a correction if it is, but more than half of the runs still have the form "
        "(one-sided 95 % bound).",
        graded(whole=not any(unlike), part=half),
        f"Of the form, with ones and with random entries: {told}. With random entries more runs "
        "collapse.",
    )


def deviations(runs: Runs, *, general: bool = True) -> Array:
    """Return how far clean superdiagonal entries are from the formula, relative to it.

    `w1(i) = ε·a1(i)/a0(i+1) · w0(i+1)` for a letter w, `h1(i) = ε·a1(i)/a0(i) · h0(i)` for h; not
    `general`: without a1/a0, as the paper prints it.
    """
    W, H = (X[runs.formed] for X in runs.aligned)
    stack, words = CaseStack.of(runs.cases), runs.judged.word[runs.formed]
    e, a0 = stack.e[runs.formed], stack.a0[runs.formed]
    factors = (e / a0[:, 1:], e / a0[:, :-1]) if general else (runs.batch.eps, runs.batch.eps)
    ratios = {
        "w": np.diagonal(W, 1, 1, 2) / (factors[0] * np.diagonal(W, 0, 1, 2)[:, 1:]),
        "h": np.diagonal(H, 1, 1, 2) / (factors[1] * np.diagonal(H, 0, 1, 2)[:, :-1]),
    }
    letters = np.array([list(word) for word in words]).reshape(len(words), -1)
    found = [np.abs(ratios[letter] - 1)[letters == letter] for letter in ratios]
    return np.concatenate(found)


def _formulas(ones: dict[str, Runs], random: dict[str, Runs]) -> Claim:
    top = {a: float(deviations(runs).max(initial=0.0)) for a, runs in ones.items()}
    general = {a: float(deviations(runs).max(initial=0.0)) for a, runs in random.items()}
    printed = max(float(deviations(runs, general=False).max()) for runs in random.values())
    bound = 2 * SMALL_EPS
    return Claim(
        "pure-types",
        "Section III, before Figure 2",
        "Where w1(i) is significant and h1(i) is not, w1(i) is very close to ε·w0(i+1); in the "
        "other case h1(i) to ε·h0(i).",
        "Reproduced if no clean entry is off by more than 2ε of it, with ones; and with random "
        "entries by the general formulas, with the factors a1(i)/a0(i+1) and a1(i)/a0(i).",
        Status.NOT_REPRODUCED
        if max(top.values()) > bound
        else Status.REPRODUCED
        if printed <= bound
        else Status.CORRECTED
        if max(general.values()) <= bound
        else Status.NOT_REPRODUCED,
        f"Largest relative deviation: {_numbers(top)}; with random entries, by the general "
        f"formulas, {_numbers(general)}; as printed, {printed:.2g}.",
    )


def _numbers(values: dict[str, float]) -> str:
    return ", ".join(f"{a} {value:.1g}" for a, value in values.items())


def _type_table(ones: dict[str, Runs]) -> Table:
    rows = []
    for a, runs in ones.items():
        for first in (min(AS_IN_THE_PAPER, len(runs)), len(runs)):
            counts = _types(runs, first)
            formed = int(runs.formed[:first].sum())
            clean = Counter(
                str(t) for t, w, f in zip(runs.judged.type[:first], runs.judged.word[:first],
                                          runs.formed[:first], strict=True) if f and "b" not in w
            )  # fmt: skip
            for kind, word in WORDS.items():
                counted = Share(counts[kind], first)
                rows.append((a, first, formed, kind, word, counts[kind], *counted.interval,
                             clean[kind]))  # fmt: skip
    columns = ("algorithm", "runs", "of the form", "type", "word", "number", "low", "high", "clean")
    return Table("types", columns, rows)


def _formula_table(ones: dict[str, Runs], random: dict[str, Runs]) -> Table:
    rows = []
    for entries, found in ((ONES, ones), (LOGUNIFORM, random)):
        for a, runs in found.items():
            for formula in ("general", "as printed"):
                off = deviations(runs, general=formula == "general")
                middle, top = (np.median(off), off.max()) if len(off) else (np.nan, np.nan)
                rows.append((a, entries, formula, len(off), middle, top))
    columns = ("algorithm", "entries", "formula", "clean entries", "median deviation",
               "largest deviation")  # fmt: skip
    return Table("formulas", columns, rows)


def _drawing(ones: dict[str, Runs]) -> Drawing:
    figure, axes = panels(2, sharey=True)
    width = 0.26
    for each, first in zip(axes, (AS_IN_THE_PAPER, None), strict=True):
        for i, (a, runs) in enumerate(ones.items()):
            whole = len(runs.W[:first])
            counts = [Share(_types(runs, first)[kind], whole) for kind in WORDS]
            values = np.array([counted.value for counted in counts])
            bounds = np.array([counted.interval for counted in counts]).T
            each.bar(np.arange(4) + (i - 1) * width, values, width, color=COLOURS[a],
                     label=NAMES[a], yerr=np.abs(bounds - values), capsize=2,
                     error_kw={"linewidth": 0.8})  # fmt: skip
        each.set(title=f"{whole} runs")
        each.set_xticks(range(4), [f"{kind}\n{word}" for kind, word in WORDS.items()])
    axes[0].set_ylabel("share of runs")
    axes[1].legend(fontsize=8)
    return Drawing(
        "types",
        figure,
        "The paper's Figure 3: how often each type occurs, with 95 % intervals; left with as many "
        "runs as the paper has.",
    )
