"""Batches of the paper's runs on the workers of a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..errors import SubjectError
from ..executors.cluster.tasks import results
from ..executors.messages import encode, messages_in
from ..text import printable
from .plan import Batch
from .runs import Runs, made_by, run_batch

if TYPE_CHECKING:
    from distributed import Client

Progress = Callable[[float], None]


def made_elsewhere(
    client: Client,
    batches: Sequence[Batch],
    engine: str,
    expected: Mapping[str, str],
    tell: Callable[[str], None],
) -> Iterator[Runs]:
    """Return the runs of batches as they come.

    Parameters
    ----------
    expected : what must have made them: the bits of a run depend on it.
    tell : called with a line for the user.
    """
    orders = [json.dumps({"batch": asdict(batch), "engine": engine}) for batch in batches]
    for number, parcel in results(client, make, orders, tell):
        batch = batches[number]
        try:
            ((fields, stacks),) = messages_in(parcel)
            made, shape = fields["made_by"], (batch.seeds, batch.n, batch.n)
            runs = Runs(batch, stacks["W"].reshape(shape), stacks["H"].reshape(shape))
        except (ValueError, KeyError, TypeError) as error:
            raise SubjectError(f"a worker sent no runs: {printable(str(error))[:200]}") from None
        if made != expected:
            texts = [", ".join(str(each.get(k)) for k in expected) for each in (expected, made)]
            ours, theirs = (printable(text)[:200] for text in texts)
            raise SubjectError(f"a worker has another engine: there {theirs}, here {ours}")
        yield runs


def make(order: str) -> bytes:
    """Make the runs of a batch; called on a worker."""
    asked = json.loads(order)
    batch = Batch(**asked["batch"])
    runs = run_batch(batch, asked["engine"], lambda _: None)
    W, H = (X.reshape(-1, batch.n) for X in (runs.W, runs.H))
    return encode({"made_by": made_by(asked["engine"])}, W=W, H=H)
