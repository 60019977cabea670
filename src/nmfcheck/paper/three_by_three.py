"""n = 3: form (12), the four types of Figure 3, and the formulas of the pure types."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..arrays import Array
from ..families.bidiagonal.cases import LOGUNIFORM, ONES
from ..families.bidiagonal.exact import TYPES
from ..intervals import Share
from ..judging.outcomes import Outcome
from . import pure_types
from .drawing import COLOURS, NAMES, panels
from .larger import has_pattern
from .plan import ALGORITHMS, MU, SMALL_EPS
from .rules import all_of, each_in_words, in_words, mean_interval, share, within
from .runs import Runs
from .section import Claim, Drawing, Evidence, Section, Table, graded

AS_IN_THE_PAPER = 100
"""So many runs the paper has."""

ABOUT = (0.15, 0.25)
"""About 20 %."""

NEARLY_ALWAYS = 0.95

SIMILAR = 0.1
"""Shares that differ by less are similar."""

WORDS = {kind: word for word, kind in TYPES.items()}


def section(evidence: Evidence) -> Section:
    """Return the types and the formulas."""
    ones = {a: evidence.runs(a, 3, ONES, SMALL_EPS) for a in ALGORITHMS}
    random = {a: evidence.runs(a, 3, LOGUNIFORM, SMALL_EPS) for a in ALGORITHMS}
    types = {a: _types(runs) for a, runs in ones.items()}
    return Section(
        "Three by three: form (12) and Figure 3",
        "a0 = [1 1 1], a1 = [1 1], ε = 1e-3. A superdiagonal entry comes from W or from H alone "
        "if the other's share of it is below ε (the paper: entries below O(ε²) are negligible); a "
        "run in which that is so for both is clean. The others are sorted by the larger share; the "
        "paper takes the larger entry, which depends on the scale.",
        (
            _form(ones),
            _four(types),
            _most_common(types),
            _unclean(ones),
            _majority(ones),
            _unclean_form(ones),
            _similar(ones, random),
            pure_types.claim(ones, random),
        ),
        (_type_table(ones), pure_types.table(ones, random)),
        (_drawing(ones),),
    )


def _types(runs: Runs, first: int | None = None) -> Counter[str]:
    chosen = runs.judged.type[:first][runs.formed[:first]]
    return Counter({kind: int((chosen == kind).sum()) for kind in WORDS})


def _form(ones: dict[str, Runs]) -> Claim:
    shares = {a: share(runs.formed) for a, runs in ones.items()}
    whole = all(counted.part == counted.whole for counted in shares.values())
    nearly = all_of(counted.is_above(NEARLY_ALWAYS) for counted in shares.values())
    outcomes = [outcome for runs in ones.values() for outcome in runs.judged.outcome[~runs.formed]]
    without = share(outcome == Outcome.COLLAPSED for outcome in outcomes)
    return Claim(
        "form-12",
        "Section III, equation (12)",
        "All three algorithms always give solutions of the form (12).",
        "Reproduced if all runs do, to within 2ε²; with a correction if more than "
        f"{100 * NEARLY_ALWAYS:g} % of every algorithm's do (one-sided 95 % bound).",
        graded(whole=whole, part=nearly),
        f"{each_in_words(shares)}. Of the {without.whole} runs without the form {without.part} "
        "have collapsed.",
    )


def _four(types: dict[str, Counter[str]]) -> Claim:
    given = {a: [kind for kind in WORDS if counts[kind]] for a, counts in types.items()}
    seen = {kind for kinds in given.values() for kind in kinds}
    every = all(len(kinds) == len(WORDS) for kinds in given.values())
    listed = "; ".join(
        f"{a} {', '.join(f'{kind} {types[a][kind]}' for kind in WORDS)}" for a in ALGORITHMS
    )
    return Claim(
        "four-types",
        "Section III, Figure 2",
        "There are four types of solutions: I (hh), II (ww), III (hw) and IV (wh).",
        "Reproduced if each algorithm gives all four; with a correction if each is given by some "
        "algorithm.",
        graded(whole=every, part=len(seen) == len(WORDS)),
        f"{listed}.",
    )


def _most_common(types: dict[str, Counter[str]]) -> Claim:
    answers, pairs = [], []
    for a, counts in types.items():
        (best, number), (second, other) = counts.most_common(2)
        duel = Share(counts["II"], counts["II"] + (other if best == "II" else number))
        low, high = duel.interval
        answers.append(True if low > 0.5 else False if high < 0.5 else None)
        pairs.append(f"{a}: {best} {number}, {second} {other}")
    return Claim(
        "type-ii",
        "Section III, Figure 3",
        "Type II is the most common in all three algorithms.",
        "Of Type II and the most common other type together, Type II has more than half (95 % "
        "interval), in every algorithm; not reproduced if it has less than half in some.",
        graded(whole=all(answers), part=all_of(answers)),
        f"The two most common types: {'; '.join(pairs)}.",
    )


def _unclean(ones: dict[str, Runs]) -> Claim:
    of_seeds = _unclean_by_seed(ones)
    interval = mean_interval(of_seeds.mean(axis=1))
    mean, low, high = interval
    about = within(interval, *ABOUT)
    return Claim(
        "unclean",
        "Section III, before Figure 3",
        "About 20 % of the runs of the three algorithms are not clean.",
        f"Reproduced if the share is between {100 * ABOUT[0]:g} and {100 * ABOUT[1]:g} % (95 % "
        "interval, seed by seed, of the seeds from which all three have the form).",
        graded(whole=about is True, part=about),
        f"{100 * mean:.1f} % ({100 * low:.1f} to {100 * high:.1f} %) of 3 × {len(of_seeds)} runs: "
        + ", ".join(f"{a} {int(of_seeds[:, i].sum())}" for i, a in enumerate(ones))
        + ". What counts as negligible is only given as O(ε²), and the share depends on the "
        "constant, here 1.",
    )


def _majority(ones: dict[str, Runs]) -> Claim:
    of_seeds = _unclean_by_seed(ones)
    counts = dict(zip(ones, of_seeds.sum(axis=0), strict=True))
    first = list(ones).index(MU)
    ahead = 2 * of_seeds[:, first] - of_seeds.sum(axis=1)  # Algorithm 1's less the others'
    most = within(mean_interval(ahead), 0.0, np.inf)
    return Claim(
        "unclean-majority",
        "Section III, before Figure 3",
        "Most of the runs that are not clean are Algorithm 1's.",
        "Reproduced if Algorithm 1 has more of them than the other two together (95 % interval of "
        "the difference, seed by seed), not reproduced if fewer.",
        graded(whole=most is True, part=most),
        ", ".join(f"{a} {int(number)}" for a, number in counts.items()) + ".",
    )


def _unclean_by_seed(ones: dict[str, Runs]) -> Array:
    """Say whether each run is unclean, by seed and algorithm, where all three have the form."""
    formed = np.all([runs.formed for runs in ones.values()], axis=0)
    unclean: Array = np.array(
        [["b" in word for word in runs.judged.word[formed]] for runs in ones.values()], float
    ).T
    return unclean


def _unclean_form(ones: dict[str, Runs]) -> Claim:
    whole = Share(0, 0)
    for runs in ones.values():
        unclean = runs.matched & np.array(["b" in word for word in runs.judged.word])
        whole += share(has_pattern(runs)[unclean])
    return Claim(
        "unclean-form",
        "Section III, after Figure 3",
        "Solutions that are not clean satisfy the pattern (12) all the same.",
        "Of the runs that show a permutation and are not clean: reproduced if in all of them "
        "nothing off the two diagonals is above 2ε².",
        graded(whole=whole.part == whole.whole, part=False),
        f"{in_words(whole)} do.",
    )


def _similar(ones: dict[str, Runs], random: dict[str, Runs]) -> Claim:
    less = {a: mean_interval(ones[a].formed.astype(float) - random[a].formed) for a in ALGORITHMS}
    alike = all_of(within(interval, -SIMILAR, SIMILAR) for interval in less.values())
    half = all_of(share(random[a].formed).is_above(0.5) for a in ALGORITHMS)
    listed = "; ".join(
        f"{a} {in_words(share(ones[a].formed))} and {in_words(share(random[a].formed))}"
        for a in ALGORITHMS
    )
    return Claim(
        "other-entries",
        "Section III, after Figure 3",
        "With other entries of order 1 the algorithms behave similarly.",
        "Reproduced if, with entries log-uniform in [0.5, 2], the share of runs of the form "
        f"(12) changes by less than {100 * SIMILAR:g} points in every algorithm (95 % interval, "
        "from the same starts); with a correction if it changes by more, but more than half of "
        "the runs still have the form (one-sided 95 % bound).",
        graded(whole=alike is True, part=None if alike is None else half),
        f"Of the form, with ones and with random entries: {listed}.",
    )


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
