"""Tokenizers by name; each one returns the positions of the tokens in a text."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from spanscore.errors import MissingExtraError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Tokenizer = Callable[[str], Iterable[tuple[int, int]]]

NAMES = ("words", "whitespace", "treebank", "spacy:LANG")


@cache
def tokenizer(name: str) -> Tokenizer:
    """Return a tokenizer by name.

    `words` finds runs of word characters and every other visible character by itself; `whitespace` splits at
    whitespace; `treebank` is NLTK's (extra `treebank`); `spacy:LANG` is spaCy's for a language (extra `spacy`).

    >>> list(tokenizer("words")("Jon's, U.S.")), list(tokenizer("whitespace")("Jon's, U.S."))
    ([(0, 3), (3, 4), (4, 5), (5, 6), (7, 8), (8, 9), (9, 10), (10, 11)], [(0, 6), (7, 11)])
    """
    cut = tokenizer_with_blanks(name)
    if not name.startswith("spacy:"):
        return cut
    return lambda text: (place for place in cut(text) if not text[slice(*place)].isspace())


@cache
def tokenizer_with_blanks(name: str) -> Tokenizer:
    """Return a tokenizer by name; spaCy's keeps the tokens that it makes of whitespace."""
    if name in _PATTERNS:
        pattern = _PATTERNS[name]
        return lambda text: (match.span() for match in pattern.finditer(text))
    if name != "treebank" and not name.startswith("spacy:"):
        raise UsageError(f"there is no tokenizer '{printable(name)}'; use one of {', '.join(NAMES)}.")
    return _treebank() if name == "treebank" else _spacy(name.partition(":")[2])


_PATTERNS = {"words": re.compile(r"\w+|[^\w\s]"), "whitespace": re.compile(r"\S+")}


def _treebank() -> Tokenizer:
    try:
        from nltk.tokenize import NLTKWordTokenizer
    except ImportError:
        raise MissingExtraError("the tokenizer treebank", "treebank") from None
    found: Tokenizer = NLTKWordTokenizer().span_tokenize
    return found


def _spacy(language: str) -> Tokenizer:
    try:
        import spacy
    except ImportError:
        raise MissingExtraError("a spaCy tokenizer", "spacy") from None
    try:
        tokenize = spacy.blank(language).tokenizer
    except ImportError:
        raise UsageError(f"spaCy has no language '{language}'; use for example spacy:en.") from None
    return lambda text: ((token.idx, token.idx + len(token)) for token in tokenize(text))
