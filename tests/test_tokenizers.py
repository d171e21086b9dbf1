from __future__ import annotations

import subprocess
import sys

import pytest

import spanscore as ss
from spanscore.align.tokenizers import tokenizer

TEXT = "Jon's card (no. 5) isn't here."


def words(name: str) -> list[str]:
    return [TEXT[start:end] for start, end in tokenizer(name)(TEXT)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("whitespace", "Jon's|card|(no.|5)|isn't|here."),
        ("words", "Jon|'|s|card|(|no|.|5|)|isn|'|t|here|."),
        ("treebank", "Jon|'s|card|(|no.|5|)|is|n't|here|."),
        ("spacy:en", "Jon|'s|card|(|no|.|5|)|is|n't|here|."),
    ],
)
def test_tokenizers(name: str, expected: str) -> None:
    found = words(name)
    assert "".join(found) == TEXT.replace(" ", "")
    assert found == expected.split("|")


def test_a_measure_with_a_tokenizer() -> None:
    gold = ss.Corpus.from_arrays(["d"], [0], [0], [3], ["P"], text=[TEXT])
    pred = ss.Corpus.from_arrays(["d"], [0], [0], [5], ["P"])
    for name, predicted in (("whitespace", 1), ("words", 3), ("treebank", 2), ("spacy:de", 1)):
        assert ss.score(gold, pred, f"token(tokenizer={name})")["token"].counts["predicted"] == predicted


@pytest.mark.parametrize("spec", ["token(tokenizer=spacy:)", "token(tokenizer=spacy:LANG)", "token(tokenizer=word)"])
def test_a_tokenizer_that_does_not_exist(spec: str) -> None:
    with pytest.raises(ss.UsageError, match="tokenizer"):
        ss.measure(spec)


def test_a_language_that_does_not_exist() -> None:
    gold = ss.Corpus.from_arrays(["d"], [0], [0], [3], ["P"], text=[TEXT])
    with pytest.raises(ss.UsageError, match="zz"):
        ss.score(gold, gold, "token(tokenizer=spacy:zz)")


@pytest.mark.parametrize(
    ("module", "name", "extra"), [("nltk", "treebank", "treebank"), ("spacy", "spacy:en", "spacy")]
)
def test_without_the_extra_it_says_how_to_install_it(module: str, name: str, extra: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None\nfrom spanscore.align.tokenizers import tokenizer\ntokenizer({name!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"pip install 'spanscore[{extra}]'" in done.stderr
