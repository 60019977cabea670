"""Pieces of HTML, from small templates; everything that is put into one is escaped."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from ..text import percent
from .words import interval, rate

if TYPE_CHECKING:
    from .drawing import Picture


def inline(picture: Picture) -> Markup:
    """Return a figure as markup: the SVG is our own, its text escaped by matplotlib."""
    text = Markup('<svg role="img" aria-label="{}"').format(picture.alt)
    return Markup(picture.svg.replace("<svg", str(text), 1))


@lru_cache
def environment() -> Environment:
    """Return the environment of all templates."""
    made = Environment(
        loader=PackageLoader("nmfcheck", "report/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"rate": rate, "interval": interval, "percent": percent, "figure": inline}
    return made


@lru_cache
def template(name: str) -> Template:
    """Return a template of a page."""
    return environment().get_template(name)


@lru_cache
def _template_of(text: str) -> Template:
    return environment().from_string(text)


def render(text: str, **values: Any) -> Markup:
    """Fill in a small template that stands beside what it shows."""
    return Markup(_template_of(text).render(**values))


def figure(picture: Picture, caption: str = "") -> Markup:
    """Return a figure with its caption, which begins with what it shows in words."""
    return render(
        "<figure>{{ picture | figure }}\n"
        "<figcaption>{{ picture.alt }} {{ caption }}</figcaption></figure>\n",
        picture=picture,
        caption=caption,
    )
