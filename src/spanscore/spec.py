"""Named values: how measures, formats and detectors are written, declared and found.

A value is written `name` or `name(key=value, ...)`. Values that hold a comma, a bracket, an equals sign or a quotation
mark are quoted: `http(url="http://localhost:3000", timeout=60)`. A class declares its parameters as dataclass fields
made by `parameter`; its instances print themselves in the same spelling, with defaults left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from spanscore.errors import UsageError, nearest, printable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_NAME = re.compile(r"[A-Za-z][\w.-]*")
_KEY = re.compile(r"[A-Za-z_]\w*")
_BLANK = re.compile(r"\s*")
_VALUE = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([^,"'()=]*)""", re.DOTALL)
_ESCAPE = re.compile(r"""\\([\\"'])""")
_BEFORE_VALUES = re.compile(r"""[^"'=:?#]*""")
_BARE = re.compile(r"""[^,"'()=\s\\]+(?: [^,"'()=\s\\]+)*""")


@dataclass(frozen=True)
class Spec:
    """A name and the arguments that were given, as text.

    >>> Spec.parse("iou(threshold=0.5,unit=token)")
    Spec(name='iou', arguments=(('threshold', '0.5'), ('unit', 'token')))
    >>> str(Spec.parse("http( url = 'http://host:1/?a=b' )")), str(Spec.parse("exact()"))
    ('http(url="http://host:1/?a=b")', 'exact')
    """

    name: str
    arguments: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Parse a spec; the error says what was expected and where."""
        whole = text.strip()
        match = _NAME.match(whole)
        rest = whole[match.end() :].lstrip() if match else whole
        if match is None or (rest and not (rest[0] == "(" and rest[-1] == ")" and len(rest) > 1)):
            raise UsageError(f"'{without_values(text)}' cannot be parsed; write name or name(key=value, ...).")
        return cls(match[0], tuple(_arguments(rest[1:-1], text))) if rest else cls(match[0])

    def __str__(self) -> str:
        listed = ", ".join(f"{key}={_quoted(value)}" for key, value in self.arguments)
        return f"{self.name}({listed})" if listed else self.name


def _arguments(inside: str, text: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    at = _skip(inside, 0)
    while at < len(inside):
        key = _KEY.match(inside, at)
        equals = _skip(inside, key.end()) if key else at
        if key is None or not inside.startswith("=", equals):
            hint = " Quote a value that contains a comma." if seen else ""
            where = without_values(inside[at:])
            raise UsageError(f"'{without_values(text)}': expected key=value at '{where}'.{hint}")
        if key[0] in seen:
            raise UsageError(f"'{without_values(text)}': {key[0]} is given twice.")
        seen.add(key[0])
        value = _VALUE.match(inside, _skip(inside, equals + 1))
        assert value is not None
        after = _skip(inside, value.end())
        if after < len(inside) and inside[after] != ",":
            raise UsageError(f"'{without_values(text)}': quote the value of {key[0]}: {key[0]}=\"...\".")
        yield key[0], value[2].rstrip() if value[1] is None else _ESCAPE.sub(r"\1", value[1][1:-1])
        at = _skip(inside, after + 1)


def without_values(text: str) -> str:
    """Return a spec for a message up to its first value: values of detectors may be keys.

    >>> without_values("iou(treshold)"), without_values('http(url="http://host?key=1"')
    ('iou(treshold)', 'http(url…')
    """
    shown = _BEFORE_VALUES.match(text)
    assert shown is not None
    return printable(shown[0]) + ("…" if shown.end() < len(text) else "")


def _skip(text: str, at: int) -> int:
    """Return the position after any whitespace."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _quoted(value: str) -> str:
    if _BARE.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Required:
    """The default of a parameter that must be given."""

    def __repr__(self) -> str:
        return "required"


REQUIRED: Any = _Required()


@dataclass(frozen=True)
class Parameter:
    """A declared parameter: its type, default, allowed values and description."""

    name: str
    type: type
    default: Any
    description: str
    choices: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    above: float | None = None
    """An exclusive lower limit."""
    callable: bool = False
    """Whether a function may be given instead of text."""
    optional: bool = False
    """Whether `none` is allowed although it is not the default."""

    def read(self, value: Any) -> Any:
        """Return the value of an argument, which may be text."""
        if not isinstance(value, str) or self.type is str:
            return self.check(value)
        if self.optional and value.lower() == "none":
            return None
        parsed: Any = None
        if self.type is bool:
            parsed = {"true": True, "false": False}.get(value.lower())
        elif self.type is tuple:
            parsed = tuple(part.strip() for part in value.split(",") if part.strip())
        else:
            try:
                parsed = self.type(value)
            except ValueError:
                parsed = None
        return self.check(parsed, value)

    def check(self, value: Any, shown: object = None) -> Any:
        """Return the value if it is allowed, else raise an error that says what is."""
        if (value is self.default and value is not REQUIRED) or (value is None and self.optional):
            return value
        if value == "" != self.default:
            raise UsageError(f"{self.name} is empty; {self.name} must be {self.allowed()}.")
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if self.type is tuple and isinstance(value, list):
            value = tuple(value)
        if not self._allows(value):
            given = printable(str(value if shown is None else shown))
            raise UsageError(f"{self.name}={given} is not valid; {self.name} must be {self.allowed()}.")
        return value

    def _allows(self, value: Any) -> bool:
        if self.callable and callable(value):
            return True
        if type(value) is not self.type:
            return False
        if self.type is tuple:
            return all(isinstance(part, str) for part in value)  # type: ignore[attr-defined]
        if isinstance(value, float | int) and not isinstance(value, bool):
            return self.low <= value <= self.high and (self.above is None or value > self.above)
        if not self.choices:
            return True
        closed = value in self.choices and not set("@:") & set(value)
        return closed or any(_open_ended(str(value), choice) for choice in self.choices)

    def allowed(self) -> str:
        """Describe the allowed values.

        >>> Parameter("beta", float, 1.0, "", above=0, high=1000).allowed()
        'a number greater than 0 and at most 1000'
        """
        if self.choices:
            return "one of " + ", ".join(self.choices)
        words = {bool: "true or false", tuple: "names separated by commas", str: "a string", float: "a number"}
        kind = words.get(self.type, "a whole number")
        if self.type not in (int, float):
            return kind
        limits = []
        if self.above is not None:
            limits.append(f"greater than {_in_full(self.above)}")
        elif not math.isinf(self.low):
            limits.append(f"{'at least' if math.isinf(self.high) else 'from'} {_in_full(self.low)}")
        if not math.isinf(self.high):
            limits.append(f"{'to' if self.above is None and limits else 'at most'} {_in_full(self.high)}")
        joined = (" and " if self.above is not None else " ").join(limits)
        return f"{kind} {joined}".rstrip() + (", or none" if self.optional else "")

    def write(self, value: Any) -> str:
        """Return the value as it is written in a spec."""
        if value is None:
            return "none"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return ",".join(value)
        if isinstance(value, float):
            return f"{value:g}" if float(f"{value:g}") == value else f"{value:.17g}"
        if callable(value):
            return f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', type(value).__name__)}"
        return str(value)


def _in_full(limit: float) -> str:
    """Write a limit without an exponent if it is whole: 2147483647, not 2.14748e+09."""
    return str(int(limit)) if limit == int(limit) else f"{limit:g}"


def _open_ended(value: str, choice: str) -> bool:
    """Return whether a value has the form of a choice such as `@file`, `spacy:LANG` or `taxonomy(decay=0.5)`."""
    if choice.endswith(")"):
        name = choice.partition("(")[0]
        return value == name or (value.startswith(f"{name}(") and value.endswith(")"))
    prefix = "@" if choice == "@file" else choice.partition(":")[0] + ":" if ":" in choice else None
    return prefix is not None and value.startswith(prefix) and value != prefix and (value != choice or prefix == "@")


def parameter(default: Any, description: str, *, type: type | None = None, **limits: Any) -> Any:  # noqa: A002
    """Declare a parameter as a dataclass field; `type` is needed where the default is None or REQUIRED."""
    kind = type if type is not None else default.__class__
    return field(default=default, metadata={"type": kind, "description": description, "limits": limits})


@cache
def _declared(cls: type) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(f.name, f.metadata["type"], f.default, f.metadata["description"], **f.metadata["limits"])
        for f in fields(cls)
        if "description" in f.metadata
    )


class Value:
    """The base of measures, formats and detectors: frozen dataclasses with a name and declared parameters."""

    kind: ClassVar[str] = "value"
    name: ClassVar[str]

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the parameters that this class declares."""
        return _declared(cls)  # type: ignore[arg-type]

    @classmethod
    def make(cls, arguments: Mapping[str, Any]) -> Self:
        """Build a value from arguments, which may be text; one that the class does not declare is an error."""
        known = {one.name: one for one in cls.parameters()}
        for key in arguments:
            if key not in known:
                near = nearest(key, known)
                hint = f"; did you mean '{near}'?" if near else "."
                listed = f" Its options: {', '.join(known)}." if known else ""
                raise UsageError(f"{cls.name} has no option '{printable(key)}'{hint}{listed}")
        return cls(**{key: known[key].read(value) for key, value in arguments.items()})

    def __post_init__(self) -> None:
        for declared in self.parameters():
            value = getattr(self, declared.name)
            if value is REQUIRED:
                about = declared.description.rstrip(".")
                raise UsageError(f"{self.name} needs {declared.name} ({about}): {self.name}({declared.name}=...).")
            object.__setattr__(self, declared.name, declared.check(value))

    def __repr__(self) -> str:
        return str(Spec(self.name, self.given()))

    def given(self) -> tuple[tuple[str, str], ...]:
        """Return the parameters that differ from their defaults, as they are written."""
        return tuple(
            (declared.name, declared.write(value))
            for declared in self.parameters()
            if (value := getattr(self, declared.name)) != declared.default
        )


def from_above(module: str, name: str) -> Any:
    """Return a function of a room above by its name, imported when it is first used, as a registry finds values.

    Values such as a corpus or a result have methods whose code needs rooms above theirs: other libraries' layouts, text
    and HTML tables, figures. import-linter does not see these calls.
    """
    from importlib import import_module

    return getattr(import_module(f"spanscore.{module}"), name)


V = TypeVar("V", bound=Value)


def parsed_share(text: str) -> float:
    """Read a share, as a number or in percent.

    >>> parsed_share("0.9"), parsed_share("90%")
    (0.9, 0.9)
    """
    number = text.strip()
    return float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)


def joined(spec: str, arguments: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a spec with options from Python; what is in both is an error."""
    if twice := next((key for key in options if key in arguments), None):
        raise UsageError(f"'{without_values(spec)}': {twice} is given twice.")
    return {**arguments, **options}


class Registry(Generic[V]):
    """All values of one kind by name: those of a package of ours, and those that installed packages add.

    A class called `sixway.strict` is looked for in the module `sixway` of the package first. Other packages add classes
    through the entry points of the group `spanscore.measures`, `spanscore.formats` or `spanscore.detectors`.
    """

    def __init__(self, base: type[V], package: str, others: Callable[[], Mapping[str, str]] = dict) -> None:
        """Search a package; `others` are other names that users may misspell, and the names that they stand for."""
        self._base = base
        self._package = package
        self._others = others
        self._found: dict[str, type[V]] = {}
        self._loaded: set[str] = set()

    @property
    def kind(self) -> str:
        """What these values are."""
        return self._base.kind

    @property
    def group(self) -> str:
        """The group of entry points through which other packages add classes."""
        return f"spanscore.{self.kind}s"

    def names(self) -> list[str]:
        """Return all names, sorted."""
        self._load_all()
        return sorted({*self._found, *self._added})

    def make(self, spec: str | V, **options: Any) -> V:
        """Return the value of a spec; options are added to its arguments."""
        if isinstance(spec, self._base):
            if options:
                raise UsageError(f"{spec!r} is complete; write its options into it.")
            return spec
        if not isinstance(spec, str):
            raise UsageError(f"expected a {self.kind}, not {type(spec).__name__}.")
        parsed = Spec.parse(spec)
        return self.find(parsed.name).make(joined(spec, dict(parsed.arguments), options))

    def find(self, name: str) -> type[V]:
        """Return the class of this name."""
        guess = name.partition(".")[0].replace("-", "_")
        if name not in self._found and guess in self._modules:
            self._load(guess)
        if name not in self._found:
            self._load_all()
        if name in self._found:
            return self._found[name]
        if name in self._added:
            found = self._found[name] = self._plug_in(self._added[name])
            return found
        own = {one: one for one in self.names()}
        known = {**own, **self._others(), **own}  # our own names come first
        near = known.get(nearest(name, known) or "")
        hint = f"; did you mean '{near}'?" if near else "."
        raise UsageError(f"There is no {self.kind} '{printable(name)}'{hint} List them with: spanscore {self.kind}s.")

    def classes(self) -> Iterator[type[V]]:
        """Yield all classes in order of their names, except plug-ins that cannot be loaded."""
        for name in self.names():
            with suppress(UsageError):
                yield self.find(name)

    @cached_property
    def _modules(self) -> frozenset[str]:
        from importlib import import_module
        from pkgutil import iter_modules

        return frozenset(module.name for module in iter_modules(import_module(self._package).__path__))

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        from importlib.metadata import entry_points

        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            if (other := found.setdefault(entry.name, entry)).value != entry.value:
                what = f"two packages have a {self.kind} '{printable(entry.name)}' ({other.value} and {entry.value})"
                raise UsageError(f"{what}; uninstall one of them.")
        return found

    def _load(self, module: str) -> None:
        from importlib import import_module

        if module in self._loaded:
            return
        self._loaded.add(module)
        loaded = import_module(f"{self._package}.{module}")
        for found in vars(loaded).values():
            if isinstance(found, type) and found.__module__ == loaded.__name__ and self._is_one(found):
                self._found[found.name] = found  # type: ignore[attr-defined]

    def _load_all(self) -> None:
        for module in sorted(self._modules):
            self._load(module)

    def _is_one(self, found: type) -> bool:
        return issubclass(found, self._base) and "name" in vars(found)

    def _plug_in(self, entry: EntryPoint) -> type[V]:
        from inspect import isabstract

        try:
            found = entry.load()
        except Exception as error:
            raise UsageError(
                f"the {self.kind} '{entry.name}' of the entry points {self.group} cannot be loaded "
                f"({type(error).__name__}: {printable(str(error), limit=200)})."
            ) from None
        if not (isinstance(found, type) and issubclass(found, self._base)):
            raise UsageError(
                f"the entry point '{entry.name}' of {self.group} is not a subclass of {self._base.__name__}."
            )
        if getattr(found, "name", None) != entry.name or isabstract(found):
            what = "is abstract" if isabstract(found) else f"does not have the name '{entry.name}'"
            raise UsageError(f"the entry point '{entry.name}' of {self.group}: the class {found.__name__} {what}.")
        return found
