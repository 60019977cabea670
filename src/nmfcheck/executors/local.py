"""The local executor: worker processes that a subject runs in, whatever it does to them.

Each worker has a socket and an output file of its own, so that nothing one of them does reaches
another. It holds the problem that it works on and one or a few that wait. The time limit counts
from when the one before was answered. A worker that ends, hangs or writes nonsense is killed with
all that it started, and replaced; that costs the problem it was working on.
"""

from __future__ import annotations

import contextlib
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Container, Iterator, Sequence
from typing import Any

from ..errors import InputError, SubjectError
from ..judging.outcomes import Flag, Outcome
from ..laws import LawResult
from ..subjects import Answer, Subject, SubjectName
from ..subjects.command import how_it_ended
from ..subjects.mending import Found
from ..subjects.watching import Watched
from ..text import printable
from .leftovers import end_marked, end_orphans, new_mark, remove_folders
from .process import START_LIMIT, Worker
from .protocol import About, Limits, Reply, Request

MOST_FAILED_STARTS = 3
"""So many workers in a row that do not come up end the run."""

AT_ONCE = 2e-3
"""A subject that answers within so many seconds gets more problems ahead."""


class LocalExecutor:
    """Workers for one subject.

    Parameters
    ----------
    subject : by its name, or itself: then workers are forked from this process.
    count : how many workers.
    limits : what each may use.
    """

    def __init__(
        self, subject: SubjectName | Subject, count: int, limits: Limits | None = None
    ) -> None:
        self.subject = subject
        self.count = count
        self.limits = limits or Limits()
        self.mark = new_mark()
        self._started = 0
        self._workers: list[Worker] = []
        self._again: deque[Request] = deque()
        self._failed_starts = 0
        self._next_look = 0.0
        self._selector = selectors.DefaultSelector()
        self.about: About | None = None
        end_orphans()
        remove_folders()

    @staticmethod
    def can_fork() -> bool:
        """Say whether a subject that has no name can run in workers here."""
        return sys.platform == "linux"

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> About:
        """Load the subject in a first worker; raise `SubjectError` where it cannot be."""
        if not self._workers:
            self._start_one()
        while self.about is None:
            for _ in self._events(None):
                raise AssertionError("an answer before a question")
        return self.about

    def start_all(self) -> None:
        """Start all workers, and wait until each has loaded the subject."""
        self.start()
        while len(self._workers) < self.count:
            self._start_one()
        while any(worker.about is None for worker in self._workers):
            self.replies(0.1)

    def submit(self, request: Request) -> bool:
        """Hand over a request, if there is room for it."""
        self._send_again()
        return not self._again and self._send(request)

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._again or any(worker.waiting for worker in self._workers))

    def forget(self, numbers: Container[int]) -> None:
        """Drop requests that no worker has."""
        self._again = deque(request for request in self._again if request.number not in numbers)

    def replies(self, timeout: float) -> list[Reply]:
        """Return what was answered, after waiting for so many seconds at most if nothing was."""
        return list(self._events(timeout))

    def close(self) -> None:
        """End all workers, and whatever they started."""
        ended = list(self._workers)
        for worker in ended:
            self._end_one(worker)
        end_marked(self.mark)
        for worker in ended:
            worker.tidy()
        self._selector.close()

    def _start_one(self) -> None:
        self._started += 1
        worker = Worker(self.subject, self.limits, f"{self.mark}.{self._started}.")
        self._workers.append(worker)
        for source in worker.sources():
            self._selector.register(source, selectors.EVENT_READ, worker)

    def _end_one(self, worker: Worker) -> None:
        self._workers.remove(worker)
        for source in worker.sources():
            self._selector.unregister(source)
        worker.end()

    def _send(self, request: Request) -> bool:
        """Send a request to the worker that has least to do; start one more if all are busy."""
        room = [worker for worker in self._workers if worker.has_room(request)]
        worker = min(room, key=lambda worker: len(worker.waiting), default=None)
        if len(self._workers) < self.count and (worker is None or worker.waiting):
            self._start_one()
        if worker is None:
            return False
        worker.send(request)
        return True

    def _send_again(self) -> None:
        while self._again and self._send(self._again[0]):
            self._again.popleft()

    def _events(self, timeout: float | None) -> Iterator[Reply]:
        self._send_again()
        now = time.monotonic()
        until = now + (0.5 if timeout is None else min(timeout, 0.5))
        until = min([until, *(w.deadline for w in self._workers if w.waiting or not w.about)])
        ready = self._selector.select(max(0.0, until - now))
        for worker in dict.fromkeys(key.data for key, _ in ready):
            yield from self._read(worker)
        now = time.monotonic()
        for worker in list(self._workers):
            if now >= worker.deadline and (worker.waiting or not worker.about):
                yield from self._timed_out(worker)
            elif worker.ended is None and worker.process.poll() is not None:
                yield from self._gone(worker)
        if now >= self._next_look:
            self._next_look = now + 0.2
            for worker in self._workers:
                worker.keep_output_small()

    def _read(self, worker: Worker, *, last: bool = False) -> Iterator[Reply]:
        try:
            for fields, matrices in worker.channel.received():
                if worker.about is None:
                    self._loaded(worker, fields)
                elif "trying" in fields:  # of a law: each example has the time of a stage
                    worker.trying = printable(str(fields["trying"]))
                    worker.deadline = time.monotonic() + self.limits.timeout
                else:
                    yield self._reply(worker, fields, matrices)
        except InputError:
            raise
        except (EOFError, OSError, ValueError, KeyError, TypeError, OverflowError):
            yield from self._gone(worker)
            return
        if worker.retired or last:
            yield from self._gone(worker)
        elif worker.process.poll() is not None:
            yield from self._read(worker, last=True)  # what it sent before it ended

    def _loaded(self, worker: Worker, fields: dict[str, Any]) -> None:
        if "cannot" in fields:
            kind = InputError if fields["usage"] else SubjectError
            raise kind(fields["cannot"])
        worker.about = About(tuple(fields["takes"]), fields["identity"], fields["parameters"])
        self.about = self.about or worker.about
        if worker.about != self.about:
            raise SubjectError(f"{self.subject.name} has changed during the run; run it again")
        self._failed_starts = 0
        worker.deadline = time.monotonic() + self.limits.timeout

    def _reply(self, worker: Worker, fields: dict[str, Any], matrices: dict[str, Any]) -> Reply:
        number = fields["number"]
        if not worker.waiting or worker.waiting[0].number != number:
            raise ValueError("an answer to no question")
        if "found" in fields:
            return self._tried(worker, fields)
        if "watched" in fields:
            return self._watched(worker, fields)
        if "edits" in fields:
            return self._of_edits(worker, fields)
        flags = tuple(Flag(flag) for flag in fields["flags"])
        seconds, output = float(fields["seconds"]), str(fields["output"])
        if "error" in fields or "unusable" in fields:
            unusable = "unusable" in fields
            error = printable(f"{fields['unusable']}." if unusable else fields["error"])
            outcome = Outcome.INVALID if unusable else Outcome(fields["outcome"])
            answer = Answer(None, None, error, outcome, output, seconds, flags)
        else:
            answer = Answer(matrices["W"], matrices["H"], seconds=seconds, flags=flags)
        worker.quick = seconds < AT_ONCE
        worker.printed = int(fields["printed"])
        worker.retired = bool(fields["retires"])
        returned = tuple(map(str, fields.get("returned", ())))
        worker.waiting.popleft()
        worker.deadline = time.monotonic() + self.limits.timeout
        return Reply(number, answer, returned)

    def _tried(self, worker: Worker, fields: dict[str, Any]) -> Reply:
        """Return what came of a law."""
        result = LawResult.from_fields(fields["found"])
        self._went_on(worker, fields)
        answer = Answer(seconds=float(fields["seconds"]))
        return Reply(fields["number"], answer, law_result=result, calls=tuple(fields["calls"]))

    def _watched(self, worker: Worker, fields: dict[str, Any]) -> Reply:
        """Return what a subject did line by line."""
        seen = fields["watched"] and Watched.from_data(fields["watched"])
        self._went_on(worker, fields)
        return Reply(fields["number"], Answer(seconds=float(fields["seconds"])), watched=seen)

    def _of_edits(self, worker: Worker, fields: dict[str, Any]) -> Reply:
        """Return what was found of edits of its source."""
        found = Found.from_data(fields["edits"])
        self._went_on(worker, fields)
        return Reply(fields["number"], Answer(seconds=float(fields["seconds"])), found=found)

    def _went_on(self, worker: Worker, fields: dict[str, Any]) -> None:
        """Let a worker have the next request, whose time begins."""
        worker.waiting.popleft()
        worker.quick, worker.trying = False, ""
        worker.printed, worker.retired = int(fields["printed"]), bool(fields["retires"])
        worker.deadline = time.monotonic() + self.limits.timeout

    def _timed_out(self, worker: Worker) -> Iterator[Reply]:
        reason = f"did not answer within {self.limits.timeout:g} s"
        if worker.about is None:
            reason = f"was not ready within {START_LIMIT:g} s"
        yield from self._lost(worker, reason, Outcome.TIMEOUT)

    def _gone(self, worker: Worker) -> Iterator[Reply]:
        """Deal with a worker that has ended by itself, or makes no sense."""
        if worker not in self._workers:
            return
        code = worker.process.poll()
        if code is None and not worker.retired:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = worker.process.wait(1)
        how = "closed its connection" if code is None else how_it_ended(code)
        yield from self._lost(worker, f"its process {how}", Outcome.CRASHED)

    def _lost(self, worker: Worker, reason: str, outcome: Outcome) -> Iterator[Reply]:
        """Replace a worker, and answer for it; what only waited is asked again."""
        self._end_one(worker)
        end_marked(worker.mark)
        output = worker.last_words()
        worker.tidy()
        waiting = worker.waiting
        self._failed_starts += worker.about is None
        if self.about is None or self._failed_starts >= MOST_FAILED_STARTS:
            output_line = f"; it printed: {output}" if output else ""
            raise SubjectError(f"{self.subject.name} could not be loaded: {reason}{output_line}")
        if waiting and not worker.retired:
            culprit = waiting.popleft()
            seconds = self.limits.timeout if outcome is Outcome.TIMEOUT else float("nan")
            yield Reply(
                culprit.number,
                Answer(error=reason, outcome=outcome, output=output, seconds=seconds),
                trying=worker.trying,
            )
        self._again = deque(sorted([*self._again, *waiting], key=lambda request: request.number))


def request_all(executor: LocalExecutor, requests: Sequence[Request]) -> dict[int, Reply]:
    """Have all requests answered."""
    due, replies = deque(requests), dict[int, Reply]()
    while due or executor.busy:
        while due and executor.submit(due[0]):
            due.popleft()
        for reply in executor.replies(1.0):
            replies[reply.number] = reply
    return replies
