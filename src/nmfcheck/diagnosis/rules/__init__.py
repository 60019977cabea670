"""The rules, a file each: evidence in, a finding or nothing out."""

from .at_once import at_once
from .biased import alike, biased
from .capped import capped
from .ceiling import ceiling
from .clipped import clipped
from .collapsed import collapsed
from .constrained import constrained
from .diverged import diverged
from .early import creeping, early, hurried, untried
from .entrywise import entrywise
from .fixed_point import at_rest, fixed_point, unknown
from .floor import floor, lifted
from .greedy import greedy
from .half import half
from .incomplete import emptied_lines, incomplete
from .inexact import inexact
from .late import late
from .leaves import leaves
from .locked import locked
from .loss import other_loss
from .misplaced import misplaced
from .misread import misread
from .parted import parted
from .penalised import penalised, perhaps_penalised
from .permuted import permuted
from .pruned import emptied, pruned
from .random import random
from .remembers import remembers
from .rescaled import rescaled
from .reshaped import reshaped
from .rounded import rounded
from .scaled import scaled
from .shuffled import shuffled
from .silent import silent
from .single import clustered, inside, single
from .some_cells import some_cells
from .spoiled import held, leaping, spoiled, still, wavering, worsened
from .threshold import cut_off, threshold
from .transformed import transformed
from .turned import turned
from .units import units
from .unmoved import partly_unmoved, unmoved
from .unrelated import unrelated
from .unsigned import unsigned
from .unstable import jumping, unstable
from .weighted import weighted

WHY_UNCONVERGED = (
    remembers, capped,
    # What W and H are, whatever was tried.
    unmoved, reshaped, turned, permuted, single, rounded, transformed, scaled, rescaled,
    misplaced, shuffled, incomplete, clipped, partly_unmoved, constrained,
    unsigned, other_loss, weighted, emptied,
    # What experiments show, and what the answers do.
    random, spoiled, still, diverged, misread, penalised, worsened, biased, perhaps_penalised,
    floor, threshold, pruned, cut_off, parted, at_once, held, wavering, hurried, early, entrywise,
    lifted, ceiling, locked, emptied_lines, greedy, jumping, half, unstable,
    # What is left.
    inside, leaves, at_rest, late, leaping, unrelated, alike, clustered, creeping, fixed_point,
    untried, unknown,
)  # fmt: skip
"""Why runs end neither at a solution nor at another stationary point; the first that fits."""

ABOUT_A = (
    reshaped, transformed, rescaled, misplaced, shuffled, incomplete, clipped, constrained, parted,
    entrywise,
)  # fmt: skip
"""Rules that look at answers whose product should be A, and say so."""

WHY_COLLAPSED = (remembers, capped, random, misread, threshold, pruned, leaves)
"""Why runs collapse more often than they should, where experiments show it."""

__all__ = [
    "ABOUT_A", "WHY_COLLAPSED", "WHY_UNCONVERGED", "collapsed", "inexact", "silent", "some_cells",
    "units",
]  # fmt: skip
