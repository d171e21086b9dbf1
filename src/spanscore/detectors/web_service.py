"""Detectors behind a web service: several requests at once, retries, deadlines. Subclasses know the contract."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from spanscore.detectors.http_client import NOT_A_VALUE, Answer, Client, address_of, headers_of, is_header_value
from spanscore.detectors.interface import Detection, Detector, Failure
from spanscore.detectors.service_errors import ServiceError
from spanscore.errors import UsageError, printable
from spanscore.spec import REQUIRED, parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from spanscore.corpus.records import Document

AGAIN = {408, 425, 429, 500, 502, 503, 504}
"""Statuses that may not occur again."""
PATIENCE = 60.0
"""Maximum seconds to wait if the service asks for it."""

MOST_VERSIONS = 20
"""Maximum number of versions that are recorded."""
UNVERSIONED = "the service does not tell its version: --resume will not notice if it changes."
"""A note on services that cannot be asked which version answers."""


class UnusableError(Exception):
    """An answer that cannot be used; another request may get a better one."""


@dataclass(frozen=True, repr=False)
class WebService(Detector):
    """A detector that is called over HTTP for each text."""

    runtime: ClassVar[tuple[str, ...]] = ("timeout", "retries", "wait", "concurrency", "headers", "auth_env")
    url: str = parameter(REQUIRED, "Address of the service, such as http://localhost:3000.", type=str)
    timeout: float = parameter(30.0, "Seconds until a complete answer.", above=0, high=86_400)
    retries: int = parameter(4, "Number of retries.", low=0, high=1000)
    wait: float = parameter(0.5, "Seconds before the first retry; the delay doubles each time.", low=0, high=3600)
    concurrency: int = parameter(1, "Number of parallel requests; --jobs also sets it.", low=1, high=1000)
    headers: str | None = parameter(None, "File of headers, one `Name: value` per line.", type=str)
    auth_env: str | None = parameter(None, "Environment variable that holds the Authorization header.", type=str)

    def __post_init__(self) -> None:
        super().__post_init__()
        address_of(self.url)

    @property
    @abstractmethod
    def path(self) -> str:
        """The path and query of a request, appended to the address."""

    @abstractmethod
    def body(self, text: str) -> Any:
        """Return the request body for a text, to be encoded as JSON."""

    @abstractmethod
    def detection(self, answer: Any, text: str) -> Detection:
        """Return the detection in a decoded answer; raise UnusableError to retry."""

    @property
    def tells_in_answers(self) -> bool:
        """Whether the answers of this service tell its version."""
        return False

    def version_in(self, answer: Any) -> str | None:
        """Return the version that a decoded answer tells."""
        return None

    def answered_by(self) -> frozenset[str] | None:
        """Return the versions that the answers have told so far."""
        return frozenset(self._versions) if self.tells_in_answers else None

    @cached_property
    def _versions(self) -> set[str]:
        return set()

    def advice(self, status: int, error: ServiceError) -> str:
        """Return what may help against a status, to be appended to a sentence."""
        return ""

    @property
    def base_url(self) -> str:
        """The address to which paths are appended."""
        return self.url

    @property
    def own_headers(self) -> Mapping[str, str]:
        """Headers that the service needs; those of the user come after them."""
        return {}

    def recorded(self) -> tuple[tuple[str, str], ...]:
        """Return the options with the address that is used, and a hash of its query, which may hold a key."""
        query = address_of(self.url).query
        hashed = f" #{blake2b(query.encode(), digest_size=8).hexdigest()}" if query else ""
        return tuple((name, f"{self.place}{hashed}" if name == "url" else value) for name, value in self.given())

    @property
    def place(self) -> str:
        """The address without its query, which may hold a key."""
        return address_of(self.url)._replace(query="", fragment="").geturl()

    def with_query(self, path: str) -> str:
        """Return a path with the query of the address."""
        query = address_of(self.url).query
        return f"{path}{'&' if '?' in path else '?'}{query}" if query else path

    def for_jobs(self, jobs: int) -> Self:
        """Send this many requests at once."""
        return self if jobs <= 1 else replace(self, concurrency=jobs)

    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Send requests for several documents at once, and yield the answers in order."""
        return (found for found, _ in self.timed(documents))

    def timed(self, documents: Iterable[Document]) -> Iterator[tuple[Detection, float]]:
        """Yield the answers, each with the seconds from its first request on."""
        client = self.client
        assert self._versions is not None  # before there are threads
        waiting: deque[Future[tuple[Detection, float]]] = deque()
        pool = ThreadPoolExecutor(self.concurrency)
        try:
            for document in documents:
                waiting.append(pool.submit(self._timed_one, client, document.text or ""))
                if len(waiting) >= 2 * self.concurrency:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            self.close()

    def close(self) -> None:
        """Close the connections; pending requests fail at once, later ones use new connections."""
        client: Client | None = self.__dict__.pop("client", None)
        if client is not None:
            client.hang_up()

    def _timed_one(self, client: Client, text: str) -> tuple[Detection, float]:
        began = time.perf_counter()
        return self._one(client, text), time.perf_counter() - began

    def _one(self, client: Client, text: str) -> Detection:
        if not text:
            return []  # most services refuse an empty text
        try:
            body = msgspec.json.encode(self.body(text))
        except UnicodeEncodeError:
            return Failure("the text has a lone surrogate, which cannot be sent as UTF-8")
        why = "the run was stopped"
        for answer in self.attempts(client, "POST", self.path, body):
            if isinstance(answer, str):
                why = answer
            elif answer.status != 200:
                error = ServiceError.of(answer.body)
                why = f"the service answered with status {answer.status}{error}{answer.refused}"
                if answer.status not in AGAIN and not error.is_throttling:
                    return Failure(f"{why}{self.advice(answer.status, error)}")
            else:
                try:
                    decoded = msgspec.json.decode(answer.body)
                    found = self.detection(decoded, text)
                    self._note_version(decoded)
                    return found
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    why = "the service's answer is not JSON"
                except UnusableError as error:
                    why = str(error)
        return Failure(f"{why} ({self.retries + 1} {'try' if not self.retries else 'tries'})")

    def _note_version(self, answer: Any) -> None:
        told = self.version_in(answer)
        if told and len(self._versions) < MOST_VERSIONS:
            self._versions.add(printable(told))

    def attempts(self, client: Client, method: str, path: str, body: bytes | None) -> Iterator[Answer | str]:
        """Yield the answer of each attempt, or why it failed; the caller stops when it has a usable one."""
        pause = 0.0
        for attempt in range(self.retries + 1):
            if attempt and client.stopped.wait(max(min(self.wait * 2 ** (attempt - 1), 30.0), pause)):
                return
            answer = client.ask(method, path, body)
            pause = min(answer.retry_after, PATIENCE) if isinstance(answer, Answer) else 0.0
            yield answer

    @cached_property
    def client(self) -> Client:
        """The connections to the service."""
        headers = {"Content-Type": "application/json", **self.own_headers, **headers_of(self.headers)}
        if self.auth_env is not None:
            secret = os.environ.get(self.auth_env, "").strip()
            named = f"the environment variable {printable(self.auth_env)}"
            if not secret:
                raise UsageError(f"{named} is not set; it must hold the Authorization header.")
            if not is_header_value(secret):
                raise UsageError(f"{named} has {NOT_A_VALUE}.")
            headers["Authorization"] = secret
        return Client(address_of(self.base_url), self.timeout, headers, self.concurrency)
