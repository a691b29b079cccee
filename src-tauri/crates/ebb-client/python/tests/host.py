"""A host that answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

KEY = "0123456789abcdef"


class Asked(NamedTuple):
    """A request as it came."""

    method: str
    target: str
    body: bytes
    media: Optional[str]
    connection: Tuple[str, int]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Host:
    """Answers on a free port of loopback. Use it as `with Host() as host`."""

    def __init__(self) -> None:
        #: Answers by "METHOD /target": an object, a list of lines, or (status, object).
        self.answers: Dict[str, Any] = {}
        #: Everything that was asked, in order.
        self.asked: List[Asked] = []
        #: Set once a client hung up in the middle of an endless answer.
        self.left = threading.Event()
        host = self

        class Handler(_Handler):
            owner = host

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self._server.server_address[1]

    def __enter__(self) -> "Host":
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Endless(list):
    """Lines whose last is sent again and again, until the client hangs up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Host

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        media = self.headers.get("Content-Type")
        self.owner.asked.append(Asked(self.command, self.path, body, media, self.client_address))
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            self._whole(401, error("unauthorized", "the token is wrong", hint="send a token", param="Authorization"))
            return
        route = self.path.split("?")[0]
        answer = self.owner.answers.get(f"{self.command} {route}")
        if answer is None:
            self._whole(404, error("not_found", f"there is no route {route}"))
        elif isinstance(answer, list):
            self._lines(answer)
        elif isinstance(answer, tuple):
            self._whole(*answer)
        else:
            self._whole(200, answer)

    do_GET = do_POST = do_PUT = do_DELETE = _any

    def _whole(self, status: int, answer: Any) -> None:
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _lines(self, lines: List[Any]) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for line in lines:
                text = line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() + b"\n"
                # In small pieces, so that lines come in torn.
                for at in range(0, len(text), 5):
                    self._chunk(text[at : at + 5])
            while isinstance(lines, Endless):
                self._chunk(json.dumps(lines[-1]).encode() + b"\n")
                time.sleep(0.001)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.owner.left.set()
            self.close_connection = True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        pass


def error(code: str, message: str, **more: Any) -> Dict[str, Any]:
    """The one error form."""
    fields = {"code": code, "message": message, "hint": None, "type": "x", "param": None, **more}
    return {"error": fields}
