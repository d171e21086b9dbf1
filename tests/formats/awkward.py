"""A text with everything that shifts offsets, and its spans under every convention."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import spanscore as ss
from spanscore.formats import REGISTRY, Source, recognise
from spanscore.formats.offsets import Convention

TEXT = "Dr 😀 Zoe\u0308 A\u030angström\r\nשלום דוד: Zoe\u0308 👩‍⚕️ again."
"""An emoji, combining marks, CR LF, right-to-left text, and a family of emoji in one grapheme."""
MARKS = [("Zoe\u0308 A\u030angström", "PERSON"), ("דוד", "PERSON"), ("again", "WORD")]
NAMES = dict(MARKS)
"""Surface -> label."""
SPANS = [(TEXT.index(surface), TEXT.index(surface) + len(surface), label) for surface, label in MARKS]

PLACES = set(SPANS)


def place(surface: str) -> tuple[int, int]:
    """Return the code points of a surface string."""
    return TEXT.index(surface), TEXT.index(surface) + len(surface)


def gold(*ids: str) -> ss.Corpus:
    """Return a corpus of the text under these ids."""
    return ss.Corpus.concat([corpus(name) for name in ids])


def found(corpus: ss.Corpus) -> dict[str, set[tuple[int, int, str]]]:
    """Return the spans of a corpus by document."""
    return {str(one.id): {(span.start, span.end, span.label) for span in one.spans} for one in corpus.documents()}


def json_file(path: Path, value: Any) -> Path:
    """Write JSON; a list in a file that ends with .jsonl is one item per line."""
    lines = value if path.suffix == ".jsonl" else [value]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), newline="")
    return path


def offsets(**convention: str) -> list[tuple[int, int]]:
    """Return the offsets of the spans under a convention."""
    start, end = (np.array([span[side] for span in SPANS], np.int64) for side in (0, 1))
    low, high = Convention(**convention).write(TEXT, start, end)  # type: ignore[arg-type]  # base is not given here
    return list(zip(low.tolist(), high.tolist(), strict=True))


def spans(corpus: ss.Corpus) -> list[tuple[int, int, str]]:
    """Return all spans of a corpus."""
    return [(span.start, span.end, span.label) for document in corpus.documents() for span in document.spans]


def detected(path: Path) -> str:
    """Return the name of the format that a file is recognised as."""
    with Source(path) as source:
        return recognise(source)[0].name


def rewritten(corpus: ss.Corpus, written_as: str, path: Path) -> tuple[ss.Corpus, dict[str, int]]:
    """Write a corpus, and return what is read from it, and what was lost."""
    chosen = REGISTRY.make(written_as)
    if chosen.writes_folders():
        path.mkdir()
        lost = chosen.write_folder(lambda: [corpus], path)
    else:
        with path.open("wb") as file:
            lost = chosen.write(lambda: [corpus], file)
    return ss.read(path, written_as), {what: count for what, count in (lost or {}).items() if count}


def corpus(name: str = "d1", **span: object) -> ss.Corpus:
    """Return a corpus of the text and its spans, which have more fields if given."""
    marks = [{"start": start, "end": end, "label": label, **span} for start, end, label in SPANS]
    return ss.Corpus.from_documents([{"id": name, "text": TEXT, "spans": marks}])
