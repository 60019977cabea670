"""A page in a real browser: what it says, what it asks for, and how it looks."""

import shutil
from contextlib import contextmanager

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)

needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="NO BROWSER to look at the page with: apt-get install chromium"
)

PHONE = 390
"""The width of a phone."""


@contextmanager
def opened(browser, path, scheme):
    """Open a page on a phone; yields the tab, and lists of what it said and asked for."""
    context = browser.new_context(color_scheme=scheme, viewport={"width": PHONE, "height": 800})
    tab = context.new_page()
    said, asked = [], []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(path.as_uri())
    yield tab, said, asked
    context.close()


def check_page(tab, said, asked, figures):
    """Assert what must hold of every page."""
    assert said == []
    assert asked == [tab.url]
    assert tab.locator("script").count() == 0
    shown = tab.locator("figure svg").all()
    assert len(shown) >= figures
    for figure in shown:
        box = figure.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 80
        assert len(figure.get_attribute("aria-label")) > 20
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE
    colours = tab.evaluate(
        "['color', 'backgroundColor'].map(c => getComputedStyle(document.body)[c])"
    )
    bright = [sum(map(int, c.strip("rgb()").split(","))) for c in colours]
    assert abs(bright[0] - bright[1]) > 500
    axis = tab.locator("figure svg text").first
    assert axis.evaluate("e => getComputedStyle(e).fill") == colours[0]


OVERLAPPING = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('figure svg')) {
    const texts = [...svg.querySelectorAll('text')].filter(text => !text.querySelector('tspan'));
    const boxes = texts.map(text => text.getBoundingClientRect());
    for (let i = 0; i < texts.length; i++) for (let j = 0; j < i; j++) {
      const [a, b] = [boxes[i], boxes[j]];
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (width > 1 && height > 0.3 * Math.min(a.height, b.height))
        found.push(texts[j].textContent + ' and ' + texts[i].textContent);
    }
  }
  return found;
}"""


def overlapping(tab):
    """Return the labels in figures that lie one over the other; powers of ten are not looked at."""
    return tab.evaluate(OVERLAPPING)
