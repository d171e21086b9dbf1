"""Connections to one web service: a deadline per request, redirects within the host, bounded answers."""

from __future__ import annotations

import http.client
import re
import socket
import threading
import time
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from spanscore.errors import InputError, MissingExtraError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

REDIRECTS = {307, 308}
"""Statuses that redirect a request as it is."""
LARGEST = 1 << 25
"""Maximum bytes of an answer."""


class Answer(NamedTuple):
    """A service's answer: status, body, how many seconds to wait before the next request, why a redirect is refused."""

    status: int
    body: bytes
    retry_after: float = 0.0
    refused: str = ""


class Client:
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
        self._base = parts.path.rstrip("/")
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self.stopped = threading.Event()
        self._open: dict[int, _Request] = {}
        requests = self._open

        def watched(base: Any) -> Any:
            """Make the socket known before anything is sent, and before the answer is read."""

            def connect(connection: Any) -> None:
                base.connect(connection)
                requests[threading.get_ident()].use(connection.sock)

            def request(connection: Any, *arguments: Any, **options: Any) -> Any:
                if connection.sock is not None:  # an open connection that is used again
                    requests[threading.get_ident()].use(connection.sock)
                return base.request(connection, *arguments, **options)

            return type("Watched", (base,), {"connect": connect, "request": request})

        kind = urllib3.HTTPSConnectionPool if parts.scheme == "https" else urllib3.HTTPConnectionPool
        self._pool: Any = kind(parts.hostname or "", parts.port, maxsize=connections)
        self._pool.ConnectionCls = watched(HTTPSConnection if parts.scheme == "https" else HTTPConnection)

    def ask(self, method: str, path: str, body: bytes | None) -> Answer | str:
        """Send one request, following redirects within the host; a string says why there is no answer."""
        target = self._base + path
        target = target if target.startswith("/") else f"/{target}"
        for _ in range(5):
            answer = self._send(method, target, body)
            if isinstance(answer, str) or answer.status not in REDIRECTS:
                return answer
            try:
                place = urljoin(f"{self._origin}{target}", answer.refused)
            except ValueError:
                return answer._replace(refused=", a redirect to something that is not an address")
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
            decode_content=False,  # no encoding was offered, and a small one may unpack to anything
        )
        data, size = [], 0
        while not request.expired and (piece := response.read(1 << 20)):
            data.append(piece)
            size += len(piece)
            if size > LARGEST:
                response.close()
                return f"the service's answer is larger than {LARGEST >> 20} MB"
        if request.expired:
            response.close()
        else:
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

    def use(self, connected: socket.socket) -> None:
        """Set the socket; if its time is up already, end the request."""
        self.socket = connected
        if self.expired:
            self.shut_down()

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
    """Parse Retry-After: seconds, or a date; anything else is ignored.

    >>> _seconds("3"), _seconds("²"), _seconds("Wed, 21 Oct 2015 07:28:00 GMT")
    (3.0, 0.0, 0.0)
    """
    if retry_after.strip().isdecimal():
        return float(retry_after)
    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    return 0.0


def headers_of(path: str | None) -> dict[str, str]:
    """Read a file of headers."""
    if path is None:
        return {}
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the headers ({getattr(error, 'strerror', error)}).", path) from None
    found = {}
    for number, line in enumerate(lines, 1):
        name, colon, value = line.partition(":")
        if not line.strip():
            continue
        if not (colon and _NAME.fullmatch(name.strip()) and value.strip()):
            raise InputError("expected a header, Name: value.", f"{path}:{number}")
        if not is_header_value(value.strip()):
            raise InputError(f"the value of the header has {NOT_A_VALUE}.", f"{path}:{number}")
        found[name.strip()] = value.strip()
    return found


_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
NOT_A_VALUE = "characters that a header cannot have (control characters, or others than Latin-1)"


def is_header_value(value: str) -> bool:
    """Return whether a header can have this value.

    >>> is_header_value("Bearer é"), is_header_value("Bearer €"), is_header_value("a\\nb")
    (True, False, False)
    """
    return value.isprintable() and all(ord(character) < 256 for character in value)


def address_of(url: str) -> SplitResult:
    """Split a service's address, which must be valid."""
    try:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isascii() and parts.port != 0
        (parts.hostname or "").encode("idna")
    except ValueError:
        right = False
    if not right:
        shown = printable(re.sub(r"[?#].*|(?<=//)[^/]*@|^[^/]*@", "", url))  # without what may be a key
        raise UsageError(f"'{shown}' is not the address of a service; write for example http://host:3000.")
    if parts.username is not None or parts.password is not None:
        raise UsageError("an address with a user name and password is not supported; use auth_env or headers.")
    return parts
