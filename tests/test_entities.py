"""Entity alignment: which source decides, and what is blind to what."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from spanscore.align.entities import align_entities

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
    assert found.label_map.to == {"PER": "PERSON"}
