"""Fingerprints of detectors: versions of packages, and hashes of files, folders and source code, by name.

A detector returns its fingerprint from `Detector.fingerprint`, built from the functions of this module. Equal
fingerprints mean that the same text gets the same predictions, as far as anybody can tell from outside.
"""

from __future__ import annotations

import ast
import json
import sys
from contextlib import suppress
from hashlib import blake2b, file_digest
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Fingerprint = dict[str, str]
"""What identifies a detector, by name: `{"package spacy": "3.8.14", "option entities": "PERSON"}`."""

PACKAGE = "package "
ABSENT = "none"


def packages(*names: str) -> Fingerprint:
    """Return the versions of those packages that are installed.

    >>> list(packages("numpy", "no-such-package"))
    ['package numpy']
    """
    found = {}
    for name in names:
        try:
            found[f"{PACKAGE}{name}"] = version(name)
        except PackageNotFoundError:
            continue
    return found


def versions(fingerprint: Mapping[str, str]) -> dict[str, str]:
    """Return the package versions of a fingerprint by package.

    >>> versions({"package spacy": "3.8.14", "option entities": "PERSON"})
    {'spacy': '3.8.14'}
    """
    return {name.removeprefix(PACKAGE): value for name, value in fingerprint.items() if name.startswith(PACKAGE)}


def digest(fingerprint: Mapping[str, str]) -> str:
    """Return a fingerprint as 16 hexadecimal digits, for signatures.

    >>> digest({"a": "1", "b": "2"}) == digest({"b": "2", "a": "1"})
    True
    """
    return blake2b(json.dumps(dict(fingerprint), sort_keys=True).encode(), digest_size=8).hexdigest()


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Describe the differences between two fingerprints.

    >>> changes({"package spacy": "3.7.5", "url": "a"}, {"package spacy": "3.8.14", "model": "en"})
    ['package spacy: 3.7.5 -> 3.8.14', 'url: a -> none', 'model: none -> en']
    """
    names = dict.fromkeys((*before, *now))
    pairs = ((name, str(before.get(name, ABSENT)), str(now.get(name, ABSENT))) for name in names)
    return [f"{printable(name)}: {printable(old)} -> {printable(new)}" for name, old, new in pairs if old != new]


def content_hash(path: str | Path) -> str:
    """Return a hash of what a file or folder contains; the names of the files in a folder count, its own does not.

    A file that cannot be read is `none`: reading it is the detector's task, and so is the error.
    """
    place = Path(path)
    if not place.is_dir():
        return _file_hash(place)
    whole = blake2b(digest_size=8)
    for one in sorted(place.rglob("*")):
        if one.is_file() and "__pycache__" not in one.parts:
            whole.update(f"{one.relative_to(place).as_posix()}\0{_file_hash(one)}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _file_hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, lambda: blake2b(digest_size=8)).hexdigest()
    except (OSError, ValueError):
        return ABSENT


def source_of(function: Callable[..., Any]) -> Fingerprint:
    """Return hashes of the module of a function, and of the modules beside it that it imports.

    A module beside it is one below the same folder. Installed packages do not count: see `packages`.
    """
    name = getattr(function, "__module__", None) or type(function).__module__
    file = _file(name)
    if file is None:
        code = getattr(function, "__code__", None)
        known = None if code is None else blake2b(code.co_code + repr(code.co_names).encode(), digest_size=8)
        return {"function": ABSENT if known is None else known.hexdigest()}
    folder = file.parents[name.count(".") + (file.name == "__init__.py")]
    return {f"module {name}": content_hash(path) for name, path in sorted(_beside(name, folder).items())}


def _beside(name: str, folder: Path) -> dict[str, Path]:
    """Return the files of a module and of those modules below a folder that it imports, directly or not."""
    found: dict[str, Path] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        file = None if one in found else _file(one)
        if file is None or not file.is_relative_to(folder):
            continue
        if one != name and {"site-packages", "dist-packages"} & set(file.relative_to(folder).parts):
            continue
        found[one] = file
        waiting.extend(_imported(one, file))
    return found


def _file(name: str) -> Path | None:
    """Return the file of a module, without importing it."""
    module, parent = sys.modules.get(name), name.rpartition(".")[0]
    place = getattr(module, "__file__", None)
    if module is None and (not parent or parent in sys.modules):  # else finding it would import its package
        with suppress(ImportError, ValueError, AttributeError):
            spec = find_spec(name)
            place = spec.origin if spec is not None and spec.has_location else None
    return None if place is None else Path(place).resolve()


def _imported(name: str, file: Path) -> Iterator[str]:
    """Yield the names of modules that a source file imports, and of what it imports from them, which may be modules."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):  # not a source file, or a strange one
        return
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
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
            parts = full.split(".")
            yield from (".".join(parts[: number + 1]) for number in range(len(parts)) if parts[0])
