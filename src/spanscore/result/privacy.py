"""Masking and hiding of document text in the output."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spanscore.arguments import Text


def allowed(text: str | None, how: Text) -> str | None:
    """Return the text as it may be written; None if it must be hidden.

    >>> allowed("Ann Lee, 42 Élan-Straße", "mask"), allowed("Ann", "hide")
    ('Xxx Xxx, 99 Xxxx-Xxxxxx', None)
    """
    if text is None or how == "hide":
        return None
    return text if how == "show" else shape(text)


LONGEST = 1000
"""Characters of a span's text in lists of spans; nested spans would repeat the text of a document many times."""


def excerpt(text: str | None, how: Text) -> str | None:
    """Return the text of a span as it may be written, without the middle of a very long one.

    >>> len(excerpt("a" * 5000, "show")), excerpt("Ann", "mask")
    (1000, 'Xxx')
    """
    if text is None or how == "hide":
        return None
    if len(text) > LONGEST:
        half = LONGEST // 2
        text = f"{text[:half]}…{text[1 - half :]}"
    return text if how == "show" else shape(text)


def shape(text: str) -> str:
    """Replace letters with X or x and digits with 9; keep everything else, and with it all offsets.

    >>> shape("MRN 0042-b 山田 ٣")
    'XXX 9999-x xx 9'
    """
    if text.isascii():
        return text.translate(_ASCII)
    return "".join(map(_shape, text))


def _shape(character: str) -> str:
    if character.isdecimal() or character.isdigit() or (character.isnumeric() and not character.isalpha()):
        return "9"
    if character.isupper() or character.istitle():
        return "X"
    return "x" if character.isalnum() or (not character.isascii() and not _plain(character)) else character


def _plain(character: str) -> bool:
    """Return whether a character is whitespace or punctuation, which reveals nothing about a person."""
    return character.isspace() or unicodedata.category(character)[0] in "PZ"


_ASCII = {code: _shape(chr(code)) for code in range(128)}
