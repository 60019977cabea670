"""The tolerances that every family shares, and what each of them bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """What each number bounds.

    Attributes
    ----------
    exact : the defects of an exact run. The paper: ignore entries below O(1e-10).
    single : those of a run that is exact as far as single precision gets.
    identified : those of a run that has found each component. There is a gap around it: runs end
        well below, or well above (docs/theory.md, 10).
    stationary : KKT residual of a run that has collapsed rather than stopped on the way.
    loosest : the defects of a run of which at least one digit is right.
    rounding : negative entries down to this, relative to the largest of their component's half,
        are rounding and are clipped.
    """

    exact: float = 1e-10
    single: float = 1e-5
    identified: float = 1e-2
    loosest: float = 1e-1
    stationary: float = 1e-3
    rounding: float = 1e-12


TOLERANCE = Tolerance()
