"""`http`: any service with the contract of Presidio's REST interface, or of a cloud provider."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

import msgspec

from spanscore.detectors.fingerprint import Fingerprint, content_hash
from spanscore.detectors.http_client import Answer, address_of
from spanscore.detectors.interface import Description, Detection, DetectorError, EntityTypes, spans_of
from spanscore.detectors.services import HEADERS, READERS, REQUESTS, VERSIONS, filled, version_in
from spanscore.detectors.web_service import AGAIN, UNVERSIONED, WebService
from spanscore.errors import InputError, printable
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = "presidio"


@dataclass(frozen=True, repr=False)
class Http(WebService):
    """A service that answers `POST /analyze {"text", "language"}` with `[{"entity_type", "start", "end", "score"}]`.

    With `request` and `response`, a service of a cloud provider, whose whole address is then the `url`: `aws`
    (Comprehend's DetectPiiEntities), `aws-medical` (Comprehend Medical's DetectPHI), `azure` (Language,
    PiiEntityRecognition) or `gcp` (DLP, content:inspect). `request=@FILE` sends another JSON: that of the file, in
    which `$text` and `$language` are replaced. Timeouts, lost connections, server errors and answers that are not
    JSON are retried with growing delays, or as the service's Retry-After says; what still fails then is a failure
    of that document. Redirects to another host are refused. It needs the extra `http`.
    """

    name: ClassVar[str] = "http"
    request: str = parameter(OWN, "Layout of the request.", choices=(OWN, *REQUESTS, "@file"))
    response: str | None = parameter(
        None, "Layout of the answer (default: as for the request, or presidio).", type=str, choices=(OWN, *READERS)
    )

    @property
    def base_url(self) -> str:
        """The address of the service, without the path of its only operation."""
        place = address_of(self.url)
        return (
            place._replace(path=place.path.rstrip("/").removesuffix("/analyze")).geturl() if self._is_own else self.url
        )

    @property
    def path(self) -> str:
        """The operation, with the query of the address; for other services than Presidio's, the address has it."""
        return self.with_query("/analyze" if self._is_own else "")

    @property
    def own_headers(self) -> Mapping[str, str]:
        """The headers that a cloud provider needs."""
        return HEADERS.get(self.request, {})

    def body(self, text: str) -> Any:
        """Return the request for a text."""
        if self.request in REQUESTS:
            return REQUESTS[self.request](text, self.language)
        if self.request == OWN:
            return {"text": text, "language": self.language}
        return filled(self._template, {"$text": text, "$language": self.language})

    def detection(self, answer: Any, text: str) -> Detection:
        """Read the answer."""
        named = self._layout
        return READERS[named](answer, text) if named in READERS else spans_of(answer, len(text))

    @property
    def tells_in_answers(self) -> bool:
        """Whether the answers have this layout."""
        return self._layout in VERSIONS

    def version_in(self, answer: Any) -> str | None:
        """Return the version of the model in an answer of Azure or of Comprehend Medical."""
        return version_in(answer, self._layout)

    @property
    def _layout(self) -> str:
        return self.response or self.request

    def describe(self) -> Description:
        """Return what `GET /supportedentities` lists, if the service has it; an unreachable service is an error."""
        if not self._is_own:
            assert self.client is not None
            self.body("")
            return Description(notes=self._unversioned)
        path = self.with_query(f"/supportedentities?language={quote(self.language)}")
        for answer in self.attempts(self.client, "GET", path, None):
            if isinstance(answer, Answer) and answer.status == 200:
                with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    supported = tuple(sorted(msgspec.json.decode(answer.body, type=list[str])))
                    return Description(EntityTypes(supported=supported), self._unversioned)
            elif isinstance(answer, Answer) and answer.status not in AGAIN:
                break
        if isinstance(answer, str):
            raise DetectorError(f"cannot reach the service at {printable(self.place)}: {answer}.")
        return Description(notes=self._unversioned)

    def fingerprint(self) -> Fingerprint:
        """Add the service's version, if it tells it: `version` in `GET /version`, or in `info` of `/openapi.json`."""
        found = super().fingerprint()
        if self.request.startswith("@"):
            found["option request"] = content_hash(self.request[1:])
        if not self._is_own:
            return found
        return found | ({} if self._told is None else {"service version": self._told})

    @property
    def _unversioned(self) -> tuple[str, ...]:
        return () if self.tells_in_answers or (self._is_own and self._told) else (UNVERSIONED,)

    @cached_property
    def _told(self) -> str | None:
        """The version that the service tells."""
        return next(filter(None, map(_version, map(self._answer, ("/version", "/openapi.json")))), None)

    def _answer(self, path: str) -> Answer | str:
        """Return the answer for a path; what may be another one next time is asked for again."""
        answer: Answer | str = ""
        for answer in self.attempts(self.client, "GET", self.with_query(path), None):
            if isinstance(answer, Answer) and answer.status not in AGAIN:
                break
        return answer

    @property
    def _is_own(self) -> bool:
        return self.request == OWN

    @cached_property
    def _template(self) -> Any:
        file = self.request.removeprefix("@")
        try:
            template = msgspec.json.decode(Path(file).read_bytes())
        except OSError as error:
            raise InputError(f"cannot read the request ({error.strerror}).", file) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
            raise InputError("the request is not JSON.", file) from None
        if filled(template, {"$text": ""}) == template:
            raise InputError('the request has no value "$text", which the text of each document replaces.', file)
        return template


def _version(answer: Answer | str) -> str | None:
    """Return the version that an answer tells.

    >>> _version(Answer(200, b'{"info": {"title": "Presidio", "version": "2.2"}}')), _version(Answer(200, b'"up"'))
    ('2.2', None)
    """
    if isinstance(answer, str) or answer.status != 200:
        return None
    try:
        told = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    about = told.get("info", told) if isinstance(told, dict) else {}
    found = about.get("version") if isinstance(about, dict) else None
    return printable(str(found)) if isinstance(found, str | int | float) else None
