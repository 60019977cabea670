"""Values of options, as the command line takes and shows them."""

from __future__ import annotations

import json
from typing import Any

LITERALS = {"True": True, "False": False, "None": None}


def option_from_text(text: str) -> Any:
    """Return a number, true, false, null or JSON that a text says, or else the text."""
    try:
        return LITERALS[text] if text in LITERALS else json.loads(text)
    except ValueError:
        return text


def option_as_text(value: Any) -> str:
    """Return a text that is taken for this value."""
    plain = isinstance(value, str) and option_from_text(value) == value
    return value if plain else json.dumps(value)
