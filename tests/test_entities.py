"""Entity alignment: which source decides, and what is blind to what."""

from __future__ import annotations

import pytest

from spanscore.align.entities import align_entities


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
    ],
)
def test_the_default_map(label: str, to: str) -> None:
    assert align_entities([label], supported=[]).gold[0].to == to


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
