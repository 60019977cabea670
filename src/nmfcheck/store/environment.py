"""What a run ran on, for those who want to repeat it."""

from __future__ import annotations

import os
import platform
from functools import cache

import numpy as np

from .. import __version__
from ..reference.engine import description


@cache
def environment() -> dict[str, str | int]:
    """Return versions, system and processor."""
    return {
        "nmfcheck": __version__,
        "engine": description(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
    }
