"""The judge's sentences: what is wrong with a run, and where.

Rows, columns and components count from 1 here, as in the paper.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array, Ints
from ...judging.measures import balance
from ...judging.outcomes import Outcome
from ...judging.sentences import clipping, counted, invalid_entry, listed, product_miss
from ...judging.tolerances import TOLERANCE
from .cases import BidiagonalCase
from .exact import is_exact_word
from .form import align, pattern
from .tolerances import FORM


def explain(
    case: BidiagonalCase,
    W: Array,
    H: Array,
    outcome: Outcome,
    *,
    word: str | None,
    defects: tuple[float, float],
    kkt: float,
    M: Array,
    permutation: Ints,
) -> str:
    """Say in one sentence why W, H of shape (n, n) were judged so.

    Parameters
    ----------
    defects : form and product defect.
    M, permutation : the part of A(i,i) that each component explains, and the permutation that it
        shows; −1 where it shows none.
    """
    if outcome is Outcome.INVALID:
        return invalid_entry(W, H)
    if outcome in (Outcome.EXACT, Outcome.FIRST_ORDER):
        sentence = near(outcome, word, *defects)
    elif permutation[0] < 0:
        sentence = unmatched(M, outcome, kkt)
    else:
        sentence = _off(case, np.maximum(W, 0.0), np.maximum(H, 0.0), permutation, kkt)
        sentence += inexact_word(word)
    return f"{sentence}{clipping(W, H)}."


def near(
    outcome: Outcome, word: str | None, form: float, product: float, bare: str = "monomial W and H"
) -> str:
    """Say how near to the solution set a graded run is.

    Parameters
    ----------
    bare : what W and H are where there is no word.
    """
    solution = f"the word {word}" if word else bare
    if outcome is Outcome.EXACT:
        return f"on the solution set, with {solution}"
    inexact = word and not is_exact_word(word)
    aside = " (which no exact factorization has, but O(ε²) is negligible)" if inexact else ""
    return (
        f"near the solution set, with {solution}{aside}: form defect {form:.2g}, "
        f"product defect {product:.2g}"
    )


def inexact_word(word: str | None) -> str:
    """Say so if no exact factorization has this word."""
    inexact = word and "-" not in word and not is_exact_word(word)
    return f"; no exact factorization has the word {word}" if inexact else ""


def unmatched(M: Array, outcome: Outcome, kkt: float, rows: Ints | None = None) -> str:
    """Say what is wrong with a run whose components do not have a row of their own each.

    Parameters
    ----------
    rows : the row of A that each row of M stands for; the same one if not given.
    """
    mismatch, idle = _mismatch(M, np.arange(len(M)) if rows is None else rows)
    if outcome is not Outcome.COLLAPSED:
        bound = f"KKT residual {kkt:.2g}, above {TOLERANCE.stationary:g}"
        return f"{mismatch}, and no stationary point is there ({bound})"
    known = "" if idle else " that accepted algorithms also reach in some runs"
    return f"{mismatch}: a stationary point{known}"


def _off(case: BidiagonalCase, W: Array, H: Array, permutation: Ints, kkt: float) -> str:
    """Say how far a run is off whose components do."""
    with np.errstate(over="ignore", invalid="ignore"):
        balanced = balance(W[None], H[None], case.a0[None].max(axis=1))
        off = ~pattern(case.n, case.eps)
        off_W, off_H = (X[0] * off for X in align(*balanced, permutation[None]))
        return (
            "each row is explained by a component of its own, but "
            f"{product_miss(case.A - W @ H)}"
            f"{_form_miss(W, H, off_W, off_H, permutation)} (KKT residual {kkt:.2g})"
        )


def _form_miss(W: Array, H: Array, off_W: Array, off_H: Array, permutation: Ints) -> str:
    """Name the largest balanced entry off the pattern, with its value as it was returned."""
    if max(off_W.max(), off_H.max()) == 0:
        return ""
    if off_W.max() >= off_H.max():
        i, k = np.unravel_index(np.argmax(off_W), off_W.shape)
        name, value, row, column = "W", W[i, permutation[k]], i, permutation[k]
    else:
        k, j = np.unravel_index(np.argmax(off_H), off_H.shape)
        name, value, row, column = "H", H[permutation[k], j], permutation[k], j
    return f" and {name} has {value:.2g} off the pattern at row {row + 1}, column {column + 1}"


def _mismatch(M: Array, rows: Ints) -> tuple[str, bool]:
    """Say how M fails to be a permutation: which component explains which row, mainly.

    Also say whether there are components that take no part.
    """
    n = len(M)
    main, largest = M.argmax(axis=0).tolist(), M.max(axis=0).tolist()
    by_row: dict[int, list[int]] = {i: [] for i in range(n)}
    idle: list[int] = []
    for k in range(n):
        (by_row[main[k]] if largest[k] > FORM.idle else idle).append(k)
    parts = []
    for i, components in by_row.items():
        if len(components) > 1:
            together = "both" if len(components) == 2 else "all"
            parts.append(f"{counted('component', components)} {together} explain row {rows[i] + 1}")
    if idle:
        verb = "explains" if len(idle) == 1 else "explain"
        parts.append(f"{counted('component', idle)} {verb} next to nothing")
    without = [i for i, components in by_row.items() if not components]
    total, best = M.sum(axis=1).tolist(), M.argmax(axis=1).tolist()
    left_out = [i for i in without if total[i] <= FORM.explains]
    for k in range(n):
        if beside := [i for i in without if i not in left_out and best[i] == k]:
            parts.append(
                f"component {k + 1} is spread over rows "
                f"{listed(sorted(rows[sorted({main[k], *beside})].tolist()))}"
            )
    if left_out:
        parts.append(f"nothing explains {counted('row', sorted(rows[left_out].tolist()))}")
    if not parts:
        parts.append(_overlap(M, rows))
    return "; ".join(parts[:4]) + ("; and more" if len(parts) > 4 else ""), bool(idle)


def _overlap(M: Array, rows: Ints) -> str:
    """Say what is wrong where every component has a main row of its own."""
    weakest = int(np.argmin(M.max(axis=1)))
    best = M.argmax(axis=1).tolist()
    twice = [k for k in best if best.count(k) > 1]
    if M[weakest].max() <= FORM.matched or not twice:  # by rounding, half a row is more than half
        return (
            f"no component explains more than {100 * M[weakest].max():.0f} % of row "
            f"{rows[weakest] + 1}"
        )
    k = twice[0]
    most = sorted(rows[[i for i in range(len(M)) if best[i] == k]].tolist())
    return f"component {k + 1} explains the most of {counted('row', most)}"
