"""Numbers, options and foreign texts, as they are shown and read back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

MOST_DECIMALS = 6
"""Of a number in percent."""

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


def decimal(x: float) -> str:
    """Return the shortest decimal that reads back as x: ``1e-3``, ``0.25``, ``1``.

    >>> [decimal(x) for x in (0.0, 1.0, 0.25, 0.001, 1e-05, 1.5e300)]
    ['0', '1', '0.25', '1e-3', '1e-5', '1.5e300']
    """
    plain = repr(float(x)).removesuffix(".0")
    digits = next(digits for digits in range(18) if float(f"{x:.{digits}e}") == x)
    mantissa, exponent = f"{x:.{digits}e}".split("e")
    scientific = f"{mantissa}e{int(exponent)}"
    return scientific if "e" in plain or len(scientific) < len(plain) else plain


def printable(text: str) -> str:
    """Return a foreign text without what could control a terminal; lines stay lines."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def percent(fraction: float, digits: int = 1) -> str:
    """Write a fraction in percent, with so many decimals, or more where it would read 0 or 100.

    Only all of something is 100 % of it, and only nothing is 0 %.

    >>> [percent(x, 0) for x in (0.0, 0.001, 0.5, 0.995, 0.9996, 1.0)]
    ['0 %', '0.1 %', '50 %', '99.5 %', '99.96 %', '100 %']
    """
    text = f"{100 * fraction:.{digits}f}"
    while 0 < fraction < 1 and float(text) in (0, 100) and digits < MOST_DECIMALS:
        digits += 1
        text = f"{100 * fraction:.{digits}f}"
    return f"{text} %"


def in_list(items: Iterable[object]) -> str:
    """Write items with commas, and "and" before the last."""
    *head, last = map(str, items)
    return f"{', '.join(head)} and {last}" if head else last
