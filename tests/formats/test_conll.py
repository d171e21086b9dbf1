"""CoNLL files as people have them: comments, number columns, gold and guess in one file, odd tags, odd segmentation."""

from __future__ import annotations

from pathlib import Path

import pytest

import spanscore as ss
from calls import run

GERMEVAL = (
    "#\thttp://de.wikipedia.org/wiki/Manfred_Korfmann\t[2009-10-17]\n"
    "1\tAufgrund\tO\tO\n2\tTroia\tB-LOC\tO\n3\tund\tO\tO\n\n"
    "#\thttp://de.wikipedia.org/wiki/Some\t[2010-01-16]\n1\tBerlin\tB-LOC\tB-ORG\n"
)
SEQSCORE = "# Comment\n# Another comment line\nThis O\nis O\n\n# More\nUniversity B-ORG\nof I-ORG\n"


def spans(corpus: ss.Corpus) -> list[tuple[str, str, str]]:
    return [(str(d.id), (d.text or "")[s.start : s.end], s.label) for d in corpus.documents() for s in d.spans]


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_comments_never_become_spans(tmp_path: Path) -> None:
    corpus = ss.read(write(tmp_path / "g.tsv", GERMEVAL), "conll(word=1, column=2)")
    assert spans(corpus) == [("1", "Troia", "LOC"), ("2", "Berlin", "LOC")]
    assert corpus.notes == (f"{tmp_path / 'g.tsv'}: 2 comment lines skipped.",)
    inner = ss.read(tmp_path / "g.tsv", "conll", word=1, column=3)
    assert spans(inner) == [("2", "Berlin", "ORG")]
    corpus = ss.read(write(tmp_path / "s.bio", SEQSCORE))
    assert (corpus.format, spans(corpus)) == ("conll", [("2", "University of", "ORG")])
    assert corpus.labels == ("ORG",)


def test_a_hash_sign_with_a_tag_is_a_token(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "# O\n1 B-RANK\n")
    assert ss.read(path).text == ("# 1",)
    assert ss.read(path, "conll(comments=all)").text == ("1",)


def test_gold_and_guess_in_one_file(tmp_path: Path) -> None:
    write(tmp_path / "eval.txt", "EU NNP B-ORG B-ORG\nrejects VB O B-MISC\nGerman JJ B-MISC O\n")
    out, _ = run(
        "score",
        "eval.txt",
        "eval.txt",
        "-m",
        "exact",
        "--gold-format",
        "conll(column=-2)",
        "--pred-format",
        "conll(column=-1)",
        "--format",
        "csv",
        "-q",
        cwd=tmp_path,
    )
    assert out.splitlines()[1].split(",")[3:6] == ["0.5", "0.5", "0.5"]


def test_offsets_in_columns_are_not_neleval(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "Ann\t0\t3\tB-PER\nLee\t4\t7\tI-PER\nsaw\t8\t11\tO\n")
    assert (ss.read(path).format, spans(ss.read(path))) == ("conll", [("1", "Ann Lee", "PER")])


def test_a_bracket_and_a_tab_are_not_json(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "[\t[\tO\nAnn\tAnn\tB-PER\n]\t]\tO\n")
    assert (ss.read(path).format, spans(ss.read(path))) == ("conll", [("1", "Ann", "PER")])
    path = write(tmp_path / "b.tsv", "[\t1\tO\nAnn\t2\tB-PER\n")
    assert ss.read(path).format == "conll"


def test_the_prefix_may_stand_last_and_the_type_may_be_missing(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "the NP-B\ncat NP-I\nsat VP-B\n. O\n")
    assert spans(ss.read(path)) == [("1", "the cat", "NP"), ("1", "sat", "VP")]
    path = write(tmp_path / "b.conll", "Ann B\nLee I\nsaw O\n")
    assert spans(ss.read(path)) == [("1", "Ann Lee", "ENTITY")]


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        ("I-A I-A B-A O", "IOB1"),
        ("B-A I-A B-A O", "IOB2"),
        ("I-A E-A I-A O", "IOE1"),
        ("I-A E-A E-A O", "IOE2"),
        ("B-A E-A S-A O", "IOBES"),
        ("B-A L-A U-A O", "BILUO"),
        ("B-A M-A E-A S-B", "BMES"),
        ("B-A M-A E-A W-B", "BMEOW"),
        ("A A O B", "IO"),
    ],
)
def test_schemes_are_recognised(tags: str, scheme: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "".join(f"w {tag}\n" for tag in tags.split()))
    assert spans(ss.read(path)) == spans(ss.read(path, "conll", scheme=scheme))
    assert not ss.read(path).notes


def test_a_column_without_tags_is_refused_with_the_columns_and_what_they_hold(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "".join(f"{i} word{i} B-PER N{i}N\n" for i in range(30)))
    with pytest.raises(ss.InputError) as error:
        ss.read(path, "conll")
    said = str(error.value)
    assert "column -1 does not hold tags (column 0: numbers; 1: 30 different values; 2: tags in IOB2; 3: 30" in said
    assert "word7" not in said
    assert len(ss.read(path, "conll(column=2, word=1)").start) == 30


@pytest.mark.parametrize("tag", ["I-", "B-", "-PER"])
def test_a_tag_without_a_label_is_refused_with_its_line(tag: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", f"Ann B-PER\nOslo {tag}\n")
    with pytest.raises(ss.InputError, match="a.conll:2: the tag column does not hold a tag"):
        ss.read(path, "conll(scheme=IOB2)")


def test_strict_reading_keeps_only_what_the_scheme_allows(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "a B-A\nb I-A\nc S-A\n")
    assert spans(ss.read(path, "conll(scheme=IOBES, repair=discard)")) == [("1", "c", "A")]
    assert ss.read(path, "conll(scheme=IOBES, mode=strict)").notes == (
        f"{path}: 1 transition is not legal in IOBES; only legal spans were kept (repair=discard).",
    )
    assert spans(ss.read(path, "conll(scheme=IOBES)")) == [("1", "a b", "A"), ("1", "c", "A")]


def test_files_split_differently_say_how_many_documents_there_are(tmp_path: Path) -> None:
    sentence = "Ann B-PER\nsaw O\n\n"
    write(tmp_path / "gold.conll", "".join("-DOCSTART- O\n\n" + sentence * 10 for _ in range(3)))
    write(tmp_path / "pred.conll", sentence * 30)
    _, error = run("score", "gold.conll", "pred.conll", cwd=tmp_path, code=2)
    assert "30 documents against 3 in the gold data: the files are split differently" in error
    _, error = run("score", "pred.conll", "gold.conll", cwd=tmp_path, code=2)
    assert "3 documents against 30 in the gold data: the files are split differently" in error
    assert "at character" not in error


def test_words_can_be_ignored(tmp_path: Path) -> None:
    write(tmp_path / "gold.conll", "Ann B-PER\nLee I-PER\nsaw O\n")
    write(tmp_path / "pred.conll", "Anne B-PER\nleee I-PER\n<unk> O\n")
    both = ("--gold-format", "conll(words=ignore)", "--pred-format", "conll(words=ignore)")
    out, _ = run("score", "gold.conll", "pred.conll", *both, "-m", "exact", "-q", cwd=tmp_path)
    assert "1.000   1.000   1.000" in out
    _, error = run("score", "gold.conll", "pred.conll", *both[2:], cwd=tmp_path, code=2)
    assert "the offsets count tokens, but those of the gold data characters; read both in the same way" in error


@pytest.mark.parametrize("suffix", ["jsonl", "conll"])
def test_an_empty_prediction_file_is_legal_if_its_format_is_named(suffix: str, tmp_path: Path) -> None:
    write(tmp_path / "gold.conll", "Ann B-PER\n")
    write(tmp_path / "pred", "")
    form = {"jsonl": "spanscore", "conll": "conll"}[suffix]
    out, said = run("score", "gold.conll", "pred", "--pred-format", form, "-m", "exact", cwd=tmp_path)
    assert "1 gold document without output" in said
    assert "–   0.000   0.000" in out
    _, error = run("score", "gold.conll", "pred", cwd=tmp_path, code=2)
    assert "the file is empty" in error
    _, error = run("score", "pred", "gold.conll", "--gold-format", form, cwd=tmp_path, code=2)
    assert "there is no document to score" in error or "not in the gold data" in error


NUMBERED = (
    "#\thttp://de.wikipedia.org/x [2009-10-17]\n1\tSchartau\tB-PER\tO\n2\tsagte\tO\tO\n\n#\ty\n1\tZoe\u0308\tO\tB-PER\n"
)


def test_a_column_of_running_numbers_is_not_the_words(tmp_path: Path) -> None:
    """GermEval numbers the tokens of each sentence in the first column."""
    path = tmp_path / "a.tsv"
    path.write_text(NUMBERED)
    with pytest.raises(ss.InputError, match=r"a.tsv:2: the first column numbers.*conll\(word=1, column=2\)"):
        ss.read(path)
    assert ss.read(path, "conll(word=1, column=2)").text == ("Schartau sagte", "Zoe\u0308")
    assert ss.read(path, "conll(word=0)").text == ("1 2", "1")
    path.write_text("1\tCD\tO\n2\tCD\tB-X\n\n7\tCD\tO\n")
    assert ss.read(path).text == ("1 2", "7")
