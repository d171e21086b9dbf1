"""docs/reference/formats.md says of every format what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spanscore.formats import REGISTRY
from spanscore.spec import Spec

PAGE = Path(__file__).parents[2].joinpath("docs", "reference", "formats.md").read_text(encoding="utf-8")
ROWS = {
    cells[1].strip(" `"): [cell.strip() for cell in cells[2:-1]]
    for line in PAGE.partition("## All formats")[2].partition("\n## ")[0].splitlines()
    if (cells := line.split("|"))[1:2] and cells[1].startswith(" `")
}
WORDS = {"codepoint": "code points", "utf16": "UTF-16", "byte": "bytes", "grapheme": "graphemes", "auto": "UTF-16"}


def test_the_table_has_every_format() -> None:
    assert sorted(ROWS) == REGISTRY.names()


@pytest.mark.parametrize("name", ROWS)
def test_the_row_of_a_format(name: str) -> None:
    modes, _, offsets, _ = ROWS[name]
    found = REGISTRY.find(name)
    assert modes == ("RW" if found.writes() else "R")
    convention = found().convention
    if convention is not None and not offsets.startswith(("tokens", "**none")):
        assert WORDS[convention.unit] in offsets
        assert convention.end in offsets


def test_every_spec_on_the_page_is_possible() -> None:
    names = "|".join(REGISTRY.names())
    specs = re.findall(rf"""\b((?:{names})\([a-z_]+=[^()\n]*\))""", PAGE)
    assert len(specs) > 20
    for text in specs:
        spec = Spec.parse(text.replace("NAME", "x").replace("FILE", "x"))
        known = {one.name: one for one in REGISTRY.find(spec.name).parameters()}
        for key, value in spec.arguments:
            assert key in known, text
            if value != "...":
                known[key].read(value)
