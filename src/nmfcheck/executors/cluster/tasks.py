"""Independent pieces of work on a cluster: each is sent when a worker will have time for it."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import SubjectError
from ...text import printable
from .executor import AHEAD, Connection
from .members import Patience

if TYPE_CHECKING:
    from distributed import Client, Future


def results(
    client: Client,
    function: Callable[[str], bytes],
    orders: Sequence[str],
    tell: Callable[[str], None],
) -> Iterator[tuple[int, bytes]]:
    """Have a function called with each of some orders; return number and result as they come.

    Parameters
    ----------
    tell : called with a line for the user.
    """
    patience = Patience(tell)
    done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
    waiting = iter(enumerate(orders))
    flying: dict[str, tuple[int, Future[Any]]] = {}
    try:
        while True:
            with Connection(client):
                threads = sum(client.nthreads().values())
                _send(client, function, waiting, flying, done, AHEAD * max(threads, 1))
                if not flying:
                    return
                patience.look(there=threads > 0)
                try:
                    future = done.get(timeout=1.0)
                except queue.Empty:
                    continue
                number, _ = flying.pop(str(future.key))
                result = _result(client, future)
            yield number, result
    finally:
        if client.status == "running":
            client.cancel([future for _, future in flying.values()], force=True)


def _send(
    client: Client,
    function: Callable[[str], bytes],
    waiting: Iterator[tuple[int, str]],
    flying: dict[str, tuple[int, Future[Any]]],
    done: queue.SimpleQueue[Future[Any]],
    most: int,
) -> None:
    """Keep all workers busy."""
    while len(flying) < most:
        number, order = next(waiting, (-1, ""))
        if number < 0:
            return
        future = client.submit(function, order, pure=False)
        flying[str(future.key)] = number, future
        future.add_done_callback(done.put)


def _result(client: Client, future: Future[Any]) -> bytes:
    if future.status == "error":
        error = future.exception()
        reason = f"{type(error).__name__}: {printable(str(error))[:300]}"
        raise SubjectError(f"the cluster gave up on a batch ({reason})")
    if future.status != "finished":
        raise (
            OSError("the connection was lost")
            if client.status != "running"
            else SubjectError(
                "the cluster has cancelled a batch; the same command goes on from what is stored"
            )
        )
    result = future.result()
    if not isinstance(result, bytes):
        raise SubjectError(f"a worker sent a {type(result).__name__} instead of a result")
    return result
