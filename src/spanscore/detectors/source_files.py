"""The source code that a Python function or program consists of: its module, and what that imports."""

from __future__ import annotations

import ast
import platform
import sys
import sysconfig
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from spanscore.detectors.callable_state import HeldValues
from spanscore.detectors.fingerprint import Fingerprint, content_hash, distributions
from spanscore.detectors.named_files import named_files, strings_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INSTALLED = {"site-packages", "dist-packages"}


@dataclass
class Sources:
    """Modules below a folder, and the other packages that they import, by their first name."""

    modules: dict[str, Path] = field(default_factory=dict)
    elsewhere: set[str] = field(default_factory=set)

    def fingerprint(self) -> Fingerprint:
        """Return hashes of the modules."""
        return {f"module {name}": content_hash(file) for name, file in sorted(self.modules.items())}


def sources(folder: Path, name: str, code: bytes | None = None) -> Sources:
    """Return a module, and the modules below the same folder that it imports, directly or not.

    `code` is the source of a program that is no file. In a folder of installed packages, only the modules of the same
    package count.
    """
    found = Sources()
    own = name.partition(".")[0]
    installed = folder.name in INSTALLED or (folder / "os.py").is_file()
    waiting = [*_prefixes(name)] if code is None else [*_imported(code, "")]
    while waiting:
        one = waiting.pop()
        first = one.partition(".")[0]
        file = None if one in found.modules or (installed and first != own) else module_file(folder, one)
        if file is not None and not INSTALLED & set(file.relative_to(folder).parts):
            found.modules[one] = file
            waiting.extend(_imported(read_source(file), one if file.name == "__init__.py" else one.rpartition(".")[0]))
        elif installed or module_file(folder, first) is None:
            found.elsewhere.add(first)
    found.elsewhere -= {own, *sys.stdlib_module_names, *(one.partition(".")[0] for one in found.modules)}
    return found


def module_file(folder: Path, name: str) -> Path | None:
    """Return the file of a module below a folder; None if there is none."""
    place = folder.joinpath(*name.split("."))
    return next((file for file in (place / "__init__.py", place.with_name(f"{place.name}.py")) if file.is_file()), None)


def source_of(function: Callable[..., Any], named: str | None = None) -> Fingerprint:
    """Return hashes of a function's modules and of the modules beside them that they import, and versions of others.

    A module beside another is one below the same folder. Of installed packages that these modules import, anywhere in
    their code, the versions count. `named` is the module in which the function was looked up. Values that the function
    holds count, too, and for one of a notebook the functions and values that it names. So do files, folders and spaCy
    models that strings of this code name: it may read them later.
    """
    known: Fingerprint = {}
    elsewhere: set[str] = set()
    parts = list(_parts(function))
    in_files = {name: file for name in (named, *(one.__module__ for one in parts)) if (file := _file_of(name))}
    held = held_values(function)
    data = named_files(held.strings, (Path(),))
    for name, file in in_files.items():
        found = _sources_of(str(name), file)
        known |= found.fingerprint()
        elsewhere |= found.elsewhere
        for one in () if _is_installed(file) else found.modules.values():
            data |= named_files(strings_in(read_source(one)), (Path(), one.parent))
    if held.found:
        known["function"] = held.digest()
    if any(one.__module__ not in in_files for one in parts):
        elsewhere |= held.used - {"", "__main__", "builtins", *sys.stdlib_module_names}
    versions, rest = distributions(elsewhere - {name.removeprefix("module ") for name in known})
    others = {f"module {one}": content_hash(there) for one in sorted(rest) if (there := _place(one)) is not None}
    return {**dict(sorted(known.items())), **others, **data, **versions, "Python": platform.python_version()}


def held_values(function: Callable[..., Any]) -> HeldValues:
    """Return what a callable holds beside the source code of its modules."""
    held = HeldValues(has_file=lambda name: name == "builtins" or _file_of(name) is not None)
    held.add(function)
    return held


def _parts(function: Any) -> Iterator[Any]:
    """Yield the functions and classes of a callable: behind a partial, a method and its class, the class of an object.

    >>> from functools import partial
    >>> list(_parts(partial(Sources().fingerprint))) == [Sources, Sources.fingerprint]
    True
    """
    if isinstance(function, partial):
        yield from _parts(function.func)
    elif isinstance(function, MethodType):
        owner = function.__self__
        yield owner if isinstance(owner, type) else type(owner)
        yield from _parts(function.__func__)
    elif isinstance(function, FunctionType | BuiltinFunctionType | type):
        yield function
    elif (wrapped := getattr(function, "__wrapped__", None)) is not None:  # such as by lru_cache
        yield from _parts(wrapped)
    else:
        yield type(function)


def _file_of(name: str | None) -> Path | None:
    """Return the file of an imported module; None if it has none, such as a notebook."""
    place = getattr(sys.modules.get(name or ""), "__file__", None)
    return None if place is None else Path(place).resolve()


def _sources_of(name: str, file: Path) -> Sources:
    """Return an imported module, and the modules beside it that it imports."""
    folder = file.parents[name.count(".") + (file.name == "__init__.py")]
    found = sources(folder, name)
    found.modules.setdefault(name, file)  # such as a compiled module, or one that is run as a program
    if name == "__main__":
        more = sources(folder, name, read_source(file))
        found.modules |= more.modules
        found.elsewhere |= more.elsewhere
    return found


def _is_installed(file: Path) -> bool:
    """Return whether a file belongs to an installed package or to Python."""
    return bool(INSTALLED & set(file.parts)) or file.is_relative_to(Path(sysconfig.get_paths()["stdlib"]).resolve())


def _place(name: str) -> Path | None:
    """Return the file or the folder of a module or package that is not installed, without importing it."""
    spec = None
    with suppress(ImportError, ValueError, AttributeError):
        spec = find_spec(name)
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    file = Path(spec.origin)
    return None if INSTALLED & set(file.parts) else file.parent if file.name == "__init__.py" else file


def read_source(file: Path) -> bytes:
    """Return the source code of a file; empty if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _imported(code: bytes, package: str) -> Iterator[str]:
    """Yield the names of modules that source code imports, and of what it imports from them, which may be modules."""
    try:
        tree = ast.parse(code)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # not Python, or strange
        return
    for one in ast.walk(tree):
        if isinstance(one, ast.Import):
            named = [alias.name for alias in one.names]
        elif isinstance(one, ast.ImportFrom):
            above = ".".join(package.split(".")[: len(package.split(".")) - one.level + 1]) if one.level else ""
            start = ".".join(part for part in (above, one.module) if part)
            named = [start, *(f"{start}.{alias.name}" for alias in one.names)]
        else:
            continue
        for full in named:
            yield from _prefixes(full)


def _prefixes(name: str) -> Iterator[str]:
    """Yield the packages of a module and the module itself.

    >>> list(_prefixes("a.b.c"))
    ['a', 'a.b', 'a.b.c']
    """
    parts = name.split(".")
    yield from (".".join(parts[: number + 1]) for number in range(len(parts)) if parts[0])
