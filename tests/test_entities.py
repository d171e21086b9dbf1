"""Entity alignment: which source decides, and what is blind to what."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from spanscore.align.entities import DEFAULT, SUPPORTED, UNMAPPED, USER, align_entities

PUBLISHED = dict(
    line.split("\t") for line in Path(__file__).with_name("presidio_entities_map.tsv").read_text().splitlines()
)
"""`PresidioAnalyzerWrapper.presidio_entities_map` as presidio-evaluator 0.2.0 to 0.2.5 published it; 0.3 removed it."""


@pytest.mark.parametrize(
    ("label", "to"),
    [
        ("PER", "PERSON"),
        ("First_Name", "PERSON"),
        ("GPE", "LOCATION"),
        ("street-address", "LOCATION"),
        ("Street Address", "LOCATION"),
        ("PHONE", "PHONE_NUMBER"),
        ("iban", "IBAN_CODE"),
        ("DATE", "DATE_TIME"),
        ("ssn", "US_SSN"),
        ("ZIP", "ZIP_CODE"),
        ("postal code", "ZIP_CODE"),
        ("HOSP", "ORGANIZATION"),
    ],
)
def test_the_default_map(label: str, to: str) -> None:
    assert align_entities([label], supported=[]).gold[0].to == to


def test_every_name_of_the_published_map_has_the_published_type() -> None:
    found = {one.label: one for one in align_entities(PUBLISHED, supported=[]).gold}
    no_entity = found.pop("O")
    assert (no_entity.to, no_entity.unmapped) == (None, False)  # the published O: O says that a token is no entity
    assert {label: one.to for label, one in found.items()} == {k: v for k, v in PUBLISHED.items() if k != "O"}


def test_names_that_the_published_map_lacks_are_listed_with_a_reason() -> None:
    table = (files("spanscore.align") / "presidio.tsv").read_text("utf-8")
    lines = [line.split("\t") for line in table.splitlines()]
    published = {
        name: to for to, names, source in lines if source == "presidio-evaluator 0.2.5" for name in names.split()
    }
    assert published == PUBLISHED
    added = [
        name for _, names, source in lines if source != "presidio-evaluator 0.2.5" and source for name in names.split()
    ]
    assert not set(added) & set(PUBLISHED)
    assert len(added) == len(set(added)) == sum(len(names.split()) for _, names, _ in lines) - len(PUBLISHED)


def test_the_first_source_that_knows_a_type_decides() -> None:
    found = align_entities(
        ["PER", "burg", "robot", "castle", "nobody", "mine"],
        user={"Mine": "PERSON", "castle": None},
        from_model={"PER": "SOMEBODY", "BURG": "CASTLE"},
        from_recognizers=["ROBOT"],
        supported=["CASTLE", "ROBOT"],
    )
    assert {one.label: one.to for one in found.gold} == {
        "PER": "PERSON",
        "burg": "CASTLE",
        "castle": None,
        "mine": "PERSON",
        "nobody": None,
        "robot": "ROBOT",
    }
    assert found.unmapped == ("nobody",)


def test_a_detector_that_does_not_say_what_it_supports() -> None:
    found = align_entities(["STATUTE", "PER"], ["STATUTE", "PERSON"])
    assert [one.to for one in found.gold] == ["PERSON", "STATUTE"]
    assert not found.unmapped
    assert found.gold_map.to == {"PER": "PERSON"}
    assert found.pred_map.to == {}


def test_the_users_map_of_one_side_wins_over_that_of_both() -> None:
    found = align_entities(
        ["PER", "ORG", "DATE"],
        ["PER", "ORG", "DATE"],
        user={"per": "CLIENT", "PER": "WHO", "DATE": None},
        user_gold={"Per": "STAFF", "DATE": "DAY"},
        user_pred={"ORG": None},
        supported=[],
    )
    assert {one.label: (one.to, one.why) for one in found.gold} == {
        "DATE": ("DAY", USER),
        "ORG": ("ORGANIZATION", DEFAULT),
        "PER": ("STAFF", USER),
    }
    assert {one.label: (one.to, one.why) for one in found.pred} == {
        "DATE": (None, USER),
        "ORG": (None, USER),
        "PER": ("WHO", USER),
    }


def test_an_unknown_type_of_both_sides_is_left_out_on_both_unless_a_map_has_it() -> None:
    found = align_entities(["CASTLE"], ["CASTLE", "ROBOT"], supported=["PERSON"])
    assert found.unmapped == ("CASTLE",)
    assert [(one.to, one.why) for one in found.pred] == [(None, UNMAPPED), ("ROBOT", SUPPORTED)]
    found = align_entities(["CASTLE"], ["CASTLE"], user_gold={"CASTLE": "LOCATION"}, supported=["PERSON"])
    assert (found.gold_map.to, found.pred_map.to) == ({"CASTLE": "LOCATION"}, {})
    found = align_entities(["CASTLE"], ["CASTLE"], user_pred={"CASTLE": "LOCATION"}, supported=["PERSON"])
    assert (found.unmapped, found.pred_map.to) == (("CASTLE",), {"CASTLE": "LOCATION"})
