"""The default entity map, and what presidio-evaluator 0.3.2 knows of the same names."""

from __future__ import annotations

from importlib.metadata import version

from presidio_evaluator.entity_mapping.hierarchy import EntityHierarchy
from presidio_evaluator.models import PresidioAnalyzerWrapper

from spanscore.align.entities import _DEFAULT

ELSEWHERE = {
    "PATIENT": "the published map of 0.2.5 says PERSON; 0.3.2 reads it as the number of a patient",
    "MEDICALRECORD": "ID stands for numbers of any kind; 0.3.2 puts those of patients under PHI",
    "MEDICAL_RECORD": "as MEDICALRECORD",
    "MEDICAL_RECORD_NUMBER": "as MEDICALRECORD",
    "MRN": "as MEDICALRECORD",
    "PHONEIMEI": "Presidio has no type for devices; the number is part of a phone",
}
"""Names that 0.3.2 puts in another branch of its hierarchy than the type that we map them to, and why."""


def test_the_version() -> None:
    assert version("presidio-evaluator") == "0.3.2"


def test_0_3_2_has_no_map_of_its_own() -> None:
    # tests/test_entities.py holds ours against that of 0.2.5, the last one published
    assert not hasattr(PresidioAnalyzerWrapper, "presidio_entities_map")


def test_names_are_in_the_branch_of_their_type() -> None:
    names = EntityHierarchy().raw_to_canonical
    branches = EntityHierarchy(canonical_depth=10).canonical_to_branch

    def branch(name: str) -> str | None:
        path = branches.get(names.get(EntityHierarchy.normalize(name), ""), [])
        return path[1] if len(path) > 1 else None

    found = {name: (branch(name), branch(to)) for name, to in _DEFAULT.items() if to and branch(name) and branch(to)}
    assert len(found) > 100
    assert {name for name, (mine, of_type) in found.items() if mine != of_type} == set(ELSEWHERE)
