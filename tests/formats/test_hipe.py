from __future__ import annotations

from pathlib import Path

import pytest

import spanscore as ss
from formats.awkward import detected, spans

HEADER = (
    "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\tNE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC"
)


def row(token: str, tag: str = "O", fine: str = "O", link: str = "_", misc: str = "_") -> str:
    return f"{token}\t{tag}\tO\t{fine}\tO\tO\tO\t{link}\t_\t{misc}"


DOCUMENTED = "\n".join(
    [
        HEADER,
        "# hipe2022:document_id = NZZ-1798-01-20",
        "# hipe2022:date = 1798-01-20",
        "# hipe2022:language = de",
        "# hipe2022:applicable_columns = TOKEN NE-COARSE-LIT",
        row("#"),
        row("Zoe\u0308", "B-pers", "B-pers.ind", "Q1"),
        row("Å", "I-pers", "I-pers.ind", "Q1", "NoSpaceAfter"),
        row(",", misc="EndOfLine|EndOfSentence"),
        "",
        row("😀", misc="EndOfLine"),
        row("דוד", "B-loc", "B-loc.adm.town", "NIL", "NoSpaceAfter"),
        row("."),
        "",
        "# hipe2022:document_id = b",
        row("none"),
        "",
    ]
)
TEXT = "# Zoe\u0308 Å,\n😀\nדוד."


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_layout_of_the_documentation(newline: str, tmp_path: Path) -> None:
    path = tmp_path / "HIPE-2022-v2.1-hipe2020-dev-de.tsv"
    path.write_bytes(DOCUMENTED.replace("\n", newline).encode())
    assert detected(path) == "hipe"
    read = ss.read(path)
    first, second = read.documents()
    assert (first.id, first.text, second.id, second.text) == ("NZZ-1798-01-20", TEXT, "b", "none")
    assert [(TEXT[span.start : span.end], span.label, span.attrs) for span in first.spans] == [
        ("Zoe\u0308 Å", "pers", {"kbid": "Q1"}),
        ("דוד", "loc", {"kbid": "NIL"}),
    ]
    assert first.meta == {"date": "1798-01-20", "language": "de"}


def test_columns_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(DOCUMENTED)
    assert [label for _, _, label in spans(ss.read(path, "hipe(column=NE-FINE-LIT)"))] == ["pers.ind", "loc.adm.town"]
    with pytest.raises(ss.InputError, match="There is no column 'NE-FINE'; did you mean 'NE-FINE-LIT'"):
        ss.read(path, "hipe(column=NE-FINE)")


def test_blank_lines_separate_documents_without_ids(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("\n".join([HEADER, "# language = fr", row("a"), "", row("b", "B-loc"), row("c", "I-loc"), ""]))
    read = ss.read(path)
    assert [(document.id, document.text) for document in read.documents()] == [("0", "a"), ("1", "b c")]
    assert spans(read) == [(0, 3, "loc")]


def test_a_line_with_too_few_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(f"{HEADER}\nword\tO\n")
    with pytest.raises(ss.InputError, match="a.tsv:2: the line has 2 columns, but the header names 10"):
        ss.read(path)
