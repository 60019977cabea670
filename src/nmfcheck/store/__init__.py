"""The store of a run: one SQLite file, a row a stage. All SQL is here."""

from .merging import merge
from .results import Results, Row
from .store import Store, StoredSubject

__all__ = ["Results", "Row", "Store", "StoredSubject", "merge"]
