"""Trying a law on a subject, example by example; and what came of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from ..arrays import Array
from ..subjects.capabilities import Call, Handle
from ..subjects.problem import raised
from ..subjects.refusals import CrashedError, InvalidError, RefusedError
from ..text import printable
from .law import BrokenError, DoesNotApplyError, Example, Law, Severity

PREFIX = "law/"
"""What ids of examples begin with."""

LONGEST = 600
"""Characters of a sentence."""

UNANSWERED = re.compile(
    r"(?:^|: )(?:it raised |[WH] has \d+ entries that are NaN$|[WH] is not fin|[WH] has shape "
    r"|[WH] has a negative entry)"
)
"""What sentences say of exceptions, and of W and H that are not valid."""


class State(StrEnum):
    """What trying a law came to."""

    HELD = "held"
    BROKEN = "broken"
    DOES_NOT_APPLY = "does not apply"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class LawResult:
    """What came of a law, on one subject.

    Attributes
    ----------
    law : its name.
    severity : what a broken one means.
    state : whether it held.
    sentence : how it was broken, why it does not apply, or why it was not tried.
    example : the id of the smallest example that breaks it, or of the last that was tried.
    tried : on how many examples.
    deviation : the largest that was seen; None where nothing was measured.
    seconds : how long it took.
    """

    law: str
    severity: Severity
    state: State
    sentence: str = ""
    example: str = ""
    tried: int = 0
    deviation: float | None = None
    seconds: float = 0.0

    @property
    def broken(self) -> bool:
        """Whether it is broken."""
        return self.state is State.BROKEN

    @property
    def decides(self) -> bool:
        """Whether it fails the subject."""
        return self.broken and self.severity is Severity.MUST

    @property
    def is_open(self) -> bool:
        """Whether it might have failed the subject, and was not tried."""
        return self.state is State.NOT_TRIED and self.severity is Severity.MUST

    @property
    def unanswered(self) -> bool:
        """Whether it is broken since no valid answer came back."""
        return self.broken and UNANSWERED.search(self.sentence) is not None

    @property
    def id(self) -> str:
        """What `nmfcheck replay` shows; "" where there is nothing to show."""
        return f"{PREFIX}{self.law}/{self.example}" if self.example else ""

    def as_fields(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> LawResult:
        """Return what `as_fields` wrote down; raise where it is something else."""
        deviation = fields["deviation"]
        return cls(
            str(fields["law"]),
            Severity(fields["severity"]),
            State(fields["state"]),
            printable(str(fields["sentence"]))[:LONGEST],
            printable(str(fields["example"]))[:80],
            int(fields["tried"]),
            None if deviation is None else float(deviation),
            float(fields["seconds"]),
        )


def try_law(
    law: Law,
    handle: Handle,
    *,
    only: str = "",
    seconds: float = 10.0,
    tell: Callable[[str], None] = lambda _: None,
) -> LawResult:
    """Try a law on a subject.

    Parameters
    ----------
    only : the id of a single example.
    seconds : after so many no further example is begun; 0 only looks whether it applies.
    tell : called with the id of an example that is about to be tried.
    """
    begin = time.perf_counter()
    result = LawResult(law.name, law.severity, State.HELD)

    def ended(state: State, sentence: str = "", **more: Any) -> LawResult:
        taken = time.perf_counter() - begin
        text = printable(" ".join(sentence.split()))[:LONGEST]
        return replace(result, state=state, sentence=text, seconds=taken, **more)

    reasons: list[str] = []
    try:
        law.applies(handle)
        if seconds <= 0:
            return ended(State.NOT_TRIED, "there was no time for it")
        law.probe(handle)
        examples = [Example.from_id(only)] if only else list(law.examples(handle))
    except DoesNotApplyError as reason:
        return ended(State.DOES_NOT_APPLY, str(reason))
    except CrashedError as error:
        return ended(State.BROKEN, str(error))
    left = 0
    for example in examples:
        if time.perf_counter() - begin > seconds and result.tried:
            left = len(examples) - result.tried - len(reasons)
            break
        tell(example.id)
        try:
            deviation = law.try_(handle, example)
        except DoesNotApplyError as reason:
            reasons.append(str(reason))
            continue
        except (BrokenError, RefusedError, InvalidError, CrashedError) as error:
            sentence = f"it {error}" if isinstance(error, RefusedError) else str(error)
            broken = {
                "example": example.id,
                "tried": result.tried + 1,
                "deviation": getattr(error, "deviation", None),
            }
            return ended(State.BROKEN, sentence, **broken)
        known = [x for x in (result.deviation, deviation) if x is not None]
        result = replace(
            result, tried=result.tried + 1, example=example.id, deviation=max(known, default=None)
        )
    if not result.tried:
        return ended(State.DOES_NOT_APPLY, reasons[0] if reasons else "nothing can be tried")
    further = "1 further example was" if left == 1 else f"{left} further examples were"
    sentence = f"{further} not tried for want of time" if left else ""
    return ended(State.HELD, sentence)


def unable(law: Law, error: BaseException) -> LawResult:
    """Return that a law could not be tried, since trying it went wrong by itself."""
    return LawResult(law.name, law.severity, State.NOT_TRIED, f"trying it {raised(error)}")


def shown(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Return calls as JSON can hold them."""

    def rows(X: Array | None) -> Any:
        if X is None or np.ndim(X) != 2 or np.size(X) > 400:
            return None
        return [[float(x) if np.isfinite(x) else None for x in row] for row in X]

    return [
        {
            "how": f"rank {call.rank}, {call.how}" if call.how else f"rank {call.rank}",
            "said": call.said,
            "A": rows(call.A),
            "W": rows(call.W),
            "H": rows(call.H),
        }
        for call in calls
    ]
