"""The cluster executor: requests in batches to the workers of a Dask cluster, answers as they come.

A batch lasts a second or two, as measured while it runs, so that the scheduler has little to do. Of
batches and of requests there are never more under way than keep all workers busy: memory does not
depend on how long a run is. A batch whose worker is lost is run by another one; nothing that it had
answered was taken yet, so that nothing counts twice.
"""

from __future__ import annotations

import gc
import json
import queue
import sys
import sysconfig
import uuid
from collections import deque
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import SubjectError
from ...subjects import SubjectName
from ...subjects.names import found_anywhere
from ...text import printable
from ..protocol import About, Limits, Reply, Request
from . import remote
from .members import Members
from .parcels import pack_requests, unpack_replies

if TYPE_CHECKING:
    from distributed import Client, Future

ABOUT = 2.0
"""Seconds that a batch is meant to last."""

FIRST, MOST = 8, 4096
"""How many requests the first batches have, and how many any has."""

AHEAD = 2
"""So many batches each worker has: the one it works on, and the next."""

TIDY_EVERY = 16
"""After so many batches, memory that is not needed any more is looked for."""

CLOSING = 2
"""Seconds that workers have to say that they have ended what a run had started."""

GROWTH = 4
"""A batch has at most so many times as many requests as those before it."""


@dataclass
class _Batch:
    """Requests that are under way."""

    requests: list[Request]
    workers: frozenset[str]
    future: Future[Any]


class ClusterExecutor:
    """Runs a subject on a cluster.

    Parameters
    ----------
    client : of the cluster.
    subject : by its name: it is loaded on the workers.
    about : what it is here, which it must be there.
    limits : what each process that it runs in may use.
    reference : for a reference, `at_most` iterations and the `engine`; None for others, which run
        in processes of their own.
    tell : called with a line for the user.
    """

    def __init__(
        self,
        client: Client,
        subject: SubjectName,
        about: About,
        limits: Limits | None = None,
        *,
        reference: dict[str, Any] | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        limits = limits or Limits()
        self._client, self._about = client, about
        self._run = f"nmfcheck-{uuid.uuid4().hex}"
        order = {
            "run": self._run,
            "name": found_anywhere(subject.name),
            "options": dict(subject.options),
            "path": _own_path(),
            "timeout": limits.timeout,
            "memory": limits.memory,
            "reference": reference is not None,
            **(reference or {}),
        }
        self._order = json.dumps(order)
        known = {
            "takes": about.takes, "identity": about.identity, "parameters": about.parameters
        }  # fmt: skip
        expected = known | remote.engine_of(order)
        self._members = Members(client, subject.name, self._order, expected, tell)
        self._name = subject.name
        self._due: deque[Request] = deque()
        self._flying: dict[str, _Batch] = {}
        self._done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._forgotten: set[int] = set()
        self._size = FIRST
        self._each = 0.0
        self._sent = 0
        self._begun = False

    def __enter__(self) -> ClusterExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> About:
        """Look at the workers of the cluster, if that is not done yet."""
        if not self._begun:
            with self._connected():
                self._members.begin()
            self._begun = True
        return self._about

    def submit(self, request: Request) -> bool:
        """Take a request, if workers will have time for it soon."""
        room = AHEAD * max(self._members.slots, 1) - len(self._flying)
        if len(self._due) >= room * self._size:
            return False
        self._due.append(request)
        if len(self._due) >= self._size:
            self._send()
        return True

    def replies(self, timeout: float) -> list[Reply]:
        """Return what was answered, after waiting for so many seconds at most if nothing was."""
        with self._connected():
            self._members.look()
            self._rescue()
            while self._due and len(self._flying) < self._members.slots:
                self._send()
            replies: list[Reply] = []
            try:
                future = self._done.get(timeout=timeout)
                while True:
                    replies += self._taken(future)
                    future = self._done.get_nowait()
            except queue.Empty:
                return replies

    def forget(self, numbers: Container[int]) -> None:
        """Drop requests that no worker has; those that are under way are not asked again."""
        self._due = deque(request for request in self._due if request.number not in numbers)
        for batch in self._flying.values():
            self._forgotten |= {r.number for r in batch.requests if r.number in numbers}

    def close(self) -> None:
        """Cancel what is under way, and end what runs on the workers."""
        if self._client.status != "running":
            return
        try:
            self._client.cancel([batch.future for batch in self._flying.values()], force=True)
            self._flying.clear()
            if workers := list(self._members.approved):
                # Not as a task, which would wait for a batch to end.
                self._client.run(
                    remote.close, self._run, workers=workers, on_error="ignore",
                    callback_timeout=CLOSING,
                )  # fmt: skip
        except (TimeoutError, OSError):  # workers close by themselves what nobody asks for
            pass

    def _send(self) -> None:
        """Send a batch, if there is somebody to send it to."""
        workers = frozenset(self._members.approved)
        if not workers:
            return
        number = min(self._size, len(self._due))
        requests = [self._due.popleft() for _ in range(number)]
        self._sent += 1
        future = self._client.submit(
            remote.answer,
            self._order,
            pack_requests(requests),
            key=f"{self._run}-{self._sent}",
            workers=sorted(workers),
            pure=False,
        )
        if self._sent % TIDY_EVERY == 0:
            # Dask's graphs are cycles that hold whole parcels, and Python's collector, which counts
            # objects and not bytes, would let hundreds of megabytes of them wait.
            gc.collect()
        self._flying[str(future.key)] = _Batch(requests, workers, future)
        future.add_done_callback(self._done.put)

    def _taken(self, future: Future[Any]) -> list[Reply]:
        """Take up what came of a batch."""
        batch = self._flying.pop(str(future.key), None)
        if batch is None:
            return []
        if future.status == "error":
            error = future.exception()
            raise SubjectError(
                f"{self._name} cannot go on: the cluster gave up on a batch "
                f"({type(error).__name__}: {printable(str(error))[:300]})"
            )
        if future.status != "finished":
            if self._client.status != "running":
                raise OSError("the connection was lost")
            self._again(batch.requests)
            return []
        try:
            returned = unpack_replies(future.result())
        except ValueError as error:
            raise SubjectError(f"{self._name} cannot go on: a worker sent {error}") from None
        if returned.cannot:
            raise SubjectError(f"{self._name} cannot go on: {returned.cannot}")
        answered = {reply.number for reply in returned.replies}
        self._again([r for r in batch.requests if r.number not in answered])
        self._measure(len(answered), returned.seconds)
        asked = {request.number for request in batch.requests}
        return [reply for reply in returned.replies if reply.number in asked]

    def _again(self, requests: Sequence[Request]) -> None:
        """Ask again, before anything else."""
        left = [request for request in requests if request.number not in self._forgotten]
        self._due.extendleft(reversed(left))

    def _measure(self, number: int, seconds: float) -> None:
        """Choose the size of the next batches by how long the last ones took."""
        if number == 0:
            return
        each = seconds / number
        self._each = each if self._each == 0 else 0.7 * self._each + 0.3 * each
        wanted = int(ABOUT / max(self._each, 1e-6))
        self._size = max(1, min(wanted, GROWTH * self._size, MOST))

    def _rescue(self) -> None:
        """Take back batches all of whose workers are gone: others may do them."""
        alive = set(self._members.approved)
        for key, batch in list(self._flying.items()):
            if alive and not batch.workers & alive:
                del self._flying[key]
                self._client.cancel([batch.future], force=True)
                self._again(batch.requests)

    def _connected(self) -> Connection:
        return Connection(self._client)


class Connection:
    """Says in one line that a scheduler is gone."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._where = client.scheduler.address if client.scheduler else "the cluster"

    def __enter__(self) -> None:
        if self._client.status != "running":
            raise self._lost()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        from concurrent.futures import CancelledError

        if isinstance(error, (OSError, CancelledError)) or (
            isinstance(error, Exception)
            and not isinstance(error, SubjectError)
            and self._client.status != "running"
        ):
            raise self._lost() from None

    def _lost(self) -> SubjectError:
        return SubjectError(
            f"the scheduler at {self._where} is gone; the same command goes on from what is stored"
        )


def _own_path() -> list[str]:
    """Return the folders that modules are found in here, except for those that were installed."""
    installed = [Path(folder) for folder in sysconfig.get_paths().values()]
    folders = [Path(entry or ".").absolute() for entry in sys.path]
    own = [
        folder
        for folder in folders
        if folder.is_dir()
        and not any(folder == each or each in folder.parents for each in installed)
    ]
    return list(dict.fromkeys(map(str, [Path.cwd(), *own])))
