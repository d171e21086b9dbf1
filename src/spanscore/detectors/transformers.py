"""`transformers`: a token classification model in Hugging Face's format."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

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


@dataclass(frozen=True, repr=False)
class Transformers(BatchDetector):
    """A token classification model from a folder: weights, configuration and a fast tokenizer.

    Texts that are longer than the model allows are processed in overlapping windows. Nothing is ever downloaded, and
    code from the folder is never run. It needs the extra `transformers`.
    """

    name: ClassVar[str] = "transformers"
    library: ClassVar[str] = "transformers"
    runtime: ClassVar[tuple[str, ...]] = ("batch",)
    file_options: ClassVar[tuple[str, ...]] = ("model",)
    model: str = parameter(REQUIRED, "Folder of the model.", type=str)
    aggregation: str = parameter("simple", "How tokens become entities.", choices=("simple", "first", "average", "max"))
    overlap: float = parameter(0.25, "Share of a window that the next one repeats.", above=0, high=0.9)
    batch: int = parameter(8, "Windows that are processed at once.", low=1, high=4096)

    def found_in(self, texts: list[str]) -> list[Detection]:
        """Return the entities of each text."""
        filled = [text for text in texts if text.strip()]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = iter(self._pipeline(filled, batch_size=self.batch) if filled else [])
        return [spans_of(next(found) if text.strip() else [], len(text)) for text in texts]

    def describe(self) -> Description:
        """Load the model, and report its labels without the prefixes of tags."""
        named = self._pipeline.model.config.id2label.values()
        labels = {label[2:] if label[:2] in ("B-", "I-", "E-", "S-", "L-", "U-") else label for label in named}
        return Description(EntityTypes(supported=tuple(sorted(labels - {"O"}))))

    def fingerprint(self) -> Fingerprint:
        """Add the versions of the packages; the folder's content is there as an option."""
        return {**super().fingerprint(), **packages("transformers", "tokenizers", "torch")}

    @cached_property
    def _pipeline(self) -> Any:
        os.environ.update(OFFLINE)
        if not Path(self.model).is_dir():
            raise UsageError(f"'{printable(self.model)}' is not a folder; download the model, and name its folder.")
        try:
            from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline
            from transformers.utils import logging
        except ImportError:
            raise MissingExtraError("the detector transformers", "transformers") from None
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            tokenizer = AutoTokenizer.from_pretrained(self.model, local_files_only=True)
            model = AutoModelForTokenClassification.from_pretrained(self.model, local_files_only=True)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of libraries in Rust, too
            why = printable(" ".join(str(error).split()), limit=300).rstrip(".")
            raise DetectorError(f"cannot load the model in '{printable(self.model)}': {why}.") from None
        if not tokenizer.is_fast:
            raise DetectorError("the model has no fast tokenizer (tokenizer.json), which offsets need.")
        tokenizer.model_max_length = min(tokenizer.model_max_length, _longest(model.config))
        return pipeline(
            "token-classification",
            model=model,
            tokenizer=tokenizer,
            aggregation_strategy=self.aggregation,
            stride=max(1, int(tokenizer.model_max_length * self.overlap)),
            device=-1,
        )


def _longest(config: Any) -> int:
    """Return the number of tokens that a model allows; RoBERTa keeps two of its positions for padding."""
    positions = getattr(config, "max_position_embeddings", None) or 512
    return int(positions) - (2 if config.model_type in ("roberta", "xlm-roberta", "camembert", "longformer") else 0)
