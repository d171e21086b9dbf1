"""What a service's answer names as the error; its message may hold text of a document and is never shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import msgspec

_IDENTIFIER = re.compile(r"[\w.]{1,100}", re.ASCII)
_THROTTLED = re.compile(r"(Throttling|TooManyRequests|ServiceUnavailable)")
"""How AWS names errors that may not occur again; it answers them with status 400."""


@dataclass(frozen=True)
class ServiceError:
    """The names in an error of AWS (`__type`) or of an OpenAI-compatible service (`error.code`, `param`, `type`).

    Anything but identifiers is left out.
    """

    code: str = ""
    parameter: str = ""
    type: str = ""
    message: str = ""
    """To be searched, but never shown."""

    @classmethod
    def of(cls, body: bytes) -> ServiceError:
        """Read the body of an answer; one of another layout names nothing.

        >>> ServiceError.of(b'{"__type": "com.amazonaws.comprehend#ThrottlingException"}').code
        'ThrottlingException'
        """
        try:
            told = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return cls()
        if not isinstance(told, dict):
            return cls()
        if isinstance(aws := told.get("__type"), str):
            return cls(code=_identifier(aws.rpartition("#")[2].partition(":")[0]))
        about = told.get("error", told)
        if not isinstance(about, dict):
            return cls(message=str(about))
        code, parameter, kind = (_identifier(about.get(name)) for name in ("code", "param", "type"))
        return cls(code, parameter, kind, str(about.get("message")))

    @property
    def is_throttling(self) -> bool:
        """Whether the service only asks to be called later."""
        return bool(_THROTTLED.match(self.code))

    def names(self, parameter: str) -> bool:
        """Return whether the error is about a parameter, which some services name in the message only.

        >>> ServiceError(parameter="response_format.type").names("response_format")
        True
        """
        return parameter in self.message if not self.parameter else self.parameter.partition(".")[0] == parameter

    def __str__(self) -> str:
        """Return what may be shown, to be appended to the status.

        >>> str(ServiceError("unsupported_value", "temperature"))
        ', code unsupported_value, param temperature'
        """
        shown = {"code": self.code, "param": self.parameter, "type": self.type}
        return "".join(f", {name} {value}" for name, value in shown.items() if value)


def _identifier(value: Any) -> str:
    return value if isinstance(value, str) and _IDENTIFIER.fullmatch(value) else ""
