"""`http`: any service with the contract of Presidio's REST interface."""

from __future__ import annotations

import http.client
import os
import socket
import threading
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import msgspec

from spanscore.detectors.interface import (
    Description,
    Detection,
    Detector,
    DetectorError,
    EntityTypes,
    Failure,
    spans_of,
)
from spanscore.errors import InputError, MissingExtraError, UsageError, printable
from spanscore.spec import REQUIRED, parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus.records import Document

AGAIN = {408, 425, 429, 500, 502, 503, 504}
"""Statuses that may not occur again."""
REDIRECTS = {307, 308}
"""Statuses that redirect a request as it is."""
LARGEST = 1 << 28
"""Maximum bytes of an answer."""
PATIENCE = 60.0
"""Maximum seconds to wait if the service asks for it."""


@dataclass(frozen=True, repr=False)
class Http(Detector):
    """A service that answers `POST /analyze {"text", "language"}` with `[{"entity_type", "start", "end", "score"}]`.

    Timeouts, lost connections, server errors and answers that are not JSON are retried with growing delays, or as the
    service's Retry-After says; what still fails then is a failure of that document. Redirects to another host are
    refused. It needs the extra `http`.
    """

    name: ClassVar[str] = "http"
    runtime: ClassVar[tuple[str, ...]] = ("timeout", "retries", "wait", "concurrency", "headers", "auth_env")
    url: str = parameter(REQUIRED, "Address of the service, such as http://localhost:3000.", type=str)
    timeout: float = parameter(30.0, "Seconds until a complete answer.", above=0, high=86_400)
    retries: int = parameter(4, "Number of retries.", low=0, high=1000)
    wait: float = parameter(0.5, "Seconds before the first retry; the delay doubles each time.", low=0, high=3600)
    concurrency: int = parameter(1, "Number of requests at once; --jobs sets it too.", low=1, high=1000)
    headers: str | None = parameter(None, "File of headers, one `Name: value` per line.", type=str)
    auth_env: str | None = parameter(None, "Environment variable that holds the Authorization header.", type=str)

    def __post_init__(self) -> None:
        super().__post_init__()
        _address(self.url)

    def for_jobs(self, jobs: int) -> Http:
        """Send this many requests at once."""
        return self if jobs <= 1 else replace(self, concurrency=jobs)

    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Send requests for several documents at once, and yield the answers in order."""
        client = self._client
        waiting: deque[Future[Detection]] = deque()
        pool = ThreadPoolExecutor(self.concurrency)
        try:
            for document in documents:
                waiting.append(pool.submit(self._one, client, document.text or ""))
                if len(waiting) >= 2 * self.concurrency:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            self.close()

    def close(self) -> None:
        """Close the connections; pending requests fail at once, later ones use new connections."""
        client: _Client | None = self.__dict__.pop("_client", None)
        if client is not None:
            client.hang_up()

    def describe(self) -> Description:
        """Return what `GET /supportedentities` lists, if the service has it; an unreachable service is an error."""
        path = f"/supportedentities?language={quote(self.language)}"
        for answer in self._attempts(self._client, "GET", path, None):
            if isinstance(answer, Answer) and answer.status == 200:
                with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    supported = tuple(sorted(msgspec.json.decode(answer.body, type=list[str])))
                    return Description(EntityTypes(supported=supported))
            elif isinstance(answer, Answer) and answer.status not in AGAIN:
                break
        if isinstance(answer, str):
            raise DetectorError(f"cannot reach the service at {printable(_address(self.url).geturl())}: {answer}.")
        return Description()

    def _one(self, client: _Client, text: str) -> Detection:
        body = msgspec.json.encode({"text": text, "language": self.language})
        why = "the run was stopped"
        for answer in self._attempts(client, "POST", "/analyze", body):
            if isinstance(answer, str):
                why = answer
            elif answer.status in AGAIN:
                why = f"the service answered with status {answer.status}"
            elif answer.status != 200:
                return Failure(f"the service answered with status {answer.status}{answer.refused}")
            else:
                try:
                    return spans_of(msgspec.json.decode(answer.body), len(text))
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    why = "the service's answer is not JSON"
        return Failure(f"{why} ({self.retries + 1} {'try' if not self.retries else 'tries'})")

    def _attempts(self, client: _Client, method: str, path: str, body: bytes | None) -> Iterator[Answer | str]:
        """Yield the answer, or why there is none, of each attempt; the caller stops when it is satisfied."""
        pause = 0.0
        for attempt in range(self.retries + 1):
            if attempt and client.stopped.wait(max(min(self.wait * 2 ** (attempt - 1), 30.0), pause)):
                return
            answer = client.ask(method, path, body)
            pause = min(answer.retry_after, PATIENCE) if isinstance(answer, Answer) else 0.0
            yield answer

    @cached_property
    def _client(self) -> _Client:
        headers = {"Content-Type": "application/json", **_headers(self.headers)}
        if self.auth_env is not None:
            secret = os.environ.get(self.auth_env)
            if not secret:
                raise UsageError(
                    f"the environment variable {printable(self.auth_env)} is not set; it must hold the "
                    "Authorization header."
                )
            headers["Authorization"] = secret
        return _Client(_address(self.url), self.timeout, headers, self.concurrency)


class Answer(NamedTuple):
    """A service's answer: status, body, how many seconds to wait before the next request, why a redirect is refused."""

    status: int
    body: bytes
    retry_after: float = 0.0
    refused: str = ""


class _Client:
    """Connections to one service. A request has one deadline, from the first byte sent to the last one read."""

    def __init__(self, parts: SplitResult, timeout: float, headers: dict[str, str], connections: int) -> None:
        try:
            import urllib3
            from urllib3.connection import HTTPConnection, HTTPSConnection
        except ImportError:
            raise MissingExtraError("the detector http", "http") from None
        self._errors = (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError)
        self._refused = urllib3.exceptions.NewConnectionError
        self._timeouts = (urllib3.exceptions.TimeoutError, TimeoutError)
        self._timeout, self._headers = timeout, headers
        self._base = parts.path.rstrip("/").removesuffix("/analyze")
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self.stopped = threading.Event()
        self._open: dict[int, _Request] = {}
        requests = self._open

        def watched(base: Any) -> Any:
            def getresponse(connection: Any) -> Any:
                requests[threading.get_ident()].socket = connection.sock
                return base.getresponse(connection)

            return type("Watched", (base,), {"getresponse": getresponse})

        kind = urllib3.HTTPSConnectionPool if parts.scheme == "https" else urllib3.HTTPConnectionPool
        self._pool: Any = kind(parts.hostname or "", parts.port, maxsize=connections)
        self._pool.ConnectionCls = watched(HTTPSConnection if parts.scheme == "https" else HTTPConnection)

    def ask(self, method: str, path: str, body: bytes | None) -> Answer | str:
        """Send one request, following redirects within the host; a string says why there is no answer."""
        target = self._base + path
        for _ in range(5):
            answer = self._send(method, target, body)
            if isinstance(answer, str) or answer.status not in REDIRECTS:
                return answer
            place = urljoin(f"{self._origin}{target}", answer.refused)
            if not place.startswith(f"{self._origin}/"):
                return answer._replace(refused=", a redirect to another host, which is refused")
            target = place.removeprefix(self._origin)
        return answer._replace(refused=", one redirect too many") if isinstance(answer, Answer) else answer

    def _send(self, method: str, target: str, body: bytes | None) -> Answer | str:
        slow = f"the service did not answer within {self._timeout:g} seconds"
        with self._deadline() as request:
            try:
                answer = self._exchange(method, target, body, request)
            except self._errors as error:
                slow_step = isinstance(error, self._timeouts) and not isinstance(error, self._refused)
                timed_out = request.expired or slow_step
                return slow if timed_out else "the connection to the service failed"
            return slow if request.expired else answer

    def _exchange(self, method: str, target: str, body: bytes | None, request: _Request) -> Answer | str:
        response = self._pool.urlopen(
            method,
            target,
            body=body,
            headers=self._headers,
            retries=False,
            redirect=False,
            timeout=self._timeout,
            preload_content=False,
        )
        data, size = [], 0
        while not request.expired and (piece := response.read(1 << 20)):
            data.append(piece)
            size += len(piece)
            if size > LARGEST:
                response.close()
                return f"the service's answer is larger than {LARGEST >> 20} MB"
        response.release_conn()
        pause, place = _seconds(response.headers.get("Retry-After", "")), response.headers.get("Location", "")
        return Answer(response.status, b"".join(data), pause, place if response.status in REDIRECTS else "")

    @contextmanager
    def _deadline(self) -> Iterator[_Request]:
        """Shut the socket of this thread's request down when its time is up."""
        request = self._open[threading.get_ident()] = _Request()
        timer = threading.Timer(self._timeout, request.expire)
        timer.daemon = True
        timer.start()
        try:
            yield request
        finally:
            timer.cancel()
            del self._open[threading.get_ident()]

    def hang_up(self) -> None:
        """Shut down all requests under way, and make no more."""
        self.stopped.set()
        for request in list(self._open.values()):
            request.shut_down()
        self._pool.close()


class _Request:
    """A request under way: its socket, once it is connected, and whether its time is up."""

    def __init__(self) -> None:
        self.socket: socket.socket | None = None
        self.expired = False

    def expire(self) -> None:
        """End the request."""
        self.expired = True
        self.shut_down()

    def shut_down(self) -> None:
        """Wake up the thread that waits for the socket."""
        if self.socket is not None:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)


def _seconds(retry_after: str) -> float:
    """Parse Retry-After: seconds, or a date."""
    if retry_after.strip().isdigit():
        return float(retry_after)
    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    return 0.0


def _headers(path: str | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the headers ({getattr(error, 'strerror', error)}).", path) from None
    found = {}
    for number, line in enumerate(lines, 1):
        name, colon, value = line.partition(":")
        if line.strip() and not (colon and name.strip() and value.strip() and line.isprintable()):
            raise InputError("expected a header, Name: value.", f"{path}:{number}")
        if line.strip():
            found[name.strip()] = value.strip()
    return found


def _address(url: str) -> SplitResult:
    """Split a service's address, which must be valid."""
    try:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isascii() and parts.port != 0
        (parts.hostname or "").encode("idna")
    except ValueError:
        right = False
    if not right:
        raise UsageError(f"'{printable(url)}' is not the address of a service; write for example http://host:3000.")
    if parts.username is not None or parts.password is not None:
        raise UsageError("an address with a user name and password is not supported; use auth_env or headers.")
    return parts
