"""Skip words: tokens that a measure ignores, such as punctuation or "the"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

from spanscore.errors import InputError, file_stamp

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
        return blake2b("\n".join(sorted(self.words)).encode(), digest_size=4).hexdigest()

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
    `@file` for a file with one word per line.
    """
    return _skip_words(name, file_stamp(name[1:]) if name.startswith("@") else (0, 0))


@cache
def _skip_words(name: str, stamp: tuple[int, int]) -> SkipWords:
    if name.startswith("@"):
        try:
            lines = Path(name[1:]).read_text("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise InputError("the list of skip words is not valid UTF-8.", name[1:]) from None
        except (OSError, ValueError) as error:
            raise InputError(
                f"cannot read the list of skip words ({getattr(error, 'strerror', error)}).", name[1:]
            ) from None
        return SkipWords(frozenset(line.strip().lower() for line in lines if line.strip()))
    return {
        "none": SkipWords(),
        "punct": SkipWords(punctuation=True),
        "english": SkipWords(ENGLISH, punctuation=True),
    }[name]
