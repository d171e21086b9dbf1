"""The languages of documents: one for all of them, or the one that each document names in `meta.language`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from xxhash import xxh3_64_hexdigest

from spanscore.detectors import Description, Detection, Detector, EntityTypes, Fingerprint, texts_of
from spanscore.errors import InputError, plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.corpus.records import Document

AUTO = "auto"
"""The language of a run in which each document has its own."""
FIELD = "language"
"""The metadata field with the language of a document."""


def languages_of(corpus: Corpus) -> list[str | None]:
    """Return the language code that each document names, without region: `de` for `de-AT`; None if it names none."""
    if FIELD not in corpus.meta:
        return [None] * len(corpus)
    column = corpus.meta[FIELD]
    codes = [_code(value) for value in (*column.values, None)]
    return [codes[code] for code in column.codes.tolist()]


def _code(value: Any) -> str | None:
    """Return a language code.

    >>> _code("de-AT"), _code("EN_us"), _code(" "), _code(7)
    ('de', 'en', None, None)
    """
    code = value.strip().lower().replace("_", "-").partition("-")[0] if isinstance(value, str) else ""
    return code or None


def languages_digest(corpus: Corpus) -> str:
    """Return a digest of the languages of all documents, which the corpus' fingerprint does not cover."""
    named = sorted(zip(corpus.ids, languages_of(corpus), strict=True), key=str)
    return xxh3_64_hexdigest(repr(named).encode("utf-8", "surrogatepass"))


def documents_of(corpus: Corpus, language: str) -> list[Document]:
    """Return the texts of a corpus; if each has its own language, with it and in order of languages."""
    documents = texts_of(corpus)
    if language != AUTO:
        return documents
    for document, code in zip(documents, languages_of(corpus), strict=True):
        document.meta = {FIELD: code}
    return sorted(documents, key=_language)


def _language(document: Document) -> str:
    return str((document.meta or {})[FIELD])


def mismatch(corpus: Corpus, language: str) -> str | None:
    """Return a warning if documents name other languages than that of the run."""
    counts = Counter(languages_of(corpus))
    wanted = _code(language)
    other = {code: count for code, count in counts.items() if code not in (None, wanted)}
    if language == AUTO or not other:
        return None
    listed = ", ".join(f"{printable(str(code))} ({count})" for code, count in sorted(other.items(), key=str))
    names = "names" if 1 in (sum(other.values()), len(corpus)) else "name"
    return (
        f"{sum(other.values())} of {plural(len(corpus), 'document')} {names} another language than {language} in "
        f"meta.language: {listed}; --language auto uses the language of each document."
    )


@dataclass(frozen=True, repr=False)
class PerLanguage(Detector):
    """The same detector once per language; each document goes to that of its language."""

    name: ClassVar[str] = "per language"
    detectors: tuple[Detector, ...] = ()

    @classmethod
    def of(cls, detector: Detector, corpus: Corpus) -> PerLanguage:
        """Return a detector for the languages of a corpus; a document without one is an error."""
        named = languages_of(corpus)
        if None in named:
            what = f"{plural(named.count(None), 'document')} without meta.language; --language auto needs it in each."
            raise InputError(what, corpus.place(named.index(None)))
        codes = sorted({str(code) for code in named})
        return cls(detectors=tuple(replace(detector, language=code) for code in codes))

    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Hand each run of documents in one language to the detector for it."""
        by_code = {one.language: one for one in self.detectors}
        for code, group in groupby(documents, key=_language):
            yield from by_code[code].detect(group)

    def timed(self, documents: Iterable[Document]) -> Iterator[tuple[Detection, float]]:
        """Do the same, with the seconds that each document took."""
        by_code = {one.language: one for one in self.detectors}
        for code, group in groupby(documents, key=_language):
            yield from by_code[code].timed(group)

    def describe(self) -> Description:
        """Describe each detector, and what they have in common."""
        found = {one.language: one.describe() for one in self.detectors}
        notes = tuple(f"{code}: {note}" for code, one in found.items() for note in one.notes)
        uses = "; ".join(f"{code}: {one.uses}" for code, one in found.items() if one.uses)
        return Description(_together([one.types for one in found.values()]), notes, uses, found)

    def fingerprint(self) -> Fingerprint:
        """Return what the detectors have in common, and what belongs to one language only, named by it."""
        found = {one.language: one.fingerprint() for one in self.detectors}
        first = next(iter(found.values()))
        common = {key for key, value in first.items() if all(one.get(key) == value for one in found.values())}
        own = {
            f"{code}: {key}": value for code, one in found.items() for key, value in one.items() if key not in common
        }
        return {**{key: value for key, value in first.items() if key in common}, **own}

    def answered_by(self) -> frozenset[str] | None:
        """Return the versions that the answers have told to any of the detectors."""
        found = [told for one in self.detectors if (told := one.answered_by()) is not None]
        return frozenset().union(*found) if found else None

    def for_jobs(self, jobs: int) -> Detector:
        """Return the detectors for this many jobs."""
        return replace(self, detectors=tuple(one.for_jobs(jobs) for one in self.detectors))

    def close(self) -> None:
        """Close all detectors."""
        for one in self.detectors:
            one.close()


def _together(types: list[EntityTypes]) -> EntityTypes:
    """Return all types that some detector has."""

    def union(lists: list[tuple[str, ...] | None]) -> tuple[str, ...] | None:
        known = [one for one in lists if one is not None]
        return tuple(sorted(set().union(*known))) if len(known) == len(lists) else None

    return EntityTypes(
        {key: value for one in types for key, value in one.from_model.items()},
        union([one.from_recognizers for one in types]) or (),
        union([one.supported for one in types]),
        union([one.supported if one.looked_for is None else one.looked_for for one in types]),
    )
