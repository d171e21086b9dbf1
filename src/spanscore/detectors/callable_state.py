"""State of a Python callable besides its source: arguments, defaults, closures and attributes."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = (type(None), type(...), bool, int, float, complex, str, bytes, PurePath)
"""Types of values that look the same in every process."""
NOT_SETTINGS = {"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__firstlineno__", "_abc_impl"}
"""Members of every class, which say nothing about what it does."""
STANDARD = sys.stdlib_module_names - {"builtins"}
"""Modules whose objects, such as loggers and locks, do not change what code that names them finds."""
MOST = 100_000
"""Maximum number of values to look at."""


@dataclass
class HeldValues:
    """The values that a callable holds, hashed."""

    has_file: Callable[[str | None], bool]
    """Whether the source code of a module is known; if not, the code of its functions and classes counts, too."""
    used: set[str] = field(default_factory=set)
    """The modules that code without a file uses."""
    strings: set[str] = field(default_factory=set)
    """The strings in code without a file."""
    complete: bool = True
    """Whether all values can be hashed."""
    found: bool = False
    """Whether there are values or code, and not only names of what is in files."""

    def __post_init__(self) -> None:
        self._whole = blake2b(digest_size=8)
        self._seen: dict[int, object] = {}  # it holds what it has seen, so that no other object gets the same id

    def digest(self) -> str:
        """Return the hash of all values added."""
        return self._whole.hexdigest()

    def add(self, value: Any) -> None:
        """Add a callable or a value, and what it holds."""
        if isinstance(value, PLAIN):
            self.found = True
            self._token(type(value).__name__, value)
        elif isinstance(value, re.Pattern):
            self.found = True
            self._token("pattern", value.pattern, value.flags)
        elif isinstance(value, ModuleType):
            self._name(value.__name__, "")
        elif id(value) in self._seen:
            self._token("again")
        elif len(self._seen) >= MOST:
            self.complete = False
        else:
            self._seen[id(value)] = value
            self._add_new(value)

    def _add_new(self, value: Any) -> None:
        if isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, BuiltinFunctionType):
            self._name(value.__module__, value.__qualname__)
        elif isinstance(value, MethodType):
            self._all("method", value.__self__, value.__func__)
        elif isinstance(value, partial):
            self._all("partial", value.func, value.args, value.keywords)
        elif isinstance(value, staticmethod | classmethod):
            self._all(type(value).__name__, value.__func__)
        elif isinstance(value, property):
            self._all("property", value.fget, value.fset)
        elif isinstance(value, list | tuple):
            self._all(f"{type(value).__name__} {len(value)}", *value)
        elif isinstance(value, dict):
            self._all(f"dict {len(value)}", *(one for key in self._sorted(value) for one in (key, value[key])))
        elif isinstance(value, set | frozenset):
            self._all(f"set {len(value)}", *self._sorted(value))
        elif (wrapped := getattr(value, "__wrapped__", None)) is not None:  # such as by lru_cache
            self._all("wrapped", wrapped)
        else:
            self._object(value)

    def _all(self, kind: str, *values: Any) -> None:
        self._token(kind)
        for one in values:
            self.add(one)

    def _sorted(self, values: Any) -> list[Any]:
        plain = [one for one in values if isinstance(one, PLAIN)]
        self.complete &= len(plain) == len(values)
        return sorted(plain, key=lambda one: (type(one).__name__, repr(one)))

    def _function(self, function: FunctionType) -> None:
        self._name(function.__module__, function.__qualname__)
        if not self.has_file(function.__module__):
            self._code(function.__code__, function.__globals__)
        elif self._is_own(function.__module__):
            self._data(function.__code__, function.__globals__)
        for name, held in (
            ("defaults", function.__defaults__),
            ("keywords", function.__kwdefaults__),
            ("closure", tuple(_content(cell) for cell in function.__closure__ or ())),
        ):
            if held:
                self._all(name, held)

    def _code(self, code: CodeType, space: dict[str, Any]) -> None:
        """Add code, the code inside it, and the values that it names."""
        self.found = True
        constants = [one for one in code.co_consts if not isinstance(one, CodeType)]
        self._token("code", code.co_code, code.co_names)
        self._all("constants", *constants)
        self.strings |= {one for one in constants if isinstance(one, str)}
        for one in code.co_consts:
            if isinstance(one, CodeType):
                self._code(one, space)
        for name in code.co_names:
            if name in space:
                self.add(space[name])
            else:
                self.used.add(name)

    def _data(self, code: CodeType, space: dict[str, Any]) -> None:
        """Add the data of a module that its code names, such as a list of words that it has read, or a model."""
        for name in sorted(set(code.co_names) & space.keys()):
            value = space[name]
            if isinstance(value, FunctionType):
                if id(value) not in self._seen and self._is_own(value.__module__):
                    self._seen[id(value)] = value
                    self._data(value.__code__, value.__globals__)
            elif isinstance(value, type | ModuleType | BuiltinFunctionType):
                continue  # the source code of modules is known
            elif isinstance(value, re.Pattern) or type(value).__module__.partition(".")[0] not in STANDARD:
                self._all(f"data {name}", value)
        for one in code.co_consts:
            if isinstance(one, CodeType):
                self._data(one, space)

    def _class(self, value: type) -> None:
        self._name(value.__module__, value.__qualname__)
        if not self.has_file(value.__module__):
            self._all("bases", *value.__bases__)
            for name, member in sorted(vars(value).items()):
                if name not in NOT_SETTINGS:
                    self._all(name, member)

    def _object(self, value: Any) -> None:
        """Add an object of a class of the user's own with its attributes; others may hold anything."""
        self.add(type(value))
        if hasattr(value, "__dict__") and self._is_own(type(value).__module__):
            self._all("attributes", vars(value))
        else:
            self.complete = False

    def _is_own(self, module: str) -> bool:
        first = module.partition(".")[0]
        file = getattr(sys.modules.get(module), "__file__", None) or ""
        return first not in sys.stdlib_module_names and not re.search(r"[/\\](site|dist)-packages[/\\]", file)

    def _name(self, module: str | None, name: str) -> None:
        self._whole.update(f"name {module}:{name}\0".encode("utf-8", "surrogatepass"))
        self.used.add((module or "").partition(".")[0])

    def _token(self, kind: str, *values: Any) -> None:
        self._whole.update(f"{kind} {values!r}\0".encode("utf-8", "surrogatepass"))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None
