"""`nlpsandbox`: NLP Sandbox's annotations, lists by kind with start and length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.corpus import MAX_OFFSET
from spanscore.corpus.records import Attr, field_error
from spanscore.errors import InputError, unknown
from spanscore.formats.documents import DocumentFormat, RawDocument, RawSpan, end_option
from spanscore.formats.interface import LIKELY, Claim, Sample
from spanscore.formats.json_records import records
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.formats.source import Source

KINDS = {
    "textDateAnnotations": ("DATE", "dateFormat"),
    "textPersonNameAnnotations": ("PERSON_NAME", None),
    "textLocationAnnotations": ("LOCATION", "locationType"),
    "textPhysicalAddressAnnotations": ("PHYSICAL_ADDRESS", "addressType"),
    "textIdAnnotations": ("ID", "idType"),
    "textContactAnnotations": ("CONTACT", "contactType"),
    "textCovidSymptomAnnotations": ("COVID_SYMPTOM", None),
}
"""List name -> label of its annotations, and their field for the subtype."""


class Annotation(msgspec.Struct):
    """The fields that all kinds of annotation have."""

    start: int
    length: int
    text: str
    confidence: float | None = None


@dataclass(frozen=True, repr=False)
class NlpSandbox(DocumentFormat):
    """NLP Sandbox's annotations: JSON objects of lists by kind, with start and length; one or more objects per note.

    Kinds become the labels DATE, PERSON_NAME, LOCATION, PHYSICAL_ADDRESS, ID, CONTACT and COVID_SYMPTOM; text and
    subtype become attributes. The notes' text is kept elsewhere: an annotation's text is checked against the gold
    data or `texts`; without either, only lengths are checked.
    """

    name: ClassVar[str] = "nlpsandbox"
    scores_gold: ClassVar[bool] = True
    end: str = end_option("length")
    lengths: str = parameter(
        "check",
        "Require each length to match the annotation's text (check), or use it as it is (trust).",
        choices=("check", "trust"),
    )

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with keys such as textDateAnnotations."""
        if sample.is_json and any(key.startswith("text") and key.endswith("Annotations") for key in sample.keys):
            return Claim(LIKELY, 'it is JSON with "text...Annotations"')
        return None

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the notes; objects of the same note are one document."""
        found: dict[str, RawDocument] = {}
        for record, where in records(source, dict[str, Any]):
            name = _name(record, where)
            if name in found and "annotationSource" not in record:
                raise InputError("only one object may lack annotationSource, which names the note.", where)
            note = found.setdefault(name, RawDocument(where=where, id=name, spans=[]))
            for kind in record:
                if kind.startswith("text") and kind.endswith("Annotations") and kind not in KINDS:
                    raise InputError(unknown("kind of annotation", kind, KINDS), where)
            for kind, (label, more) in KINDS.items():
                listed = record.get(kind)
                if listed is None:
                    continue
                if not isinstance(listed, list):
                    raise InputError("expected a list of annotations.", f"{where}.{kind}")
                for i, one in enumerate(listed):
                    span = self._span(one, label, more, f"{where}.{kind}[{i}]")
                    span.place = f"{kind}[{i}]"
                    note.spans.append(span)
        yield from found.values()

    def settle(self, documents: list[RawDocument], source: Source) -> None:
        """Check the lengths of annotations, where there is no text to find them in."""
        for document in documents:
            for span in document.spans if document.text is None else ():
                size = self.convention.size(span.surface or "")
                if span.surface is not None and self.end == "length" and span.end != size:
                    what = f"the length {span.end} differs from that of the text, {size}"
                    where = f"{document.where}.{span.place}.length"
                    raise InputError(f"{what}; correct it, or read with nlpsandbox(lengths=trust).", where)

    def _span(self, one: Any, label: str, more: str | None, where: str) -> RawSpan:
        try:
            found = msgspec.convert(one, Annotation)
        except msgspec.ValidationError as error:
            raise InputError(field_error(error), where) from None
        for name, value in (("start", found.start), ("length", found.length)):
            if not 0 <= value <= MAX_OFFSET // 2:
                raise InputError(f"the {name} is negative or too large.", f"{where}.{name}")
        if found.confidence is not None and not 0 <= found.confidence <= 100:
            raise InputError(f"the confidence {found.confidence:g} is not between 0 and 100.", f"{where}.confidence")
        attrs: dict[str, Attr] = {"text": found.text}
        if more and isinstance(one.get(more), str):
            attrs[more] = one[more]
        score = None if found.confidence is None else found.confidence / 100
        odd = self.lengths == "trust" and found.length != self.convention.size(found.text)
        return RawSpan(found.start, found.length, label, score, attrs, None if odd else found.text)


def _name(record: dict[str, Any], where: str) -> str:
    if "annotationSource" not in record:
        return "0"
    try:
        name = record["annotationSource"]["resourceSource"]["name"]
    except (TypeError, KeyError):
        raise InputError("expected annotationSource.resourceSource.name, the note's name.", where) from None
    if not isinstance(name, str) or not name:
        raise InputError("the note's name must be a string.", f"{where}.annotationSource.resourceSource.name")
    return name
