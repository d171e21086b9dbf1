from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

import spanscore as ss
from formats.awkward import detected, spans
from spanscore.formats import REGISTRY

POS = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue"
ENTITY = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value"
DOCUMENTED = f"""#FORMAT=WebAnno TSV 3.3
{POS}
{ENTITY}
#T_RL=de.tudarmstadt.ukp.dkpro.core.api.syntax.type.dependency.Dependency|DependencyType|BT_de.tudarmstadt.POS


#Text=Ms. Haag plays 😊 Elianti .
1-1\t0-3\tMs.\tNNP\t*[1]|*[2]\tPER[1]|PERpart[2]\tSUBJ\t1-3\t
1-2\t4-8\tHaag\tNNP\t*[1]\tPER[1]\tSBJ\t1-3\t
1-3\t9-14\tplays\tVBD\t_\t_\tP|ROOT\t1-5|1-3\t
1-4\t15-17\t😊\t_\t_\t_\t_\t_\t
1-5\t18-25\tElianti\tNNP\thttp://x/Q\\_1\tOTH\\_er\tOBJ\t1-3\t
1-6\t26-27\t.\t.\t_\t_\t_\t_\t

#Sentence.id=s2
#Text=Zoe\u0308\\r
#Text=שלום דוד.
2-1\t28-32\tZoe\u0308\tNNP\t_\t_\t_\t_\t
2-2\t34-38\tשלום\tNNP\t_\t_\t_\t_\t
2-3\t39-42\tדוד\tNNP\t*[3]\tPER[3]\t_\t_\t
2-3.1\t39-40\tד\t_\t*\tpart\t_\t_\t
2-4\t42-43\t.\t.\t*[3]\tPER[3]\t_\t_\t
"""
TEXT = "Ms. Haag plays 😊 Elianti .\nZoe\u0308\r\nשלום דוד."


def test_the_layout_of_the_documentation(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.tsv"
    path.write_text(DOCUMENTED)
    assert detected(path) == "webanno"
    read = ss.read(path)
    (document,) = read.documents()
    assert (document.id, document.text) == ("a.txt", TEXT)
    assert [(TEXT[span.start : span.end], span.label) for span in document.spans] == [
        ("Ms. Haag", "PER"),
        ("Ms.", "PERpart"),
        ("Elianti", "OTH_er"),
        ("דוד.", "PER"),
        ("ד", "part"),
    ]
    assert [TEXT[start:end] for start, end in document.tokens or ()] == [
        *("Ms.", "Haag", "plays", "😊", "Elianti", ".", "Zoe\u0308", "שלום", "דוד", "."),
    ]
    assert any("left out: layers of chains or relations (1)" in note for note in read.notes)


def test_files_with_crlf_and_in_zip_files(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(DOCUMENTED.replace("\n", "\r\n").encode())
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(path, "doc1.txt/ann.tsv")
        archive.write(path, "doc2.txt/ann.tsv")
    read = ss.read(tmp_path / "a.zip")
    assert list(read.ids) == ["doc1.txt/ann", "doc2.txt/ann"]
    assert [document.text for document in read.documents()] == [TEXT, TEXT]


def test_layers_and_features_are_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(DOCUMENTED)
    assert len(spans(ss.read(path, "webanno(layer=POS)"))) == 9
    assert spans(ss.read(path, "webanno(feature=identifier)"))[2][2] == "http://x/Q_1"
    with pytest.raises(
        ss.InputError, match=r"choose one of the layers \(de.*POS, de.*NamedEntity\) with webanno\(layer="
    ):
        ss.read(path, "webanno(layer=Foo)")
    path.write_text(DOCUMENTED.replace("|identifier|value", "|a|b"))
    with pytest.raises(ss.InputError, match=r"choose one of the features \(a, b\) with webanno\(feature=NAME\)"):
        ss.read(path)


def test_escapes_and_bars(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    body = "#FORMAT=WebAnno TSV 3.2\n#T_SP=webanno.custom.X|v\n\n\n#Text=a\\\\b\\tc\n1-1\t0-5\ta\\\\b\\tc\ty\\|z\\[1\\][4]|w\\->\\*[5]\t\n"
    path.write_text(body)
    read = ss.read(path)
    assert spans(read) == [(0, 5, "y|z[1]"), (0, 5, "w->*")]
    assert read.text is not None
    assert read.text[0] == "a\\b\tc"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("1-2\t4-8", "1-2\t4"), "a.tsv:9: expected a token line"),
        (("\tPER[3]\t_\t_\t\n2-3.1", "\n2-3.1"), "the line has 5 columns, but the header needs 6"),
        (("2-1\t28-32", "2-1\t20-32"), "a.tsv:18: the sentence begins before the end"),
        (
            ("1-1\t0-3", "1-1\t2147483648-3"),
            "a.tsv:8: 2,147,483,648 characters are missing before this place, more than",
        ),
        (("18-25\tElianti", "17-24\tElianti"), "is not where its surface string is|not where the offsets say"),
    ],
)
def test_broken_files(changed: tuple[str, str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    assert changed[0] in DOCUMENTED
    path.write_text(DOCUMENTED.replace(*changed))
    with pytest.raises(ss.InputError, match=message):
        ss.read(path)


@pytest.mark.parametrize(
    "option", ["unit=codepoint", "unit=byte", "unit=grapheme", "base=1", "end=inclusive", "end=length"]
)
def test_other_conventions_are_named_and_read(option: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(DOCUMENTED, newline="")
    right = ss.read(path)
    shifted = REGISTRY.make(f"webanno({option})").convention
    usual = REGISTRY.make("webanno").convention
    assert shifted is not None
    assert usual is not None

    def moved(found: re.Match[str]) -> str:
        low, high = usual.read(TEXT, [int(found[1])], [int(found[2])])
        start, end = shifted.write(TEXT, low, high)
        return f"\t{start[0]}-{end[0]}\t"

    path.write_text(re.sub(r"\t(\d+)-(\d+)\t(?!\t)", moved, DOCUMENTED), newline="")
    if option != "base=1":  # which looks like a blank before the text
        with pytest.raises(ss.InputError, match=rf"read the file with webanno\({option}\)"):
            ss.read(path)
    read = ss.read(path, f"webanno({option})")
    assert read.text == (TEXT,)
    assert spans(read) == spans(right)
