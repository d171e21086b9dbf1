"""`presidio`: Presidio's AnalyzerEngine in this process, offline."""

from __future__ import annotations

import logging
import os
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.corpus.records import Attr
from spanscore.detectors.fingerprint import Fingerprint, packages
from spanscore.detectors.interface import (
    BatchDetector,
    Description,
    Detection,
    DetectorError,
    EntityTypes,
    spans_of,
)
from spanscore.detectors.presidio_engine import (
    Configuration,
    NlpEngine,
    analyzer_engine,
    looked_for,
    nlp_engine,
    recognizer_models,
    refuse_unsupported,
)
from spanscore.detectors.span_shapes import Shape
from spanscore.errors import MissingExtraError, SpanscoreError, UsageError, printable
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
PACKAGES = (
    *("presidio-analyzer", "spacy", "spacy-transformers", "spacy-curated-transformers", "phonenumbers", "tldextract"),
    *("stanza", "transformers", "torch", "gliner"),
)
"""Packages that may find something."""


@dataclass(frozen=True, repr=False)
class Presidio(BatchDetector):
    """Presidio's AnalyzerEngine as its YAML files describe it, or with its defaults, in this process and offline.

    Without an NLP configuration, it uses the best general-purpose spaCy model that is installed for the language: lg,
    else md, sm, trf; another model only if there is none of these, with a note. If there is no model at all, a blank
    pipeline replaces it: patterns and their context words work, names and places are not looked for. A model named in a
    configuration must be installed. Nothing is ever downloaded. The attribute `recognizer` of a prediction is the name
    of the recognizer that made it. It needs the extra `presidio`.
    """

    name: ClassVar[str] = "presidio"
    library: ClassVar[str] = "Presidio"
    file_options: ClassVar[tuple[str, ...]] = ("analyzer_config", "nlp_config", "recognizers_config")
    analyzer_config: str | None = parameter(None, "Presidio's analyzer YAML.", type=str)
    nlp_config: str | None = parameter(None, "Presidio's NLP engine YAML.", type=str)
    recognizers_config: str | None = parameter(None, "Presidio's recognizers YAML.", type=str)
    model: str | None = parameter(None, "Name of a spaCy model, or blank (default: the best one installed).", type=str)
    entities: tuple[str, ...] = parameter((), "Entity types to look for (default: all).")
    refuse_unsupported_types: bool = True
    """Whether it is an error to ask for a type that Presidio does not support in this language."""

    def found_in(self, texts: list[str]) -> list[Detection]:
        """Return what the analyzer finds in each text."""
        from presidio_analyzer import BatchAnalyzerEngine

        supported = self._loaded.description.types.supported or ()
        chosen = [name for name in self.entities if name in supported]
        if self.entities and not chosen:
            return [[] for _ in texts]
        engine = BatchAnalyzerEngine(self._loaded.analyzer)
        found = engine.analyze_iterator(texts, self.language, batch_size=len(texts), entities=chosen or None)
        return [spans_of(one, len(text), _shape) for one, text in zip(found, texts, strict=True)]

    def describe(self) -> Description:
        """Return the types of the NLP configuration, of the recognizers, and of the analyzer."""
        return self._loaded.description

    def fingerprint(self) -> Fingerprint:
        """Add the packages and models that find something."""
        models = {**self._loaded.nlp.models, **recognizer_models(self._loaded.analyzer, self.language)}
        return {**super().fingerprint(), **packages(*PACKAGES), **models}

    def looking_for(self, entities: tuple[str, ...]) -> Presidio:
        """Return the same detector for these types; it looks for those of them that it supports in its language."""
        return replace(self, entities=entities, refuse_unsupported_types=False)

    @cached_property
    def _loaded(self) -> _Loaded:
        os.environ.update(OFFLINE)
        try:
            import presidio_analyzer  # noqa: F401 - to see whether it is there
            import tldextract
            import tldextract.tldextract as suffixes
        except ImportError:
            raise MissingExtraError("the detector presidio", "presidio") from None
        logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
        suffixes.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
        configuration = Configuration.read(self.analyzer_config, self.nlp_config, self.recognizers_config)
        with _building(self.analyzer_config):
            refuse_unsupported(self.language, configuration.analyzer.get("supported_languages"))
        with _building(configuration.nlp_source):
            nlp = nlp_engine(configuration, self.language, self.model)
            model_types = configuration.model_types()
        with _building(configuration.registry_source):
            analyzer = analyzer_engine(configuration, nlp, self.language)
            recognizer_types = configuration.recognizer_types()
            served = ", ".join(sorted(set(configuration.languages()))) or "no language"
        looked = looked_for(analyzer, nlp, self.language)
        if not looked:
            raise UsageError(
                f"no recognizer serves {self.language}: the configured ones serve {served}, and "
                f"{nlp.missing or 'its model finds no type'}; add {self.language} to the supported_languages of a "
                "recognizer, or choose another language."
            )
        supported = tuple(sorted(analyzer.get_supported_entities(self.language)))
        if self.refuse_unsupported_types and (unknown := sorted(set(self.entities) - set(supported))):
            what = f"Presidio does not support {', '.join(map(printable, unknown))} in {self.language}"
            raise UsageError(f"{what}; it supports {', '.join(supported)}.")
        wanted = looked & set(self.entities) if self.entities else looked
        types = EntityTypes(model_types, recognizer_types, supported, tuple(sorted(wanted)))
        note = f"{nlp.missing}; Presidio finds patterns, but looks for no names or places."
        uses = ", ".join(f"{kind} {value.rpartition(' ')[0] or value}" for kind, value in nlp.models.items())
        notes = (note, *nlp.notes) if nlp.missing and not self.model else nlp.notes
        return _Loaded(analyzer, nlp, Description(types, notes, uses))


@dataclass(frozen=True)
class _Loaded:
    """An analyzer that is ready, its NLP engine, and what it reports about itself."""

    analyzer: Any
    nlp: NlpEngine
    description: Description


@contextmanager
def _building(source: str | None) -> Iterator[None]:
    """Name the user's file in errors of Presidio."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except SpanscoreError:
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of libraries in Rust, too
            where = f"{printable(source, limit=255)}: " if source else ""
            raise DetectorError(f"{where}cannot build Presidio from its configuration: {_reason(error)}") from None


def _shape(result: Any) -> Shape:
    """Return the fields of a RecognizerResult."""
    recognizer = (result.recognition_metadata or {}).get("recognizer_name")
    attrs: dict[str, Attr] | None = {"recognizer": str(recognizer)} if recognizer else None
    return Shape(result.start, result.end, result.entity_type, result.score, attrs)


def _reason(error: BaseException) -> str:
    """Return the message of an error in one line, with the fields that its cause, a validation, complains about."""
    cause: Any = error.__cause__ or error.__context__
    found = cause.errors() if hasattr(cause, "errors") else []
    fields = [f"{'.'.join(map(str, one['loc']))}: {one['msg'].removeprefix('Value error, ')}" for one in found]
    message = ": ".join(part for part in (str(error).strip().rstrip("."), "; ".join(fields)) if part)
    return printable(" ".join(message.split()), limit=300).rstrip(".") + "."
