"""`replay`: predictions from a file, so that detection need not be repeated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from spanscore.detectors.interface import Description, Detection, Detector, Failure, spans_of
from spanscore.formats import read_chunks, together
from spanscore.spec import REQUIRED, parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.corpus.records import Document, Span


@dataclass(frozen=True, repr=False)
class Replay(Detector):
    """Predictions from a file in any known format; a document that is missing from the file is a failure.

    If the file has no texts or ids, as with answers of language models, those of the dataset are used.
    """

    name: ClassVar[str] = "replay"
    takes_time: ClassVar[bool] = False
    file_options: ClassVar[tuple[str, ...]] = ("file",)
    file: str = parameter(REQUIRED, "File of predictions.", type=str)
    format: str | None = parameter(None, "Format of the file (default: auto-detected).", type=str)
    dataset: Corpus | None = field(default=None, compare=False)

    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Look up each document by its id."""
        for document in documents:
            if document.id not in self._spans:
                yield Failure("the file of predictions does not have this document")
            else:
                yield spans_of(self._spans[document.id], len(document.text or ""))

    def for_dataset(self, dataset: Corpus) -> Replay:
        """Keep the dataset for files that lack texts or ids."""
        return replace(self, dataset=dataset)

    def describe(self) -> Description:
        """Read the file."""
        assert self._spans is not None
        return Description()

    @cached_property
    def _spans(self) -> dict[str | int, list[Span]]:
        dataset = self.dataset
        companion = None if dataset is None else lambda: dataset
        predictions = together(read_chunks(self.file, self.format, companion=companion))
        return {document.id: document.spans for document in predictions.documents()}
