"""Families of cases with known answers: a room each, and what they have in common."""

from .family import Family, Nearest, Option
from .registry import find, names, room_of
from .trial import Ask, Case, Cell, Question, Trial

__all__ = [
    "Ask",
    "Case",
    "Cell",
    "Family",
    "Nearest",
    "Option",
    "Question",
    "Trial",
    "find",
    "names",
    "room_of",
]
