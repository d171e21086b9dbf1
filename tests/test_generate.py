"""Made-up data: the same for the same seed, right offsets, templates of one's own."""

from __future__ import annotations

import json
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

import spanscore as ss
from calls import spanscore
from spanscore.generate import generate, locales
from spanscore.generate.generator import _parse
from spanscore.generate.values import VALUES


def run(*arguments: str, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    return spanscore("generate", *arguments, cwd=cwd, code=code)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    call = ("-n", "200", "--locale", "en_US", "--locale", "de_DE", "--seed", "7", "-o")
    run(*call, "a.jsonl", cwd=tmp_path)
    run(*call, "b.jsonl", cwd=tmp_path)
    made = (tmp_path / "a.jsonl").read_bytes()
    assert made == (tmp_path / "b.jsonl").read_bytes() == run(*call, "-", cwd=tmp_path).stdout.encode()
    assert made != run("-n", "200", "--seed", "8", cwd=tmp_path).stdout.encode()
    lines = [json.loads(line) for line in made.splitlines()]
    assert len({line["id"] for line in lines}) == 200
    assert {line["meta"]["language"] for line in lines} == {"en", "de"}
    corpus = ss.read(tmp_path / "a.jsonl")
    assert {"PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "LOCATION", "ORGANIZATION", "DATE_TIME"} <= set(corpus.labels)


def test_offsets_are_those_of_the_values(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("😀 {{PERSON}}\\nשלום {{US_SSN}} e\u0301{{AGE}}.\n", encoding="utf-8")
    for one in generate(20, seed=1, templates=tmp_path / "mine.txt"):
        person, number, age = ((one.text or "")[span.start : span.end] for span in one.spans)
        assert " " in person
        assert [len(part) for part in number.split("-")] == [3, 2, 4]
        assert age.isdigit()
        assert (one.text or "").startswith(f"😀 {person}\nשלום {number} e\u0301{age}.")


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_templates_that_are_shipped(language: str) -> None:
    found = _parse((files("spanscore.generate") / "templates" / f"{language}.txt").read_text("utf-8"), language)
    assert len(set(found)) >= 60
    assert all(any(f"{{{{{kind}}}}}" in line for line in found) for kind in VALUES)
    assert language in locales()


def test_every_value_can_be_made_for_every_shipped_language() -> None:
    for locale in ("en_US", "en_GB", "de_DE", "de_AT"):
        assert len(list(generate(300, locale=locale, seed=3))) == 300


@pytest.mark.parametrize(
    ("template", "call", "words"),
    [
        ("{{WHO}}\n", (), "mine.txt:1: unknown placeholder 'WHO'"),
        ("ok\n{{PERSON\n", (), "mine.txt:2: malformed placeholder"),
        ("\n", (), "mine.txt: the file contains no templates"),
        ("ok\n", ("--locale", "xx_YY"), "there is no locale 'xx_YY'"),
        ("ok\n", ("--locale", "en_USA"), "did you mean"),
        ("ok\n", ("-n", "-1"), "must be between 0 and 10000000"),
        ("ok\n", ("-n", "9" * 23), "must be between 0 and 10000000"),
        ("ok\n", ("--locale", "en_US", "--locale", "en_US"), "is given twice"),
        ("ok\n", ("-o", "no/such/folder/x"), "cannot write this file"),
    ],
)
def test_wrong_calls(template: str, call: tuple[str, ...], words: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(template)
    assert words in run("--templates", "mine.txt", *call, cwd=tmp_path, code=2).stderr


def test_a_language_without_templates(tmp_path: Path) -> None:
    stderr = run("--locale", "fr_FR", cwd=tmp_path, code=2).stderr
    assert "there are no templates for 'fr'; use one of de, en" in stderr
