"""Presidio's Stanza engine, with models from a local folder: small ones that the test trains with Stanza itself."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from subprocess import run

import pytest

import spanscore as ss
from calls import started as spanscore
from calls import write

KINDS = {"Ann": "PERSON", "Bob": "PERSON", "Rome": "GPE", "Berlin": "GPE"}
TAGS = {"met": "VERB", "in": "ADP", ".": "PUNCT"}
TEXT = "Bob met Ann in Berlin."

ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}
"""More threads only wait for each other with models as small as these."""
TRAIN = """
import sys
from stanza.models import lemmatizer, ner_tagger, tagger, tokenizer
here, out = sys.argv[1:]
data = f"{here}/t.conllu"
common = ["--shorthand", "en_tiny", "--save_name", "tiny.pt", "--cpu"]
small = ["--hidden_dim", "16"]
no_dropout = [part for name in ("dropout", "unit_dropout", "feat_dropout", "feat_unit_dropout") for part in (f"--{name}", "0")]
tokenizer.main([*common, *small, *no_dropout, "--lang", "en", "--txt_file", f"{here}/t.txt", "--label_file", f"{here}/t.lab",
    "--dev_txt_file", f"{here}/t.txt", "--dev_label_file", f"{here}/t.lab", "--dev_conll_gold", data,
    "--mwt_json_file", f"{here}/mwt.json", "--steps", "300", "--eval_steps", "100", "--save_dir", f"{out}/tokenize"])
tagger.main([*common, *small, "--lang", "en", "--train_file", data, "--eval_file", data, "--max_steps", "30",
    "--eval_interval", "10", "--no_pretrain", "--no_char", "--deep_biaff_hidden_dim", "16", "--word_cutoff", "0",
    "--save_dir", f"{out}/pos"])
lemmatizer.main([*common, "--train_file", data, "--eval_file", data, "--dict_only", "--save_dir", f"{out}/lemma"])
ner_tagger.main([*common, *small, "--train_file", f"{here}/t.json", "--eval_file", f"{here}/t.json", "--max_steps", "200",
    "--eval_interval", "100", "--no_pretrain", "--char_hidden_dim", "16", "--char_emb_dim", "16", "--optim", "adam",
    "--lr", "0.01", "--save_dir", f"{out}/ner"])
"""


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a tokenizer, a tagger, a lemmatizer and a recognizer of names, and lay them out as Stanza expects."""
    here = tmp_path_factory.mktemp("stanza")
    order = random.Random(0)
    sentences = [
        [*order.sample(("Ann", "Bob"), 1), "met", *order.sample(("Ann", "Bob"), 1), "in", order.choice(("Rome", "Berlin")), "."]
        for _ in range(120)
    ]  # fmt: skip
    rows, texts, marks = [], [], []
    for words in sentences:
        text = " ".join(words[:-1]) + "."
        mark, at = ["0"] * len(text), 0
        rows.append(f"# text = {text}")
        for number, word in enumerate(words, 1):
            at = text.index(word, at) + len(word)
            mark[at - 1] = "1"
            tag = TAGS.get(word, "PROPN")
            glued = "SpaceAfter=No" if number == len(words) - 1 else "_"
            head, relation = (0, "root") if number == 2 else (2, "dep")
            rows.append(f"{number}\t{word}\t{word.lower()}\t{tag}\t{tag}\t_\t{head}\t{relation}\t_\t{glued}")
        rows.append("")
        texts.append(text)
        marks.append("".join(mark[:-1]) + "2")
    (here / "t.conllu").write_text("\n".join(rows) + "\n")
    (here / "t.txt").write_text("\n\n".join(texts) + "\n")
    (here / "t.lab").write_text("\n\n".join(marks) + "\n")
    (here / "mwt.json").write_text("[]")
    tagged = [[{"text": w, "ner": f"S-{KINDS[w]}" if w in KINDS else "O"} for w in words] for words in sentences]
    (here / "t.json").write_text(json.dumps(tagged))
    out = here / "resources"
    run([sys.executable, "-c", TRAIN, str(here), str(out / "en")], check=True, capture_output=True, env=ONE_THREAD)
    parts = ("tokenize", "pos", "lemma", "ner")
    package = {part: {"tiny": {"md5": "0", "dependencies": []}} for part in parts}
    defaults = {"default": dict.fromkeys(parts, "tiny")}
    (out / "resources.json").write_text(json.dumps({"en": {**package, "lang_name": "English", "packages": defaults}}))
    return out


def test_models_load_from_a_local_folder(resources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(resources))
    (tmp_path / "nlp.yaml").write_text(
        "nlp_engine_name: stanza\nmodels:\n  - {lang_code: en, model_name: en}\nner_model_configuration:\n"
        "  model_to_presidio_entity_mapping: {PERSON: PERSON, GPE: LOCATION, ORG: ORGANIZATION}\n"
    )
    (tmp_path / "recognizers.yaml").write_text(
        "supported_languages: [en]\nrecognizers:\n  - {name: StanzaRecognizer, type: predefined}\n"
    )
    spans = [{"start": 0, "end": 3, "label": "PERSON"}, {"start": 15, "end": 21, "label": "ORGANIZATION"}]
    write(tmp_path / "data.jsonl", [{"id": str(i), "text": TEXT, "spans": spans} for i in range(3)])
    call = ("run", "data.jsonl", "--detector", "presidio(nlp_config=nlp.yaml, recognizers_config=recognizers.yaml)")
    done = spanscore(*call, "-o", "out", cwd=tmp_path)
    found = ss.read(tmp_path / "out" / "predictions.jsonl")
    rows = zip(found.start.tolist(), found.end.tolist(), found.label.tolist(), strict=True)
    names = {(TEXT[start:end], found.labels[label]) for start, end, label in rows}
    assert names == {("Bob", "PERSON"), ("Ann", "PERSON"), ("Berlin", "LOCATION")}
    details = json.loads((tmp_path / "out" / "metrics.json").read_text())["details"]
    assert details["not_looked_for"] == ["ORGANIZATION"]
    fingerprint = json.loads((tmp_path / "out" / "run.json").read_text())["detection"]["fingerprint"]
    assert fingerprint["Stanza model"].startswith("en ")
    assert "package stanza" in fingerprint
    assert "detector: Stanza model en" in done.stderr
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path / "nothing"))
    said = spanscore(*call, "-o", "none", cwd=tmp_path, code=2).stderr
    assert "cannot build Presidio from its configuration" in said
