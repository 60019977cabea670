"""Shares and decisions, as tables show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..intervals import Share
from ..text import percent

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

STYLES = {"PASS": "bold green", "FAIL": "bold red", "INCONCLUSIVE": "bold yellow"}


def rate(share: Share) -> str:
    """Write a share in whole percents; a dash where there is nothing of which it could be one."""
    return percent(share.value, 0) if share.whole else "–"


def interval(share: Share) -> str:
    """Write the 95 % interval of a share in percent."""
    if not share.whole:
        return "–"
    low, high = share.interval
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def decision(word: str) -> Text:
    """Return PASS, FAIL or INCONCLUSIVE in its colour."""
    from rich.text import Text

    return Text(str(word), style=STYLES[str(word)])


def table(title: str) -> Table:
    """Return an empty table."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    return Table(
        title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0), show_edge=False,
    )  # fmt: skip
