"""The files and folders that strings of source code name, such as a model that a function loads when it is called."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from spanscore.detectors.fingerprint import Fingerprint, content_hash, packages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_FILES, MOST_BYTES = 10_000, 1 << 34
"""The size of a folder that is hashed."""
RUN_FILES = {"run.json", "run.partial.json"}
"""Files in the folder of a run, which changes with every run."""
MODEL_FILES = ("meta.json", "config.json", "config.cfg")
"""Files that a folder has if it is a model of spaCy, Hugging Face or GLiNER."""
_SYSTEM = ("/proc/", "/sys/", "/dev/")
_MODEL_NAME = re.compile(r"[a-z]{2,3}_[a-z]+_\w+", re.ASCII)
"""A name as spaCy gives them to models."""
_WRITES = re.compile(r"[rbt]*[wax][rbt+]*")
"""A mode of `open` that writes."""
_NO_READERS = {
    "write_text",
    "write_bytes",
    "touch",
    "mkdir",
    "makedirs",
    "unlink",
    "remove",
    "exists",
    "is_file",
    "isfile",
}
"""Functions and methods that write files, or only look whether they are there."""


def named_files(strings: Iterable[str], folders: Iterable[Path]) -> Fingerprint:
    """Return hashes of the files and folders that strings name, relative to some folders, and versions of spaCy models.

    A folder counts if its name has a slash or it is a model: words such as `data` may mean anything.
    """
    found: Fingerprint = {}
    places = list(dict.fromkeys(folder.resolve() for folder in folders))
    known = sorted(set(strings))
    for name in known:
        hashes = [data_hash(folder / name, sure="/" in name) for folder in places if _may_be_file(name)]
        if any(hashes):
            found[f"file {name}"] = "+".join(dict.fromkeys(filter(None, hashes)))
    return {**found, **packages(*(name for name in known if _MODEL_NAME.fullmatch(name)))}


def data_hash(place: Path, *, sure: bool = True) -> str:
    """Return a hash of a file, or of a folder that may be data; empty if it is neither.

    A folder is no data if this program runs in it, or if it holds the results of a run or too much. One that is not
    `sure` to be meant must be a model.
    """
    try:
        if place.is_file():
            large = place.stat().st_size > MOST_BYTES
            return "" if large or str(place).startswith(_SYSTEM) else content_hash(place)
        meant = place.is_dir() and (sure or any((place / name).is_file() for name in MODEL_FILES))
        return content_hash(place) if meant and _is_data(place) else ""
    except (OSError, ValueError):  # such as too long a name
        return ""


def _is_data(folder: Path) -> bool:
    whole = folder.resolve()
    if Path.cwd().is_relative_to(whole) or whole == Path(gettempdir()).resolve():
        return False
    size = 0
    for number, one in enumerate(whole.rglob("*")):
        size += one.stat().st_size if one.is_file() else 0
        if number >= MOST_FILES or size > MOST_BYTES or one.name in RUN_FILES:
            return False
    return True


def _may_be_file(name: str) -> bool:
    return len(name) <= 1000 and name.isprintable() and bool(re.search(r"\w", name)) and not name.endswith(".log")


def strings_in(code: bytes) -> set[str]:
    """Return the strings of source code, and paths that it joins from them, without names of files that it only writes.

    >>> sorted(strings_in(b"A = Path('lists') / 'a.txt'; open('b.txt', 'w'); C = os.path.join('lists', 'c.txt')"))
    ['a.txt', 'c.txt', 'lists', 'lists/a.txt', 'lists/c.txt']
    """
    try:
        tree = ast.parse(code)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # not Python, or strange
        return set()
    unread = {id(part) for one in ast.walk(tree) if _does_not_read(one) for part in ast.walk(one)}
    return {text for one in ast.walk(tree) if id(one) not in unread and (text := _text(one))}


def _text(node: ast.AST) -> str:
    """Return a constant string, or the path that a node joins from some."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _joined((node.left, node.right))
    return _joined(node.args) if isinstance(node, ast.Call) else ""


def _joined(nodes: Iterable[ast.AST]) -> str:
    return "/".join(_texts(nodes))


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    return filter(None, map(_text, nodes))


def _does_not_read(node: ast.AST) -> bool:
    """Return whether a call writes a file, or only looks whether it is there."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = [*node.args, *(one.value for one in node.keywords)]
    return name in _NO_READERS or (name == "open" and any(_WRITES.fullmatch(text) for text in _texts(given)))
