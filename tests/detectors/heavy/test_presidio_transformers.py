"""Presidio's transformers engine, with models from local folders: a spaCy pipeline, and a small BERT."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import spacy
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

import spanscore as ss
from calls import started as spanscore
from calls import write
from spanscore.detectors import DetectorError, detector

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "ann", "bob", "berlin", "rome", "went", "to", "met", "in", "and", ",", ".")
LABELS = ("O", "B-PER", "B-LOC")
LABEL_OF = {"ann": 1, "bob": 1, "berlin": 2, "rome": 2}
TEXT = "Ann met Bob in Rome, and went to Berlin."


def save(folder: Path, label_of: dict[str, int]) -> None:
    """Save a model in which the word decides the label."""
    tokenizer = Tokenizer(models.WordLevel({word: code for code, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **special).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        id2label=dict(enumerate(LABELS)),
        label2id={label: code for code, label in enumerate(LABELS)},
    )
    model = BertForTokenClassification(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
        model.bert.embeddings.word_embeddings.weight.copy_(torch.eye(len(WORDS), 16) * 10)
        for code, word in enumerate(WORDS):
            model.classifier.weight[label_of.get(word, 0), code] = 5.0
    model.save_pretrained(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    spacy.blank("en").to_disk(tmp_path / "spacy")
    save(tmp_path / "bert", LABEL_OF)
    (tmp_path / "nlp.yaml").write_text(
        f"""
nlp_engine_name: transformers
models:
  - lang_code: en
    model_name: {{spacy: {tmp_path / "spacy"}, transformers: {tmp_path / "bert"}}}
ner_model_configuration:
  model_to_presidio_entity_mapping: {{PER: PERSON, LOC: LOCATION, ORG: ORGANIZATION}}
  aggregation_strategy: simple
  stride: 4
  alignment_mode: expand
  labels_to_ignore: [O]
"""
    )
    return tmp_path


def presidio(folder: Path) -> Any:
    return detector("presidio", nlp_config=str(folder / "nlp.yaml"))


def names(found: ss.Corpus) -> set[tuple[str, str]]:
    rows = zip(found.start.tolist(), found.end.tolist(), found.label.tolist(), strict=True)
    return {(TEXT[start:end], found.labels[label]) for start, end, label in rows}


def test_models_load_from_local_folders(folder: Path) -> None:
    corpus = ss.Corpus.from_documents([{"id": str(i), "text": TEXT, "spans": []} for i in range(3)])
    made = presidio(folder)
    looked = set(made.describe().types.looked_for or ())
    assert {"PERSON", "LOCATION"} <= looked
    assert "ORGANIZATION" not in looked  # configured, but the model has no such label
    found = ss.detect(corpus, made)
    assert names(found) == {("Ann", "PERSON"), ("Bob", "PERSON"), ("Rome", "LOCATION"), ("Berlin", "LOCATION")}
    assert set(found.attrs["recognizer"].tolist()) == {"TransformersRecognizer"}


def test_another_model_is_noticed(folder: Path) -> None:
    write(folder / "data.jsonl", [{"id": str(i), "text": TEXT, "spans": []} for i in range(2)])
    call = ("run", "data.jsonl", "--detector", "presidio(nlp_config=nlp.yaml)", "-o", "out", "-q")
    spanscore(*call, cwd=folder)
    fingerprint = json.loads((folder / "out" / "run.json").read_text())["detection"]["fingerprint"]
    assert {"spaCy model", "transformers model", "package transformers", "package torch"} <= fingerprint.keys()
    save(folder / "bert", {"ann": 1})
    said = spanscore(*call, "--resume", cwd=folder, code=2).stderr
    assert "the detector has changed since this run began (transformers model: " in said


def test_a_folder_that_is_missing_is_an_error_without_a_download(folder: Path) -> None:
    (folder / "bert").rename(folder / "elsewhere")
    with pytest.raises(DetectorError, match="cannot build Presidio from its configuration"):
        presidio(folder).describe()
    (folder / "spacy").rename(folder / "gone")
    with pytest.raises(ss.InputError, match="the spaCy model .*/spacy is not installed"):
        presidio(folder).describe()
