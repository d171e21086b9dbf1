"""The detector `gliner` with a small model that the test initialises at random and saves: offsets and windows are what counts."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from gliner import GLiNER, GLiNERConfig
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

import spanscore as ss
from spanscore.detectors import detector
from spanscore.detectors.gliner import windows_of

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "ann", "lee", "paris", "met", "in", "person", "city", ".")
LONGEST = 24
LABELS = "person,city"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gliner")
    tokenizer = Tokenizer(models.WordLevel({word: code for code, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=256, **names).save_pretrained(
        folder / "encoder"
    )
    torch.manual_seed(3)
    size = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(WORDS), **size)).save_pretrained(folder / "encoder")
    config = GLiNERConfig(
        model_name=str(folder / "encoder"), hidden_size=32, max_len=LONGEST, max_width=4, dropout=0.0, num_rnn_layers=1
    )
    GLiNER.from_config(config).save_pretrained(str(folder / "model"))
    return folder / "model"


def found_in(model: Path, text: str, **options: Any) -> list[tuple[int, int, str, float | None]]:
    corpus = ss.Corpus.from_documents([{"id": "d", "text": text, "spans": []}, {"id": "e", "text": " ", "spans": []}])
    found = ss.detect(corpus, "gliner", model=str(model), labels=LABELS, **options)
    document, empty = found.documents()
    assert empty.spans == []
    return [(one.start, one.end, one.label, one.score) for one in document.spans]


def test_it_returns_what_the_library_returns(model: Path) -> None:
    text = "😀 Ann Lee met é in Paris."
    found = found_in(model, text, threshold=0.1)
    direct = GLiNER.from_pretrained(str(model), local_files_only=True)
    expected = direct.predict_entities(text, LABELS.split(","), threshold=0.1)
    assert [one[:3] for one in found] == sorted((one["start"], one["end"], one["label"]) for one in expected)
    assert found


def test_long_texts_are_read_in_windows(model: Path) -> None:
    """The library cuts a text at `max_len` words; windows reach its end, and no part of it is found twice."""
    text = "😀 Ann Lee met é in Paris. " * 20
    found = found_in(model, text, threshold=0.0)
    assert found[-1][0] > len(text) - 40
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    assert all(not text[start:end][:1].isspace() and not text[start:end][-1:].isspace() for start, end, *_ in found)


@pytest.mark.parametrize("overlap", [0.0, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("words", [0, 1, 23, 24, 25, 100])
def test_windows_share_out_the_text(words: int, overlap: float) -> None:
    text = "  word" * words
    windows = windows_of(text, LONGEST, overlap)
    assert [one.first for one in windows[1:]] == [one.last for one in windows[:-1]]
    assert all(len(text[one.start : one.end].split()) <= LONGEST for one in windows)
    assert all(one.start <= max(one.first, one.start) and one.first < one.last for one in windows)
    assert (windows[0].first, windows[-1].last) == (0, len(text)) if words else not windows


def test_what_it_reports(model: Path) -> None:
    made = detector("gliner", model=str(model), labels=LABELS)
    assert made.describe().types.supported == ("city", "person")
    assert {"package gliner", "option model", "option labels"} <= set(made.fingerprint())
    with pytest.raises(ss.UsageError, match="gliner needs labels"):
        detector("gliner", model=str(model))
    with pytest.raises(ss.UsageError, match="is not a folder"):
        detector("gliner", model="some/model", labels="a").describe()
