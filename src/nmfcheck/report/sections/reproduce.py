"""How to run it again, and on what it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...presenting.section import Section
from ..contents import SubjectContents

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...presenting.drawing import Sheet

HTML = """\
{% if subject.command %}<pre>{{ subject.command }}</pre>{% endif %}
<dl>
{% for key, value in subject.subject.environment.items() %}<dt>{{ key }}</dt><dd>{{ value }}</dd>{% endfor %}
<dt>suite</dt><dd>{{ subject.suite.title }}</dd>
<dt>store</dt><dd>{{ subject.store }}, subject {{ subject.subject.fingerprint }}</dd>
{% for key, value in subject.subject.settings.items() %}<dt>{{ key }}</dt><dd>{{ value }}</dd>{% endfor %}
</dl>
"""


class ReproduceSection(Section):
    """The command, versions and settings."""

    title = "How to reproduce"

    def __init__(self, subject: SubjectContents) -> None:
        self.subject = subject

    def html(self, sheet: Sheet) -> Markup | str:
        """Return the command and a list."""
        from ...presenting.markup import render

        return render(HTML, subject=self.subject)
