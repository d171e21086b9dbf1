"""Detectors: whatever finds spans in texts, behind one small protocol. Each detector is one module of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.arguments import checked
from spanscore.corpus import Corpus
from spanscore.corpus.records import Document, build
from spanscore.detectors.fingerprint import Fingerprint
from spanscore.detectors.interface import (
    Description,
    Detection,
    Detector,
    DetectorError,
    EntityTypes,
    Failure,
    UntrustedError,
    refuse_failure,
    spans_of,
)
from spanscore.errors import InputError, UsageError
from spanscore.spec import Registry

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "REGISTRY",
    "Description",
    "Detection",
    "Detector",
    "DetectorError",
    "EntityTypes",
    "Failure",
    "Fingerprint",
    "UntrustedError",
    "detect",
    "detector",
    "refuse_failure",
    "spans_of",
    "texts_of",
]

REGISTRY: Registry[Detector] = Registry(Detector, __name__)  # type: ignore[type-abstract]


def detector(spec: str | Detector, **options: Any) -> Detector:
    """Return the detector of a spec.

    >>> detector("http(url='localhost:3000', timeout=60)"), detector("python", function="my_module:find", language="de")
    (http(url=localhost:3000, timeout=60), python(language=de, function=my_module:find))
    """
    return REGISTRY.make(spec, **options)


@checked
def detect(corpus: Corpus, spec: str | Detector, **options: Any) -> Corpus:
    """Run a detector over the texts of a corpus and return its predictions.

    >>> import spanscore as ss
    >>> corpus = ss.Corpus.from_documents([{"id": "d", "text": "Ann left.", "spans": []}])
    >>> def capitals(text, language):
    ...     return [{"start": i, "end": i + 1, "label": "CAPITAL"} for i, c in enumerate(text) if c.isupper()]
    >>> detect(corpus, "python", function=capitals)
    Corpus(1 document, 1 span, 1 label)
    """
    made = detector(spec, **options)
    if made.language == "auto":
        raise UsageError("detect takes one language; use run(..., language='auto') for documents in several.")
    documents = texts_of(corpus)
    try:
        return build(predictions(documents, made))
    finally:
        made.close()


def predictions(documents: Sequence[Document], made: Detector) -> list[Document]:
    """Return the documents with the detector's spans; a failure is an error."""
    return [
        Document(id=document.id, spans=refuse_failure(document, found))
        for document, found in zip(documents, made.detect(documents), strict=True)
    ]


def texts_of(corpus: Corpus) -> list[Document]:
    """Return the documents of a corpus with nothing but ids and texts."""
    texts = [None] * len(corpus) if corpus.text is None else corpus.text.tolist()
    if None in texts:
        raise InputError("the document has no text, which a detector needs.", corpus.place(texts.index(None)))
    return [Document(id=name, text=text, spans=[]) for name, text in zip(corpus.ids, texts, strict=True)]
