"""The paper's matrices: `A = diag(a0) + ε·diag(a1, 1)` (its equation 13).

A positive diagonal and a small superdiagonal. A case has a stable id, and the id alone gives the
case back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ...arrays import Array, frozen, real_array, real_number, whole_number
from ...errors import InputError
from ...text import decimal
from ..trial import Case, check_size

NAME = "bidiagonal"
ONES = "ones"
LOGUNIFORM = "loguniform"
KINDS_OF_ENTRIES = (ONES, LOGUNIFORM)
ENTRIES = rf"{ONES}|{LOGUNIFORM}#(?:0|[1-9]\d{{0,17}})"
"""What `entries` may read: ``ones``, or ``loguniform#7`` for draw 7."""


@dataclass(frozen=True, eq=False, repr=False)
class BidiagonalCase(Case):
    """A bidiagonal matrix with the data that its exact factorizations are written in.

    Attributes
    ----------
    a0, a1 : diagonal, and superdiagonal before it is multiplied by `eps`.
    eps : size of the superdiagonal.
    """

    a0: Array
    a1: Array
    eps: float

    @property
    def e(self) -> Array:
        """The superdiagonal of A: `e_i = ε·a1(i)`."""
        return self.eps * self.a1


def case_from_id(id: str) -> BidiagonalCase:
    """Build the case that has this id."""
    match = _ID.fullmatch(id)
    if match is None:
        raise InputError(
            f"no case {id!r}; expected an id such as 'bidiagonal/n=3/ones/eps=1e-3', "
            "'bidiagonal/n=3/loguniform#7/eps=0.25' or "
            "'bidiagonal/n=2/a0=1,2/a1=0.5/eps=0', with n up to 1000"
        )
    n = whole_number("n", int(match["n"]), 1)
    eps = _number(match["eps"], id)
    if match["entries"] is not None:
        return case_of(n, match["entries"], eps)
    a0 = [_number(text, id) for text in match["a0"].split(",")]
    a1 = [_number(text, id) for text in match["a1"].split(",") if text]
    if len(a0) != n:
        raise InputError(f"{id!r} says n={n}, but its a0 has {len(a0)} entries")
    return bidiagonal(a0, a1, eps)


def bidiagonal(
    a0: npt.ArrayLike, a1: npt.ArrayLike | None = None, eps: float = 0.0
) -> BidiagonalCase:
    """Return the paper's test matrix `diag(a0) + eps·diag(a1, 1)`, equation (13).

    Parameters
    ----------
    a0 : n positive numbers, the diagonal.
    a1 : n − 1 positive numbers; ones if not given.
    eps : size of the superdiagonal, at least 0.
    """
    d0 = _positive_vector("a0", a0)
    if len(d0) == 0:
        raise InputError("a0 is empty; A needs at least one row")
    d1 = np.ones(len(d0) - 1) if a1 is None else _positive_vector("a1", a1)
    if len(d1) != len(d0) - 1:
        raise InputError(f"a1 has {len(d1)} entries; with {len(d0)} in a0 it needs {len(d0) - 1}")
    is_ones = bool((d0 == 1).all() and (d1 == 1).all())
    entries = ONES if is_ones else f"a0={_joined(d0)}/a1={_joined(d1)}"
    return _build(d0, d1, eps, entries)


def checked_case(case: object) -> BidiagonalCase:
    """Return a case as it is, or say what was expected."""
    if not isinstance(case, BidiagonalCase):
        kind = type(case).__name__
        raise InputError(
            f"expected a bidiagonal Case, such as bidiagonal([1, 1]), not {kind} ({case!r:.60})"
        )
    return case


@lru_cache(maxsize=4096)
def case_of(n: int, entries: str, eps: float) -> BidiagonalCase:
    """Return the case of size n with entries ``ones`` or ``loguniform#i`` (draw i)."""
    if entries == ONES:
        return _build(np.ones(n), np.ones(n - 1), eps, ONES)
    if re.fullmatch(ENTRIES, entries) is None:
        raise InputError(f"no entries {entries!r}; expected 'ones' or 'loguniform#7'")
    return _build(*draw(n, int(entries.partition("#")[2])), eps, entries)


@lru_cache(maxsize=4096)
def draw(n: int, i: int) -> tuple[Array, Array]:
    """Return draw i of a0 and a1: log-uniform in [0.5, 2].

    Rounded to six decimals: short enough to type, and the same on machines whose `exp2` differs
    in the last bit.
    """
    rng = np.random.Generator(np.random.PCG64([n, i, 1]))
    a0, a1 = (np.exp2(rng.uniform(-1, 1, size)).round(6) for size in (n, n - 1))
    return frozen(a0), frozen(a1)


_ID = re.compile(
    rf"{NAME}/n=(?P<n>\d{{1,4}})/"
    rf"(?:(?P<entries>{ENTRIES})|a0=(?P<a0>[^/]*)/a1=(?P<a1>[^/]*))/"
    r"eps=(?P<eps>[^/]*)"
)


_SMALLEST = float(np.finfo(np.float64).tiny)


def _number(text: str, id: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{text!r} in the id {id!r} is not a number") from None


def _joined(values: Array) -> str:
    return ",".join(map(decimal, values))


def _positive_vector(name: str, values: npt.ArrayLike) -> Array:
    vector = real_array(name, values)
    if vector.ndim != 1:
        raise InputError(f"{name} must be a vector, not an array of shape {vector.shape}")
    if not (vector > 0).all():
        i = int(np.argmin(vector > 0))
        raise InputError(f"{name}({i + 1}) is {decimal(vector[i])}; every entry must be positive")
    return vector


def _build(a0: Array, a1: Array, eps: float, entries: str) -> BidiagonalCase:
    check_size(len(a0), len(a0))  # so that every case's id gives it back
    eps = real_number("eps", eps) + 0.0  # no −0
    if eps < 0:
        raise InputError(f"eps is {decimal(eps)}; it must be at least 0")
    with np.errstate(over="ignore", under="ignore"):
        e = eps * a1
        ratios = np.concatenate([e, e / a0[1:], e / a0[:-1]])
    if not np.isfinite(ratios).all() or (eps > 0 and not (ratios >= _SMALLEST).all()):
        raise InputError(
            f"eps·a1, or eps·a1/a0, leaves the range of double precision (eps={decimal(eps)})"
        )
    n = len(a0)
    A = np.zeros((n, n))
    A.flat[:: n + 1], A.flat[1 :: n + 1] = a0, e  # row by row, both diagonals
    A.setflags(write=False)
    return BidiagonalCase(
        id=f"{NAME}/n={n}/{entries}/eps={decimal(eps)}",
        A=A,
        rank=n,
        a0=frozen(a0),
        a1=frozen(a1),
        eps=eps,
    )
