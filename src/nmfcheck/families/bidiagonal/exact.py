"""The complete solution set: every exact nonnegative factorization of a bidiagonal case.

Theorem 1 (docs/theory.md): `A = WH` with `W, H ≥ 0` if and only if, up to a permutation of the
components, W and H are upper bidiagonal and there are a scaling `w0 > 0`, a switch s in 1..n−1 and
a share θ in [0, 1] with

    =======  ================================  ===================================
      i        w1(i)                             h1(i)
    =======  ================================  ===================================
     i < s     0                                 e_i / a0(i) · h0(i)
     i = s     θ · e_s / a0(s+1) · w0(s+1)       (1−θ) · e_s / a0(s) · h0(s)
     i > s     e_i / a0(i+1) · w0(i+1)           0
    =======  ================================  ===================================

where `h0 = a0/w0` and `e_i = ε·a1(i)`. Modulo permutation and scaling this is a chain of n−1
segments; the paper's equations (9) and (11) are its n = 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Ints, real_array, real_number, whole_number
from ...errors import InputError
from ...text import decimal
from .cases import BidiagonalCase, checked_case

TYPES = {"hh": "I", "ww": "II", "hw": "III", "wh": "IV"}
"""The paper's four types of 3×3 solutions (its Figure 2), by their words."""


def exact_factorization(
    case: BidiagonalCase,
    *,
    switch: int = 1,
    theta: float = 0.0,
    w0: npt.ArrayLike | None = None,
    permutation: Sequence[int] | Ints | None = None,
) -> tuple[Array, Array]:
    """Return one point (W, H) of the solution set of `case`.

    Parameters
    ----------
    switch : s in 1..n−1. Superdiagonal entries before s come from H, those after it from W.
    theta : θ in [0, 1], the part of entry s that comes from W.
    w0 : n positive numbers, the diagonal of W; √a0 if not given.
    permutation : `permutation[i]` is the component (from 0) that explains row i; the identity if
        not given. It is what `Judgement.permutation` then says.
    """
    n = checked_case(case).n
    switch = whole_number("switch", switch, 1)
    if switch > max(n - 1, 1):
        raise InputError(f"switch is {switch}; for n = {n} it must be at most {max(n - 1, 1)}")
    theta = real_number("theta", theta)
    if not 0 <= theta <= 1:
        raise InputError(f"theta is {decimal(theta)}; it must be between 0 and 1")
    scaling = np.sqrt(case.a0) if w0 is None else real_array("w0", w0)
    if scaling.shape != (n,) or not (scaling > 0).all():
        raise InputError(f"w0 must be {n} positive numbers, not {w0!r}")

    w1, h0, h1 = closed_form(case.a0, case.e, scaling, switch, theta)
    p = _checked_permutation(permutation, n)
    W, H = np.zeros((n, n)), np.zeros((n, n))
    W[:, p] = np.diag(scaling) + np.diag(w1, 1)
    H[p, :] = np.diag(h0) + np.diag(h1, 1)
    return W, H


def closed_form(a0: Any, e: Any, w0: Any, switch: int, theta: Any) -> tuple[Any, Any, Any]:
    """Return w1, h0, h1 of Theorem 1's closed form.

    The arithmetic is that of the arguments: arrays of floats, or of exact `Fraction`s.
    """
    h0 = a0 / w0
    i = np.arange(1, len(e) + 1)
    from_w = np.where(i < switch, 0, np.where(i > switch, 1, theta))
    w1 = from_w * (e / a0[1:]) * w0[1:]
    h1 = (1 - from_w) * (e / a0[:-1]) * h0[:-1]
    return w1, h0, h1


def exact_words(n: int) -> list[str]:
    """Return the exact words of size n: n without a ``b``, and n − 1 with one.

    >>> exact_words(3)
    ['ww', 'bw', 'hw', 'hb', 'hh']
    """
    length = n - 1
    words = []
    for s in range(length):
        words += ["h" * s + "w" * (length - s), "h" * s + "b" + "w" * (length - s - 1)]
    return [*words, "h" * length]


def is_exact_word(word: str) -> bool:
    """Say whether a word of letters h, w, b is that of an exact factorization."""
    return re.fullmatch("h*b?w*", word) is not None


def word_residual(case: BidiagonalCase, word: str) -> float:
    """Return the least `‖A − WH‖_F` over bidiagonal W, H ≥ 0 with this word of letters h and w.

    Each ``wh`` at (i, i+1) leaves component i+1 alone with the block [[e_i, 0], [a0(i+1),
    e_{i+1}]]; the best rank-one approximation of that misses it by its second singular value σ₂
    (docs/theory.md, 3). Words without ``wh`` are exact: 0.
    """
    if len(word) != case.n - 1 or set(word) - {"h", "w"}:
        raise InputError(f"{word!r} is not a word of {case.n - 1} letters h and w")
    total = 0.0
    scale = float(case.A.max())
    for i in range(len(word) - 1):
        if word[i : i + 2] == "wh":
            e, f, a = case.e[i] / scale, case.e[i + 1] / scale, case.a0[i + 1] / scale
            S, d = a**2 + e**2 + f**2, e * f
            # The smaller root of x² − Sx + d² = 0, in the form that does not cancel.
            total += 2 * d**2 / (S + np.sqrt((S - 2 * d) * (S + 2 * d)))
    return float(np.sqrt(total)) * scale


def _checked_permutation(permutation: Sequence[int] | Ints | None, n: int) -> Ints:
    if permutation is None:
        return np.arange(n)
    p = np.asarray(permutation)
    if p.shape != (n,) or p.dtype.kind not in "iu" or sorted(p.tolist()) != list(range(n)):
        raise InputError(f"permutation must hold 0..{n - 1} once each, not {permutation!r}")
    return p.astype(np.int64)
