"""How a measure is written: `iou`, `iou(threshold=0.5, unit=token)`, or neleval's `aggregator:filter:key`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spanscore.errors import UsageError, printable

_NAME = r"[A-Za-z][\w.-]*"
_CALL = re.compile(rf"\s*({_NAME})\s*(?:\((.*)\))?\s*", re.DOTALL)
_COLON = re.compile(rf"\s*({_NAME}):([^:()]*):([^:()]*)\s*")
_ARGUMENT = re.compile(r"""\s*([A-Za-z_]\w*)\s*=\s*("[^"]*"|'[^']*'|[^,"'()=]*)\s*(?:,|$)""")


@dataclass(frozen=True)
class Spec:
    """A measure's name and the parameters that were given, as text.

    >>> Spec.parse("iou(threshold=0.5,unit=token)")
    Spec(name='iou', parameters=(('threshold', '0.5'), ('unit', 'token')))
    >>> str(Spec.parse("iou( unit = 'token' )")), str(Spec.parse("overlap-maxmax::span")), str(Spec.parse("exact()"))
    ('iou(unit=token)', 'overlap-maxmax::span', 'exact')
    """

    name: str
    parameters: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read a spec; the error says what is expected."""
        if match := _COLON.fullmatch(text):
            name, which, key = match.groups()
            return cls(name, (("filter", which.strip()), ("key", key.strip())))
        match = _CALL.fullmatch(text)
        if match is None:
            forms = "name, name(parameter=value, ...) or aggregate:filter:key"
            raise UsageError(f"'{printable(text)}' is not a measure; write {forms}.")
        given: dict[str, str] = {}
        at, arguments = 0, (match[2] or "").strip()
        while at < len(arguments):
            argument = _ARGUMENT.match(arguments, at)
            if argument is None:
                raise UsageError(f"'{printable(text)}': expected parameter=value at '{printable(arguments[at:])}'.")
            key, value = argument[1], argument[2].strip()
            if key in given:
                raise UsageError(f"'{printable(text)}': the parameter '{key}' is given twice.")
            given[key] = value[1:-1] if value[:1] in ("'", '"') else value
            at = argument.end()
        return cls(match[1], tuple(given.items()))

    def __str__(self) -> str:
        given = dict(self.parameters)
        if given.keys() == {"filter", "key"}:
            return f"{self.name}:{given['filter']}:{given['key']}"
        listed = ", ".join(f"{key}={_quoted(value)}" for key, value in self.parameters)
        return f"{self.name}({listed})" if listed else self.name


def _quoted(value: str) -> str:
    if re.fullmatch(r"""[^,"'()=\s]+(?: +[^,"'()=\s]+)*""", value):
        return value
    return f'"{value}"' if '"' not in value else f"'{value}'"
