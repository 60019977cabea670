"""What passes between this process and its workers: JSON and raw matrices, nothing to unpickle."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..arrays import Array

_LENGTHS = struct.Struct("<II")  # of what follows, and of the JSON that it begins with
LONGEST = 1 << 30

Fields = dict[str, Any]
Message = tuple[Fields, dict[str, Array]]


def encode(fields: Mapping[str, Any], **matrices: Array) -> bytes:
    """Return a message: fields that JSON can hold, and matrices."""
    shapes = {name: matrix.shape for name, matrix in matrices.items()}
    head = json.dumps([fields, shapes]).encode()
    body = b"".join([head, *(matrix.tobytes() for matrix in matrices.values())])
    return _LENGTHS.pack(len(body), len(head)) + body


def decode(body: bytes, head: int) -> Message:
    """Return the fields and matrices of a message, or raise `ValueError`."""
    matrices, place = {}, head
    try:
        fields, shapes = json.loads(body[:head])
        for name, (rows, columns) in shapes.items():
            flat = np.frombuffer(body, np.float64, rows * columns, place)
            matrices[name] = flat.reshape(rows, columns).copy()
            place += flat.nbytes
    except (TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError(f"no message: {error}") from error
    return fields, matrices


def messages_in(parcel: bytes) -> Iterator[Message]:
    """Return messages that stand one after the other, or raise `ValueError`."""
    place = 0
    while place < len(parcel):
        if len(parcel) - place < _LENGTHS.size:
            raise ValueError("no message: it is cut off")
        length, head = _LENGTHS.unpack_from(parcel, place)
        place += _LENGTHS.size
        if not head <= length <= len(parcel) - place:
            raise ValueError(f"no message: it claims {length} bytes")
        yield decode(parcel[place : place + length], head)
        place += length


class Channel:
    """Messages over a socket; sending gives up with `OSError` after so many seconds."""

    def __init__(self, over: socket.socket, patience: int = 0) -> None:
        # Not settimeout: with it, Python waits before it looks whether there is anything to read.
        over.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", patience, 0))
        self._socket = over
        self._unread = bytearray()

    def fileno(self) -> int:
        """Return the socket's file descriptor."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def send(self, message: bytes) -> None:
        """Send an encoded message."""
        self._socket.sendall(message)

    def receive(self) -> Message:
        """Wait for a message; raise `EOFError` where none will come."""
        while (message := self._next()) is None:
            self._unread += self._chunk()
        return message

    def received(self) -> Iterator[Message]:
        """Return the messages that are there, without waiting for more."""
        while True:
            try:
                self._unread += self._chunk(socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            while (message := self._next()) is not None:
                yield message

    def _chunk(self, flags: int = 0) -> bytes:
        chunk = self._socket.recv(1 << 18, flags)
        if not chunk:
            raise EOFError("the other side is gone")
        return chunk

    def _next(self) -> Message | None:
        """Take the first message off what was read, if it is there as a whole."""
        if len(self._unread) < _LENGTHS.size:
            return None
        length, head = _LENGTHS.unpack_from(self._unread)
        if not head <= length <= LONGEST:
            raise ValueError(f"no message: it claims {length} bytes")
        end = _LENGTHS.size + length
        if len(self._unread) < end:
            return None
        body = bytes(self._unread[_LENGTHS.size : end])
        del self._unread[:end]
        return decode(body, head)
