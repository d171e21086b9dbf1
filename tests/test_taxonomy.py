"""The taxonomy: what labels mean, what a user's file changes, and credit for related types."""

from __future__ import annotations

import pickle
from importlib.resources import files
from pathlib import Path

import pytest

import spanscore as ss
from spanscore.align.taxonomy import LEVELS, Taxonomy, built_in, key_of, levels_of
from spanscore.measures.weights import weights

SETS = {
    "Presidio": 101,
    "presidio-evaluator": 387,
    "i2b2": 35,
    "NLP Sandbox": 30,
    "MEDDOCAN": 30,
    "TAB": 8,
    "ai4privacy": 96,
    "Nemotron-PII": 55,
    "Gretel": 51,
    "CoNLL-2003": 4,
    "OntoNotes": 18,
    "GLiNER-PII": 84,
    "AWS": 36,
    "Azure": 200,
    "GCP DLP": 210,
}
"""Label sets, and how many labels their sources list."""


def test_every_label_set_is_known_completely() -> None:
    found = built_in().label_sets
    assert {name: len(labels) for name, labels in found.items()} == SETS
    assert all(built_in().resolve(label).type for labels in found.values() for label in labels)


def test_every_label_set_names_its_source() -> None:
    lines = (files("spanscore.align") / "taxonomy.tsv").read_text("utf-8").splitlines()
    rows = [line.removeprefix("# ").split("\t") for line in lines if line.startswith("# ") and "\t" in line]
    assert [name for name, _, _ in rows] == list(SETS)
    assert {compared for _, compared, _ in rows} == {"publisher", "copies"}
    assert all(source for _, _, source in rows)


def test_types_have_one_branch_and_plain_names() -> None:
    for kind, branch in built_in().types.items():
        assert kind == kind.upper()
        assert branch in built_in().types
        assert built_in().resolve(kind) == (kind, branch, "exact")


@pytest.mark.parametrize(
    ("label", "kind", "branch", "why"),
    [
        ("PERSON", "PERSON", "PERSON", "exact"),
        ("per", "PERSON", "PERSON", "alias"),
        ("First-Name", "FIRST_NAME", "PERSON", "exact"),
        ("firstName", "FIRST_NAME", "PERSON", "exact"),
        ("GIVENNAME1", "FIRST_NAME", "PERSON", "alias"),
        ("date of birth", "DATE_OF_BIRTH", "DATE_TIME", "exact"),
        ("driver's license number", "DRIVER_LICENSE", "GOVERNMENT_ID", "alias"),
        ("US_SSN", "SOCIAL_SECURITY_NUMBER", "GOVERNMENT_ID", "country prefix"),
        ("USSocialSecurityNumber", "SOCIAL_SECURITY_NUMBER", "GOVERNMENT_ID", "country prefix"),
        ("de-passport", "PASSPORT", "GOVERNMENT_ID", "country prefix"),
        ("NEW_ZEALAND_DRIVERS_LICENSE", "DRIVER_LICENSE", "GOVERNMENT_ID", "country prefix"),
        ("United Arab Emirates passport number", "PASSPORT", "GOVERNMENT_ID", "country prefix"),
        ("FRCPFNumber", "TAX_ID", "GOVERNMENT_ID", "country prefix"),
        ("UK_DRIVING_LICENCE", "DRIVER_LICENSE", "GOVERNMENT_ID", "country prefix"),
        ("SE_PERSONNUMMER", "NATIONAL_ID", "GOVERNMENT_ID", "country prefix"),
        ("TAIWAN_ID_NUMBER", "NATIONAL_ID", "GOVERNMENT_ID", "alias"),
        ("passport expiration date", "DATE", "DATE_TIME", "alias"),
        ("NOMBRE_SUJETO_ASISTENCIA", "PERSON", "PERSON", "alias"),
        ("PHI", "PHI", "PHI", "exact"),
        ("PII", "PII", "PII", "exact"),
        ("TO_DATE", None, None, "none"),  # not a date of Tonga
        ("INNAME", None, None, "none"),
        ("castle", None, None, "none"),
        ("", None, None, "none"),
        ("—", None, None, "none"),
    ],
)
def test_labels(label: str, kind: str | None, branch: str | None, why: str) -> None:
    assert built_in().resolve(label) == (kind, branch, why)


def test_levels() -> None:
    assert [built_in().at(level, "zip") for level in LEVELS] == ["PII", "LOCATION", "POSTAL_CODE", "zip"]
    assert [built_in().at(level, "castle") for level in LEVELS] == ["PII", "castle", "castle", "castle"]
    assert levels_of("type,pii") == ("pii", "type")
    for wrong in ("kind", "", " , "):
        with pytest.raises(ss.UsageError, match="level"):
            levels_of(wrong)


def test_keys_of_odd_labels() -> None:
    assert key_of("a_b-c d.E") == "ABCDE"
    assert key_of("名前") == "名前"
    assert key_of("__") == "__"


def file(folder: Path, text: str) -> Path:
    path = folder / "types.tsv"
    path.write_text(text, "utf-8")
    return path


def test_a_file_extends(tmp_path: Path) -> None:
    mine = Taxonomy.read(file(tmp_path, "# mine\nPLACE\tCASTLE\tours\tcastle_name Burg\nPERSON\tPERSON\tnpc\n"))
    assert mine.resolve("CastleName") == ("CASTLE", "PLACE", "alias")
    assert mine.resolve("NPC").type == "PERSON"
    assert mine.resolve("zip") == built_in().resolve("zip")
    assert mine.label_sets["ours"] == ("Burg", "castle_name")
    assert mine.digest != built_in().digest


def test_a_file_moves_labels_and_types(tmp_path: Path) -> None:
    mine = Taxonomy.read(file(tmp_path, "PLACE\tCITY\tzip\n"))
    assert mine.resolve("CITY") == ("CITY", "PLACE", "exact")
    assert mine.resolve("zip") == ("CITY", "PLACE", "alias")
    assert mine.resolve("postcode").type == "POSTAL_CODE"


def test_a_file_replaces(tmp_path: Path) -> None:
    mine = Taxonomy.read(file(tmp_path, "!replace\nPLACE\tCASTLE\tBurg\n"))
    assert (mine.branches, dict(mine.types)) == (("PLACE",), {"CASTLE": "PLACE"})
    assert mine.resolve("zip").why == "none"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("PLACE CASTLE\n", "types.tsv:1: expected columns separated by tabs"),
        ("PLACE\t\tBurg\n", "types.tsv:1: expected columns separated by tabs"),
        ("A\tX\tq\nB\tX\tr\n", "types.tsv:2: the type 'X' is in two branches"),
        ("A\tX\tq\nA\tY\tQ\n", "types.tsv:2: the label 'Q' has two types"),
        ("!replace\n# nothing\n", "the taxonomy is empty"),
        ("", "the taxonomy is empty"),
    ],
)
def test_wrong_files(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(ss.InputError, match=what):
        Taxonomy.read(file(tmp_path, text))


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ss.InputError, match="cannot read the taxonomy"):
        Taxonomy.read(tmp_path / "none.tsv")
    (tmp_path / "latin.tsv").write_bytes(b"A\tX\t\xe9\n")
    with pytest.raises(ss.InputError, match="not valid UTF-8"):
        Taxonomy.read(tmp_path / "latin.tsv")


def test_settings_build_it_again(tmp_path: Path) -> None:
    assert built_in().setting() is None
    for text in ("PLACE\tCASTLE\tours\tBurg\n", "!replace\nPLACE\tCASTLE\tBurg\n"):
        mine = Taxonomy.read(file(tmp_path, text))
        again = Taxonomy.of(mine.setting())
        assert (again, again.digest) == (mine, mine.digest)
        assert pickle.loads(pickle.dumps(mine)) == mine


def test_weights_of_related_types() -> None:
    related = weights("taxonomy(decay=0.5)")
    assert related is not None
    pairs = {
        ("FIRSTNAME", "GIVENNAME"): 1.0,
        ("FIRSTNAME", "PER"): 0.5,
        ("FIRSTNAME", "PII"): 0.25,
        ("PERSON", "PII"): 0.5,
        ("PERSON", "FIRSTNAME"): 0.0,  # a system that says more than the gold data gets nothing
        ("FIRSTNAME", "LASTNAME"): 0.0,
        ("castle", "castle"): 1.0,
        ("castle", "Castle"): 0.0,
        ("castle", "PII"): 0.0,
    }
    assert {pair: related(*pair) for pair in pairs} == pairs


def test_credit_for_related_types(tmp_path: Path) -> None:
    gold = ss.Corpus.from_arrays(["d"], [0, 0, 0], [0, 5, 9], [4, 8, 12], ["FIRSTNAME", "CITY", "DATE"])
    pred = ss.Corpus.from_arrays(["d"], [0, 0, 0], [0, 5, 9], [4, 8, 12], ["PERSON", "STATE", "date"])

    def recall(weight: str) -> float:
        return ss.score(gold, pred, f'sets(key=span+type, type_weights="{weight}")').scores[0].recall

    assert recall("none") == 0
    assert recall("taxonomy") == recall("taxonomy(decay=0.5)") == pytest.approx(1.5 / 3)
    assert recall("taxonomy(decay=0.1)") == pytest.approx(1.1 / 3)
    mine = file(tmp_path, "PLACE\tCITY\tCITY STATE\n")
    mine_weights = f"taxonomy(decay=0, file={mine})"
    assert recall(mine_weights) == pytest.approx(2 / 3)


@pytest.mark.parametrize("wrong", ["taxonomy(decay=2)", "taxonomy(decay=x)", "taxonomy(depth=1)", "taxonomyx"])
def test_wrong_weights(wrong: str) -> None:
    with pytest.raises(ss.UsageError):
        ss.measure(f'sets(key=span+type, type_weights="{wrong}")')
