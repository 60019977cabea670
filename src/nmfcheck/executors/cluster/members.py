"""The workers of a cluster: which of them may be given work.

Each is looked at first: the subject must load there, and be what it is here. Those that join later
are looked at before they get any.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import SubjectError
from ...text import printable
from . import remote

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE = 120.0
"""Seconds that a cluster without workers is waited for: they may still be starting."""

BETWEEN_LOOKS = 1.0


class Patience:
    """Says once that there is nobody to work, and gives up after a while.

    Parameters
    ----------
    tell : called with a line for the user.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._since: float | None = None

    def look(self, *, there: bool) -> None:
        """Note whether there is somebody; raise `SubjectError` if there was nobody for long."""
        now = time.monotonic()
        if there:
            self._since = None
        elif self._since is None:
            self._since = now
            self._tell(f"the cluster has no workers now; waiting for {PATIENCE:g} s at most")
        elif now - self._since > PATIENCE:
            raise SubjectError(
                f"the cluster has had no workers for {PATIENCE:g} s; the same command goes on from "
                "what is stored"
            )


class Members:
    """The workers that a run may use.

    Parameters
    ----------
    order : what a worker has to know of the run.
    expected : what the subject is here.
    tell : called with a line for the user.
    """

    def __init__(
        self,
        client: Client,
        subject: str,
        order: str,
        expected: Mapping[str, Any],
        tell: Callable[[str], None],
    ) -> None:
        self._client = client
        self._subject = subject
        self._order = order
        self._expected = json.loads(json.dumps(expected))  # as it comes back
        self._tell = tell
        self._looks: dict[str, Future[Any]] = {}
        self._refused: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._threads: dict[str, int] = {}
        self._next = 0.0
        self._patience = Patience(tell)
        self.approved: dict[str, int] = {}
        """Addresses, and how many batches each works on at a time."""

    @property
    def slots(self) -> int:
        """How many batches are worked on at a time."""
        return sum(self.approved.values())

    def begin(self) -> None:
        """Look at all workers; raise `SubjectError` if one of them cannot be used."""
        until, warned = time.monotonic() + PATIENCE, False
        while not self._looks and not self.approved:
            self._listed()
            if not self._looks and not warned:
                self._tell(f"the cluster has no workers yet; waiting for {PATIENCE:g} s at most")
                warned = True
            if not self._looks and time.monotonic() > until:
                raise SubjectError(f"the cluster has had no workers for {PATIENCE:g} s")
            time.sleep(0 if self._looks else 0.2)
        while self._looks:
            self._finished(wait=True)
            if self._refused:
                raise SubjectError(next(iter(self._refused.values())))
        if not self.approved:
            raise SubjectError("the workers of the cluster were gone before they were looked at")

    def look(self) -> None:
        """See who has come and who has gone, now and then.

        Raise `SubjectError` if there has been nobody to work for a while.
        """
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + BETWEEN_LOOKS
        self._listed()
        for address in self._finished():
            self._tell(f"not used: {self._refused[address]}")
        self._patience.look(there=bool(self.approved or self._looks))

    def called(self, address: str) -> str:
        """Return a worker's name, with its address where that says more."""
        name = self._names.get(address, address)
        return printable(name if name == address else f"{name} ({address})")

    def _listed(self) -> None:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        for address in [*self.approved, *self._looks]:
            if address not in workers:
                self.approved.pop(address, None)
                self._looks.pop(address, None)
        for address, worker in workers.items():
            if address in self.approved or address in self._looks or address in self._refused:
                continue
            self._names[address] = str(worker.get("name", address))
            self._threads[address] = int(worker.get("nthreads", 1))
            self._looks[address] = self._client.submit(
                remote.look, self._order, workers=[address], pure=False, priority=10
            )

    def _finished(self, *, wait: bool = False) -> list[str]:
        """Take up what was seen of workers; return those that cannot be used."""
        refused = []
        for address, future in list(self._looks.items()):
            if wait and future.status == "pending":
                self._wait(address, future)
            if address not in self._looks or future.status == "pending":
                continue
            del self._looks[address]
            if reason := self._objection(address, future):
                self._refused[address] = reason
                refused.append(address)
            else:
                self.approved[address] = self._threads[address]
        return refused

    def _wait(self, address: str, future: Future[Any]) -> None:
        """Wait for a look, or until the worker is gone."""
        from distributed import wait  # late: it takes long to import

        try:
            with self._client.as_current():
                wait([future], timeout=BETWEEN_LOOKS)
        except TimeoutError:
            if address not in self._client.scheduler_info(n_workers=-1)["workers"]:
                self._looks.pop(address, None)

    def _objection(self, address: str, future: Future[Any]) -> str:
        """Say what is against a worker; "" if nothing is."""
        where = f"{self._subject} on worker {self.called(address)}"
        if future.status != "finished":
            error = future.exception() if future.status == "error" else "the look was cancelled"
            kind = f"{type(error).__name__}: " if isinstance(error, BaseException) else ""
            return f"{where} cannot be loaded: {kind}{printable(str(error))[:300]}"
        try:
            reply = json.loads(str(future.result()))
            if "cannot" in reply:
                return f"{where} cannot be loaded: {printable(str(reply['cannot']))}"
            about = reply["about"]
        except (ValueError, TypeError, KeyError):
            return f"{where} cannot be loaded: the worker does not say what it has"
        if about == self._expected:
            return ""
        ours, theirs = _difference(self._expected, about)
        return f"{where} is not what it is here: there {theirs}, here {ours}"


def _difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[str, str]:
    """Return what differs of two subjects, as a text each."""
    one, other = _flat(ours), _flat(theirs)
    keys = [key for key in sorted({*one, *other}) if one.get(key) != other.get(key)]
    shown = (
        ", ".join(f"{key} {each.get(key, 'missing')}" for key in keys) for each in (one, other)
    )
    first, second = (printable(text)[:300] for text in shown)
    return first, second


def _flat(about: Mapping[str, Any]) -> dict[str, str]:
    identity = about.get("identity")
    known = {**about, **(identity if isinstance(identity, dict) else {})}
    known.pop("identity", None)
    return {str(key): _in_words(value) for key, value in known.items()}


def _in_words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
