"""Where words begin and end, in scripts that separate them by spaces and in others."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Scripts whose words are not separated by spaces (Thai, Lao, Khmer, Burmese, Chinese, Japanese), and Korean, whose
particles are attached to names."""
PREFIXING = "\u0590-\u05ff\ufb1d-\ufb4f\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc"
"""Hebrew and Arabic, which write prepositions, conjunctions and the article as part of the word after them."""
PREFIX = (
    "(?:[והבכלמש][\u0591-\u05c7]*){1,4}|(?:[وف][\u064b-\u0652]*)?(?:[بكلس][\u064b-\u0652]*)?(?:ا[\u064b-\u0652]*ل)?"
)
"""What may be attached to the beginning of a word."""


@cache
def _ranges(listed: str) -> re.Pattern[str]:
    """Compile ranges of characters when they are first needed: it takes milliseconds, and most texts have none."""
    return re.compile(f"[{listed}]")


def _is_in(character: str, listed: str) -> bool:
    return character > "\u058f" and _ranges(listed).match(character) is not None


def is_inside(text: str, at: int) -> bool:
    """Return whether an offset is inside a word, or before a combining mark.

    >>> is_inside("Ann", 1), is_inside("Zoe\\u0308 Lee", 3), is_inside("Zoe\\u0308 Lee", 4), is_inside("東京都", 2)
    (True, True, False, False)
    """
    if not 0 < at < len(text):
        return False
    after = text[at]
    if _is_mark(after):
        return True
    if not after.isalnum():
        return False
    before = at - 1
    while before and _is_mark(text[before]):
        before -= 1
    return text[before].isalnum() and not (_is_in(after, UNSPACED) or _is_in(text[before], UNSPACED))


def is_cut(text: str, low: int, high: int) -> bool:
    """Return whether a span begins or ends inside a word; it may begin after an attached prefix.

    >>> is_cut("Alexandria", 0, 4), is_cut("בתל אביב", 1, 8), is_cut("בתל אביב", 1, 7)
    (True, False, True)
    """
    begins = is_inside(text, low) and not (_is_in(text[low - 1], PREFIXING) and not _is_mark(text[low]))
    return begins or is_inside(text, high)


def _is_mark(character: str) -> bool:
    return character > "\u02ff" and unicodedata.category(character)[0] == "M"
