"""Golden files that remember which of their entries a test has looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
READ: set[str] = set()
"""Paths of the entries that tests have read, as `file.json/key/index/...`."""


def load(name: str) -> Any:
    """Return the content of a golden file; reading an entry of it is remembered."""
    return _tracked(json.loads((HERE / name).read_text()), name)


def leaves(name: str) -> set[str]:
    """Return the paths of all entries of a golden file."""
    return set(_leaves(json.loads((HERE / name).read_text()), name))


def _leaves(value: Any, path: str) -> Iterator[str]:
    items: Any = None
    if isinstance(value, dict | list):
        items = dict.items(value) if isinstance(value, dict) else enumerate(list.__iter__(value))
    if items is None:
        yield path
        return
    for key, below in items:
        yield from _leaves(below, f"{path}/{key}")


def _tracked(value: Any, path: str) -> Any:
    if isinstance(value, dict):
        return _Dict(value, path)
    return _List(value, path) if isinstance(value, list) else value


class _Dict(dict[str, Any]):
    def __init__(self, content: dict[str, Any], path: str) -> None:
        super().__init__({key: _tracked(value, f"{path}/{key}") for key, value in content.items()})
        self._path = path

    def __getitem__(self, key: str) -> Any:
        return _read(super().__getitem__(key), f"{self._path}/{key}")

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - this is what get is made of

    def __eq__(self, other: object) -> bool:
        READ.update(_leaves(self, self._path))
        return super().__eq__(other)

    __hash__ = None

    def items(self) -> Any:
        return [(key, self[key]) for key in self]

    def values(self) -> Any:
        return [self[key] for key in self]


class _List(list[Any]):
    def __init__(self, content: list[Any], path: str) -> None:
        super().__init__(_tracked(value, f"{path}/{place}") for place, value in enumerate(content))
        self._path = path

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        if isinstance(place, slice):
            return [_read(one, f"{self._path}/{at}") for at, one in zip(range(len(self))[place], found, strict=True)]
        return _read(found, f"{self._path}/{range(len(self))[place]}")

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __eq__(self, other: object) -> bool:
        READ.update(_leaves(self, self._path))
        return super().__eq__(other)

    __hash__ = None


def _read(value: Any, path: str) -> Any:
    if not isinstance(value, dict | list):
        READ.add(path)
    return value
