"""What the detector `presidio` says about configurations and models that it cannot use."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from spanscore.detectors import detector

pytest.importorskip("presidio_analyzer")
MODELS = "models: [{lang_code: en, model_name: en}]\n"
ZIP = "name: Z, supported_language: en, supported_entity: ZIP"


@pytest.mark.parametrize(
    ("option", "content", "why"),
    [
        ("nlp_config", "models: en\n", "models must be a list of mappings, each with lang_code and model_name."),
        ("nlp_config", "models: [en]\n", "models must be a list of mappings, each with lang_code and model_name."),
        ("nlp_config", MODELS + "ner_model_configuration: x\n", "ner_model_configuration must be a mapping."),
        (
            "nlp_config",
            MODELS + "ner_model_configuration: {model_to_presidio_entity_mapping: [a]}\n",
            "model_to_presidio_entity_mapping must be a mapping of labels to entity types.",
        ),
        ("nlp_config", "nlp_engine_name: stanzo\n" + MODELS, "There is no NLP engine 'stanzo'; did you mean 'stanza'?"),
        ("analyzer_config", "nlp_configuration: x\n", "nlp_configuration must be a mapping with nlp_engine_name and"),
        ("analyzer_config", "default_score_threshold: high\n", "default_score_threshold must be a number."),
        ("analyzer_config", "recognizer_registry: x\n", "recognizer_registry must be a mapping with recognizers."),
        ("analyzer_config", "supported_languages: en\n", "supported_languages must be a list of languages."),
        ("recognizers_config", "recognizers: x\n", "recognizers: Recognizers must be a list."),
        (
            "recognizers_config",
            "recognizers: [{name: A, type: custom}]\n",
            "recognizers.supported_entity: Field required.",
        ),
        ("recognizers_config", f"recognizers: [{{{ZIP}, patterns: 7}}]\n", "patterns: Input should be a valid list."),
    ],
)
def test_what_is_wrong_with_a_configuration(option: str, content: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(content)
    options: dict[str, Any] = {option: str(file)}
    with pytest.raises(ss.SpanscoreError) as caught:
        detector("presidio", **options).describe()
    assert str(caught.value).startswith(f"{file}: ")
    assert why in str(caught.value)


@pytest.mark.parametrize("engine", ["stanza", "transformers"])
def test_an_engine_that_is_not_installed(engine: str, tmp_path: Path) -> None:
    if find_spec(engine) is not None:
        pytest.skip("the engine is installed")
    file = tmp_path / "nlp.yaml"
    file.write_text(f"nlp_engine_name: {engine}\n{MODELS}")
    with pytest.raises(ss.InputError) as caught:
        detector("presidio", nlp_config=str(file)).describe()
    assert f"needs the package {engine}, which is not installed; install it with: pip install 'presidio-analyzer[{engine}]'." in str(caught.value)  # fmt: skip


def test_a_missing_model_is_not_offered_for_download_if_there_is_none() -> None:
    (note,) = detector("presidio", language="cs").describe().notes
    assert note.startswith("no spaCy model for cs is installed, and spaCy offers none; Presidio finds patterns")
    (note,) = detector("presidio", language="xx").describe().notes
    assert "python -m spacy download xx_ent_wiki_sm" in note
    with pytest.raises(ss.InputError, match=r"the spaCy model nonesuch is not installed; installed: \w+"):
        detector("presidio", model="nonesuch").describe()
