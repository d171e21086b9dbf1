"""Skip words: tokens that a measure ignores, such as punctuation or "the"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

from spanscore.errors import InputError
from spanscore.files import file_stamp

_ENGLISH = """
    a an the this that these those some any each every either neither no all both such other another
    i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
    myself yourself himself herself itself ourselves themselves who whom whose which what
    am is are was were be been being do does did done have has had having
    can could may might must shall should will would
    and or but nor so yet if then else than because while although though unless until whether when where why how not
    about above across after against along among around as at before behind below beneath beside between beyond by
    down during except for from in inside into near of off on onto out outside over past per since through throughout
    to toward towards under up upon via with within without
    also again here there now just only very too more most less least own same once ever never always
"""
ENGLISH = frozenset(_ENGLISH.split())
"""English function words, which connect names rather than being part of them."""


@dataclass(frozen=True)
class SkipWords:
    """A set of words, compared in lower case; `punctuation` adds all tokens without a letter or digit."""

    words: frozenset[str] = frozenset()
    punctuation: bool = False

    @property
    def digest(self) -> str:
        """Hash of the word list, as 8 hexadecimal digits."""
        lines = sorted(word.replace("\\", "\\\\").replace("\n", "\\n") for word in self.words)
        return blake2b("\n".join(lines).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    def __bool__(self) -> bool:
        return bool(self.words) or self.punctuation

    def __contains__(self, token: str) -> bool:
        """Return whether a token is a skip word.

        >>> "Of" in skip_words("english"), "Washington" in skip_words("english"), "--" in skip_words("punct")
        (True, False, True)
        """
        return token.lower() in self.words or (self.punctuation and not any(map(str.isalnum, token)))


def skip_words(name: str) -> SkipWords:
    """Return a set of skip words by name.

    The names are `none`, `punct` (tokens without letters and digits), `english` (those plus function words), and
    `@file` for a file with one word per line (see `words_of`), in upper or lower case.
    """
    if name.startswith("@"):
        return _from_file(name[1:], file_stamp(name[1:]), lower=True)
    return _NAMED[name]


_NAMED = {
    "none": SkipWords(),
    "punct": SkipWords(punctuation=True),
    "english": SkipWords(ENGLISH, punctuation=True),
}


def presidio_skip_words(name: str) -> SkipWords:
    """Return the skip words of the `presidio` measures: `default` is the default list of presidio-evaluator 0.3.2.

    Words of a file are taken as they are written. Tokens are compared in lower case, so a word with capitals matches
    none, as in the tool.

    >>> [word in presidio_skip_words("default") for word in ("The", "\\n", "Oslo")]
    [True, True, False]
    """
    if name.startswith("@"):
        return _from_file(name[1:], file_stamp(name[1:]), lower=False)
    return _presidio_default() if name == "default" else SkipWords()


@cache
def _presidio_default() -> SkipWords:
    return SkipWords(words_of(Path(__file__).with_name("presidio_skip_words.txt").read_text("utf-8")))


def words_of(text: str) -> frozenset[str]:
    r"""Return the words of a list with one word per line.

    Empty lines and lines that begin with a hash sign and a blank are ignored. Whitespace is written `\n`, `\t`, `\r`,
    `\v`, `\f`, `\s` (a blank) or `\uXXXX`, the empty word `\e`, and a backslash `\\`; any other backslash is itself.

    >>> sorted(words_of("# a comment\nof\n\\n\\s\n\\e\n#\n"))
    ['', '\n ', '#', 'of']
    """
    lines = (line.strip() for line in text.splitlines())
    return frozenset(_ESCAPE.sub(_meaning, line) for line in lines if line and not line.startswith("# "))


_ESCAPE = re.compile(r"\\(?:([ntrvfse\\])|u([0-9a-fA-F]{4}))")
_MEANING = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "s": " ", "e": "", "\\": "\\"}


def _meaning(escape: re.Match[str]) -> str:
    return _MEANING[escape[1]] if escape[1] else chr(int(escape[2], 16))


@cache
def _from_file(path: str, stamp: tuple[int, int], *, lower: bool) -> SkipWords:
    try:
        words = words_of(Path(path).read_text("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError("the list of skip words is not valid UTF-8.", path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the list of skip words ({getattr(error, 'strerror', error)}).", path) from None
    return SkipWords(frozenset(map(str.lower, words)) if lower else words)
