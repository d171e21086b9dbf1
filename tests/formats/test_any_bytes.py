"""Every reader of the registry, given any bytes, returns a sound corpus or an error for users."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.mutate import PIECES, mutated
from fuzz.targets import attack, formats, lay_out, seeds, variant
from spanscore.formats import Format

EVERY = pytest.mark.parametrize("kind", formats(), ids=[one.name for one in formats()])
ALL = [seed for one in formats() for seed in seeds(one.name)]


@EVERY
def test_the_seeds_get_in(kind: type[Format], tmp_path: Path) -> None:
    """A seed that its format refuses would test little; a format without seeds of its own is only told of."""
    place = tmp_path / "seed"
    read = [attack(lay_out(seed, place), kind()) for seed in seeds(kind.name)]
    if not any(read):
        pytest.xfail("this format has no seeds that it reads; add some to fuzz/targets.py")


@EVERY
@settings(max_examples=25)
@given(pieces=st.lists(st.one_of(st.binary(max_size=12), st.sampled_from(PIECES), st.sampled_from(ALL)), max_size=6))
def test_any_bytes(kind: type[Format], pieces: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.getbasetemp() / f"any-{kind.name}"
    attack(lay_out(b"".join(pieces), place), kind())


@EVERY
def test_mutated_files(kind: type[Format], tmp_path: Path) -> None:
    rng = random.Random(kind.name)
    place = tmp_path / "input"
    for _ in range(150):
        attack(lay_out(mutated(seeds(kind.name), ALL, rng), place), variant(kind, rng))
