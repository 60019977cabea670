"""A reproduction as Markdown, to be read beside its figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..store.environment import environment
from .reproduce import Reproduction
from .section import Section


def as_markdown(reproduction: Reproduction) -> str:
    """Return the sections of the paper, claim by claim, with figures and misprints."""
    return "\n\n".join(_parts(reproduction)) + "\n"


def _parts(reproduction: Reproduction) -> Iterator[str]:
    yield "# The paper, again"
    quick = " --quick" if reproduction.scale.part < 1 else ""
    yield (
        "Every experiment of “Non-Negative Matrix Factorization Test Cases” (Sell and Kepner, "
        f"arXiv 1701.00016), claim by claim. Made by `nmfcheck paper{quick}`; "
        f"{reproduction.scale.in_words}"
    )
    about = {**environment(), **reproduction.made_by}
    yield _table(("made by", ""), about.items())
    yield _table(
        ("where", "claim", ""),
        ((c.where, f"[{c.said}](#{c.id})", f"**{c.status}**") for c in reproduction.claims),
    )
    yield "## The paper's experiments"
    for section in reproduction.sections:
        yield from _section(section)
    yield "## What the paper could not see"
    for section in reproduction.beyond:
        yield from _section(section)
    yield "## Misprints and gaps"
    yield _table(
        ("where", "in the paper", "should be", "what shows it"),
        ((m.where, m.printed, m.meant, m.evidence) for m in reproduction.misprints),
    )


def _section(section: Section) -> Iterator[str]:
    yield f"### {section.title}"
    yield section.text
    for claim in section.claims:
        yield f'<a id="{claim.id}"></a>**{claim.where}.** {claim.said}'
        yield f"**{claim.status}.** {claim.evidence}"
        yield f"*Rule.* {claim.rule}"
    for drawing in section.drawings:
        yield f"![{drawing.caption}]({drawing.name}.svg)"
        yield f"*{drawing.caption}*"
    yield "Numbers: " + ", ".join(f"[{t.name}.csv]({t.name}.csv)" for t in section.tables) + "."


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(str(c)) for c in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
