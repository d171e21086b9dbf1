"""`spacy`: the entities of a spaCy pipeline."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from spanscore.detectors.fingerprint import Fingerprint, content_hash, packages
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

FINDERS = ("ner", "entity_ruler", "beam_ner", "future_entity_ruler", "entity_linker")
"""Components that make entities, or add to them."""


@dataclass(frozen=True, repr=False)
class Spacy(BatchDetector):
    """The entities (`doc.ents`) of a spaCy pipeline, which is a package or a folder.

    Texts are processed in batches. The id of an entity becomes the attribute `kbid`. Nothing is ever downloaded. It
    needs the extra `spacy`.
    """

    name: ClassVar[str] = "spacy"
    library: ClassVar[str] = "spaCy"
    model: str = parameter(REQUIRED, "Installed package, such as en_core_web_sm, or folder of a pipeline.", type=str)
    disable: tuple[str, ...] = parameter((), "Components that are not needed, such as parser.")

    def found_in(self, texts: list[str]) -> list[Detection]:
        """Return the entities of each text."""
        found = self._pipeline.pipe(texts, batch_size=len(texts))
        return [spans_of(doc, len(text)) for doc, text in zip(found, texts, strict=True)]

    def describe(self) -> Description:
        """Load the pipeline, and report the labels of its components."""
        pipeline = self._pipeline
        labels = pipeline.pipe_labels
        types = sorted({label for name in pipeline.pipe_names if _finds(pipeline, name) for label in labels[name]})
        notes = [*other_language(pipeline, self.language)]
        if not any(_finds(pipeline, name) for name in pipeline.pipe_names):
            notes.append("the pipeline has no component that finds entities.")
        return Description(EntityTypes(supported=tuple(types) if types else None), tuple(notes))

    def fingerprint(self) -> Fingerprint:
        """Add spaCy's version, and the name, version and content of the model."""
        pipeline = self._pipeline
        about = pipeline.meta
        name = f"{about.get('lang')}_{about.get('name')} {about.get('version')}"
        found = {
            **super().fingerprint(),
            **packages("spacy", "spacy-transformers", "spacy-curated-transformers", "torch"),
            "model": name,
        }
        if Path(self.model).is_dir():
            found["option model"] = "folder"
        return found | ({} if pipeline.path is None else {"model files": content_hash(pipeline.path)})

    @cached_property
    def _pipeline(self) -> Any:
        try:
            import spacy
            from spacy.util import get_installed_models, is_package
        except ImportError:
            raise MissingExtraError("the detector spacy", "spacy") from None
        if not (is_package(self.model) or Path(self.model).is_dir()):
            known = ", ".join(sorted(get_installed_models())) or "none"
            what = f"the spaCy model '{printable(self.model)}' is neither installed nor a folder"
            raise UsageError(f"{what}; installed: {known}.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                pipeline = spacy.load(self.model, disable=list(self.disable))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # of libraries in Rust, too
                why = printable(" ".join(str(error).split()), limit=300).rstrip(".")
                raise DetectorError(f"cannot load the spaCy model '{printable(self.model)}': {why}.") from None
        pipeline.max_length = 2**31 - 1
        return pipeline


def _finds(pipeline: Any, name: str) -> bool:
    """Return whether a component makes entities; a span ruler may only make other spans."""
    factory = pipeline.get_pipe_meta(name).factory
    return factory in FINDERS or (factory == "span_ruler" and pipeline.get_pipe(name).annotate_ents)


def other_language(pipeline: Any, language: str) -> tuple[str, ...]:
    """Return a note if a pipeline is for another language; `xx` stands for several, and Stanza's may name none."""
    found = getattr(pipeline, "lang", None) or language
    return () if found in (language, "xx") else (f"the model is for the language {found}.",)
