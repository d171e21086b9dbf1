"""Fingerprints of detectors: versions of packages, and hashes of files, folders and source code, by name.

A detector returns its fingerprint from `Detector.fingerprint`, built from the functions of this module. Equal
fingerprints mean that the same text gets the same predictions, as far as anybody can tell from outside.
"""

from __future__ import annotations

import json
from hashlib import blake2b, file_digest
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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


def distributions(imported: Iterable[str]) -> tuple[Fingerprint, set[str]]:
    """Return the versions of the packages that install these names, and the names that none installs.

    >>> versions, rest = distributions(["numpy", "yaml", "no_such_module"])
    >>> list(versions), rest
    (['package numpy', 'package PyYAML'], {'no_such_module'})
    """
    found: Fingerprint = {}
    rest = set()
    for name in sorted(imported):
        direct = packages(name)
        found |= direct
        if not direct:
            rest.add(name)
    known = packages_distributions() if rest else {}  # it reads the files of all installed packages
    for name in sorted(rest & known.keys()):
        found |= packages(*sorted(set(known[name])))
    return found, rest - known.keys()


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
