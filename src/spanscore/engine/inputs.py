"""Inputs: gold data and systems as corpora, files, chunks or Spark DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.corpus import Corpus
from spanscore.errors import UsageError
from spanscore.formats import REGISTRY, Format, read_chunks, together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Data = Corpus | str | Path | Iterable[Corpus] | Any
"""A corpus, a path, chunks of a corpus, or a Spark DataFrame."""


@dataclass(frozen=True, eq=False)
class Input:
    """One side's data, and the format of its file if one was given."""

    data: Data
    format: Format | None = None

    @classmethod
    def of(cls, data: Data, format: str | Format | None = None) -> Input:  # noqa: A002
        """Accept what users have; a format is for paths only."""
        if isinstance(data, Input):
            return data
        known = isinstance(data, Corpus | str | Path | Iterable) or _is_frame(data)
        if not known or isinstance(data, Mapping):
            raise UsageError(f"expected a Corpus or a path, not {type(data).__name__}.")
        if format is not None and not isinstance(data, str | Path):
            raise UsageError("a format is for files; this is no path.")
        return cls(data, None if format is None else REGISTRY.make(format))

    @property
    def is_frame(self) -> bool:
        """Whether this is a Spark DataFrame."""
        return _is_frame(self.data)

    @property
    def path(self) -> str | None:
        """The path of a file, folder or `-`, if this is one."""
        return str(self.data) if isinstance(self.data, str | Path) else None

    @property
    def size(self) -> int:
        """The bytes of a file; 0 for anything else."""
        try:
            return Path(self.path).stat().st_size if self.path and Path(self.path).is_file() else 0
        except (OSError, ValueError):
            return 0

    @property
    def readable_again(self) -> bool:
        """Whether it can be read more than once; a pipe cannot."""
        if self.path is None:
            return isinstance(self.data, Corpus)
        try:
            place = Path(self.path)
            return self.path != "-" and (place.is_file() or place.is_dir() or not place.exists())
        except (OSError, ValueError):
            return True

    def chunks(self, progress: Callable[[int], object] | None = None) -> Iterator[Corpus]:
        """Yield the documents as they are read."""
        if isinstance(self.data, Corpus):
            return iter([self.data])
        if self.path is not None:
            return read_chunks(self.path, self.format, progress=progress)
        chunks: Any = self.data
        return iter(chunks)

    def corpus(self, progress: Callable[[int], object] | None = None) -> Corpus:
        """Return all documents."""
        return self.data if isinstance(self.data, Corpus) else together(self.chunks(progress))


@dataclass(frozen=True, eq=False)
class Inputs:
    """Gold data and one or more systems by name."""

    gold: Input
    systems: Mapping[str, Input]

    @classmethod
    def of(
        cls,
        gold: Data,
        systems: Mapping[str, Data],
        *,
        gold_format: str | Format | None = None,
        pred_format: str | Format | None = None,
    ) -> Inputs:
        """Accept what users have."""
        if not isinstance(systems, Mapping) or not systems:
            raise UsageError("expected a mapping of at least one system: {name: corpus or path}.")
        return cls(Input.of(gold, gold_format), {name: Input.of(data, pred_format) for name, data in systems.items()})

    @property
    def all(self) -> list[Input]:
        """The gold data and all systems."""
        return [self.gold, *self.systems.values()]


def _is_frame(data: object) -> bool:
    return hasattr(data, "sparkSession")
