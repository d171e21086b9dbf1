"""Label maps: rename or drop labels before scoring."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spanscore.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from spanscore.corpus import Corpus


@dataclass(frozen=True)
class LabelMap:
    """A mapping from label to label, or to None to drop its spans; labels that are not listed stay as they are."""

    to: Mapping[str, str | None] = field(default_factory=dict)

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
        if not self.to:
            return "none"
        content = json.dumps(sorted(self.to.items()), ensure_ascii=True).encode()
        return blake2b(content, digest_size=4).hexdigest()

    def unused(self, labels: Collection[str]) -> list[str]:
        """Return a warning for each mapped label that no span has, since it is probably a typo."""
        return [
            f"the label map has an entry for {printable(label)}, but no span has that label."
            for label in self.to
            if label not in labels
        ]

    def apply(self, corpus: Corpus) -> tuple[Corpus, dict[str, int]]:
        """Return the corpus with its labels mapped, and the number of dropped spans by label.

        >>> from spanscore.corpus import Corpus
        >>> corpus = Corpus.from_arrays(["d"], [0, 0], [0, 3], [2, 5], ["PER", "MISC"])
        >>> mapped, dropped = LabelMap({"PER": "PERSON", "MISC": None}).apply(corpus)
        >>> mapped.labels, mapped.label.tolist(), dropped
        (('PERSON',), [0], {'MISC': 1})
        """
        if not any(label in self.to for label in corpus.labels):
            return corpus, {}
        names = [self.to.get(label, label) for label in corpus.labels]
        kept = tuple(dict.fromkeys(name for name in names if name is not None))
        recode = np.array([-1 if name is None else kept.index(name) for name in names], np.int32)
        codes = recode[corpus.label]
        counts = np.bincount(corpus.label, minlength=len(names)).tolist()
        dropped = {
            label: count
            for label, name, count in zip(corpus.labels, names, counts, strict=True)
            if name is None and count
        }
        rows = np.flatnonzero(codes >= 0)
        return corpus.with_spans(rows, label=codes[rows], labels=kept), dropped


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
