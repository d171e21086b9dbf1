"""Offset conventions and the doctor: spans are where their surface strings are, or the right convention is named."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from spanscore.formats.offsets import ENDS, INVALID, NEWLINES, UNITS, Convention

TEXTS = st.text(alphabet="ab \r\n\u0301é😀👩\u200d🇩🇪ש", max_size=30)
CONVENTIONS = [Convention(a, b, c, d) for a in UNITS for b in ENDS for c in (-1, 0, 1) for d in NEWLINES]


def boundaries(text: str, convention: Convention) -> list[int]:
    """The places between characters that an offset in this convention can mean."""
    grid = np.arange(len(text) + 1)
    start, end = convention.write(text, grid, grid)
    back, _ = convention.read(text, start, end if convention.end != "length" else np.zeros_like(end))
    return [int(place) for place in np.flatnonzero(back == grid)]


@given(TEXTS, st.sampled_from(CONVENTIONS), st.data())
def test_what_is_written_is_read_again(text: str, convention: Convention, data: st.DataObject) -> None:
    places = boundaries(text, convention)
    low, high = sorted(data.draw(st.tuples(st.sampled_from(places), st.sampled_from(places))))
    start, end = convention.write(text, np.array([low]), np.array([high]))
    assert [one.tolist() for one in convention.read(text, start, end)] == [[low], [high]]


@pytest.mark.parametrize(
    ("convention", "text", "offsets", "found"),
    [
        (Convention("utf16"), "a😀b", (0, 3), "a😀"),
        (Convention("byte"), "é😀b", (2, 6), "😀"),
        (Convention("grapheme"), "e\u0301x👩\u200d🔬y", (1, 3), "x👩\u200d🔬"),
        (Convention(end="inclusive"), "abc", (1, 2), "bc"),
        (Convention(end="length"), "abc", (1, 2), "bc"),
        (Convention(base=1), "abc", (2, 3), "b"),
        (Convention(newline="lf"), "a\r\nbc", (2, 4), "bc"),
        (Convention(newline="crlf"), "a\nbc", (3, 5), "bc"),
        (Convention("utf16", "inclusive", 1), "😀bc", (3, 4), "bc"),
    ],
)
def test_conventions_by_hand(convention: Convention, text: str, offsets: tuple[int, int], found: str) -> None:
    (start,), (end,) = convention.read(text, [offsets[0]], [offsets[1]])
    assert text[start:end] == found


def test_an_offset_inside_a_character_or_outside_the_text_is_invalid() -> None:
    for unit, offset in (("utf16", 2), ("byte", 3), ("codepoint", 9), ("utf16", 9)):
        assert Convention(unit).read("a😀", [offset], [offset])[0].tolist() == [INVALID]


def dataset(path: Path, convention: Convention, text: str, words: list[str]) -> Path:
    """A Presidio dataset with these words as spans, in this convention."""
    start = np.array([text.index(word) for word in words])
    end = start + [len(word) for word in words]
    places = zip(words, *(one.tolist() for one in convention.write(text, start, end)), strict=True)
    spans = [
        {"entity_type": "X", "entity_value": word, "start_position": low, "end_position": high}
        for word, low, high in places
    ]
    path.write_text(json.dumps([{"full_text": text, "spans": spans}]))
    return path


@pytest.mark.parametrize("convention", CONVENTIONS, ids=repr)
def test_the_doctor_names_the_convention_that_fits(convention: Convention, tmp_path: Path) -> None:
    text = "Max 😀 Zoë\r\nA\u030angström met\r\nAnn Lee and שרה in\nOslo"
    path = dataset(tmp_path / "a.json", convention, text, ["Max", "Zoë", "A\u030angström", "Ann Lee", "שרה", "Oslo"])
    if convention == Convention():
        assert len(ss.read(path).start) == 6
        return
    with pytest.raises(ss.InputError) as error:
        ss.read(path)
    named = re.search(r"read the file with (presidio\(.*?\))\.", str(error.value))
    assert named is not None, error.value
    found = ss.read(path, named[1])
    assert found.text is not None
    whole = found.text[0] or ""
    assert [whole[a:b] for a, b in zip(found.start, found.end, strict=True)] == [
        "Max", "Zoë", "A\u030angström", "Ann Lee", "שרה", "Oslo",
    ]  # fmt: skip


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=5))
def test_the_doctor_is_silent_about_right_spans(tmp_path_factory: Any, parts: list[tuple[str, str, str]]) -> None:
    samples = [
        {
            "full_text": before + word + after,
            "spans": [
                {
                    "entity_type": "X",
                    "entity_value": word,
                    "start_position": len(before),
                    "end_position": len(before + word),
                }
            ],
        }
        for before, word, after in parts
    ]
    path = tmp_path_factory.mktemp("right") / "a.json"
    path.write_text(json.dumps([*samples, {"full_text": "", "spans": []}]))
    assert len(ss.read(path).start) == len(parts)


def test_spans_without_surface_strings_that_begin_inside_words_are_suspicious(tmp_path: Path) -> None:
    text = "😀 Ann met Bob in Oslo and Zoë in Rome with Tom, Eve, Max and Lea"
    words = ["Ann", "Bob", "Oslo", "Zoë", "Rome", "Tom", "Eve", "Max", "Lea"]
    start = [len(text[: text.index(word)].encode("utf-16-le")) // 2 for word in words]
    spans = [{"start": at, "end": at + len(word), "label": "X"} for at, word in zip(start, words, strict=True)]
    pred = tmp_path / "pred.jsonl"
    pred.write_text(json.dumps({"id": "d", "spans": spans[:-1]}) + "\n")
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"id": "d", "text": text, "spans": []}) + "\n")
    (warning,) = ss.score(gold, pred, keep_spans=False).warnings
    assert "spanscore(unit=utf16)" in warning
    assert ss.score(gold, pred).warnings == (warning,)
    pred.write_text(json.dumps({"id": "d", "text": text, "spans": spans[:-1]}) + "\n")
    assert any("spanscore(unit=utf16)" in note for note in ss.read(pred).notes)
    right = ss.read(pred, "spanscore(unit=utf16)")
    assert [text[a:b] for a, b in zip(right.start, right.end, strict=True)] == words[:-1]
    assert not right.notes


def test_bad_spans_are_refused_left_out_or_kept(tmp_path: Path) -> None:
    good = {"entity_type": "X", "entity_value": "Ann", "start_position": 0, "end_position": 3}
    bad = {**good, "entity_value": "Bob"}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"full_text": "Ann", "spans": [one]} for one in (good, bad, good)]))
    with pytest.raises(ss.InputError, match=r"\[1\].*on_error=skip"):
        ss.read(path)
    skipped = ss.read(path, "presidio(on_error=skip)")
    assert skipped.ids == ("0", "2")
    assert "left out 1 document with 1 span" in skipped.notes[0]
    assert len(ss.read(path, "presidio(on_error=keep)").start) == 3


def test_a_zip_file_is_a_folder_and_never_leaves_it(tmp_path: Path) -> None:
    one = json.dumps([{"full_text": "Ann", "spans": []}])
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("data/a.json", one)
        archive.writestr("__MACOSX/a.json", "x")
    assert ss.read(tmp_path / "one.zip").text == ("Ann",)
    for name in ("../evil.json", "a/../../evil.json", "/evil.json", "..\\evil.json"):
        for others in ([], ["data/a.json"]):
            with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
                for inside in (*others, name):
                    archive.writestr(inside, one)
            with pytest.raises(ss.InputError, match="a member of the zip file has a path that leaves its folder"):
                ss.read(tmp_path / "evil.zip")
    (tmp_path / "bad.zip").write_bytes((tmp_path / "one.zip").read_bytes()[:60])
    with pytest.raises(ss.InputError, match="damaged"):
        ss.read(tmp_path / "bad.zip")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", b"[" + b" " * 80_000_000 + b"]")
    with pytest.raises(ss.InputError, match="--max-bytes"):
        ss.read(tmp_path / "bomb.zip")
    with zipfile.ZipFile(tmp_path / "lzma.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.json", one)
    with pytest.raises(ss.InputError, match="zip it again"):
        ss.read(tmp_path / "lzma.zip")


def test_graphemes_of_a_text_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor asks for them under many conventions, and a text may be long."""
    import regex

    asked: list[int] = []
    finditer = regex.finditer

    def counted(pattern: str, text: str) -> Any:
        asked.append(len(text))
        return finditer(pattern, text)

    monkeypatch.setattr(regex, "finditer", counted)
    for text in ("Zoe\u0308 " * 5, "Zoe\u0308 " * 5000):
        sizes = {
            Convention("grapheme", "exclusive", base, newline).size(text) for base in (0, 1) for newline in NEWLINES
        }
        assert sizes == {len(text) * 4 // 5}
    assert asked == [25, 25000]
