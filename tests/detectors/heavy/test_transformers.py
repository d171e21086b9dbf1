"""The detector `transformers` with a small model that the test builds: the word decides the label, so results are known."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

import spanscore as ss
from spanscore.detectors import detector

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "ann", "lee", "paris", "met", "in", "x", ".")
LABELS = ("O", "B-PER", "I-PER", "B-LOC")
LABEL_OF = {"ann": 1, "lee": 2, "paris": 3}
WINDOW = 16


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("transformers") / "model"
    tokenizer = Tokenizer(models.WordLevel({word: code for code, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=WINDOW,
        id2label=dict(enumerate(LABELS)),
        label2id={label: code for code, label in enumerate(LABELS)},
    )
    made = BertForTokenClassification(config)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.zero_()
        for name, parameter in made.named_parameters():
            if name.endswith("LayerNorm.weight"):
                parameter.fill_(1.0)
        made.bert.embeddings.word_embeddings.weight.copy_(torch.eye(len(WORDS), 16) * 10)
        for code, word in enumerate(WORDS):
            made.classifier.weight[LABEL_OF.get(word, 0), code] = 5.0
    made.save_pretrained(folder)
    return folder


def found_in(model: Path, *texts: str, **options: object) -> list[list[tuple[str, str, int]]]:
    corpus = ss.Corpus.from_documents([{"id": str(i), "text": text, "spans": []} for i, text in enumerate(texts)])
    found = ss.detect(corpus, "transformers", model=str(model), **options)
    return [
        [(text[one.start : one.end], one.label, one.start) for one in document.spans]
        for text, document in zip(texts, found.documents(), strict=True)
    ]


def test_entities_and_their_offsets(model: Path) -> None:
    assert found_in(model, "😀 Ann  Lee met\nPARIS.", "", " \n", "x") == [
        [("Ann  Lee", "PER", 2), ("PARIS", "LOC", 15)],
        [],
        [],
        [],
    ]


@pytest.mark.parametrize("overlap", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("shift", range(8))
def test_long_texts_are_read_in_windows(model: Path, shift: int, overlap: float) -> None:
    text = "x " * shift + "é😀 Ann Lee met x in Paris x x x . " * 12
    expected = []
    for part in range(12):
        start = 2 * shift + part * len("é😀 Ann Lee met x in Paris x x x . ")
        expected += [("Ann Lee", "PER", start + 3), ("Paris", "LOC", start + 20)]
    assert found_in(model, text, overlap=overlap) == [expected]


def test_what_it_reports(model: Path) -> None:
    made = detector("transformers", model=str(model))
    assert made.describe().types.supported == ("LOC", "PER")
    fingerprint = made.fingerprint()
    assert {"package torch", "package transformers", "option model"} <= set(fingerprint)
    assert str(model) not in str(fingerprint)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ss.SpanscoreError, match="cannot load the model in"):
        detector("transformers", model=str(tmp_path)).describe()
    with pytest.raises(ss.UsageError, match="'some/model' is not a folder"):
        detector("transformers", model="some/model").describe()
