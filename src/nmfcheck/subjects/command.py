"""A program as a subject: it is started once, and answers one JSON object a line.

It reads ``{"id": 7, "A": [[…]], "rank": 3, "W0": [[…]], "H0": [[…]], "seed": 0, "objective":
"kl"}`` and writes ``{"id": 7, "W": [[…]], "H": [[…]]}`` or ``{"id": 7, "error": "…"}``. The end of
its input ends it. The first request is a warm-up, whose answer does not count. It also asks for
capabilities, and its answer may say what the program takes: ``"takes": ["seed"]`` is one that
draws a start of its own, and ``"precision": "single"`` one that computes in float32. Programs that
know nothing of that need not answer it.
"""

from __future__ import annotations

import contextlib
import json
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np

from ..arrays import Array
from ..errors import InputError, SubjectError
from ..judging.outcomes import Outcome
from ..text import printable
from .children import dying_with_parent
from .problem import KEYWORDS, Answer, OneByOne, Problem, last_lines

TAIL = 1000
"""How many bytes of a program's standard error are shown at most."""

MOST_STDERR, LONGEST_ANSWER = 1 << 20, 1 << 28

GRACE = 2e-3
"""Seconds in which a second answer to the same request is noticed."""

REPORTS = ("error", "losses", "iterations", "converged")
"""What an answer may say of the run."""

ANSWERED = "answered with an error: "
"""What an error begins with that a program reports itself."""

_SOME = np.array([[0.75, 0.25], [0.5, 0.875]])
WARM_UP = Problem(np.eye(2), 2, _SOME, _SOME.T.copy(), 0)


class _ProtocolError(Exception):
    """The program did not keep to the protocol; says how."""

    def __init__(self, message: str, outcome: Outcome = Outcome.ERROR) -> None:
        super().__init__(message)
        self.outcome = outcome


class Command(OneByOne):
    """A program that keeps to the command protocol.

    Parameters
    ----------
    arguments : the program and its arguments; no shell is involved.
    name : what it is called; ``cmd:`` and the arguments if not given.
    """

    def __init__(self, arguments: Sequence[str], name: str | None = None) -> None:
        if isinstance(arguments, str) or not arguments:
            raise InputError(f"a command is a list such as ['Rscript', 'nmf.R'], not {arguments!r}")
        self.arguments = [str(argument) for argument in arguments]
        self.name = name or "cmd:" + shlex.join(self.arguments)
        if shutil.which(self.arguments[0]) is None:
            raise SubjectError(f"{self.name}: there is no program {self.arguments[0]!r}")
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._unread = b""
        self._asked = 0
        self._said_before = 0
        self.capabilities: tuple[str, ...] = ()
        self.takes: tuple[str, ...] = KEYWORDS
        self.precision: Any = None

    @property
    def is_running(self) -> bool:
        """Whether the program was started and has kept to the protocol so far."""
        return self._process is not None

    def start(self) -> None:
        """Start the program, and warm it up; raise `SubjectError` where that fails."""
        try:
            self._start()
        except _ProtocolError as reason:
            said = self._last_words()
            self.close()
            printed = f"; it printed: {' / '.join(said.splitlines())}" if said else ""
            raise SubjectError(f"{self.name} could not be started: {reason}{printed}") from None

    def answer(self, problem: Problem, options: Mapping[str, Any] | None = None) -> Answer:
        """Ask the program, which is started if it does not run.

        Parameters
        ----------
        options : further keys of the request: options that are among its capabilities.
        """
        try:
            if self._process is None:
                self._start()
            answered = self._ask(problem, options)
        except _ProtocolError as reason:
            answer = Answer(error=str(reason), outcome=reason.outcome, output=self._last_words())
            self.close()
            return answer
        reports = {key: answered[key] for key in REPORTS if key in answered}
        is_number = type(answered.get("error")) in (int, float) and "W" in answered
        if answered.get("error") is not None and not is_number:
            text = printable(" ".join(str(answered["error"]).split()))
            return Answer(error=f"{ANSWERED}{text}", output=self._last_words())
        if not {"W", "H"} <= answered.keys():
            del answered["id"]
            return Answer(error=f"answered without W and H: {_shortened(json.dumps(answered))}")
        return Answer(from_json(answered["W"]), from_json(answered["H"]), reports=reports)

    def close(self) -> None:
        """End the program."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):  # what it did not read is lost
                    stream.close()  # type: ignore[union-attr]
            process.wait()
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            self.close()

    def _start(self) -> None:
        self._stderr = tempfile.TemporaryFile("ab+")  # noqa: SIM115 - closed with the program
        try:
            self._process = subprocess.Popen(
                self.arguments,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                preexec_fn=dying_with_parent(),  # noqa: PLW1509 - one call into the kernel
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise _ProtocolError(f"cannot be started: {reason}", Outcome.CRASHED) from None
        self._asked, self._unread = 0, b""
        said = self._ask(WARM_UP, {"capabilities": True})
        offered, taken = said.get("capabilities"), said.get("takes")
        self.capabilities = tuple(map(str, offered)) if isinstance(offered, list) else ()
        self.takes = _taken(taken) if taken is not None else KEYWORDS
        self.precision = said.get("precision")

    def _ask(self, problem: Problem, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        process = self._process
        assert process is not None and process.stdin is not None and self._stderr is not None
        number, self._asked = self._asked, self._asked + 1
        self._said_before = self._stderr.seek(0, 2)
        if self._said_before > MOST_STDERR:
            self._said_before = self._stderr.truncate(0)
        try:
            unsent = memoryview(_request(number, problem, more or {}).encode() + b"\n")
            while unsent:
                unsent = unsent[process.stdin.write(unsent) :]
        except OSError:
            raise self._ended() from None
        answered = self._read()
        while number > 0 and answered.get("id") == number - 1:
            answered = self._read()  # late, and once too often; it was noticed or it was not
        if answered.get("id") != number:
            mistake = (
                "with another id than that of the request" if "id" in answered else "without id"
            )
            raise _ProtocolError(f"answered {mistake}")
        if self._has_more():
            raise _ProtocolError("answered more than once")
        return answered

    def _has_more(self) -> bool:
        """Say whether there is output where there should be none; a moment is granted for it."""
        assert self._process is not None and self._process.stdout is not None
        return bool(self._unread) or bool(select.select([self._process.stdout], [], [], GRACE)[0])

    def _read(self) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        pieces = [self._unread]
        length = len(self._unread)
        while b"\n" not in pieces[-1]:
            piece = self._process.stdout.read(1 << 16)
            if not piece:
                raise self._ended()
            pieces.append(piece)
            length += len(piece)
            if length > LONGEST_ANSWER:
                raise _ProtocolError(f"wrote a line of more than {LONGEST_ANSWER} bytes")
        line, _, self._unread = b"".join(pieces).partition(b"\n")
        try:
            answered = json.loads(line)
        except (ValueError, RecursionError):
            answered = None
        if not isinstance(answered, dict):
            text = line.decode("utf-8", "replace")
            raise _ProtocolError(f"wrote a line that is not a JSON object: {_shortened(text)}")
        return answered

    def _ended(self) -> _ProtocolError:
        """Say how the program ended."""
        assert self._process is not None
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return _ProtocolError("closed its output without an answer", Outcome.CRASHED)
        return _ProtocolError(f"the program {how_it_ended(code)}", Outcome.CRASHED)

    def _last_words(self) -> str:
        if self._stderr is None:
            return ""
        end = self._stderr.seek(0, 2)
        self._stderr.seek(max(self._said_before, end - TAIL))
        return last_lines(self._stderr.read())


def how_it_ended(code: int) -> str:
    """Say in words what a process's return code means."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _taken(said: Any) -> tuple[str, ...]:
    """Return what a program says that it takes, of W0, H0 and the seed."""
    if not isinstance(said, list) or not set(map(str, said)) <= set(KEYWORDS):
        words = ", ".join(KEYWORDS)
        raise _ProtocolError(
            f'answered "takes": {_shortened(json.dumps(said))}, not a list of some of {words}'
        )
    return tuple(word for word in KEYWORDS if word in said)


def _request(number: int, problem: Problem, more: Mapping[str, Any]) -> str:
    return json.dumps(
        {
            **more,
            "id": number,
            "A": np.asarray(problem.A).tolist(),
            "rank": problem.rank,
            "W0": problem.W0.tolist(),
            "H0": problem.H0.tolist(),
            "seed": problem.seed,
            "objective": problem.objective,
        }
    )


def from_json(rows: Any) -> Any:
    """Return rows of numbers as an array, null as NaN; anything else as it is."""
    try:
        if all(x is None or type(x) in (int, float) for row in rows for x in row):
            array: Array = np.array(
                [[np.nan if x is None else x for x in row] for row in rows], dtype=np.float64
            )
            return array
    except (TypeError, ValueError, OverflowError):
        pass
    return rows


def _shortened(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 200 else text[:200] + "…")
