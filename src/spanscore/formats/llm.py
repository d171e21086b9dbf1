"""`llm`: answers of language models, which name what they found but not where: `{id, entities: [{text, type}]}`."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import msgspec

from spanscore.corpus.corpus import INVENTED
from spanscore.corpus.records import Attr, Document, Span, build
from spanscore.errors import InputError, listed, plural, printable
from spanscore.formats import placement
from spanscore.formats.interface import LIKELY, Claim, Format, Sample
from spanscore.formats.json_records import records
from spanscore.formats.placement import Mention
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

_TAG = re.compile(r"""<(/?)([A-Za-z][\w.-]*)(?:\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*\s*>""")
"""A tag, maybe with attributes, which are not kept."""


class Entity(msgspec.Struct):
    """A mention; `label`, `entity` and `entity_type` are other names of its type, `value` of its text."""

    text: str | None = None
    value: str | None = None
    type: str | None = None
    label: str | None = None
    entity: str | None = None
    entity_type: str | None = None
    score: float | None = None
    attrs: dict[str, Attr] | None = None


class Answer(msgspec.Struct):
    """What a model answered for a document: a list of mentions, or its text with tags around them."""

    id: str | int | None = None
    entities: list[Entity] | None = None
    tagged: str | None = None
    text: str | None = None


@dataclass(frozen=True, repr=False)
class Llm(Format):
    """Answers of language models without offsets: `{"id": "d1", "entities": [{"text": "Ann", "type": "PERSON"}]}`.

    A JSON list or JSON Lines. Instead of `entities`, a document may have `tagged`, its text with tags:
    `<PERSON>Ann</PERSON> left.` Attributes of tags are ignored; a tag without a partner is left out and counted.
    Mentions are placed on the text in order, exactly, then regardless of case and whitespace; repeated mentions from
    left to right, never inside a word, except, as a last resort, after a Hebrew or Arabic prefix. What is not in the
    text is a prediction with the verdict "invented". Texts come from the file (`text`), from `texts=FILE`, or from the
    gold data; without an id, a document is the one with the same number there.
    """

    name: ClassVar[str] = "llm"
    offsets: ClassVar[str] = "none"
    texts: str = parameter("", "A file with the texts of the documents, if this one has none (default: the gold data).")

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with entities that have a text and a type, but no offsets."""
        if not sample.is_json or not sample.keys & {"entities", "tagged"}:
            return None
        typed = sample.keys & {"type", "label", "entity", "entity_type"} and sample.keys & {"text", "value"}
        placed = sample.keys & {"start", "start_offset", "start_position", "offset", "BeginOffset", "spans"}
        if "tagged" in sample.keys and not placed:
            return Claim(LIKELY, 'it is JSON with "tagged"')
        return Claim(LIKELY, 'it is JSON with "entities" that have no offsets') if typed and not placed else None

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield one corpus, with every mention placed on its text."""
        known = Texts(source, self.texts)
        documents = []
        for number, (answer, where) in enumerate(records(source, Answer)):
            name = known.id_of(answer.id, number)
            text = known.text_of(name, answer.text, where, self.name)
            documents.append(Document(id=name, text=text, spans=_spans(answer, text, where, source)))
        if without := listed(source.left_out):
            source.notes.append(f"{source.name}: left out: {without}.")
        corpus = build(documents)
        note_invented(corpus, source)
        yield corpus


class Texts:
    """The texts of the documents that a file of answers is about: those of its companion."""

    def __init__(self, source: Source, file: str) -> None:
        self._corpus = source.companion(file)
        self._by_id: dict[str, str | None] | None = None

    def id_of(self, given: str | int | None, number: int) -> str | int:
        """Return the id of a document; without one, that of the document with the same number."""
        if given is not None:
            return given
        if self._corpus is not None and number < len(self._corpus):
            return self._corpus.ids[number]
        return str(number)

    def text_of(self, name: str | int, own: str | None, where: str, format: str) -> str:  # noqa: A002  # the field's word
        """Return the text of a document: its own, or that of the companion."""
        if own is not None:
            return own
        if self._by_id is None:
            corpus = self._corpus
            texted = corpus is not None and corpus.text is not None
            pairs = zip(corpus.ids.tolist(), corpus.text.tolist(), strict=True) if texted else ()  # type: ignore[union-attr]  # texted
            self._by_id = dict(pairs)
        found = self._by_id.get(str(name))
        if self._by_id and str(name) not in self._by_id:
            one, other = printable(str(name)), printable(next(iter(self._by_id)))
            what = f'there is no document "{one}" in the data with the texts, whose first one is "{other}"'
            raise InputError(f"{what}; give both the same ids, or add a text.", where)
        if found is None:
            what = "mentions without offsets need the text, which neither this file nor the gold data has"
            raise InputError(f"{what}; add a text, or give {format}(texts=FILE).", where)
        return found


def note_invented(corpus: Corpus, source: Source) -> None:
    """Note how many mentions are not in the texts."""
    if count := sum(value is not None for value in corpus.attrs[INVENTED].tolist()) if INVENTED in corpus.attrs else 0:
        what = f"{plural(count, 'mention')} {'is' if count == 1 else 'are'} not in the text"
        source.notes.append(f"{source.name}: {what}, and {'counts' if count == 1 else 'count'} as invented.")


def _spans(answer: Answer, text: str, where: str, source: Source) -> list[Span]:
    if answer.tagged is not None:
        plain, places, alone = untagged(answer.tagged, text)
        source.left_out["tags without a partner"] += alone
        if plain == text:
            return [Span(start, end, label) for start, end, label in places]
        return placement.spans(text, ((plain[start:end], label, None, None) for start, end, label in places))
    return placement.spans(text, list(_mentions(answer.entities or [], where)))


def _mentions(entities: list[Entity], where: str) -> Iterator[Mention]:
    for number, one in enumerate(entities):
        mention = one.text if one.text is not None else one.value
        label = one.type or one.label or one.entity or one.entity_type
        if mention is None or not label:
            missing = "text" if mention is None else "type"
            raise InputError(f"the field '{missing}' is missing.", f"{where}.entities[{number}]")
        yield mention, label, one.score, one.attrs


def untagged(tagged: str, text: str = "") -> tuple[str, list[tuple[int, int, str]], int]:
    """Return a text without its tags, the spans that they were around, and the number of tags without a partner.

    Spans are in the order in which they begin. Tags may be nested. A `<` that is not part of a tag belongs to the text,
    and so do tags that are in the `text` itself, before it was tagged.

    >>> untagged('<A>Ann <B n="1">Lee</B></A> < <b> <C>', "Ann Lee < <b> ")
    ('Ann Lee < <b> ', [(0, 7, 'A'), (4, 7, 'B')], 1)
    """
    own = {tag[0] for tag in _TAG.finditer(text)}
    tags = [tag for tag in _TAG.finditer(tagged) if tag[0] not in own]
    partner: dict[int, int] = {}
    waiting: list[int] = []
    open_tags: Counter[str] = Counter()
    for number, tag in enumerate(tags):
        if not tag[1]:
            waiting.append(number)
            open_tags[tag[2]] += 1
            continue
        while open_tags[tag[2]]:
            begin = waiting.pop()
            open_tags[tags[begin][2]] -= 1
            if tags[begin][2] == tag[2]:
                partner[begin] = partner[number] = begin
                break
    alone = set(range(len(tags))) - partner.keys()
    pieces: list[str] = []
    starts: dict[int, int] = {}
    found, length, at = [], 0, 0
    for number, tag in enumerate(tags):
        pieces.append(tagged[at : tag.start()])
        length, at = length + tag.start() - at, tag.end()
        if number in alone:
            continue
        if not tag[1]:
            starts[number] = length
        else:
            found.append((starts[partner[number]], length, tag[2], partner[number]))
    spans = [(start, end, label) for start, end, label, _ in sorted(found, key=lambda one: one[3])]
    return "".join([*pieces, tagged[at:]]), spans, len(alone)
