"""`gliner`: a GLiNER model, which looks for any labels that it is given."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from spanscore.detectors.fingerprint import Fingerprint, packages
from spanscore.detectors.interface import (
    BatchDetector,
    Description,
    Detection,
    DetectorError,
    EntityTypes,
    spans_of,
)
from spanscore.errors import MissingExtraError, UsageError, printable
from spanscore.spec import REQUIRED, parameter

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")
"""A word, as GLiNER counts them."""


@dataclass(frozen=True, repr=False)
class Gliner(BatchDetector):
    """A GLiNER model from a folder, and the labels to look for.

    Texts that are longer than the model allows are processed in overlapping windows. Nothing is ever downloaded. It
    needs the extra `gliner`.
    """

    name: ClassVar[str] = "gliner"
    library: ClassVar[str] = "GLiNER"
    runtime: ClassVar[tuple[str, ...]] = ("batch",)
    file_options: ClassVar[tuple[str, ...]] = ("model",)
    model: str = parameter(REQUIRED, "Folder of the model.", type=str)
    labels: tuple[str, ...] = parameter(REQUIRED, 'Labels to look for, such as "person,city".', type=tuple)
    threshold: float = parameter(0.5, "Minimum score of an entity.", low=0, high=1)
    overlap: float = parameter(0.25, "Share of a window that the next one repeats.", low=0, high=0.9)
    batch: int = parameter(8, "Windows that are processed at once.", low=1, high=4096)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.labels:
            raise UsageError('gliner needs labels to look for: gliner(labels="person,city").')

    def found_in(self, texts: list[str]) -> list[Detection]:
        """Return the entities of each text."""
        return [spans_of(found, len(text)) for found, text in zip(self._find(texts), texts, strict=True)]

    def _find(self, texts: list[str]) -> list[list[dict[str, Any]]]:
        """Return the entities of each text, with offsets in it."""
        size = max(1, int(getattr(self._model.config, "max_len", None) or 384))
        windows = [(doc, one) for doc, text in enumerate(texts) for one in windows_of(text, size, self.overlap)]
        found: list[list[dict[str, Any]]] = [[] for _ in texts]
        if not windows:
            return found
        pieces = [texts[doc][one.start : one.end] for doc, one in windows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = self._model.inference(pieces, list(self.labels), threshold=self.threshold, batch_size=self.batch)
        for (doc, window), entities in zip(windows, answers, strict=True):
            reached = max((one["end"] for one in found[doc]), default=0)
            for entity in entities:
                start, end = entity["start"] + window.start, entity["end"] + window.start
                if window.first <= start < window.last and start >= reached:
                    found[doc].append({**entity, "start": start, "end": end})
        return found

    def describe(self) -> Description:
        """Load the model; it supports the labels that it is given."""
        assert self._model is not None
        return Description(EntityTypes(supported=tuple(sorted(self.labels))))

    def fingerprint(self) -> Fingerprint:
        """Add the versions of the packages; the folder's content is there as an option."""
        return {**super().fingerprint(), **packages("gliner", "transformers", "tokenizers", "torch")}

    @cached_property
    def _model(self) -> Any:
        os.environ.update(OFFLINE)
        if not Path(self.model).is_dir():
            raise UsageError(f"'{printable(self.model)}' is not a folder; download the model, and name its folder.")
        try:
            from gliner import GLiNER
            from transformers.utils import logging
        except ImportError:
            raise MissingExtraError("the detector gliner", "gliner") from None
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return GLiNER.from_pretrained(self.model, local_files_only=True).eval()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of libraries in Rust, too
            why = printable(" ".join(str(error).split()), limit=300).rstrip(".")
            raise DetectorError(f"cannot load the model in '{printable(self.model)}': {why}.") from None


class Window(NamedTuple):
    """A range of a text, and the part of it, from `first` up to `last`, in which it decides what begins there."""

    start: int
    end: int
    first: int
    last: int


def windows_of(text: str, size: int, overlap: float) -> list[Window]:
    """Cut a text into windows of at most `size` words that overlap by a share.

    Of what two windows share, the first half belongs to the one before, the second half to the one after.

    >>> windows_of("a b c d e f", 4, 0.5)
    [Window(start=0, end=7, first=0, last=6), Window(start=4, end=11, first=6, last=11)]
    """
    words = [word.span() for word in _WORD.finditer(text)]
    shared = min(int(size * overlap), size - 1)
    begins = list(range(0, max(len(words) - shared, 1), size - shared)) if words else []
    found = []
    for place, begin in enumerate(begins):
        inside = words[begin : begin + size]
        first = 0 if place == 0 else words[begin + (shared + 1) // 2][0]
        more = place + 1 < len(begins)
        last = words[begins[place + 1] + (shared + 1) // 2][0] if more else len(text)
        found.append(Window(inside[0][0], inside[-1][1], first, last))
    return found
