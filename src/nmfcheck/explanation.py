"""The judge's sentences: what is wrong with a run, and where.

Rows, columns and components count from 1 here, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import Array, Ints
from .cases import Case
from .exact import is_exact_word
from .measures import align, balance, pattern
from .outcomes import Outcome
from .tolerances import TOLERANCE


def explain(
    case: Case,
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
    solution = f"the word {word}" if word else "monomial W and H"
    inexact = bool(word) and not is_exact_word(word or "")
    if outcome is Outcome.EXACT:
        sentence = f"on the solution set, with {solution}"
    elif outcome is Outcome.FIRST_ORDER:
        aside = " (which no exact factorization has, but O(ε²) is negligible)" if inexact else ""
        sentence = "near the solution set, with {}{}: form defect {:.2g}, product defect {:.2g}"
        sentence = sentence.format(solution, aside, *defects)
    else:
        if permutation[0] < 0:
            sentence = _unmatched(M, outcome, kkt)
        else:
            sentence = _off(case, np.maximum(W, 0.0), np.maximum(H, 0.0), permutation, kkt)
        if word and inexact and "-" not in word:
            sentence += f"; no exact factorization has the word {word}"
    return f"{sentence}{_clipping(W, H)}."


def _unmatched(M: Array, outcome: Outcome, kkt: float) -> str:
    """Say what is wrong with a run whose components do not have a row of their own each."""
    mismatch, idle = _mismatch(M)
    if outcome is not Outcome.COLLAPSED:
        bound = f"KKT residual {kkt:.2g}, above {TOLERANCE.stationary:g}"
        return f"{mismatch}, and no stationary point is there ({bound})"
    known = "" if idle else " that accepted algorithms also reach in some runs"
    return f"{mismatch}: a stationary point{known}"


def _off(case: Case, W: Array, H: Array, permutation: Ints, kkt: float) -> str:
    """Say how far a run is off whose components do."""
    with np.errstate(over="ignore", invalid="ignore"):
        balanced = balance(W[None], H[None], case.a0[None].max(axis=1))
        off = ~pattern(case.n, case.eps)
        off_W, off_H = (X[0] * off for X in align(*balanced, permutation[None]))
        return (
            "each row is explained by a component of its own, but "
            f"{_product_miss(case.A - W @ H)}"
            f"{_form_miss(W, H, off_W, off_H, permutation)} (KKT residual {kkt:.2g})"
        )


def _product_miss(R: Array) -> str:
    miss = np.abs(R)
    i, j = np.unravel_index(np.argmax(miss), miss.shape)
    return f"WH misses A by {miss[i, j]:.2g} at row {i + 1}, column {j + 1}"


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


def _mismatch(M: Array) -> tuple[str, bool]:
    """Say how M fails to be a permutation: which component explains which row, mainly.

    Also say whether there are components that take no part.
    """
    n = len(M)
    main, largest = M.argmax(axis=0).tolist(), M.max(axis=0).tolist()
    by_row: dict[int, list[int]] = {i: [] for i in range(n)}
    idle: list[int] = []
    for k in range(n):
        (by_row[main[k]] if largest[k] > TOLERANCE.idle else idle).append(k)
    parts = []
    for i, components in by_row.items():
        if len(components) > 1:
            together = "both" if len(components) == 2 else "all"
            parts.append(f"{_counted('component', components)} {together} explain row {i + 1}")
    if idle:
        verb = "explains" if len(idle) == 1 else "explain"
        parts.append(f"{_counted('component', idle)} {verb} next to nothing")
    without = [i for i, components in by_row.items() if not components]
    total, best = M.sum(axis=1).tolist(), M.argmax(axis=1).tolist()
    left_out = [i for i in without if total[i] <= TOLERANCE.explains]
    for k in range(n):
        if beside := [i for i in without if i not in left_out and best[i] == k]:
            parts.append(
                f"component {k + 1} is spread over rows {_listed(sorted({main[k], *beside}))}"
            )
    if left_out:
        parts.append(f"nothing explains {_counted('row', left_out)}")
    if not parts:
        parts.append(_overlap(M))
    return "; ".join(parts[:4]) + ("; and more" if len(parts) > 4 else ""), bool(idle)


def _overlap(M: Array) -> str:
    """Say what is wrong where every component has a main row of its own."""
    weakest = int(np.argmin(M.max(axis=1)))
    if M[weakest].max() <= TOLERANCE.matched:
        return (
            f"no component explains more than {100 * M[weakest].max():.0f} % of row {weakest + 1}"
        )
    best = M.argmax(axis=1).tolist()
    k = next(k for k in best if best.count(k) > 1)
    rows = [i for i in range(len(M)) if best[i] == k]
    return f"component {k + 1} explains the most of {_counted('row', rows)}"


def invalid_entry(W: Array, H: Array) -> str:
    """Name the first entry that is not finite, otherwise the most negative one."""
    for name, X in (("W", W), ("H", H)):
        if not np.isfinite(X).all():
            i, j = np.unravel_index(np.argmin(np.isfinite(X)), X.shape)
            return f"{name} is {X[i, j]} at row {i + 1}, column {j + 1}; expected finite numbers."
    lows = {"W": W / np.abs(W).max(axis=0, initial=0, keepdims=True).clip(min=5e-324)}
    lows["H"] = H / np.abs(H).max(axis=1, initial=0, keepdims=True).clip(min=5e-324)
    name = min(lows, key=lambda key: float(lows[key].min()))
    i, j = np.unravel_index(np.argmin(lows[name]), lows[name].shape)
    value = (W if name == "W" else H)[i, j]
    return f"{name} is {value:.3g} at row {i + 1}, column {j + 1}; expected nonnegative numbers."


def _clipping(W: Array, H: Array) -> str:
    low = min(W.min(), H.min())
    return f"; negative entries down to {low:.2g} are rounding and count as 0" if low < 0 else ""


def _counted(noun: str, indices: Sequence[int]) -> str:
    if len(indices) > 6:
        return f"{len(indices)} {noun}s"
    return f"{noun}{'s' * (len(indices) > 1)} {_listed(indices)}"


def _listed(indices: Sequence[int]) -> str:
    """Name indices, counting from 1."""
    *head, last = (str(i + 1) for i in indices)
    return f"{', '.join(head)} and {last}" if head else last
