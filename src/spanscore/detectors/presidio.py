"""`presidio`: Presidio's AnalyzerEngine in this process, offline."""

from __future__ import annotations

import logging
import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.detectors.interface import (
    Description,
    Detection,
    Detector,
    DetectorError,
    EntityTypes,
    Failure,
    spans_of,
)
from spanscore.errors import InputError, MissingExtraError, UsageError, printable
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus.records import Document

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


@dataclass(frozen=True, repr=False)
class Presidio(Detector):
    """Presidio's AnalyzerEngine as its YAML files describe it, or with its defaults, in this process and offline.

    Where the configured spaCy model is not installed, a blank pipeline replaces it: patterns and their context words
    work, names and places are not found. Nothing is ever downloaded. It needs the extra `presidio`.
    """

    name: ClassVar[str] = "presidio"
    in_processes: ClassVar[bool] = True
    analyzer_config: str | None = parameter(None, "Presidio's analyzer YAML.", type=str)
    nlp_config: str | None = parameter(None, "Presidio's NLP engine YAML.", type=str)
    recognizers_config: str | None = parameter(None, "Presidio's recognizers YAML.", type=str)
    entities: tuple[str, ...] = parameter((), "Entity types to look for (default: all).")

    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Analyze the texts one by one."""
        analyzer = self._loaded.analyzer
        wanted = list(self.entities) or None
        for document in documents:
            text = document.text or ""
            try:
                found = analyzer.analyze(text=text, language=self.language, entities=wanted)
            except Exception as error:
                yield Failure(f"Presidio raised {type(error).__name__}")
                continue
            yield spans_of(found, len(text))

    def describe(self) -> Description:
        """Return the types of the NLP configuration, of the recognizers, and of the analyzer."""
        return self._loaded.description

    @cached_property
    def _loaded(self) -> _Loaded:
        os.environ.update(OFFLINE)
        try:
            import presidio_analyzer
            import tldextract
            import tldextract.tldextract as suffixes
        except ImportError:
            raise MissingExtraError("the detector presidio", "presidio") from None
        logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
        suffixes.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
        defaults = Path(presidio_analyzer.__file__).parent / "conf"
        analyzer = _read(self.analyzer_config, defaults / "default_analyzer.yaml")
        nlp: Any = analyzer.get("nlp_configuration") or _read(self.nlp_config, defaults / "default.yaml")
        registry: Any = analyzer.get("recognizer_registry") or _read(
            self.recognizers_config, defaults / "default_recognizers.yaml"
        )
        _refuse_unsupported(self.language, self.analyzer_config is not None and analyzer.get("supported_languages"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                engine, missing = self._nlp_engine(nlp)
                built = self._engine(engine, {**registry, "supported_languages": [self.language]}, analyzer)
                mapping = (nlp.get("ner_model_configuration") or {}).get("model_to_presidio_entity_mapping") or {}
                recognizer_types = tuple(sorted(set(_supported_by(registry))))
            except Exception as error:
                raise DetectorError(f"cannot build Presidio from its configuration: {_one_line(error)}") from None
        if missing and _only_names(built):
            served = ", ".join(sorted(set(_languages(registry)))) or "no language"
            raise UsageError(
                f"no recognizer serves {self.language}: the configured ones serve {served}, and {missing}; add "
                f"{self.language} to the supported_languages of a recognizer, or choose another language."
            )
        supported = tuple(sorted(built.get_supported_entities(self.language)))
        if unknown := sorted(set(self.entities) - set(supported)):
            what = f"Presidio does not support {', '.join(map(printable, unknown))} in {self.language}"
            raise UsageError(f"{what}; it supports {', '.join(supported)}.")
        types = EntityTypes({str(key): str(value) for key, value in mapping.items()}, recognizer_types, supported)
        versions = {name: version(name) for name in ("presidio-analyzer", "spacy")}
        note = f"{missing}; a blank pipeline replaces it, which finds patterns but no names or places."
        return _Loaded(built, Description(types, (note,) if missing else (), versions))

    def _nlp_engine(self, configuration: dict[str, Any]) -> tuple[Any, str | None]:
        """Return the configured engine for this language, or a blank one and which model is missing."""
        from presidio_analyzer.nlp_engine import NerModelConfiguration, NlpEngineProvider
        from spacy.util import is_package

        models = [one for one in configuration.get("models") or [] if one.get("lang_code") == self.language][:1]
        if configuration.get("nlp_engine_name", "spacy") != "spacy":
            return NlpEngineProvider(nlp_configuration={**configuration, "models": models}).create_engine(), None
        model = str(models[0].get("model_name")) if models else None
        if model is not None and (is_package(model) or Path(model).exists()):
            engine = NlpEngineProvider(nlp_configuration={**configuration, "models": models}).create_engine()
            for pipeline in getattr(engine, "nlp", {}).values():
                pipeline.max_length = 2**31 - 1
            return engine, None
        missing = (
            f"no spaCy model is configured for {self.language}"
            if model is None
            else f"the spaCy model {model} is not installed (install it with: python -m spacy download {model})"
        )
        described = configuration.get("ner_model_configuration")
        known = NerModelConfiguration.from_dict(described) if described else NerModelConfiguration()
        return _blank_engine(self.language, known), missing

    def _engine(self, nlp_engine: Any, registry: dict[str, Any], analyzer: dict[str, Any]) -> Any:
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.recognizer_registry import RecognizerRegistryProvider

        provider = RecognizerRegistryProvider(registry_configuration=registry, nlp_engine=nlp_engine)
        return AnalyzerEngine(
            nlp_engine=nlp_engine,
            registry=provider.create_recognizer_registry(),
            supported_languages=[self.language],
            default_score_threshold=analyzer.get("default_score_threshold", 0),
        )


@dataclass(frozen=True)
class _Loaded:
    """An analyzer that is ready, and what it reports about itself."""

    analyzer: Any
    description: Description


def _blank_engine(language: str, known: Any) -> Any:
    """Return a tokenizer with a lemmatizer that leaves words as they are: all that patterns and context words need."""
    import spacy
    from presidio_analyzer.nlp_engine import SpacyNlpEngine
    from spacy.lookups import Lookups

    pipeline = spacy.blank(language)
    pipeline.max_length = 2**31 - 1
    lookups = Lookups()
    lookups.add_table("lemma_lookup", {})
    lemmatizer: Any = pipeline.add_pipe("lemmatizer", config={"mode": "lookup"})
    lemmatizer.initialize(list, nlp=pipeline, lookups=lookups)
    engine: Any = SpacyNlpEngine(models=[{"lang_code": language, "model_name": "blank"}], ner_model_configuration=known)
    engine.nlp = {language: pipeline}
    return engine


def _read(path: str | None, default: Path) -> dict[str, Any]:
    """Read a YAML file that must hold a mapping."""
    import yaml

    name = str(default) if path is None else path
    try:
        found = yaml.safe_load(Path(name).read_text("utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = name if mark is None else f"{name}:{mark.line + 1}"
        raise InputError("the configuration is not valid YAML.", where) from None
    except UnicodeDecodeError:
        raise InputError("the configuration is not UTF-8.", name) from None
    except (ValueError, RecursionError):
        raise InputError("the configuration is not valid YAML.", name) from None
    except OSError as error:
        raise InputError(f"cannot read the configuration ({error.strerror}).", name) from None
    if not isinstance(found, dict):
        raise InputError("the configuration is not a mapping of settings.", name)
    return found


def _refuse_unsupported(language: str, configured: Any) -> None:
    """Refuse a language that the analyzer's file does not name, or that spaCy cannot tokenize if there is no file."""
    import pkgutil

    import spacy.lang

    if configured:
        known = sorted(map(str, configured))
    else:
        known = sorted(one.name for one in pkgutil.iter_modules(spacy.lang.__path__) if one.ispkg)
    if language not in known:
        raise UsageError(f"the language '{printable(language)}' is not supported; these are: {', '.join(known)}.")


def _only_names(analyzer: Any) -> bool:
    """Return whether the only recognizer, if any, is the one that takes names from the NLP pipeline."""
    from presidio_analyzer.predefined_recognizers import SpacyRecognizer

    return all(isinstance(one, SpacyRecognizer) for one in analyzer.registry.recognizers)


def _languages(registry: dict[str, Any]) -> Iterator[str]:
    """Yield the languages that the recognizers of a configuration name."""
    for one in registry.get("recognizers") or []:
        if isinstance(one, dict) and one.get("enabled", True):
            named = one.get("supported_languages") or one.get("supported_language") or ()
            for language in [named] if isinstance(named, str) else named:
                yield str(language.get("language") if isinstance(language, dict) else language)


def _supported_by(registry: dict[str, Any]) -> Iterator[str]:
    """Yield the entity types that the recognizers of a configuration support."""
    for one in registry.get("recognizers") or []:
        if isinstance(one, dict) and one.get("enabled", True):
            named = one.get("supported_entity") or one.get("supported_entities") or ()
            yield from [named] if isinstance(named, str) else [str(name) for name in named]


def _one_line(error: Exception) -> str:
    """Return the message of an error in one line."""
    return printable(" ".join(str(error).split()), limit=300).rstrip(".") + "."
