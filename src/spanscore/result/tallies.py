"""A file of counts per document, saved next to the results, for comparing runs document by document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from spanscore.errors import InputError
from spanscore.measures import measure
from spanscore.result import Scores
from spanscore.stats import Bootstrap
from spanscore.tally import Tally

if TYPE_CHECKING:
    from typing import IO

    from spanscore.result import Result

NAME = "tallies.npz"


class _ScoreHeader(msgspec.Struct):
    system: str
    measure: str
    beta: float
    signature: str
    fields: tuple[str, ...]
    labels: tuple[str, ...]
    documents: tuple[str, ...]
    level: str | None = None


class _Header(msgspec.Struct):
    bootstrap: tuple[float, int, int, str | None]
    scores: list[_ScoreHeader]


def write(file: IO[bytes], result: Result) -> None:
    """Write the counts per document (or cluster of documents) of every measure that has them."""
    how = result.bootstrap or Bootstrap()
    kept = [one for one in result.scores if one.tally.documents]
    head = _Header((how.level, how.resamples, how.seed, how.cluster), [])
    arrays: dict[str, Any] = {}
    for number, one in enumerate(kept):
        tally = one.units(how.cluster)
        head.scores.append(
            _ScoreHeader(
                one.system,
                repr(one.measure),
                one.beta,
                one.signature,
                tally.fields,
                tally.labels,
                tuple(tally.documents),
                one.level,
            )
        )
        arrays |= {f"doc{number}": tally.doc, f"label{number}": tally.label, f"counts{number}": tally.counts}
    np.savez_compressed(file, head=np.frombuffer(msgspec.json.encode(head), np.uint8), **arrays)


def read(results: str | Path) -> tuple[Bootstrap, dict[str, Scores]] | None:
    """Read the bootstrap settings and the scores by signature from next to the results; None if there is no file."""
    path = (Path(results) if Path(results).is_dir() else Path(results).parent) / NAME
    if not path.exists():
        return None
    try:
        return _read(path)
    except (Exception, MemoryError) as error:  # a damaged archive can raise anything
        what = f"the file is damaged ({type(error).__name__}); delete it or score again."
        raise InputError(what, str(path)) from None


def _read(path: Path) -> tuple[Bootstrap, dict[str, Scores]]:
    found = {}
    with np.load(path, allow_pickle=False) as archive:
        head = msgspec.json.decode(archive["head"].tobytes(), type=_Header)
        for number, one in enumerate(head.scores):
            doc, label, counts = (archive[f"{name}{number}"] for name in ("doc", "label", "counts"))
            for codes, known in ((doc, one.documents), (label, one.labels)):
                if codes.dtype.kind not in "iu" or codes.shape != (len(counts),):
                    raise ValueError("codes have the wrong dtype or shape")
                if len(codes) and not 0 <= codes.min() <= codes.max() < len(known):
                    raise ValueError("a code is out of range")
            if counts.dtype.kind not in "iuf" or counts.shape[1:] != (len(one.fields),):
                raise ValueError("counts have the wrong dtype or shape")
            tally = Tally(one.fields, one.labels, one.documents, doc, label, counts)
            scores = Scores(one.system, measure(one.measure), tally, one.beta, one.signature, level=one.level)
            assert scores.overall  # fails if the measure does not find its fields
            found[one.signature] = scores
    return Bootstrap(*head.bootstrap), found
