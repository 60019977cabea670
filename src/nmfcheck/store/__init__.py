"""The store of a run: one SQLite file, a row a stage."""

from .file import suite_as_text
from .store import Store, StoredSubject

__all__ = ["Store", "StoredSubject", "suite_as_text"]
