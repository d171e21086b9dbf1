"""`presidio`: Presidio's AnalyzerEngine in this process, offline."""

from __future__ import annotations

import logging
import os
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.detectors.detector import Detector, DetectorError, Entities, Failure, Outcome, spans_of
from spanscore.errors import InputError, MissingExtraError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spanscore.corpus.records import Document

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


class Presidio(Detector):
    """The analyzer that Presidio's own YAML files describe, or its defaults, in the given language.

    Where the configured spaCy model is not installed, a blank pipeline stands in: patterns and their context words
    work, names and places are not found. Nothing is ever downloaded.
    """

    name: ClassVar[str] = "presidio"
    in_processes: ClassVar[bool] = True

    def __init__(
        self,
        language: str = "en",
        analyzer_config: str | None = None,
        nlp_config: str | None = None,
        recognizers_config: str | None = None,
        entities: Sequence[str] | None = None,
    ) -> None:
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
        analyzer = _read(analyzer_config, defaults / "default_analyzer.yaml")
        nlp: Any = analyzer.get("nlp_configuration") or _read(nlp_config, defaults / "default.yaml")
        registry: Any = analyzer.get("recognizer_registry") or _read(
            recognizers_config, defaults / "default_recognizers.yaml"
        )
        self._language = language
        self._entities = None if entities is None else list(entities)
        configured = analyzer_config is not None and analyzer.get("supported_languages")
        _refuse_unsupported(language, configured)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                engine = self._nlp_engine(nlp)
                self._analyzer = self._engine(engine, {**registry, "supported_languages": [language]}, analyzer)
                mapping = (nlp.get("ner_model_configuration") or {}).get("model_to_presidio_entity_mapping") or {}
                recognizer_types = tuple(sorted(set(_supported_by(registry))))
            except Exception as error:
                raise DetectorError(f"Presidio cannot be built from its configuration: {_told(error)}") from None
        self._known = Entities(
            from_model={str(key): str(value) for key, value in mapping.items()},
            from_recognizers=recognizer_types,
            supported=tuple(sorted(self._analyzer.get_supported_entities(language))),
        )
        unknown = sorted(set(self._entities or ()) - set(self._known.supported or ()))
        if unknown:
            known = ", ".join(self._known.supported or ())
            raise UsageError(
                f"Presidio does not support {', '.join(map(printable, unknown))} in {language}; it supports {known}."
            )
        self.versions = {name: version(name) for name in ("presidio-analyzer", "spacy")}

    def __call__(self, documents: Iterable[Document], language: str) -> Iterator[Outcome]:
        """Analyze the texts one by one."""
        for document in documents:
            text = document.text or ""
            try:
                found = self._analyzer.analyze(text=text, language=language, entities=self._entities)
            except Exception as error:
                yield Failure(f"Presidio raised {type(error).__name__}")
                continue
            yield spans_of(found, len(text))

    def entities(self, language: str) -> Entities:
        """The NLP configuration's map, the recognizers' types, and all that the analyzer supports."""
        return self._known

    def _nlp_engine(self, configuration: dict[str, Any]) -> Any:
        """The engine of the configuration for this language alone, or a blank one where its model is not installed."""
        from presidio_analyzer.nlp_engine import NerModelConfiguration, NlpEngineProvider
        from spacy.util import is_package

        models = [one for one in configuration.get("models") or [] if one.get("lang_code") == self._language][:1]
        if configuration.get("nlp_engine_name", "spacy") != "spacy":
            return NlpEngineProvider(nlp_configuration={**configuration, "models": models}).create_engine()
        model = str(models[0].get("model_name")) if models else None
        if model is not None and (is_package(model) or Path(model).exists()):
            engine = NlpEngineProvider(nlp_configuration={**configuration, "models": models}).create_engine()
            for pipeline in getattr(engine, "nlp", {}).values():
                pipeline.max_length = 2**31 - 1
            return engine
        missing = (
            f"no spaCy model is configured for {self._language}"
            if model is None
            else f"the spaCy model {model} is not installed (install it with: python -m spacy download {model})"
        )
        self.notes = (f"{missing}; a blank pipeline stands in, which finds patterns but no names or places.",)
        described = configuration.get("ner_model_configuration")
        known = NerModelConfiguration.from_dict(described) if described else NerModelConfiguration()
        return _blank_engine(self._language, known)

    def _engine(self, nlp_engine: Any, registry: dict[str, Any], analyzer: dict[str, Any]) -> Any:
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.recognizer_registry import RecognizerRegistryProvider

        provider = RecognizerRegistryProvider(registry_configuration=registry, nlp_engine=nlp_engine)
        return AnalyzerEngine(
            nlp_engine=nlp_engine,
            registry=provider.create_recognizer_registry(),
            supported_languages=[self._language],
            default_score_threshold=analyzer.get("default_score_threshold", 0),
        )


def _blank_engine(language: str, known: Any) -> Any:
    """A tokenizer and a lemmatizer that leaves words as they are: all that patterns and context words need."""
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
    """A YAML file that must hold a mapping."""
    import yaml

    name = str(default) if path is None else path
    try:
        found = yaml.safe_load(Path(name).read_text("utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = name if mark is None else f"{name}:{mark.line + 1}"
        raise InputError("the configuration is not YAML.", where) from None
    except UnicodeDecodeError:
        raise InputError("the configuration is not UTF-8.", name) from None
    except (ValueError, RecursionError):
        raise InputError("the configuration is not YAML.", name) from None
    except OSError as error:
        raise InputError(f"the configuration cannot be read ({error.strerror}).", name) from None
    if not isinstance(found, dict):
        raise InputError("the configuration is not a mapping of settings.", name)
    return found


def _refuse_unsupported(language: str, configured: Any) -> None:
    """The language must be one that the analyzer's file names, or without a file one that spaCy can cut into tokens."""
    import pkgutil

    import spacy.lang

    if configured:
        known = sorted(map(str, configured))
    else:
        known = sorted(one.name for one in pkgutil.iter_modules(spacy.lang.__path__) if one.ispkg)
    if language not in known:
        raise UsageError(f"the language '{printable(language)}' is not supported; these are: {', '.join(known)}.")


def _supported_by(registry: dict[str, Any]) -> Iterator[str]:
    """The entity types that recognizers of a configuration say they support."""
    for one in registry.get("recognizers") or []:
        if isinstance(one, dict) and one.get("enabled", True):
            named = one.get("supported_entity") or one.get("supported_entities") or ()
            yield from [named] if isinstance(named, str) else [str(name) for name in named]


def _told(error: Exception) -> str:
    """What an error of the configuration says, in one line."""
    said = " ".join(str(error).split())
    return printable(said, limit=300).rstrip(".") + "."
