"""Detection on Spark: a DataFrame of documents becomes a DataFrame of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.corpus.arrow import pyarrow
from spanscore.corpus.records import Document
from spanscore.detectors import REGISTRY, predictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.detectors import Detector


def detect(frame: Any, detector: str | Detector, **options: Any) -> Any:
    """Return a DataFrame of predictions with id and spans; each partition loads the detector for itself.

    A document on which the detector fails stops the job.
    """
    pa = pyarrow("the Spark engine")
    made = REGISTRY.make(detector, **options)
    span = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("label", pa.string()), ("score", pa.float64())])

    def found(batches: Iterator[Any]) -> Iterator[Any]:
        try:
            for batch in batches:
                ids, texts = batch.column("id").to_pylist(), batch.column("text").to_pylist()
                documents = [Document(id=str(name), text=text, spans=[]) for name, text in zip(ids, texts, strict=True)]
                listed = [
                    [(one.start, one.end, one.label, one.score) for one in document.spans]
                    for document in predictions(documents, made)
                ]
                names = pa.array([str(name) for name in ids], pa.string())
                yield pa.RecordBatch.from_arrays([names, pa.array(listed, pa.list_(span))], ["id", "spans"])
        finally:
            made.close()

    schema = "id string, spans array<struct<start: int, end: int, label: string, score: double>>"
    return frame.select("id", "text").mapInArrow(found, schema)
