"""`i2b2`: the XML of the i2b2 and n2c2 de-identification tasks, one file per document."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from xml.sax.saxutils import escape, quoteattr

from spanscore.corpus.records import Attr, Span
from spanscore.errors import InputError
from spanscore.formats.documents import DocumentFormat, RawDocument, RawSpan
from spanscore.formats.interface import CERTAIN, LIKELY, Claim, Losses, Sample
from spanscore.formats.writing import FileNames, to_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from xml.etree.ElementTree import Element

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

CATEGORIES = {
    "NAME": "PATIENT DOCTOR USERNAME",
    "PROFESSION": "PROFESSION",
    "LOCATION": "ROOM DEPARTMENT HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP LOCATION-OTHER",
    "AGE": "AGE",
    "DATE": "DATE",
    "CONTACT": "PHONE FAX EMAIL URL IPADDR",
    "ID": "SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM",
}
"""The task's categories and their types."""
_CATEGORY = {label: category for category, labels in CATEGORIES.items() for label in labels.split()}
OTHER = "OTHER"
_ENCODING = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_TEXT = re.compile(r"(<TEXT[^>]*>)(.*)(</TEXT\s*>)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IN_ATTRIBUTES = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


@dataclass(frozen=True, repr=False)
class I2b2(DocumentFormat):
    """i2b2's XML: <TEXT> with the text, <TAGS> with an element per span; a file, or a folder or zip file of them.

    The label is the attribute TYPE, and the attribute category the name of the element; without TYPE, the label is the
    name. Documents are named by their files. Entities and document types are refused.
    """

    name: ClassVar[str] = "i2b2"
    folders: ClassVar[bool] = True
    endings: ClassVar[tuple[str, ...]] = (".xml",)
    span_path: ClassVar[str] = "TAGS[{}]"

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim XML with TEXT and TAGS, or with the root element deIdi2b2."""
        head = sample.first(".xml") if sample.files else sample.start
        if head.lstrip()[:1] != b"<":
            return None
        if b"<deIdi2b2" in head:
            return Claim(CERTAIN, "the root element is deIdi2b2")
        if b"<TEXT" in head or b"<TAGS" in head:
            return Claim(LIKELY, "it is XML with the elements TEXT and TAGS")
        return None

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the document of a file."""
        root, returns = _parse(source.read_all(), source.name)
        text = root.find("TEXT")
        if text is None:
            raise InputError("this XML has no element TEXT, so it is not in the layout of i2b2 2014.", source.name)
        spans: list[RawSpan] = []
        for tag in root.findall("TAGS/*"):
            if "start" in tag.attrib and "end" in tag.attrib:
                spans.append(_span(tag, f"{source.name}: TAGS[{len(spans)}]"))
            else:
                source.left_out["tags without start and end"] += 1
        content = "".join(text.itertext())
        yield RawDocument(where=source.name, text=content.replace(returns, "\r") if returns else content, spans=spans)

    def write_folder(self, chunks: Callable[[], Iterable[Corpus]], folder: Path) -> Losses:
        """Write an .xml file for each document, in which every XML parser finds the exact text."""
        losses: Counter[str] = Counter()
        names = FileNames(losses)
        for one in to_write(chunks, self, losses, convention=self.convention, holds=("attributes",), surfaces=True):
            text = _legal(one.text, losses)
            tags = [
                _element(number, start, end, span, text[span.start : span.end], losses)
                for number, (start, end, span) in enumerate(one.spans)
            ]
            lines = [
                '<?xml version="1.0" encoding="UTF-8" ?>',
                "<deIdi2b2>",
                f"<TEXT>{_character_data(text)}</TEXT>",
                "<TAGS>",
                *tags,
                "</TAGS>",
                "</deIdi2b2>",
            ]
            path = names.path(folder, one.id)
            path.with_name(f"{path.name}.xml").write_bytes("".join(f"{line}\n" for line in lines).encode())
        return losses


def _parse(data: bytes, name: str) -> tuple[Element, str]:
    """Parse XML; return the root, and the character that stands for a carriage return in the text.

    Parsers must fold CR LF into LF, which would shift offsets, so another character takes its place while parsing.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    text = _DECLARATION.sub("", _decode(data, name), count=1)
    returns = ""
    if "\r" in text:
        returns = next(mark for mark in map(chr, range(0xE000, 0xF8FF)) if mark not in text)
        text = _TEXT.sub(lambda found: found[1] + found[2].replace("\r", returns) + found[3], text, count=1)
    try:
        root: Element = fromstring(text, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    except DefusedXmlException:
        raise InputError("this XML has a document type or entities, which are refused; remove them.", name) from None
    except ParseError as error:
        line = error.position[0]
        what = str(error).partition(":")[0]
        raise InputError(f"this is not well-formed XML: {what}.", f"{name}:{line}") from None
    return root, returns


def _decode(data: bytes, name: str) -> str:
    """Decode XML by its declaration."""
    declared = _ENCODING.match(data.lstrip())
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else declared[1].decode() if declared else "utf-8"
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        raise InputError(f"the file is not encoded in {encoding}; convert it to UTF-8.", name) from None


def _span(tag: Element, where: str) -> RawSpan:
    """Return the span of a tag."""
    own = {"id", "start", "end", "text", "TYPE"}
    attrs: dict[str, Attr] = {"category": tag.tag}
    attrs |= {key: value for key, value in tag.attrib.items() if key not in own and value}
    start, end = _offset(tag, "start", where), _offset(tag, "end", where)
    return RawSpan(start, end, tag.attrib.get("TYPE") or tag.tag, attrs=attrs, surface=tag.attrib.get("text"))


def _offset(tag: Element, name: str, where: str) -> int:
    value = tag.attrib[name].strip()
    if not (value.isascii() and value.isdigit() and len(value) < 11):
        raise InputError(f"the {name} is not a whole number.", where)
    return int(value)


def _element(number: int, start: int, end: int, span: Span, surface: str, losses: Counter[str]) -> str:
    attrs = dict(span.attrs or {})
    category = attrs.pop("category", None)
    if category is None:
        category = _CATEGORY.get(span.label, OTHER)
    if not isinstance(category, str) or not _NAME.fullmatch(category):
        losses["attributes"] += 1
        category = _CATEGORY.get(span.label, OTHER)
    fields = {
        "id": f"P{number}",
        "start": str(start),
        "end": str(end),
        "text": surface,
        "TYPE": _legal(span.label, losses),
    }
    for key, value in attrs.items():
        if isinstance(value, str) and value and _NAME.fullmatch(key) and key not in fields:
            fields[key] = _legal(value, losses)
        else:
            losses["attributes"] += 1
    listed = " ".join(f"{key}={quoteattr(value, _IN_ATTRIBUTES)}" for key, value in fields.items())
    return f"<{category} {listed} />"


def _legal(text: str, losses: Counter[str]) -> str:
    """Return text without the control characters that XML forbids; offsets stay as they are."""
    clean, count = _ILLEGAL.subn("\ufffd", text)
    if count:
        losses["control characters (replaced by U+FFFD)"] += count
    return clean


def _character_data(text: str) -> str:
    """Return text as CDATA, or escaped if it has carriage returns, which parsers keep only as references."""
    if "\r" in text:
        return escape(text, {"\r": "&#13;"})
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"
