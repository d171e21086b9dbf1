"""`http`: any service with the contract of Presidio's REST interface."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import SplitResult, quote, urlsplit

import msgspec

from spanscore.detectors.detector import Detector, DetectorError, Entities, Failure, Outcome, spans_of
from spanscore.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus.records import Document

AGAIN = {408, 425, 429, 500, 502, 503, 504}
"""Answers that may be better next time."""


class Http(Detector):
    """A service: `POST /analyze {"text", "language"}` answers with `[{"entity_type", "start", "end", "score"}]`.

    No answer in time, a lost connection, a server's error and an answer that is not JSON are tried again, each time
    after a longer wait; what is still wrong then is a failure of that document.
    """

    name: ClassVar[str] = "http"
    at_will: ClassVar[tuple[str, ...]] = ("timeout", "retries", "wait", "concurrency")

    def __init__(
        self, url: str, timeout: float = 30.0, retries: int = 4, wait: float = 0.5, concurrency: int = 4
    ) -> None:
        parts = _address(url)
        if not (0 < timeout <= 86_400 and 0 <= wait <= 3600) or retries < 0 or concurrency < 1:
            raise UsageError("timeout must be from 0 to 86400 seconds, retries not below 0, concurrency at least 1.")
        self._parts = parts
        self._path = parts.path.rstrip("/").removesuffix("/analyze")
        self._timeout, self._retries, self._wait = timeout, retries, wait
        self._concurrency = concurrency
        self._local = threading.local()
        self._stopped = threading.Event()
        self._connections: set[http.client.HTTPConnection] = set()

    def __call__(self, documents: Iterable[Document], language: str) -> Iterator[Outcome]:
        """Ask for some documents at once, and answer in order."""
        waiting: deque[Future[Outcome]] = deque()
        pool = ThreadPoolExecutor(self._concurrency)
        try:
            for document in documents:
                waiting.append(pool.submit(self._one, document.text or "", language))
                if len(waiting) >= 2 * self._concurrency:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            self._stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            self.close()
        self._stopped.clear()

    def close(self) -> None:
        """Hang up: whoever waits for an answer waits no more."""
        for connection in list(self._connections):
            if connection.sock is not None:
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)

    def entities(self, language: str) -> Entities:
        """What `GET /supportedentities` says, if the service has it; a service that is not there at all is an error."""
        why: OSError | None = None
        for attempt in range(self._retries + 1):
            if attempt and self._stopped.wait(min(self._wait * 2 ** (attempt - 1), 30.0)):
                break
            try:
                status, body = self._ask("GET", f"/supportedentities?language={quote(language)}", None)
                why = None
                if status == 200:
                    return Entities(supported=tuple(sorted(msgspec.json.decode(body, type=list[str]))))
                if status not in AGAIN:
                    break
            except OSError as error:
                why = error
            except (http.client.HTTPException, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                why = None
        if why is not None:
            where = printable(self._parts.geturl())
            raise DetectorError(f"the service at {where} cannot be reached ({why.strerror or why}).")
        return Entities()

    def _one(self, text: str, language: str) -> Outcome:
        body = msgspec.json.encode({"text": text, "language": language})
        why = "the run was stopped"
        for attempt in range(self._retries + 1):
            if attempt and self._stopped.wait(min(self._wait * 2 ** (attempt - 1), 30.0)):
                break
            try:
                status, answer = self._ask("POST", "/analyze", body)
            except TimeoutError:
                why = f"the service did not answer within {self._timeout:g} seconds"
                continue
            except (OSError, http.client.HTTPException):
                why = "the connection to the service failed"
                continue
            if status in AGAIN:
                why = f"the service answered with status {status}"
                continue
            if status != 200:
                return Failure(f"the service answered with status {status}")
            try:
                return spans_of(msgspec.json.decode(answer), len(text))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                why = "the service's answer is not JSON"
        return Failure(f"{why} ({self._retries + 1} {'try' if not self._retries else 'tries'})")

    def _ask(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        """One question over this thread's connection, which is made anew after anything goes wrong."""
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            connection = self._local.connection = kind(
                self._parts.hostname or "", self._parts.port, timeout=self._timeout
            )
        self._connections.add(connection)
        deadline = time.monotonic() + self._timeout
        try:
            connection.request(method, self._path + path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            pieces = []
            while piece := answer.read1(1 << 16):
                pieces.append(piece)
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                if connection.sock is not None:
                    connection.sock.settimeout(left)
            answer.close()
            if connection.sock is not None:
                connection.sock.settimeout(self._timeout)
        except BaseException:
            connection.close()
            self._connections.discard(connection)
            self._local.connection = None
            raise
        return answer.status, b"".join(pieces)


def _address(url: str) -> SplitResult:
    """The parts of a service's address, which must be one that can be asked."""
    try:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isascii() and parts.port != 0
        (parts.hostname or "").encode("idna")
    except ValueError:
        right = False
    if not right:
        raise UsageError(f"'{printable(url)}' is not the address of a service; write for example http://host:3000.")
    if parts.username is not None or parts.password is not None:
        raise UsageError("an address with a name and password is not supported.")
    return parts
