"""Running suites: trials through subjects, in this process or in workers, into a store."""

from .batches import run_batches
from .campaign import Campaign
from .workers import Limits, Workers

__all__ = ["Campaign", "Limits", "Workers", "run_batches"]
