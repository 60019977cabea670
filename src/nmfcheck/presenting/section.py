"""A section of a report: its data, its terminal form and its HTML form, together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import Console

    from ..families import Ask, Cell
    from ..trials.stage import Stage
    from .drawing import Sheet


class Section:
    """One section; each of its three forms may be empty.

    Attributes
    ----------
    key : what its data is called in JSON.
    title : what stands over it on the page; "" for no heading.
    folded : whether the page shows the title alone, until it is opened.
    """

    key: str = ""
    title: str = ""
    folded: bool = False

    def data(self) -> Any:
        """Return what JSON has of it."""
        return None

    def show(self, screen: Console) -> None:
        """Print it."""

    def html(self, sheet: Sheet) -> Markup | str:
        """Return it as HTML, with figures drawn on the page's sheet."""
        return ""


class Material(Protocol):
    """What a family's own sections can be made of: what one subject did on that family."""

    @property
    def cells(self) -> Sequence[Cell]:
        """The cells of the family that were run."""
        ...

    @property
    def asks(self) -> Sequence[Ask]:
        """What was asked in each."""
        ...

    def texts(self, label: str) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """Return how often each text of a label occurred, by the names of cell and ask."""
        ...

    def reference_texts(
        self, label: str
    ) -> Mapping[str, Mapping[tuple[str, str], Mapping[str, int]]]:
        """Return the same for each reference algorithm of the family's baseline."""
        ...

    def stages(self, cell: Cell) -> Sequence[Stage]:
        """Return the stages of a cell, with W and H where they were kept."""
        ...
