"""Inputs: gold data and systems as corpora, files, chunks or Spark DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spanscore.corpus import Corpus
from spanscore.errors import UsageError
from spanscore.formats import REGISTRY, Format, read_chunks, together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Data = Corpus | str | Path | Iterable[Corpus] | Any
"""A corpus, a path, chunks of a corpus, or a Spark DataFrame."""
Systems = Mapping[str, Data]
"""Systems by name."""


@dataclass(frozen=True, eq=False)
class Input:
    """One side's data, the format of its file if one was given, and the gold data that predictions belong to."""

    data: Data
    format: Format | None = None
    companion: Input | None = None
    all_annotators: bool = False
    """Whether to read the spans of all annotators, where a file has several."""
    _begun: list[_Begun] = field(default_factory=list, repr=False)
    """The chunks, if somebody has looked at the first one."""

    @classmethod
    def of(
        cls,
        data: Data,
        format: str | Format | None = None,  # noqa: A002
        companion: Input | None = None,
        *,
        all_annotators: bool = False,
    ) -> Input:
        """Accept what users have; a format is for paths only."""
        if isinstance(data, Input):
            return data
        known = isinstance(data, Corpus | str | Path | Iterable) or _is_frame(data)
        if not known or isinstance(data, Mapping):
            raise UsageError(f"expected a Corpus or a path, not {type(data).__name__}.")
        if format is not None and not isinstance(data, str | Path):
            raise UsageError("a format applies only to files; this is not a path.")
        made = None if format is None else REGISTRY.make(format)
        if made is not None and all_annotators:
            made = made.with_all_annotators()
        return cls(data, made, companion, all_annotators)

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

    def peek(self) -> Corpus | None:
        """Return the first documents, which `chunks` yields all the same; None if there are none."""
        if isinstance(self.data, Corpus):
            return self.data
        if not self._begun:
            progress = _Progress()
            chunks = self._chunks(progress)
            self._begun.append(_Begun(next(chunks, None), chunks, progress))
        return self._begun[0].first

    def chunks(self, progress: Callable[[int], object] | None = None) -> Iterator[Corpus]:
        """Yield the documents as they are read."""
        if not self._begun:
            return self._chunks(progress)
        begun = self._begun.pop()
        begun.progress.report_to(progress)
        return chain([] if begun.first is None else [begun.first], begun.rest)

    def _chunks(self, progress: Callable[[int], object] | None) -> Iterator[Corpus]:
        if isinstance(self.data, Corpus):
            return iter([self.data])
        if self.path is not None:
            gold = self.companion
            known = gold is not None and gold.readable_again
            return read_chunks(
                self.path,
                self.format,
                progress=progress,
                companion=gold.corpus if gold and known else None,
                all_annotators=self.all_annotators,
            )
        chunks: Any = self.data
        return map(_corpus_of, chunks)

    def kept(self) -> Input:
        """Return the same data so that it can be read more than once."""
        return self if self.is_frame or self.readable_again else Input(self.corpus(), None, self.companion)

    def labels(self, chosen: Callable[[Corpus], Corpus] = lambda corpus: corpus) -> set[str]:
        """Return the labels that spans have, of those that are chosen from each chunk."""
        if self.is_frame:
            from spanscore.engine.spark import labels_of

            return labels_of(self.data)
        return {
            chunk.labels[code]
            for chunk in map(chosen, self.chunks())
            for code in np.flatnonzero(np.bincount(chunk.label)).tolist()
        }

    def corpus(self, progress: Callable[[int], object] | None = None) -> Corpus:
        """Return all documents."""
        return self.data if isinstance(self.data, Corpus) else together(self.chunks(progress))


class _Progress:
    """Progress of reading that is reported once it is known to whom."""

    def __init__(self) -> None:
        self._done = 0
        self._to: Callable[[int], object] | None = None

    def __call__(self, size: int) -> None:
        self._done += size
        if self._to is not None:
            self._to(size)

    def report_to(self, progress: Callable[[int], object] | None) -> None:
        """Report to this function, also what was read before."""
        self._to = progress
        if progress is not None:
            progress(self._done)


class _Begun(NamedTuple):
    """The first chunk of an input, the chunks after it, and the progress of reading them."""

    first: Corpus | None
    rest: Iterator[Corpus]
    progress: _Progress


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
        annotator: str | None = None,
    ) -> Inputs:
        """Accept what users have; with a choice of annotators, all those of the gold data are read."""
        if not isinstance(systems, Mapping) or not systems:
            raise UsageError("expected a mapping of at least one system: {name: corpus or path}.")
        ours = Input.of(gold, gold_format, all_annotators=bool(annotator))
        return cls(ours, {name: Input.of(data, pred_format, ours) for name, data in systems.items()})

    @property
    def all(self) -> list[Input]:
        """The gold data and all systems."""
        return [self.gold, *self.systems.values()]


def _corpus_of(chunk: object) -> Corpus:
    if not isinstance(chunk, Corpus):
        raise UsageError(
            f"expected a Corpus, a path or chunks of a corpus, not a collection of {type(chunk).__name__}; name "
            "several inputs as {name: path}, and turn other data into a corpus with Corpus.from_documents, from_pandas "
            "or another of its constructors."
        )
    return chunk


def _is_frame(data: object) -> bool:
    return hasattr(data, "sparkSession")
