"""Templates filled with invented values: labelled documents, the same for the same seed."""

from __future__ import annotations

import random
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.errors import InputError, MissingExtraError, UsageError, printable
from spanscore.generate.values import VALUES
from spanscore.records import Document, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PLACE = re.compile(r"\{\{\s*([A-Za-z_]+)\s*\}\}")
LABELS = {"ADDRESS": "LOCATION"}
"""What a placeholder's spans are labelled if not like itself."""


def generate(
    count: int,
    *,
    locale: str | Sequence[str] = "en_US",
    seed: int = 0,
    templates: str | Path | None = None,
) -> Iterator[Document]:
    """So many documents, in turns for each locale; `templates` is a file of one's own, one template a line.

    A template has places such as `{{PERSON}}`; a backslash and an n in it are a new line. Offsets are those of the text
    that comes out.

    >>> made = list(generate(2, seed=7))
    >>> [document.id for document in made]
    ['en_US-1', 'en_US-2']
    >>> made == list(generate(2, seed=7))
    True
    """
    chosen = [locale] if isinstance(locale, str) else list(locale)
    if count < 0 or not chosen:
        raise UsageError("generate needs a number of documents that is not below 0, and a locale.")
    if repeated := next((one for one in chosen if chosen.count(one) > 1), None):
        raise UsageError(f"the locale '{printable(repeated)}' is given twice.")
    makers = {one: _faker(one, seed) for one in chosen}
    sentences = {one: _templates(one, templates) for one in chosen}
    chances = {one: random.Random(f"{seed}:{one}") for one in chosen}
    for number in range(count):
        one = chosen[number % len(chosen)]
        template = chances[one].choice(sentences[one])
        text, spans = _fill(template, makers[one], chances[one])
        name = f"{one}-{number // len(chosen) + 1}"
        yield Document(id=name, text=text, spans=spans, meta={"language": one.split("_")[0], "locale": one})


def locales() -> list[str]:
    """The languages that templates are shipped for."""
    return sorted(path.name.removesuffix(".txt") for path in _shipped().iterdir() if path.name.endswith(".txt"))


def _fill(template: str, maker: Any, chance: random.Random) -> tuple[str, list[Span]]:
    pieces: list[str] = []
    spans = []
    length = at = 0
    for place in _PLACE.finditer(template):
        before, kind = template[at : place.start()], place[1].upper()
        try:
            value = VALUES[kind](maker, chance)
        except Exception as error:
            told = f"Faker makes no values of {kind} for the locale {maker.locales[0]} ({type(error).__name__})"
            raise UsageError(f"{told}; take another locale, or templates without them.") from None
        pieces += [before, value]
        start = length + len(before)
        length = start + len(value)
        spans.append(Span(start, length, LABELS.get(kind, kind)))
        at = place.end()
    pieces.append(template[at:])
    return "".join(pieces), spans


def _templates(locale: str, own: str | Path | None) -> list[str]:
    if own is None:
        language = locale.split("_")[0]
        if language not in locales():
            known = ", ".join(locales())
            raise UsageError(
                f"there are no templates for '{printable(language)}'; there are for {known}, or give --templates."
            )
        return _parse((_shipped() / f"{language}.txt").read_text("utf-8"), f"{language}.txt")
    try:
        text = Path(own).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("the templates are not UTF-8.", str(own)) from None
    except (OSError, ValueError) as error:
        raise InputError(f"the templates cannot be read ({getattr(error, 'strerror', error)}).", str(own)) from None
    return _parse(text, str(own))


def _parse(text: str, name: str) -> list[str]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        for place in _PLACE.finditer(line):
            if place[1].upper() not in VALUES:
                known = ", ".join(sorted(VALUES))
                raise InputError(f"there are no values for '{place[1]}'; there are for {known}.", f"{name}:{number}")
        if "{{" in _PLACE.sub("", line):
            raise InputError("this is not a place; write for example {{PERSON}}.", f"{name}:{number}")
        found.append(line.rstrip("\r").replace("\\n", "\n"))
    if not found:
        raise InputError("there is no template.", name)
    return found


def _faker(locale: str, seed: int) -> Any:
    try:
        from faker import Faker
        from faker.config import AVAILABLE_LOCALES
    except ImportError:
        raise MissingExtraError("generate", "generate") from None
    if locale not in AVAILABLE_LOCALES:
        near = [one for one in sorted(AVAILABLE_LOCALES) if one.split("_")[0] == locale.split("_")[0]]
        hint = f"; did you mean {', '.join(near)}?" if near else "."
        raise UsageError(f"there is no locale '{printable(locale)}'{hint}")
    maker = Faker(locale, use_weighting=False)
    maker.seed_instance(f"{seed}:{locale}")
    return maker


@cache
def _shipped() -> Any:
    return files("spanscore.generate") / "templates"
