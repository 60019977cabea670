"""Mending a subject that is written in Python: which small change of its source makes it right.

`ground.py` runs it once and notes which statements ran, `proposing.py` and `values.py` say which
edits may mend it (`edit.py`), `acting.py` which functions are left alone, `swapping.py` puts an
edit into the running subject, `guard.py` lets it do nothing but compute then, and `trying.py` runs
it with each of them for a moment; `order.py` is how that is asked for. The file itself is never
changed.
"""

from .edit import Edit, Spot
from .order import Found, Order, What, found
from .swapping import UnfitError, swapped
from .trying import TimeUpError, limited

__all__ = [
    "Edit",
    "Found",
    "Order",
    "Spot",
    "TimeUpError",
    "UnfitError",
    "What",
    "found",
    "limited",
    "swapped",
]
