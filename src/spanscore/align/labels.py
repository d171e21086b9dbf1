"""Label maps: rename or drop labels before scoring."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from spanscore.arguments import check
from spanscore.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from spanscore.corpus import Corpus


MOST = 100
"""Unused entries of a map that are named one by one."""


class Naming(ABC):
    """What the labels of one side are called when they are scored."""

    @abstractmethod
    def name(self, label: str) -> str | None:
        """Return what a label is called; None if its spans are dropped."""

    @abstractmethod
    def names(self, label: str) -> tuple[str, ...]:
        """Return every name by which users may refer to a label, from fine to coarse; none if its spans are dropped."""

    @abstractmethod
    def cause(self, label: str) -> str:
        """Return why spans of a label are dropped, as accounts call it."""

    def apply(self, corpus: Corpus, *, deselected: bool = False) -> tuple[Corpus, dict[str, int]]:
        """Return the corpus with its labels renamed, and the number of dropped spans by label.

        With `deselected`, types that are not scored stay under their own labels; only those that a map drops go.

        >>> from spanscore.corpus import Corpus
        >>> corpus = Corpus.from_arrays(["d"], [0, 0], [0, 3], [2, 5], ["PER", "MISC"])
        >>> mapped, dropped = LabelMap({"PER": "PERSON", "MISC": None}).apply(corpus)
        >>> mapped.labels, mapped.label.tolist(), dropped
        (('PERSON',), [0], {'MISC': 1})
        """
        names = [
            label if name is None and deselected and self.cause(label) != "dropped" else name
            for label, name in ((label, self.name(label)) for label in corpus.labels)
        ]
        if names == list(corpus.labels):
            return corpus, {}
        kept = tuple(dict.fromkeys(name for name in names if name is not None))
        place = {name: code for code, name in enumerate(kept)}
        recode = np.array([-1 if name is None else place[name] for name in names], np.int32)
        codes = recode[corpus.label]
        counts = np.bincount(corpus.label, minlength=len(names)).tolist()
        dropped = {
            label: count
            for label, name, count in zip(corpus.labels, names, counts, strict=True)
            if name is None and count
        }
        rows = np.flatnonzero(codes >= 0)
        return corpus.with_spans(rows, label=codes[rows], labels=kept), dropped


GivenMap: TypeAlias = "LabelMap | Mapping[str, str | None] | str | Path | None"
"""What users give as a label map: the map, or the path of its file."""


@dataclass(frozen=True)
class LabelMap(Naming):
    """A mapping from label to label, or to None to drop its spans; labels that are not listed stay as they are."""

    to: Mapping[str, str | None] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    """The labels that are kept after mapping; empty: all."""

    @classmethod
    def of(cls, given: GivenMap) -> LabelMap:
        """Return a label map from what users write: a map, or the path of its file; the empty one if they give none."""
        if isinstance(given, LabelMap):
            return given
        if isinstance(given, str | Path):
            return cls.read(given)
        check("a label map", given, "LabelMap | Mapping[str, str | None] | Path | None")
        return cls(given or {})

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file with lines of the form `from: to`, or a JSON object.

        `from: null` drops spans of a label. Lines that start with `#` are comments.
        """
        name = str(path)
        try:
            text = Path(path).read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("the label map is not valid UTF-8.", name) from None
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read the label map ({getattr(error, 'strerror', error)}).", name) from None
        return cls(_parse_json(text, name) if text.lstrip().startswith("{") else _parse_lines(text, name))

    @property
    def digest(self) -> str:
        """Hash of the map's content, as 8 hexadecimal digits; `none` if the map is empty."""
        if not self.to and not self.only:
            return "none"
        listed: list[Any] = sorted(self.to.items())
        listed += [{"only": sorted(self.only)}] if self.only else []
        content = json.dumps(listed, ensure_ascii=True).encode()
        return blake2b(content, digest_size=4).hexdigest()

    def unused(self, labels: Collection[str], side: str = "") -> list[str]:
        """Return warnings about mapped labels that no span (of a side) has, since they are probably typos."""
        unused = [label for label in self.to if label not in labels]
        called, span = (f"{side} map", f"{side} span") if side else ("label map", "span")
        notes = [
            f"the {called} has an entry for {printable(label)}, but no {span} has that label."
            for label in unused[:MOST]
        ]
        more = len(unused) - MOST
        return notes + ([f"the {called} has {more} more entries for labels that no {span} has."] if more > 0 else [])

    def updated(self, other: LabelMap) -> LabelMap:
        """Return a map with the entries of both; where both have one for a label, that of `other` counts."""
        return LabelMap({**self.to, **other.to}, self.only) if other.to else self

    def name(self, label: str) -> str | None:
        """Return what a label is mapped to; None if its spans are dropped."""
        name = self.to.get(label, label)
        return name if not self.only or name in self.only else None

    def names(self, label: str) -> tuple[str, ...]:
        """Return what a label is mapped to; nothing if its spans are dropped."""
        name = self.name(label)
        return () if name is None else (name,)

    def cause(self, label: str) -> str:
        """Return whether the map drops spans of a label, or they are none of those that are kept."""
        return "dropped" if self.to.get(label, label) is None else "deselected"


def _parse_json(text: str, name: str) -> dict[str, str | None]:
    try:
        pairs: list[tuple[str, Any]] = json.loads(text, object_pairs_hook=list)
        text.encode()
        mapping = dict(pairs)
        json.dumps(mapping, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"the label map is not a JSON object of labels: {error}.", name) from None
    if len(mapping) < len(pairs):
        raise InputError("a label is mapped twice.", name)
    if not all(to is None or (isinstance(to, str) and to) for to in mapping.values()):
        raise InputError("a label must map to a label or to null.", name)
    return dict(mapping)


def _parse_lines(text: str, name: str) -> dict[str, str | None]:
    mapping: dict[str, str | None] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        left, colon, right = (part.strip() for part in line.partition(": "))
        if not colon and line.rstrip().endswith(":"):
            left, right = line.strip()[:-1], ""
        source, target = left.strip("'\""), right.strip("'\"")
        if not source or not target:
            raise InputError(f"'{printable(line)}' does not look like 'from: to' or 'from: null'.", f"{name}:{number}")
        if source in mapping:
            raise InputError(f"the label '{printable(source)}' is mapped twice.", f"{name}:{number}")
        mapping[source] = None if right in ("null", "~") else target
    return mapping
