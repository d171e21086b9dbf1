"""`http`: any service with the contract of Presidio's REST interface."""

from __future__ import annotations

import http.client
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote, urlsplit

import msgspec

from spanscore.detectors.detector import Detector, DetectorError, Entities, Failure, Outcome, spans_of
from spanscore.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.records import Document

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
        parts = urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"'{printable(url)}' is not the address of a service; write for example http://host:3000.")
        if timeout <= 0 or retries < 0 or wait < 0 or concurrency < 1:
            raise UsageError("timeout must be above 0, retries and wait not below 0, concurrency at least 1.")
        self._parts = parts
        self._path = parts.path.rstrip("/").removesuffix("/analyze")
        self._timeout, self._retries, self._wait = timeout, retries, wait
        self._concurrency = concurrency
        self._local = threading.local()
        self._stopped = threading.Event()

    def __call__(self, documents: Iterable[Document], language: str) -> Iterator[Outcome]:
        """Ask for some documents at once, and answer in order."""
        waiting: deque[Future[Outcome]] = deque()
        with ThreadPoolExecutor(self._concurrency) as pool:
            try:
                for document in documents:
                    waiting.append(pool.submit(self._one, document.text or "", language))
                    if len(waiting) >= 2 * self._concurrency:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                self._stopped.set()
                for future in waiting:
                    future.cancel()
        self._stopped.clear()

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
            except (http.client.HTTPException, msgspec.DecodeError):
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
            except msgspec.DecodeError:
                why = "the service's answer is not JSON"
        return Failure(f"{why} ({self._retries + 1} tries)")

    def _ask(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        """One question over this thread's connection, which is made anew after anything goes wrong."""
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            connection = self._local.connection = kind(
                self._parts.hostname or "", self._parts.port, timeout=self._timeout
            )
        try:
            connection.request(method, self._path + path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            read = answer.read()
        except BaseException:
            connection.close()
            self._local.connection = None
            raise
        return answer.status, read
