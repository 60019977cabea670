"""Families of cases with known answers: a room each, and what they have in common."""

from .family import Ask, Case, Cell, Family, Nearest, Option, Question, Trial
from .registry import find, names

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
]
