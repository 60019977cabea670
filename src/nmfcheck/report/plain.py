"""Results as JSON: plain values, and no number that JSON does not know."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Turn a result into what JSON can hold; NaN and infinities become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if not field.metadata.get("internal")
        }
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def as_json(value: Any) -> str:
    """Write a result as JSON."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)
