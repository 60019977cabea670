"""What the bidiagonal family adds to a report: the words of n = 3, and the slopes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...presenting.section import Material, Section
from ...text import decimal, percent
from .family import FAMILY, SLOPES, eps_of
from .slopes import PARAMETERS, Slopes, slopes_of

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from rich.console import Console

    from ...presenting.drawing import Sheet

SIZE = 3
"""The size whose words are shown, as in the paper's Figure 3."""


def sections(material: Material) -> list[Section]:
    """Return the family's own sections, where there is something to say."""
    own: list[Section] = []
    if (words := _words(material)) is not None:
        own.append(words)
    runs = material.stages(FAMILY.cell(SLOPES))
    by_seed: dict[int, dict[float, Any]] = {}
    for stage in runs:
        factors = None if stage.W is None or stage.H is None else (stage.W, stage.H)
        by_seed.setdefault(stage.trial.seed, {})[eps_of(stage.ask)] = factors
    if len(by_seed) >= 2:
        ladder = sorted({eps for run in by_seed.values() for eps in run})
        own.append(
            SlopesSection(
                slopes_of({eps: [run.get(eps) for run in by_seed.values()] for eps in ladder})
            )
        )
    return own


def _words(material: Material) -> WordsSection | None:
    """Return how often each word of n = 3 occurred, beside the references."""
    cells = [cell.name for cell in material.cells if cell.n == SIZE]
    own = material.texts("word")
    asks = [ask.name for ask in material.asks if eps_of(ask) > 0]
    ask = next((a for a in asks if any((cell, a) in own for cell in cells)), None)
    if ask is None:
        return None
    groups = {"this subject": _summed(own, cells, ask)}
    for name, theirs in material.reference_texts("word").items():
        if counted := _summed(theirs, cells, ask):
            groups[name] = counted
    return WordsSection(ask, groups)


def _summed(
    texts: Mapping[tuple[str, str], Mapping[str, int]], cells: Sequence[str], ask: str
) -> dict[str, int]:
    total: dict[str, int] = {}
    for cell in cells:
        for text, number in texts.get((cell, ask), {}).items():
            total[text] = total.get(text, 0) + number
    return dict(sorted(total.items()))


class WordsSection(Section):
    """How often each word of n = 3 occurred, as in the paper's Figure 3."""

    key = "words"
    title = f"Words of n = {SIZE}"

    def __init__(self, ask: str, groups: Mapping[str, Mapping[str, int]]) -> None:
        self.ask = ask
        self.groups = groups

    def data(self) -> Any:
        """Return the counts of the subject."""
        return {"n": SIZE, "ask": self.ask, "counts": self.groups["this subject"]}

    def html(self, sheet: Sheet) -> Markup | str:
        """Draw the subject's shares beside the references'."""
        import numpy as np

        from ...presenting.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, panels, short_name
        from ...presenting.markup import figure as with_caption

        names = sorted({word for counts in self.groups.values() for word in counts})
        figure, (axes,) = panels(height=3.0)
        width = 0.8 / len(self.groups)
        colours = (BLUE, ORANGE, GREEN, RED, PURPLE, GREY)
        for i, (name, counts) in enumerate(self.groups.items()):
            total = sum(counts.values())
            heights = [counts.get(word, 0) / total for word in names]
            places = np.arange(len(names)) + (i + 0.5) * width - 0.4
            axes.bar(places, heights, width, color=colours[i % 6], label=short_name(name))
        axes.set_xticks(range(len(names)), names)
        axes.set(xlabel="word", ylabel="share of runs with a form")
        axes.legend(ncols=2, fontsize=8)
        own = self.groups["this subject"]
        listed = ", ".join(f"{w} {percent(c / sum(own.values()), 0)}" for w, c in own.items())
        alt = f"Words of n = {SIZE} at ε = {decimal(eps_of(self.ask))}: {listed}."
        caption = (
            "A letter for each superdiagonal entry: whether it comes from h (H), w (W), b (both) "
            "or - (neither). The paper’s Figure 3 shows the same as Types I (hh), II (ww), "
            "III (hw), IV (wh)."
        )
        return with_caption(sheet.draw(figure, alt), caption)


class SlopesSection(Section):
    """The slopes of the parameters in ε, as in the paper's Figure 1."""

    key = "slopes"
    title = "Slopes"

    def __init__(self, slopes: Slopes) -> None:
        self.slopes = slopes

    def in_words(self) -> str:
        """Say whether a subject's parameters are linear in ε."""
        words = {True: "is linear", False: "is not linear", None: "may be linear"}
        listed = ", ".join(
            f"{each.parameter} {words[each.linear]} ({each.runs.part} of {each.runs.whole})"
            for each in self.slopes.linearity
        )
        return f"Slopes in ε, n = 2, from {len(self.slopes.of_W)} starts: {listed}."

    def data(self) -> Any:
        """Return means, errors and how often each parameter is linear."""
        slopes = self.slopes
        mean, error = slopes.mean, slopes.error
        return {
            "starts": len(slopes.of_W),
            "of_W": int(slopes.of_W.sum()),
            "eps": slopes.eps,
            "counted": slopes.counted,
            "parameters": [
                {
                    "name": each.parameter,
                    "mean": [_finite(x) for x in mean[:, k]],
                    "standard_error": [_finite(x) for x in error[:, k]],
                    "linear_runs": each.runs.part,
                    "runs": each.runs.whole,
                    "linear": each.linear,
                }
                for k, each in enumerate(slopes.linearity)
            ],
        }

    def show(self, screen: Console) -> None:
        """Print one sentence."""
        from rich.text import Text

        screen.print(Text(f"- {self.in_words()}"), soft_wrap=True)

    def html(self, sheet: Sheet) -> Markup | str:
        """Draw the mean slopes."""
        from ...presenting.drawing import panels
        from ...presenting.markup import figure as with_caption
        from ...presenting.markup import render

        figure, (axes,) = panels()
        slope_curves(axes, self.slopes)
        axes.set(xscale="log", xlabel="ε", ylabel="mean slope")
        axes.set_yscale("symlog", linthresh=2)
        axes.invert_xaxis()
        axes.legend(loc="lower left", fontsize=8)
        listed = ", ".join(f"{each.parameter} {each.mean:.3g}" for each in self.slopes.linearity)
        smallest = decimal(self.slopes.eps[-1])
        alt = f"Mean slopes of the parameters; at ε = {smallest}: {listed}."
        caption = (
            "(parameter(ε) − parameter(0))/ε for n = 2, a ≡ 1, with 95 % intervals, as in the "
            "paper’s Figure 1; W’s parameters where W takes the larger share of A(1,2), else H’s "
            "mirror images of them."
        )
        words = render("<p>{{ words }}</p>\n", words=self.in_words())
        return words + with_caption(sheet.draw(figure, alt), caption)


def slope_curves(axes: Axes, slopes: Slopes) -> None:
    """Draw the mean slope of each parameter, with 95 % intervals."""
    from ...presenting.drawing import BLUE, GREEN, INK, ORANGE

    mean, error = slopes.mean, slopes.error
    styles = zip(PARAMETERS, (BLUE, ORANGE, GREEN), "os^", strict=True)
    for k, (name, colour, marker) in enumerate(styles):
        axes.errorbar(slopes.eps, mean[:, k], 1.96 * error[:, k], fmt=f"{marker}-", capsize=2,
                      color=colour, markersize=4, linewidth=1, label=name)  # fmt: skip
    axes.axhline(0, color=INK, linewidth=0.5)


def _finite(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None
