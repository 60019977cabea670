"""Finds a cluster: one that is there, by the address of its scheduler, or one on this machine."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InputError, SubjectError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

TIMEOUT = 10
"""Seconds that a scheduler has to answer."""

CLOSING = 10
"""Seconds that workers on this machine have to end by themselves."""

REMEMBERED = {"distributed.admin.low-level-log-length": 20}
"""Dask keeps the last messages of each connection, 1000 of them, and with them whole batches."""

LOCAL = re.compile(r"local:(0*[1-9][0-9]*)")
ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://\S+")
SAFE = ("tls:", "wss:")
EXPECTED = "expected a scheduler's address, such as tcp://host:8786, or local:4 for this machine"


@dataclass(frozen=True)
class Tls:
    """Files that make a connection safe: who may be trusted, and who one is."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def security(self) -> Any:
        """Return Dask's description; None where Dask's own configuration holds."""
        given = {"ca": self.ca, "cert": self.cert, "key": self.key}
        if not any(given.values()):
            return None
        for name, path in given.items():
            if path is None:
                together = "--tls-ca, --tls-cert and --tls-key belong together"
                raise InputError(f"--tls-{name} is missing; {together}")
            if not path.is_file():
                raise InputError(f"--tls-{name} is {str(path)!r}, which is not a file")
        self._check()
        from distributed.security import Security

        return Security(
            tls_ca_file=str(self.ca),
            tls_client_cert=str(self.cert),
            tls_client_key=str(self.key),
            require_encryption=True,
        )

    def _check(self) -> None:
        """Raise `InputError` for a file that is not what it should be."""
        for name, path in {"ca": self.ca, "cert": self.cert}.items():
            try:
                ssl.create_default_context(cafile=path)
            except OSError as error:  # of which ssl's are one kind
                reason = f"which holds no certificates: {error}"
                raise InputError(f"--tls-{name} is {str(path)!r}, {reason}") from None
        try:
            ssl.create_default_context().load_cert_chain(str(self.cert), str(self.key))
        except OSError as error:
            reason = f"which is not the key of {str(self.cert)!r}: {error}"
            raise InputError(f"--tls-key is {str(self.key)!r}, {reason}") from None


def check_address(where: str, tls: Tls) -> None:
    """Raise `InputError` for what cannot be the address of a cluster."""
    if not (LOCAL.fullmatch(where) or ADDRESS.fullmatch(where)):
        raise InputError(f"--cluster is {where!r}; {EXPECTED}")
    if tls != Tls() and not where.startswith(SAFE):
        safe = "--tls-ca, --tls-cert and --tls-key are for addresses with tls:// or wss://"
        raise InputError(f"--cluster is {where!r}; {safe}")


@contextlib.contextmanager
def connected(where: str | Client, tls: Tls | None = None) -> Iterator[Client]:
    """Connect to a cluster, and leave it as it was.

    Parameters
    ----------
    where : the address of a scheduler; ``local:4`` for four workers on this machine; or a client,
        which stays open.
    """
    try:
        import dask
        import distributed
    except ImportError:
        raise InputError("a cluster needs dask.distributed: pip install 'nmfcheck[dask]'") from None
    if isinstance(where, distributed.Client):
        yield where
        return
    if not isinstance(where, str):
        raise InputError(f"cluster must be a distributed.Client or an address, not {where!r:.60}")
    tls = tls or Tls()
    check_address(where, tls)
    security = tls.security()
    if where.startswith(SAFE) and security is None:
        own = distributed.Security().get_connection_args("client")  # as Dask is configured
        if own["ssl_context"] is None:
            raise InputError(
                f"{where} needs certificates: give --tls-ca, --tls-cert and --tls-key, or set "
                "distributed.comm.tls in Dask's configuration"
            )
    _be_quiet()
    with contextlib.ExitStack() as stack:
        try:
            if match := LOCAL.fullmatch(where):
                with dask.config.set(REMEMBERED), _not_for_children(signal.SIGINT):
                    cluster = distributed.LocalCluster(
                        n_workers=int(match[1]),
                        threads_per_worker=1,
                        dashboard_address=":0",
                        host="127.0.0.1",
                        silence_logs=logging.CRITICAL,
                    )
                    stack.callback(_end, cluster)
                where = cluster.scheduler_address
            with dask.config.set(REMEMBERED):
                client = distributed.Client.__new__(distributed.Client)
                # Whether or not it can be made, it is closed in this thread: the garbage collector
                # might close it in one for which the next client is waiting, under the same lock.
                stack.callback(_close, client)
                distributed.Client.__init__(
                    client, where, security=security, timeout=TIMEOUT, set_as_default=False
                )
        except (ValueError, TypeError) as error:  # a port that is no number, for example
            raise InputError(f"--cluster is {where!r}; {EXPECTED} ({_reason(error)})") from None
        except (OSError, TimeoutError, RuntimeError) as error:
            raise SubjectError(f"no scheduler answers at {where}: {_reason(error)}") from None
        yield client


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


@contextlib.contextmanager
def _not_for_children(number: signal.Signals) -> Iterator[None]:
    """Keep a signal from processes that are started meanwhile, or by threads that are.

    Ctrl-C at a terminal goes to all of them; it is for this one, which ends the others. If it comes
    meanwhile, it is there afterwards.
    """
    resource_tracker.ensure_running()  # which would let the signal through when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _be_quiet() -> None:
    """Silence the libraries: what happens to the connection is said in one line here."""
    own = ("distributed", "asyncio", "tornado")
    for name in [*own, *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in own:
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _close(client: Client) -> None:
    """Close a client, whether its scheduler is still there or not."""
    with contextlib.suppress(Exception):
        client.close(timeout=2)


def _end(cluster: LocalCluster) -> None:
    """End a cluster on this machine, whatever its workers do."""
    workers = list(cluster.workers.values())
    try:
        cluster.close(timeout=CLOSING)
    except Exception:
        for worker in workers:
            if worker.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.pid, signal.SIGKILL)
