"""What of the documents' text may be in what is written."""

from __future__ import annotations

import unicodedata
from typing import Literal

Text = Literal["show", "mask", "hide"]
"""All of it; its shape, letter for letter; or nothing."""


def allowed(text: str | None, how: Text) -> str | None:
    """A text as it may be written; None if it may not.

    >>> allowed("Ann Lee, 42 Élan-Straße", "mask"), allowed("Ann", "hide")
    ('Xxx Xxx, 99 Xxxx-Xxxxxx', None)
    """
    if text is None or how == "hide":
        return None
    return text if how == "show" else shape(text)


def shape(text: str) -> str:
    """Letters become X and x, digits 9; what is neither stays, so that offsets do too.

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
    """White space and punctuation, which say nothing of a person."""
    return character.isspace() or unicodedata.category(character)[0] in "PZ"


_ASCII = {code: _shape(chr(code)) for code in range(128)}
