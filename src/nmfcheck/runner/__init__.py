"""Running suites: executors that carry trials through subjects."""

from .batches import run_suite

__all__ = ["run_suite"]
