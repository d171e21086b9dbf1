"""All detectors by name: those built in, and those that installed packages add through entry points."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from spanscore.corpus import Corpus
from spanscore.corpus.records import Document, build
from spanscore.detectors.detector import Detector, DetectorError, Failure
from spanscore.errors import InputError, UsageError, printable, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

GROUP = "spanscore.detectors"
"""The entry point group: each entry names a detector and the subclass of `Detector` that makes it."""

BUILT_IN = {
    "command": "spanscore.detectors.command:Command",
    "http": "spanscore.detectors.http:Http",
    "presidio": "spanscore.detectors.presidio:Presidio",
    "python": "spanscore.detectors.python:Python",
    "replay": "spanscore.detectors.replay:Replay",
}


def names() -> list[str]:
    """The names of all detectors."""
    return sorted({*BUILT_IN, *_added()})


@dataclass(frozen=True)
class DetectorSpec:
    """A detector by name and options, which can be sent to another process and made there."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def kind(self) -> type[Detector]:
        """The class of the detector."""
        if self.name in BUILT_IN:
            module, _, attribute = BUILT_IN[self.name].partition(":")
            found: Any = getattr(import_module(module), attribute)
        elif self.name in _added():
            found = _added()[self.name].load()
            if not (isinstance(found, type) and issubclass(found, Detector)):
                raise UsageError(f"the entry point '{self.name}' of {GROUP} is not a subclass of Detector.")
        else:
            raise UsageError(unknown("detector", self.name, names()))
        return found  # type: ignore[no-any-return]

    def make(self) -> Detector:
        """The detector, ready to be called."""
        return self.kind()(**self.options)


def detect(corpus: Corpus, detector: str | DetectorSpec | Detector, *, language: str = "en", **options: Any) -> Corpus:
    """What a detector finds in the texts of a corpus.

    >>> import spanscore as ss
    >>> corpus = ss.Corpus.from_documents([{"id": "d", "text": "Ann left.", "spans": []}])
    >>> def capitals(text, language):
    ...     return [{"start": i, "end": i + 1, "label": "CAPITAL"} for i, c in enumerate(text) if c.isupper()]
    >>> detect(corpus, "python", function=capitals)
    Corpus(1 documents, 1 spans, 1 labels)
    """
    spec = DetectorSpec(detector, options) if isinstance(detector, str) else detector
    made = spec.make() if isinstance(spec, DetectorSpec) else spec
    documents = texts_of(corpus)
    try:
        found = []
        for document, outcome in zip(documents, made(documents, language), strict=True):
            if isinstance(outcome, Failure):
                raise DetectorError(f'document "{printable(str(document.id))}": the detector failed: {outcome.why}.')
            found.append(Document(id=document.id, spans=outcome))
    finally:
        made.close()
    return build(found)


def texts_of(corpus: Corpus) -> list[Document]:
    """The documents of a corpus with nothing but their ids and texts."""
    texts = [None] * len(corpus) if corpus.text is None else corpus.text.tolist()
    if None in texts:
        doc = texts.index(None)
        raise InputError("there is no text, which a detector needs.", corpus.place(doc))
    return [Document(id=name, text=text, spans=[]) for name, text in zip(corpus.ids, texts, strict=True)]


@cache
def _added() -> dict[str, Any]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
