"""Subjects: the NMF implementations that can be tested."""

from .command import Command
from .estimator import EstimatorSubject
from .function import FunctionSubject
from .libraries import LIBRARIES
from .names import SubjectName, as_subject, entry_points, load, reference_subject
from .problem import Answer, Problem, Progress, Subject
from .references import REFERENCES, ReferenceSubject

__all__ = [
    "LIBRARIES",
    "REFERENCES",
    "Answer",
    "Command",
    "EstimatorSubject",
    "FunctionSubject",
    "Problem",
    "Progress",
    "ReferenceSubject",
    "Subject",
    "SubjectName",
    "as_subject",
    "entry_points",
    "load",
    "reference_subject",
]
