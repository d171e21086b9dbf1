"""CoNLL files are read many lines at once; a plain reader of the same rules, line by line, must find the same."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from spanscore.formats import conll, token_columns
from spanscore.formats.tags import SCHEMES, decode_tags

WORDS = ("Ann", "Zoë", "😀", "x", "#", "東京", "-DOCSTART", "O")


def plain(lines: list[str], separator: str, scheme: str, repair: str) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Return the text and spans of each document."""
    documents: list[list[list[tuple[str, str]]]] = []
    sentence: list[tuple[str, str]] = []
    open_, marked = False, False
    for line in [*lines, "-DOCSTART-"]:
        columns = [column.strip() for column in line.split(separator)] if separator == "\t" else line.split()
        if any(columns) and columns[0] != "-DOCSTART-":
            if not open_:
                documents.append([])
                open_ = True
            sentence.append((columns[0], columns[-1]))
            continue
        if sentence:
            documents[-1].append(sentence)
            sentence = []
        start = bool(columns) and columns[0] == "-DOCSTART-"
        if start or not marked:
            open_ = False
        marked |= start
    found = []
    for document in documents:
        text, spans = "", []
        for one in document:
            text += "\n" if text else ""
            places: list[tuple[int, int]] = []
            for word, _ in one:
                text += " " if places else ""
                places.append((len(text), len(text) + len(word)))
                text += word
            tags = [tag for _, tag in one]
            spans += [
                (places[low][0], places[high - 1][1], label)
                for low, high, label in decode_tags(tags, scheme, repair)[0]  # type: ignore[arg-type]
            ]
        found.append((text, spans))
    return found


@given(
    seed=st.integers(0, 10**6),
    scheme=st.sampled_from(sorted(SCHEMES)),
    repair=st.sampled_from(["begin", "discard"]),
    separator=st.sampled_from(["\t", " "]),
)
def test_columns_are_read_as_by_a_plain_reader(
    seed: int, scheme: str, repair: str, separator: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rng = random.Random(seed)
    tags = ["O", *(f"{prefix}-{label}" for prefix in SCHEMES[scheme].prefixes for label in ("X", "Y"))]
    lines = []
    for _ in range(rng.randrange(1, 60)):
        kind = rng.random()
        if kind < 0.1:
            lines.append(rng.choice(["", separator]))
        elif kind < 0.13:
            lines.append(f"-DOCSTART-{separator}O")
        else:
            lines.append(separator.join([rng.choice(WORDS), *(["_"] * rng.randrange(2)), rng.choice(tags)]))
    lines.append(separator.join(["end", "O"]))
    path = tmp_path_factory.mktemp("conll") / "a.conll"
    path.write_text("\n".join(lines) + rng.choice(["", "\n", "\n\n"]))
    how = f"conll(scheme={scheme}, repair={repair}, comments=none)"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conll, "BATCH", rng.randrange(1, 12))
        patch.setattr(token_columns, "CHUNK", rng.randrange(1, 20))
        read = ss.read(path, format=how)
    expected = plain(lines, separator, scheme, repair)
    found = [(one.text, [(span.start, span.end, span.label) for span in one.spans]) for one in read.documents()]
    assert found == expected
    assert [one.id for one in read.documents()] == [str(number) for number in range(1, len(expected) + 1)]


def test_lines_are_found_wherever_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conll, "BATCH", 3)
    path = tmp_path / "a.conll"
    path.write_text("a O\nb B-X\n\n# comment\nc I-X\nd Q-X\n")
    with pytest.raises(ss.SpanscoreError, match=r"a\.conll:6: the tag column does not hold a tag in IOB2"):
        ss.read(path, format="conll(scheme=IOB2)")
    path.write_text("a O\nb B-X\n\n# comment\nc I-X\nd\n")
    with pytest.raises(ss.SpanscoreError, match=r"a\.conll:6: expected a word and a tag"):
        ss.read(path, format="conll(scheme=IOB2)")
    path.write_bytes(b"a O\nb B-X\n\nc O\nd \xff\n")
    with pytest.raises(ss.SpanscoreError, match=r"a\.conll:5: byte 3 of the line is not UTF-8"):
        ss.read(path, format="conll")
    path.write_text("# a comment about -DOCSTART-\n")
    assert len(ss.read(path, format="conll")) == 0
    path.write_bytes(b"a O\r\nb B-X\r\n\r\nc O\n")
    assert [one.text for one in ss.read(path, format="conll").documents()] == ["a b", "c"]
