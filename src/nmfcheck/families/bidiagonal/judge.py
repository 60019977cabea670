"""The judge: what one factorization, or a whole batch of them, is worth.

Everything is measured on balanced components, in the units of the case (docs/theory.md, 4):

- product defect `max|A − WH| / max(a0)`,
- form defect, the largest entry off the pattern, over √max(a0), once the permutation P that
  `M(i,k) = W(i,k)·H(k,i)/a0(i)` shows has been applied,
- KKT residual, the largest entry of `min(W, ∇_W)` and `min(H, ∇_H)`, for `½‖A − WH‖_F²`.

Then graded, in the order invalid, exact, first-order, and by M and the KKT residual (section 6).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Bools, Ints, stacked
from ...errors import InputError
from ...judging.judgement import Judgement, permutation_of
from ...judging.measures import as_judged, balance, largest_entry
from ...judging.objectives import FROBENIUS, find
from ...judging.outcomes import Outcome
from ...judging.tolerances import TOLERANCE
from ...records import maker
from .cases import BidiagonalCase, checked_case
from .exact import TYPES
from .form import diagonals, form_defect, match_rows, portions_of, read_permutation
from .sentences import explain, near
from .tolerances import FORM

Strings = npt.NDArray[np.str_]

CHOICES = (
    Outcome.EXACT, Outcome.FIRST_ORDER, Outcome.COLLAPSED, Outcome.UNCONVERGED, Outcome.INVALID,
)  # fmt: skip
EXACT, FIRST_ORDER, COLLAPSED, UNCONVERGED, INVALID = range(len(CHOICES))
"""Their places: numbers are quicker to choose among than texts."""
OUTCOMES = np.array([outcome.value for outcome in CHOICES])
GRADES = np.array([outcome.grade or "" for outcome in CHOICES])
LETTERS = np.array(["-", "w", "h", "b"])
"""Of a superdiagonal entry that W (1) and H (2) have a part in."""


@dataclass(slots=True)
class BidiagonalJudgement(Judgement):
    """What one run is worth, with names for what the bidiagonal judge measures.

    Attributes
    ----------
    measures : form_defect, product_defect and kkt_residual.
    labels : word, type and permutation (``2,0,1``), where there are any.
    """

    @classmethod
    def of(cls, judgement: Judgement) -> BidiagonalJudgement:
        """Return a judgement, of another family perhaps, with these names."""
        return cls(
            judgement.outcome, judgement.explanation, judgement.measures, judgement.labels,
            judgement.clipped,
        )  # fmt: skip

    @property
    def form_defect(self) -> float:
        """The largest balanced entry off the pattern.

        inf where M is not a permutation, for then there is no pattern to be off; NaN for an invalid
        run.
        """
        return self.measures.get("form_defect", math.nan)

    @property
    def permutation(self) -> tuple[int, ...] | None:
        """`permutation[i]` is the component (from 0) that explains row i; None where M has none.

        `W[:, permutation]` and `H[permutation]` are upper bidiagonal on success.
        """
        return permutation_of(self.labels)

    @property
    def word(self) -> str | None:
        """For ε > 0, a letter for each superdiagonal entry.

        h or w if it comes from H or W alone, b from both, - from neither.
        """
        return self.labels.get("word")

    @property
    def type(self) -> str | None:
        """For n = 3, the paper's Type "I".."IV", by the larger share where the word has a b.

        None where it has a -.
        """
        return self.labels.get("type")


_made = maker(BidiagonalJudgement)


@dataclass(frozen=True)
class Judgements:
    """What each run of a batch is worth: what `BidiagonalJudgement` has, as arrays.

    There are no sentences here (`judge` writes them); "" stands for no grade, word or type,
    and a row of −1 for no permutation. `explained[run]` is M, the part of A(i,i) that component k
    explains.
    """

    outcome: Strings
    grade: Strings
    form_defect: Array
    product_defect: Array
    kkt_residual: Array
    permutation: Ints
    word: Strings
    type: Strings
    clipped: Bools
    explained: Array

    def __len__(self) -> int:
        return len(self.outcome)


@dataclass(frozen=True)
class CaseStack:
    """The data of a batch of cases of one size, stacked."""

    A: Array
    a0: Array
    e: Array
    eps: Array
    objective: str = FROBENIUS.name

    @classmethod
    def of(cls, cases: Sequence[BidiagonalCase]) -> CaseStack:
        """Stack cases; they must be of one size."""
        sizes = {case.rank for case in cases}
        if len(sizes) > 1:
            raise InputError(f"a batch needs cases of one size, not of n = {sorted(sizes)}")
        objectives = {case.objective for case in cases}
        if len(objectives) > 1:
            raise InputError(f"a batch needs one objective, not {' and '.join(sorted(objectives))}")
        (objective,) = objectives
        A = stacked([case.A for case in cases])
        a0, e = (np.ascontiguousarray(np.diagonal(A, k, 1, 2)) for k in (0, 1))
        eps = np.array([case.eps for case in cases])
        return cls(A, a0, e, eps, objective)

    def part(self, chunk: slice) -> CaseStack:
        """Return some of the cases; a stack of a single one serves every run."""
        if len(self.A) == 1:
            return self
        A, a0, e, eps = (X[chunk] for X in (self.A, self.a0, self.e, self.eps))
        return CaseStack(A, a0, e, eps, self.objective)


def judged(cases: Sequence[BidiagonalCase], W: Array, H: Array) -> list[Judgement]:
    """Judge a batch, with sentences."""
    batch = _judge_all(CaseStack.of(cases), W, H)
    exact, invalid = Outcome.EXACT, Outcome.INVALID  # looked up once
    judgements: list[Judgement] = []
    for i, run in enumerate(_runs(batch)):
        outcome, form, product, kkt, labels, word, clipped = run
        if outcome is exact and not clipped:
            explanation = _exactly(word)
        elif outcome.grade and not clipped:  # W and H are not looked at
            explanation = f"{near(outcome, word, form, product)}."
        else:
            explanation = explain(
                cases[i],
                W[i],
                H[i],
                outcome,
                word=word or None,
                defects=(form, product),
                kkt=kkt,
                M=batch.explained[i],
                permutation=batch.permutation[i],
            )
        if outcome is invalid:  # nothing was measured
            judgements.append(BidiagonalJudgement(outcome, explanation))
            continue
        measures = {"form_defect": form, "product_defect": product, "kkt_residual": kkt}
        judgements.append(_made(outcome, explanation, measures, labels.copy(), clipped))
    return judgements


def judge_batch(
    cases: BidiagonalCase | Sequence[BidiagonalCase], W: npt.ArrayLike, H: npt.ArrayLike
) -> Judgements:
    """Judge a batch at once.

    Parameters
    ----------
    cases : one case for all, or one for each run, all of one size n.
    W, H : real arrays of shape (batch, n, n).
    """
    if not isinstance(cases, BidiagonalCase | Iterable):
        raise InputError(
            f"expected a bidiagonal Case, or one for each run, not {type(cases).__name__}"
        )
    listed = (
        [cases] if isinstance(cases, BidiagonalCase) else [checked_case(case) for case in cases]
    )
    stack_W, stack_H = _stack("W", W), _stack("H", H)
    batch = len(stack_W)
    if listed:
        n = listed[0].n
    elif batch == 0 and stack_W.ndim == 3:
        n = stack_W.shape[1]
    else:
        raise InputError(f"no case for a batch of {batch}; give one for all or one for each run")
    for name, X in (("W", stack_W), ("H", stack_H)):
        if X.shape != (batch, n, n):
            raise InputError(f"{name} has shape {X.shape}; expected {(batch, n, n)}")
    if not isinstance(cases, BidiagonalCase) and len(listed) != batch:
        raise InputError(f"{len(listed)} cases for a batch of {batch}; give one for each run")
    if batch == 0:
        return _nothing(n)

    return _judge_all(CaseStack.of(listed), stack_W, stack_H)


def _judge_all(cases: CaseStack, W: Array, H: Array) -> Judgements:
    """Judge a batch whose shapes are known to be right, in pieces if it is large."""
    parts = [_judge(cases.part(chunk), W[chunk], H[chunk]) for chunk in _chunks(*W.shape[:2])]
    if len(parts) == 1:
        return parts[0]
    return Judgements(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Judgements)
        }
    )


Run = tuple[Outcome, float, float, float, dict[str, str], str, bool]
"""Outcome, form and product defect, KKT residual, labels, word, whether clipped."""

_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
"""What `Outcome(…)` gives, in a twentieth of the time."""


def _runs(batch: Judgements) -> Iterator[Run]:
    """Return the runs of a batch in plain Python, whole arrays at a time: that is much quicker.

    Runs share their labels.
    """
    words = batch.word.tolist()
    return zip(
        map(_OUTCOMES.__getitem__, batch.outcome.tolist()),
        batch.form_defect.tolist(),
        batch.product_defect.tolist(),
        batch.kkt_residual.tolist(),
        map(_labels, words, batch.type.tolist(), *batch.permutation.T.tolist()),
        words,
        batch.clipped.tolist(),
        strict=True,
    )


@lru_cache(maxsize=4096)
def _labels(word: str, type_: str, *permutation: int) -> dict[str, str]:
    """Return the labels that there are; a permutation that begins with −1 is none."""
    joined = ",".join(map(str, permutation)) if permutation[0] >= 0 else ""
    named = {"permutation": joined, "word": word, "type": type_}
    return {name: text for name, text in named.items() if text}


@lru_cache(maxsize=4096)
def _exactly(word: str) -> str:
    """Return the sentence of an exact run, which is the same for all of one word."""
    return f"{near(Outcome.EXACT, word, 0.0, 0.0)}."


def _judge(cases: CaseStack, W: Array, H: Array) -> Judgements:
    unit = cases.a0.max(axis=1)
    W, H, valid, clipped = as_judged(W, H, unit)

    A = cases.A / unit[:, None, None]
    a0, e = cases.a0 / unit[:, None], cases.e / unit[:, None]
    with np.errstate(over="ignore", invalid="ignore"):  # a run may have diverged to 1e200
        W, H = balance(W, H, np.broadcast_to(unit, len(W)))
        X = W @ H
        product = largest_entry(A - X)
        kkt = find(cases.objective).kkt_residual(A, W, H, X)
        M = match_rows(W, H, a0)
        permutation, matched = read_permutation(M)
        matched &= valid
        w0, w1, h0, h1, elsewhere = diagonals(W, H, permutation)
        form = form_defect(w1, h1, elsewhere, cases.eps)
        word, type_ = _words(*portions_of(w0, w1, h0, h1, e), cases.eps, matched)

    form[~matched] = np.inf
    permutation[~matched] = -1
    outcome = np.full(len(W), UNCONVERGED)
    defect = np.maximum(form, product)
    outcome[~matched & (kkt <= TOLERANCE.stationary)] = COLLAPSED
    outcome[defect <= FORM.first_order(a0, e)] = FIRST_ORDER
    outcome[defect <= TOLERANCE.exact] = EXACT
    outcome[~valid] = INVALID
    for measure in (form, product, kkt):
        measure[np.isnan(measure)] = np.inf
        measure[~valid] = np.nan
    return Judgements(
        outcome=OUTCOMES[outcome],
        grade=GRADES[outcome],
        form_defect=form,
        product_defect=product,
        kkt_residual=kkt,
        permutation=permutation,
        word=word,
        type=type_,
        clipped=clipped & valid,
        explained=M,
    )


def _words(
    portion_w: Array, portion_h: Array, eps: Array, matched: Bools
) -> tuple[Strings, Strings]:
    """Return the words, and for n = 3 the types ("" where there are none)."""
    batch, length = portion_w.shape
    named = matched & (eps > 0)
    negligible = np.minimum(eps, FORM.portion)[:, None]
    by_w, by_h = portion_w >= negligible, portion_h >= negligible
    letters = LETTERS[by_w + 2 * by_h]
    type_ = np.full(batch, "", dtype="<U3")
    if length == 0:
        return np.full(batch, "", dtype="<U1"), type_
    word = np.where(named, np.ascontiguousarray(letters).view(f"<U{length}")[:, 0], "")
    if length == 2:
        # Even portions, a natural value, count as h: not as what rounding makes of them.
        larger = np.where(portion_w > portion_h * (1 + 1e-9), "w", "h").view("<U2")[:, 0]
        sorted_ = named & (by_w | by_h).all(axis=1)
        for pair, name in TYPES.items():
            type_[sorted_ & (larger == pair)] = name
    return word, type_


def _chunks(batch: int, n: int) -> Iterator[slice]:
    """Cut a batch so that the arrays of one piece stay in the cache, and in the heap.

    The system takes larger ones back as soon as they are freed, and has to give them anew.
    """
    length = max(1, 16384 // n**2)
    return (slice(start, start + length) for start in range(0, batch, length))


def _stack(name: str, X: npt.ArrayLike) -> Array:
    try:
        stack = np.asarray(X)
    except ValueError:
        raise InputError(f"{name} is ragged; expected an array of shape (batch, n, n)") from None
    if stack.dtype.kind not in "fiub" or stack.ndim != 3:
        raise InputError(
            f"{name} is an array of {stack.dtype} and shape {stack.shape}; "
            "expected real numbers of shape (batch, n, n)"
        )
    return stack.astype(np.float64, copy=False)


def _nothing(n: int) -> Judgements:
    """Return the judgements of an empty batch."""
    empty = np.empty(0)
    text = np.empty(0, dtype="<U1")
    return Judgements(
        text, text, empty, empty, empty, np.empty((0, n), np.int64), text, text,
        empty.astype(bool), np.empty((0, n, n)),
    )  # fmt: skip
