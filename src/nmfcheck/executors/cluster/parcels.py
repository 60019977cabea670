"""What passes between the client and a worker of the cluster: JSON and float64, nothing else.

A parcel is several messages one after the other. Whatever a worker or a subject sends, reading it
executes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...judging.outcomes import Flag, Outcome
from ...subjects import Answer, Problem
from ...text import printable
from ..messages import Fields, Message, encode, messages_in
from ..process import message_of
from ..protocol import Reply, Request


@dataclass(frozen=True)
class Returned:
    """What came back of a batch.

    Attributes
    ----------
    replies : to the requests that were answered; the others are to be asked again.
    seconds : how long they took.
    cannot : why the subject cannot be run there, if it cannot.
    """

    replies: list[Reply]
    seconds: float
    cannot: str = ""


def pack_requests(requests: Iterable[Request]) -> bytes:
    """Write requests down."""
    return b"".join(map(message_of, requests))


def unpack_requests(parcel: bytes) -> list[Request]:
    """Read what `pack_requests` wrote."""
    requests = []
    for fields, matrices in messages_in(parcel):
        problem = Problem(
            matrices["A"],
            fields["rank"],
            matrices["W0"],
            matrices["H0"],
            fields["seed"],
            fields["objective"],
        )
        requests.append(Request(fields["number"], problem, fields["random"], fields["order"]))
    return requests


def pack_replies(replies: Iterable[Reply], seconds: float) -> bytes:
    """Write down what came of a batch."""
    return b"".join([encode({"seconds": seconds}), *map(_reply, replies)])


def pack_refusal(reason: str) -> bytes:
    """Write down that a subject cannot be run."""
    return encode({"seconds": 0.0, "cannot": reason})


def unpack_replies(parcel: object) -> Returned:
    """Read what `pack_replies` wrote; raise `ValueError` for anything else."""
    if not isinstance(parcel, bytes):
        raise ValueError(f"a {type(parcel).__name__} instead of a parcel")
    try:
        messages = messages_in(parcel)
        head, _ = next(messages)
        cannot = printable(str(head.get("cannot", "")))
        seconds = _seconds(head)
        if math.isnan(seconds):
            raise ValueError("not a parcel: it took no time that is known")
        return Returned([_read(each) for each in messages], seconds, cannot)
    except (StopIteration, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not a parcel: {type(error).__name__} {error}") from None


def _reply(reply: Reply) -> bytes:
    answer = reply.answer
    fields: dict[str, Any] = {
        "number": reply.number,
        "seconds": answer.seconds,
        "flags": list(answer.flags),
        "output": answer.output,
        "returned": list(reply.returned),
    }
    if answer.error is None:
        return encode(fields, W=answer.W, H=answer.H)
    return encode(fields | {"error": answer.error, "outcome": answer.outcome})


def _seconds(fields: Fields) -> float:
    """Return how long something took; NaN where nobody measured."""
    seconds = float(fields["seconds"])
    if seconds < 0 or math.isinf(seconds):
        raise ValueError(f"not a parcel: it took {seconds:g} s")
    return seconds


def _read(message: Message) -> Reply:
    fields, matrices = message
    flags = tuple(Flag(flag) for flag in fields["flags"])
    seconds, output = _seconds(fields), printable(str(fields["output"]))
    if "error" in fields:
        error, outcome = printable(str(fields["error"])), Outcome(fields["outcome"])
        answer = Answer(None, None, error, outcome, output, seconds, flags)
    else:
        answer = Answer(matrices["W"], matrices["H"], seconds=seconds, flags=flags)
    returned = tuple(printable(str(each)) for each in fields["returned"])
    number = fields["number"]
    if type(number) is not int:
        raise ValueError(f"not a parcel: an answer to {number!r:.60}")
    return Reply(number, answer, returned)
