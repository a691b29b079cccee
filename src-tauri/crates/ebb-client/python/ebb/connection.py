"""HTTP to the host: connections that are kept, requests, and the lines of streamed answers."""

from __future__ import annotations

import http.client
import json
import os
import select
import socket
import threading
from contextlib import suppress
from typing import Any, BinaryIO, Dict, Iterator, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote, urlencode, urlsplit

from .errors import EbbError, NotFoundError, RequestError, TransportError, from_fields, protocol
from .places import not_running

#: A host on loopback answers at once or not at all.
CONNECT_TIMEOUT_S = 5.0

#: Largest body of a request that a host takes.
MAX_BODY_BYTES = 64 << 20

#: Connections that are kept for the next request.
MOST_IDLE = 4

Body = Union[bytes, BinaryIO, None]


class Connection:
    """The way to one host. Threads may share it: each request has a connection of its own."""

    def __init__(self, url: str, key: Optional[str]) -> None:
        parts = urlsplit(url)
        try:
            port = 80 if parts.port is None else parts.port
        except ValueError:
            port = 0
        if parts.scheme != "http" or not parts.hostname or not port:
            raise RequestError(
                f"'{url}' is not an address of a host",
                code="invalid_request",
                hint="write it as http://127.0.0.1:4770",
                param="url",
            )
        self.url = url
        self._address = (parts.hostname, port)
        self._path = parts.path.rstrip("/")
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._idle: List[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def get(self, *path: str, **query: object) -> Any:
        return self.answer("GET", path, query)

    def delete(self, *path: str) -> Any:
        return self.answer("DELETE", path)

    def post(self, path: Sequence[str], body: Mapping[str, Any], **query: object) -> Any:
        return self.answer("POST", path, query, to_json(body))

    def put(self, path: Sequence[str], body: Mapping[str, Any]) -> Any:
        return self.answer("PUT", path, {}, to_json(body))

    def answer(
        self,
        method: str,
        path: Sequence[str],
        query: Optional[Mapping[str, object]] = None,
        body: Body = None,
        media: str = "application/json",
    ) -> Any:
        """Sends it and gives the whole answer, read."""
        sent = self._send(method, path, query or {}, body, media)
        try:
            read = sent.response.read()
        except (OSError, http.client.HTTPException) as error:
            sent.close()
            raise self._broke(error) from error
        except BaseException:
            # What was asked for is not wanted any more: the host sees that and cancels it.
            sent.close()
            raise
        self._keep(sent)
        try:
            return json.loads(read)
        except ValueError as error:
            raise protocol(str(error)) from error

    def lines(
        self,
        method: str,
        path: Sequence[str],
        query: Mapping[str, object],
        body: Body,
        media: str = "application/json",
    ) -> "Lines":
        """Sends it and gives the answer line by line, as it comes in."""
        return Lines(self, self._send(method, path, query, body, media))

    def close(self) -> None:
        """Closes the connections that are kept. The next request opens one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_idle"):
            self.close()

    def _send(
        self, method: str, path: Sequence[str], query: Mapping[str, object], body: Body, media: str
    ) -> "Sent":
        headers = dict(self._headers)
        if body is not None:
            headers.update({"Content-Type": media, "Content-Length": str(_length(body))})
        connection = self._take()
        try:
            with suppress(BrokenPipeError, ConnectionResetError):
                # A host that refuses a body hangs up in the middle of it, and has said why.
                connection.request(method, self._target(path, query), body, headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self._broke(error) from error
        except BaseException:
            connection.close()
            raise
        sent = Sent(connection, response)
        if response.status >= 400:
            raise self._refused(sent)
        return sent

    def _refused(self, sent: "Sent") -> EbbError:
        status = sent.response.status
        try:
            read = sent.response.read()
            self._keep(sent)
            return from_fields(json.loads(read)["error"])
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, AttributeError):
            sent.close()
            return protocol(f"it answered {status} without saying why")

    def _target(self, path: Sequence[str], query: Mapping[str, object]) -> str:
        for segment in path:
            # An address drops '.' and '..' and would reach another route: no model or profile is called so.
            if segment in ("", ".", ".."):
                raise NotFoundError(f"'{segment}' is not a name of anything here", code="not_found")
        target = "/".join([self._path, "ebb", "v1", *(quote(segment, safe="") for segment in path)])
        pairs = [(name, value) for name, value in query.items() if value is not None]
        return f"{target}?{urlencode(pairs)}" if pairs else target

    def _take(self) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            if kept is None:
                break
            if _is_open(kept):
                return kept
            kept.close()
        connection = http.client.HTTPConnection(*self._address, timeout=CONNECT_TIMEOUT_S)
        try:
            connection.connect()
        except OSError:
            raise not_running(self.url) from None
        # Answers take as long as they take; `timeout_ms` of a request bounds them.
        connection.sock.settimeout(None)
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _keep(self, sent: "Sent") -> None:
        """Keeps the connection of an answer that was read to its end."""
        if sent.response.will_close or not sent.response.isclosed():
            sent.close()
            return
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append(sent.connection)
                return
        sent.close()

    def _broke(self, error: Exception) -> EbbError:
        return TransportError(
            f"the connection to the Ebb host at {self.url} failed: {error or type(error).__name__}",
            code="internal",
            hint="the host may have ended: see 'ebb server status' and 'ebb server logs'",
        )


class Sent:
    """A request that was sent, and its answer, which may still be on its way."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self.connection = connection
        self.response = response

    def close(self) -> None:
        # A thread that waits for the answer holds what `close` needs: this wakes it.
        sock: Optional[socket.socket] = self.connection.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            self.response.close()
        self.connection.close()


class Lines:
    """The lines of an answer, as they come in. Closing it before the end closes the connection: the host sees that and
    cancels what was asked for."""

    def __init__(self, way: Connection, sent: Sent) -> None:
        self._way = way
        self._sent: Optional[Sent] = sent

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        sent = self._sent
        if sent is None:
            raise StopIteration
        try:
            line = sent.response.readline()
        except (OSError, ValueError, http.client.HTTPException) as error:
            closed = self._sent is None
            self.close()
            if closed:
                raise StopIteration from None
            raise self._way._broke(error) from error
        if line:
            return line.rstrip(b"\r\n")
        self._sent = None
        self._way._keep(sent)
        raise StopIteration

    def record(self) -> Dict[str, Any]:
        """The next line that is not empty, read. The answer may not end before it."""
        for line in self:
            if line:
                return as_object(line)
        raise protocol("the answer ended before its end: the host may have been ended")

    def finish(self) -> None:
        """Nothing more is to come: what follows is the end, after which the connection can be kept."""
        if next(self, None) is not None:
            self.close()

    def close(self) -> None:
        sent, self._sent = self._sent, None
        if sent is not None:
            sent.close()

    def __del__(self) -> None:
        self.close()


def to_json(body: Mapping[str, Any]) -> bytes:
    """A body of JSON. One that the host would not take is refused here: the host hangs up in the middle of it."""
    try:
        encoded = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise RequestError(f"the request is no JSON: {error}", code="invalid_request", param="body") from error
    check_length(len(encoded), MAX_BODY_BYTES, "send less at once: fewer texts, or a smaller tensor")
    return encoded


def check_length(size: int, limit: int, hint: str) -> None:
    """Refuses a body that the host would not take."""
    if size > limit:
        raise RequestError(
            f"the request takes {size} bytes, the host takes {limit}",
            code="too_large",
            hint=hint,
            details={"bytes": size, "limit_bytes": limit},
        )


def as_object(line: bytes) -> Dict[str, Any]:
    """A line of a streamed answer, read."""
    try:
        value = json.loads(line)
    except ValueError as error:
        raise protocol(f"a line of a streamed answer: {error}") from error
    if not isinstance(value, dict):
        raise protocol("a line of a streamed answer is no object")
    return value


def _length(body: Union[bytes, BinaryIO]) -> int:
    return len(body) if isinstance(body, bytes) else os.fstat(body.fileno()).st_size


def _is_open(connection: http.client.HTTPConnection) -> bool:
    """Whether the host still holds its end. One that has something to say unasked has closed it."""
    sock: Optional[socket.socket] = connection.sock
    try:
        return sock is not None and not select.select([sock], [], [], 0)[0]
    except (OSError, ValueError):
        return False
