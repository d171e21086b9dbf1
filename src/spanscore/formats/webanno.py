"""`webanno`: WebAnno TSV 3, the export of WebAnno and INCEpTION, one file per document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from spanscore.errors import InputError, printable
from spanscore.formats.documents import DocumentFormat, RawDocument, RawSpan, blanks, unit_option
from spanscore.formats.interface import CERTAIN, Claim, Sample
from spanscore.formats.offsets import INVALID, Convention
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.formats.source import Source

FORMAT = "#FORMAT=WebAnno TSV 3"
_NUMBER = re.compile(r"\d+-\d+(?:\.\d+)?")
_OFFSETS = re.compile(r"(\d{1,10})-(\d{1,10})")
_STACKED = re.compile(r"(?<!\\)(?:\\\\)*\|")
_IDENTIFIED = re.compile(r"(.*[^\\]|)\[(\d+)\]", re.DOTALL)
_ESCAPED = re.compile(r"\\(->|.)", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b"}
EMPTY, NO_VALUE = "_", "*"


class Layer(NamedTuple):
    """A layer of spans: its name, its features, and the column of the first of them."""

    name: str
    features: Sequence[str]
    column: int


@dataclass
class Annotation:
    """An annotation: where it begins and ends so far, from zero and exclusive, and its surface string if it has one."""

    start: int
    end: int
    label: str
    surface: str | None


class Sentence(NamedTuple):
    """A sentence: its text, the offset at which it begins, and where in the file it does."""

    text: str
    start: int
    where: str


@dataclass
class Body:
    """What has been read of a document."""

    sentences: list[Sentence] = field(default_factory=list)
    tokens: list[tuple[int, int]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """The surface strings of the tokens."""
    found: dict[str, Annotation] = field(default_factory=dict)
    """Annotations by disambiguation id, or by line and position where they have none."""


@dataclass(frozen=True, repr=False)
class WebAnno(DocumentFormat):
    """WebAnno TSV 3: sentences as #Text= lines, and a line per token with columns for layers of annotations.

    One layer is read (default: named entities, or the only layer of spans), and one of its features is the label
    (default: value, or the only one). Chains and relations are left out. Documents are named by their files.
    """

    name: ClassVar[str] = "webanno"
    folders: ClassVar[bool] = True
    endings: ClassVar[tuple[str, ...]] = (".tsv",)
    span_path: ClassVar[str] = "annotation {}"
    unit: str = unit_option("utf16")
    layer: str = parameter("", "Layer to read: its name, or the end of it, such as NamedEntity.")
    feature: str = parameter("", "Feature that is the label.")

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim files that say so in their first line."""
        head = sample.first(".tsv") if sample.files else sample.start
        return Claim(CERTAIN, f"the first line is {FORMAT}") if head.startswith(FORMAT.encode()) else None

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the document of a file."""
        layers: list[Layer] = []
        chosen: tuple[Layer, int] | None = None
        sentence: list[str] = []
        body = Body()
        width = 0
        for number, line in source.lines():
            where = f"{source.name}:{number}"
            if number == 1 and not line.startswith(FORMAT):
                raise InputError(f"the first line must be {FORMAT}.3 or of another version 3.", where)
            if line.startswith("#T_SP="):
                name, *features = line.removeprefix("#T_SP=").rstrip().split("|")
                layers.append(Layer(name, features or [""], width))
                width += max(len(features), 1)
            elif line.startswith(("#T_CH=", "#T_RL=")):
                source.left_out["layers of chains or relations"] += 1
            elif line.startswith("#Text="):
                sentence.append(_plain(line.removeprefix("#Text=")))
            elif line.strip() and not line.startswith("#"):
                chosen = chosen or self._choose(layers, source.name)
                columns = line.split("\t")
                start, end = _place(columns, 3 + width, where)
                if sentence:
                    body.sentences.append(Sentence("\n".join(sentence), start, where))
                    sentence = []
                if "." not in columns[0]:
                    body.tokens.append((start, end))
                    body.words.append(_plain(columns[2]))
                self._mark(body, columns, chosen, self.convention.exclusive(start, end), where)
        text = _text(body.sentences, self.convention)
        tokens = None if text is None else _code_points(text, body.tokens, self.convention)
        if text is None or tokens is None or [text[start:end] for start, end in tokens] != body.words:
            self._explain_offsets(body, source.name)
        spans = [
            RawSpan(*self.convention.of_exclusive(one.start, one.end), one.label, surface=one.surface)
            for one in body.found.values()
        ]
        yield RawDocument(where=source.name, text=text, spans=spans, tokens=tokens)

    def _explain_offsets(self, body: Body, name: str) -> None:
        """Raise an error if the tokens are where another convention says, or if sentences overlap under every one."""
        for other in self.convention.others():
            text = _text(body.sentences, other)
            tokens = None if text is None else _code_points(text, body.tokens, other)
            if text and tokens and [text[start:end] for start, end in tokens] == body.words:
                raise InputError(f"tokens are not where the offsets say; {self.read_with([other])}.", name)
        at = self.convention.base
        for one in body.sentences:
            if one.start < at:
                raise InputError("the sentence begins before the end of the one before it.", one.where)
            at = one.start + self.convention.size(one.text)

    def _choose(self, layers: list[Layer], name: str) -> tuple[Layer, int]:
        """Return the layer to read, and the column of the feature that is the label."""
        wanted = self.layer or "NamedEntity"
        found = [layer for layer in layers if layer.name == wanted or layer.name.endswith(f".{wanted}")]
        if not found and not self.layer and len(layers) == 1:
            found = layers
        if len(found) != 1:
            listed = ", ".join(printable(layer.name) for layer in layers) or "none"
            raise InputError(f"choose one of the layers ({listed}) with webanno(layer=NAME).", name)
        layer = found[0]
        plain = [one for one in layer.features if not one.startswith("ROLE_") and "." not in one]
        feature = self.feature or ("value" if "value" in plain else plain[0] if len(plain) == 1 else None)
        if feature is None or feature not in layer.features:
            listed = ", ".join(map(printable, plain)) or "none"
            raise InputError(f"choose one of the features ({listed}) with webanno(feature=NAME).", name)
        return layer, layer.column + list(layer.features).index(feature)

    def _mark(
        self, body: Body, columns: list[str], chosen: tuple[Layer, int], place: tuple[int, int], where: str
    ) -> None:
        """Add the annotations of a token or part of a token."""
        layer, column = chosen
        cell = columns[3 + column]
        if cell == EMPTY:
            return
        surface = _plain(columns[2])
        for number, value in enumerate(_stacked(cell)):
            identified = _IDENTIFIED.fullmatch(value)
            raw = identified[1] if identified else value
            label = layer.name.rpartition(".")[2] if raw in (NO_VALUE, "") else _plain(raw)
            key = identified[2] if identified else f"{where}#{number}"
            known = body.found.get(key)
            if known is None:
                body.found[key] = Annotation(*place, label, surface)
                continue
            gap = place[0] - known.end
            joined = None if known.surface is None or gap < 0 else known.surface + " " * (gap > 0) + surface
            body.found[key] = Annotation(min(known.start, place[0]), max(known.end, place[1]), known.label, joined)


def _place(columns: list[str], least: int, where: str) -> tuple[int, int]:
    """Return the offsets of a token line."""
    offsets = _OFFSETS.fullmatch(columns[1]) if len(columns) > 2 else None
    if offsets is None or not _NUMBER.fullmatch(columns[0]):
        raise InputError("expected a token line: number, offsets and token, such as 1-1, 0-3 and Ms.", where)
    if len(columns) < least:
        raise InputError(f"the line has {len(columns)} columns, but the header needs {least}.", where)
    return int(offsets[1]), int(offsets[2])


def _text(sentences: list[Sentence], convention: Convention) -> str | None:
    """Return sentences at their offsets, after the line break and the blanks before them; None if they overlap."""
    text: list[str] = []
    at = convention.base
    for one in sentences:
        gap = one.start - at
        if gap < 0:
            return None
        line_break = "\n" if gap and text else ""
        text += line_break, blanks(gap - len(line_break), one.where), one.text
        at = one.start + convention.size(one.text)
    return "".join(text)


def _stacked(cell: str) -> list[str]:
    """Split a cell at bars that are not escaped."""
    if "|" not in cell:
        return [cell]
    values, at = [], 0
    for match in _STACKED.finditer(cell):
        values.append(cell[at : match.end() - 1])
        at = match.end()
    return [*values, cell[at:]]


def _plain(text: str) -> str:
    r"""Return text without escapes.

    >>> _plain(r"a\_b \-> c\\d")
    'a_b -> c\\d'
    """
    return _ESCAPED.sub(lambda found: _CONTROLS.get(found[1], found[1]), text) if "\\" in text else text


def _code_points(text: str, tokens: list[tuple[int, int]], convention: Convention) -> list[tuple[int, int]] | None:
    """Return tokens with offsets in code points; None if one is outside the text, as the spans will show."""
    pairs = np.array(tokens, np.int64).reshape(-1, 2)
    start, end = convention.read(text, pairs[:, 0], pairs[:, 1])
    if (start == INVALID).any() or (end == INVALID).any():
        return None
    return list(zip(start.tolist(), end.tolist(), strict=True))
