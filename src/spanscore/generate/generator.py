"""Generate labelled documents by filling templates with fake values, reproducibly for a given seed."""

from __future__ import annotations

import random
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.corpus.records import Document, Span
from spanscore.errors import InputError, MissingExtraError, UsageError, printable
from spanscore.generate.values import VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_]+)\s*\}\}")
MOST = 10_000_000
"""Maximum number of documents, which are about 2 GB."""
LABELS = {"ADDRESS": "LOCATION"}
"""Labels of placeholders whose spans are not labelled with the name of the placeholder."""


def generate(
    count: int,
    *,
    locale: str | Sequence[str] = "en_US",
    seed: int = 0,
    templates: str | Path | None = None,
) -> Iterator[Document]:
    """Yield `count` documents, cycling through the locales; `templates` is a custom file with one template per line.

    A template contains placeholders such as `{{PERSON}}`; `\\n` in it stands for a line break. Offsets refer to the
    generated text.

    >>> made = list(generate(2, seed=7))
    >>> [document.id for document in made]
    ['en_US-1', 'en_US-2']
    >>> made == list(generate(2, seed=7))
    True
    """
    chosen = [locale] if isinstance(locale, str) else list(locale)
    if not chosen:
        raise UsageError("generate needs at least one locale.")
    if not 0 <= count <= MOST:
        raise UsageError(f"the number of documents to generate must be between 0 and {MOST}.")
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
    """Return the languages that have built-in templates."""
    return sorted(path.name.removesuffix(".txt") for path in _shipped().iterdir() if path.name.endswith(".txt"))


def _fill(template: str, maker: Any, chance: random.Random) -> tuple[str, list[Span]]:
    pieces: list[str] = []
    spans = []
    length = at = 0
    for match in _PLACEHOLDER.finditer(template):
        before, kind = template[at : match.start()], match[1].upper()
        try:
            value = VALUES[kind](maker, chance)
        except Exception as error:
            what = f"Faker cannot generate {kind} values for the locale {maker.locales[0]} ({type(error).__name__})"
            raise UsageError(f"{what}; use another locale, or templates without {kind}.") from None
        pieces += [before, value]
        start = length + len(before)
        length = start + len(value)
        spans.append(Span(start, length, LABELS.get(kind, kind)))
        at = match.end()
    pieces.append(template[at:])
    return "".join(pieces), spans


def _templates(locale: str, own: str | Path | None) -> list[str]:
    if own is None:
        language = locale.split("_")[0]
        if language not in locales():
            known = ", ".join(locales())
            raise UsageError(
                f"there are no templates for '{printable(language)}'; use one of {known}, or pass --templates."
            )
        return _parse((_shipped() / f"{language}.txt").read_text("utf-8"), f"{language}.txt")
    try:
        text = Path(own).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("the templates are not valid UTF-8.", str(own)) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the templates ({getattr(error, 'strerror', error)}).", str(own)) from None
    return _parse(text, str(own))


def _parse(text: str, name: str) -> list[str]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        for match in _PLACEHOLDER.finditer(line):
            if match[1].upper() not in VALUES:
                known = ", ".join(sorted(VALUES))
                raise InputError(f"unknown placeholder '{match[1]}'; use one of {known}.", f"{name}:{number}")
        if "{{" in _PLACEHOLDER.sub("", line):
            raise InputError("malformed placeholder; write for example {{PERSON}}.", f"{name}:{number}")
        found.append(line.rstrip("\r").replace("\\n", "\n"))
    if not found:
        raise InputError("the file contains no templates.", name)
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
