"""Subjects: the NMF implementations that can be tested."""

from .function import FunctionSubject, as_subject
from .problem import Answer, Problem, Progress, Subject
from .references import REFERENCES, ReferenceSubject, find

__all__ = [
    "REFERENCES",
    "Answer",
    "FunctionSubject",
    "Problem",
    "Progress",
    "ReferenceSubject",
    "Subject",
    "as_subject",
    "find",
]
