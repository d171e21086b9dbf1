"""Labelled variants of a corpus: the same documents with noise, or with other names, and exact offsets."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from msgspec.structs import replace

from spanscore.align.span_groups import folded, lexicon_lines
from spanscore.analysis.text_edits import Edit, all_cuts, edited, span_cuts
from spanscore.analysis.text_noise import NOISE
from spanscore.arguments import checked
from spanscore.corpus.records import Document, build, refuse_repeated_ids
from spanscore.errors import InputError, UsageError, plural, printable, unknown
from spanscore.formats import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.corpus import Corpus

ORIGINAL, SWAP = "original", "swap-names"
PERTURBATION, SOURCE = "perturbation", "perturbed_from"
"""The metadata fields of a variant: the name of its perturbation, and the ID of the document it was made from."""
NAMES = ("PERSON",)
"""Labels of names, unless the caller gives others."""


@dataclass(frozen=True)
class Perturbation:
    """A way to change documents: the text as it is, with noise, or with its names replaced."""

    name: str
    surfaces: tuple[str, ...] = field(default=(), repr=False)
    """The names to put in, for swapped names."""
    group: str | None = None
    """The group of these names, if the table has groups."""

    def edits(self, document: Document, *, seed: int, rate: float, names: Sequence[str] = NAMES) -> list[Edit]:
        """Return the edits of a document, which depend on nothing but it and the seed."""
        text = document.text or ""
        if self.surfaces:
            return list(self._swaps(document, seed, names))
        if self.name == ORIGINAL:
            return []
        chance = Random(f"{seed}|{self.name}|{document.id}")
        return [
            edit
            for edit in NOISE[self.name](text, all_cuts(document), chance, rate)
            if text[edit.start : edit.end] != edit.text
        ]

    def _swaps(self, document: Document, seed: int, names: Sequence[str]) -> Iterator[Edit]:
        """Yield the edits that replace each name, the same name of a document always by the same one.

        The choice does not depend on the group. A name with the border of another span inside stays as it is.
        """
        text, cuts = document.text or "", span_cuts(document)
        for start, end in sorted({(one.start, one.end) for one in document.spans if one.label in names}):
            surface = text[start:end]
            if not surface.strip() or Edit(start, end, "").cut_by(cuts):
                continue
            drawn = Random(f"{seed}|{SWAP}|{document.id}|{folded(surface)}").random()
            name = self.surfaces[int(drawn * len(self.surfaces))]
            if name != surface:
                yield Edit(start, end, name)


def perturbations(text: str | Sequence[str]) -> list[Perturbation]:
    """Return the perturbations of a list such as `typos,upper,swap-names:names.tsv`.

    >>> [one.name for one in perturbations("typos, upper")]
    ['typos', 'upper']
    """
    listed = [part.strip() for part in (text.split(",") if isinstance(text, str) else text)]
    found: dict[str, Perturbation] = {}
    for part in filter(None, listed):
        name, _, file = part.partition(":")
        if name == SWAP and file:
            new = _of_table(file)
        elif name == SWAP:
            raise UsageError(f"{SWAP} needs a table of names: {SWAP}:FILE.")
        elif part != ORIGINAL and part not in NOISE:
            raise UsageError(unknown("perturbation", part, [ORIGINAL, *NOISE, f"{SWAP}:FILE"]))
        else:
            new = [Perturbation(part)]
        for one in new:
            if one.name in found:
                raise UsageError(f"the perturbation '{printable(one.name)}' is listed twice.")
            found[one.name] = one
    if not found:
        raise UsageError(f"name at least one perturbation: {', '.join(NOISE)} or {SWAP}:FILE.")
    return list(found.values())


def _of_table(path: str) -> list[Perturbation]:
    """Read names, and their groups if there are any: one perturbation for each group."""
    groups: dict[str | None, set[str]] = {}
    for number, cells in lexicon_lines(path):
        if len(cells) not in (1, 2):
            raise InputError("each line needs a name and, optionally, a group.", f"{path}:{number}")
        groups.setdefault(cells[1] if len(cells) == 2 else None, set()).add(cells[0])
    if not groups:
        raise InputError("the table of names is empty.", path)
    if None in groups and len(groups) > 1:
        raise InputError("some names have a group and others have none; give all of them one, or none.", path)
    return [
        Perturbation(SWAP if group is None else f"{SWAP}:{group}", tuple(sorted(names)), group)
        for group, names in sorted(groups.items(), key=lambda item: item[0] or "")
    ]


@checked
def perturb(
    corpus: Corpus | str | Path,
    perturbations: str | Sequence[str | Perturbation],
    *,
    seed: int = 0,
    rate: float = 0.1,
    names: str | Sequence[str] = NAMES,
) -> Corpus:
    """Return a variant of every document for each perturbation, with its spans where they are now.

    The document `d1` becomes `d1~typos` and so on; metadata names the perturbation (`perturbation`) and the original
    (`perturbed_from`). `rate` is the share of words that get an error (`typos`, `ocr`), or of blanks that change
    (`whitespace`). `names` are the labels of the spans that `swap-names` replaces.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_documents([{"id": "d", "text": "In Gießen", "spans": [
    ...     {"start": 3, "end": 9, "label": "CITY"}]}])
    >>> upper = ss.perturb(gold, "upper")
    >>> upper.ids[0], upper.text[0], int(upper.start[0]), int(upper.end[0])
    ('d~upper', 'IN GIESSEN', 3, 10)
    """
    if isinstance(corpus, str | Path):
        corpus = read(corpus)
    chosen = _chosen(perturbations)
    names = (names,) if isinstance(names, str) else names
    documents = _documents(corpus, chosen, seed=seed, rate=rate, names=names)
    swaps = any(one.surfaces for one in chosen)
    kept = sum(_keeps_name(document, names) for document in documents) if swaps else 0
    found = build(
        [_variant(one, document, seed=seed, rate=rate, names=names) for one in chosen for document in documents]
    )
    refuse_repeated_ids(found.ids, corpus.source)
    notes = [] if not kept else [f"{plural(kept, 'document')} kept names that have the border of another span inside."]
    return found.with_columns(
        source=corpus.source,
        format=corpus.format,
        format_reason=corpus.format_reason,
        notes=(*corpus.notes, *notes),
    )


def _chosen(given: str | Sequence[str | Perturbation]) -> list[Perturbation]:
    if isinstance(given, str):
        return perturbations(given)
    return [one for part in given for one in ([part] if isinstance(part, Perturbation) else perturbations([part]))]


def _documents(
    corpus: Corpus, chosen: Sequence[Perturbation], *, seed: int, rate: float, names: Sequence[str]
) -> list[Document]:
    """Return the documents, once it is clear that they can be changed."""
    if seed < 0 or not 0 < rate <= 1:
        raise UsageError("the seed must not be negative, and the rate must be greater than 0 and at most 1.")
    if corpus.unit:
        raise InputError("the offsets are not code points, so the text cannot be changed.", corpus.source)
    for key in (PERTURBATION, SOURCE):
        if key in corpus.meta:
            raise InputError(f"the documents have meta.{key} already; perturb the original documents.", corpus.source)
    documents = list(corpus.documents())
    for doc, document in enumerate(documents):
        if document.text is None:
            raise InputError("the document has no text, which a perturbation needs.", corpus.place(doc))
    if any(one.surfaces for one in chosen) and not {span.label for one in documents for span in one.spans} & set(names):
        listed = ", ".join(map(printable, names))
        what = f"no span has the label {listed}, so that {SWAP} has no name to replace"
        raise UsageError(f"{what}; name the labels of names with --names.")
    return documents


def _variant(
    perturbation: Perturbation, document: Document, *, seed: int, rate: float, names: Sequence[str]
) -> Document:
    changed = edited(document, perturbation.edits(document, seed=seed, rate=rate, names=names))
    about = {PERTURBATION: perturbation.name, SOURCE: str(document.id)}
    return replace(changed, id=f"{document.id}~{perturbation.name}", meta={**(changed.meta or {}), **about})


def _keeps_name(document: Document, names: Sequence[str]) -> bool:
    cuts = span_cuts(document)
    return any(Edit(one.start, one.end, "").cut_by(cuts) for one in document.spans if one.label in names)
