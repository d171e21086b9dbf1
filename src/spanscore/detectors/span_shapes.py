"""The shapes of spans that libraries return: spaCy, Presidio, Hugging Face pipelines, GLiNER, dictionaries, objects."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from spanscore.corpus.records import Attr

MOST = 1_000_000
"""Maximum number of spans in a text; a generator may be endless."""


class Shape(NamedTuple):
    """The fields of a span as a library returned them, unchecked."""

    start: Any
    end: Any
    label: Any
    score: Any = None
    attrs: dict[str, Attr] | None = None


class MalformedSpanError(Exception):
    """What is wrong with a span."""


def listed(found: Any) -> list[Any]:
    """Return the spans that a detector returned for a text as a list.

    They are a list or another iterable, the value of `spans` or `entities`, or the entities of a spaCy Doc or of
    `Doc.to_json`.

    >>> listed(one for one in "ab"), listed({"spans": [1]}), listed({"text": "Ann", "ents": [2]})
    (['a', 'b'], [1], [2])
    """
    if inspect.iscoroutine(found):
        found.close()  # otherwise Python warns that nobody has awaited it
        raise MalformedSpanError("the function returned a coroutine; it must return the spans themselves")
    if isinstance(found, Mapping):
        lists = (found.get(name) for name in ("spans", "ents", "entities"))
        spans = next((one for one in lists if isinstance(one, list | tuple)), None)
        if spans is None and "start" in found and "end" in found:
            raise MalformedSpanError("expected a list of spans, not a single span; put it into a list")
        if spans is None:
            raise MalformedSpanError('the list "spans" is missing')
        found = spans
    if hasattr(found, "ents"):
        found = found.ents
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise MalformedSpanError(f"expected a list of spans, not {type(found).__name__}")
    try:
        spans = list(islice(found, MOST + 1))
    except RuntimeError:
        if type(found).__name__ != "SpanGroup":
            raise
        why = "the function returned a SpanGroup, which is useless without its Doc; return list(doc.spans[...])"
        raise MalformedSpanError(why) from None
    if len(spans) > MOST:
        raise MalformedSpanError(f"expected at most {MOST:,} spans for a text")
    return spans


def shape_of(one: Any) -> Shape:
    """Return the fields of a span.

    >>> shape_of({"entity_group": "PER", "score": 0.9, "word": "Ann", "start": 0, "end": 3})
    Shape(start=0, end=3, label='PER', score=0.9, attrs=None)
    """
    if hasattr(one, "start_char") and hasattr(one, "label_"):  # spaCy's `start` and `end` count tokens
        return Shape(one.start_char, one.end_char, one.label_, None, _spacy_attributes(one))
    if isinstance(one, list | tuple | str) and not hasattr(one, "start"):
        raise MalformedSpanError(f"a span must be an object with start, end and label, not a {type(one).__name__}")
    fields: Any = one if isinstance(one, Mapping) else _Attributes(one)
    label = fields.get("label") or fields.get("entity_type") or fields.get("entity_group") or None
    if label is None and fields.get("entity") and fields.get("index") is not None:
        raise MalformedSpanError(
            "these are tokens, not entities; build the pipeline with aggregation_strategy='simple'"
        )
    label = fields.get("entity") if label is None else label
    given = fields.get("attrs")
    attrs = {str(key): value for key, value in given.items() if isinstance(value, Attr)} if _is_map(given) else {}
    about = fields.get("recognition_metadata")
    if _is_map(about) and (recognizer := about.get("recognizer_name")):
        attrs["recognizer"] = str(recognizer)
    return Shape(fields.get("start"), fields.get("end"), label, fields.get("score"), attrs or None)


class _Attributes:
    """An object's attributes, read like a mapping."""

    def __init__(self, one: Any) -> None:
        self._one = one

    def get(self, name: str) -> Any:
        return getattr(self._one, name, None)

    __getitem__ = get


def _is_map(value: Any) -> bool:
    return value is not None and isinstance(value, Mapping)


def _spacy_attributes(span: Any) -> dict[str, Attr] | None:
    kbid = getattr(span, "kb_id_", "") or getattr(span, "ent_id_", "")  # of an entity linker, or of a ruler's pattern
    return {"kbid": kbid} if kbid else None
