"""The rules, a file each: evidence in, a finding or nothing out."""

from .biased import alike, biased
from .collapsed import collapsed
from .early import early
from .inexact import inexact
from .locked import locked
from .loss import other_loss
from .permuted import permuted
from .scaled import scaled
from .silent import silent
from .single import clustered, single
from .some_cells import some_cells
from .turned import turned
from .units import units
from .unmoved import unmoved
from .unrelated import unrelated

WHY_UNCONVERGED = (
    unmoved, turned, other_loss, biased, scaled, permuted, single, locked, unrelated, alike,
    clustered, early,
)  # fmt: skip
"""Why runs end neither at a solution nor at another stationary point; the first that fits."""

__all__ = ["WHY_UNCONVERGED", "collapsed", "inexact", "silent", "some_cells", "units"]
