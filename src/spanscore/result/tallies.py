"""A file of counts per document, saved next to the results, for comparing runs document by document."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from spanscore.errors import InputError
from spanscore.formats.source import refuse_unpacking
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
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
        refuse_unpacking(path.stat().st_size, sum(one.file_size for one in members), str(path))
    except InputError:
        raise
    except Exception as error:
        raise _damaged(path, error) from None
    try:
        if any(one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for one in members):
            raise ValueError("the others may ask for gigabytes of memory before they give a byte")
        return _read(path)
    except (Exception, MemoryError) as error:  # a damaged archive can raise anything
        raise _damaged(path, error) from None


def _damaged(path: Path, error: BaseException) -> InputError:
    return InputError(f"the file is damaged ({type(error).__name__}); delete it or score again.", str(path))


def _read(path: Path) -> tuple[Bootstrap, dict[str, Scores]]:
    found = {}
    with np.load(path, allow_pickle=False) as archive:
        head = msgspec.json.decode(archive["head"].tobytes(), type=_Header)
        for number, one in enumerate(head.scores):
            names = [f"{name}{number}" for name in ("doc", "label", "counts")]
            most = len(one.documents) * len(one.labels)  # clusters have rows for each of their documents
            if head.bootstrap[3] is None and any(_rows(archive, name) > most for name in names):
                raise ValueError("there are more rows than pairs of documents and labels")
            doc, label, counts = (archive[name] for name in names)
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


def _rows(archive: Any, name: str) -> int:
    """Return the number of rows of an array without reading them."""
    with archive.zip.open(f"{name}.npy") as file:
        np.lib.format.read_magic(file)
        shape, _, _ = np.lib.format.read_array_header_1_0(file)
        return int(shape[0])
