"""Families of cases with known answers: a room each, and what they have in common."""

from .family import Drawn, Family, Nearest, Option
from .registry import find, house, names, room_of
from .trial import Ask, Case, Cell, Question, Trial

__all__ = [
    "Ask",
    "Case",
    "Cell",
    "Drawn",
    "Family",
    "Nearest",
    "Option",
    "Question",
    "Trial",
    "find",
    "house",
    "names",
    "room_of",
]
