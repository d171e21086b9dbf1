"""Counts by document as a file beside the results: what a later run needs to be compared document by document."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from spanscore.errors import SpanscoreError
from spanscore.measures import measure
from spanscore.result import Scores
from spanscore.stats import Bootstrap
from spanscore.tally import Tally

if TYPE_CHECKING:
    from typing import IO

    from spanscore.result import Result

NAME = "tallies.npz"


class _About(msgspec.Struct):
    system: str
    measure: str
    beta: float
    signature: str
    fields: tuple[str, ...]
    labels: tuple[str, ...]
    documents: tuple[str, ...]


class _Head(msgspec.Struct):
    bootstrap: tuple[float, int, int, str | None]
    scores: list[_About]


def write(file: IO[bytes], result: Result) -> None:
    """The counts of every document, or cluster of documents, for every measure that counts by document."""
    how = result.bootstrap or Bootstrap()
    kept = [one for one in result.scores if one.tally.documents]
    head = _Head((how.level, how.resamples, how.seed, how.cluster), [])
    arrays: dict[str, Any] = {}
    for number, one in enumerate(kept):
        tally = one.units(how.cluster)
        head.scores.append(
            _About(one.system, repr(one.measure), one.beta, one.signature, tally.fields, tally.labels, tally.documents)
        )
        arrays |= {f"doc{number}": tally.doc, f"label{number}": tally.label, f"counts{number}": tally.counts}
    np.savez_compressed(file, head=np.frombuffer(msgspec.json.encode(head), np.uint8), **arrays)


def read(results: str | Path) -> tuple[Bootstrap, dict[str, Scores]] | None:
    """How intervals were made, and the scores by signature, from beside these results; None if there are none."""
    path = Path(results)
    try:
        with np.load((path if path.is_dir() else path.parent) / NAME, allow_pickle=False) as said:
            head = msgspec.json.decode(said["head"].tobytes(), type=_Head)
            columns = [[said[f"{name}{i}"] for name in ("doc", "label", "counts")] for i in range(len(head.scores))]
        for one, (doc, label, counts) in zip(head.scores, columns, strict=True):
            if counts.shape != (len(doc), len(one.fields)) or len(label) != len(doc):
                return None
            if len(doc) and not (0 <= doc.min() <= doc.max() < len(one.documents)):
                return None
            if len(doc) and not (0 <= label.min() <= label.max() < len(one.labels)):
                return None
        found = {
            one.signature: Scores(
                one.system,
                measure(one.measure),
                Tally(one.fields, one.labels, one.documents, *columns[number]),
                one.beta,
                one.signature,
            )
            for number, one in enumerate(head.scores)
        }
        return Bootstrap(*head.bootstrap), found
    except (*_DAMAGED, OSError, ValueError, KeyError, EOFError, RuntimeError, IndexError, SpanscoreError):
        return None


_DAMAGED = (zipfile.BadZipFile, zlib.error, msgspec.MsgspecError, tokenize.TokenError, SyntaxError)
