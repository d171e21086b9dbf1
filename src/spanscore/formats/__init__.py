"""Formats: the files people have, read as corpora and written from them. Each format is one module of this package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.arguments import checked
from spanscore.corpus import Corpus
from spanscore.corpus.allocator import keep_freed_memory
from spanscore.corpus.records import refuse_repeated_ids
from spanscore.errors import InputError, UsageError
from spanscore.formats.doctor import suspicion
from spanscore.formats.interface import CERTAIN, Claim, Format, Range, Sample
from spanscore.formats.source import BOM, HEAD, Source
from spanscore.formats.tables import guess_delimiter, schema_of
from spanscore.spec import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "REGISTRY",
    "Claim",
    "Format",
    "Sample",
    "Source",
    "read",
    "read_chunks",
    "recognise",
    "together",
    "writer",
]


def _endings() -> dict[str, str]:
    return {ending.lstrip("."): one.name for one in REGISTRY.classes() for ending in one.suffixes}


REGISTRY: Registry[Format] = Registry(Format, __name__, _endings)  # type: ignore[type-abstract]
FIRST = ("spanscore", "parquet")
"""The native format and its twin are tried first: they are the most frequent, and claim nothing by mistake."""
MOST_FIELDS = 40
"""More keys than this are hardly names of fields."""
_FIELD = re.compile(r"[A-Za-z_][\w.-]{0,40}")


@checked
def read(path: str | Path, format: str | Format | None = None, **options: Any) -> Corpus:  # noqa: A002
    """Read a file or folder as a corpus. `-` is standard input, gzip is unpacked, the format is auto-detected.

    Options are passed to the format: `read(path, "conll", column=1)` is `read(path, "conll(column=1)")`.
    """
    return together(read_chunks(path, format, **options))


def together(chunks: Iterable[Corpus]) -> Corpus:
    """Return all chunks as one corpus; no two documents may have one id."""
    corpus = Corpus.concat([chunk.packed() for chunk in chunks])
    refuse_repeated_ids(corpus.ids, corpus.source)
    return corpus


@checked
def read_chunks(
    path: str | Path,
    format: str | Format | None = None,  # noqa: A002
    *,
    part: Range | None = None,
    progress: Callable[[int], object] | None = None,
    companion: Callable[[], Corpus] | None = None,
    all_annotators: bool = False,
    **options: Any,
) -> Iterator[Corpus]:
    """Yield a file's documents in chunks of some thousand, for scoring in little memory.

    `part` is the range of a file to read, in the unit of its format, which must be given then. `progress` is called
    with the number of bytes read. `companion` returns the gold data for a format whose files lack texts or ids. With
    `all_annotators`, an auto-detected format that holds several annotators reads all of them.
    """
    given = None if format is None else REGISTRY.make(format, **options)
    if given is None and options:
        raise UsageError(f"{', '.join(options)}: name the format that these options are for.")
    return _read(path, given, part, progress, companion, all_annotators)


def _read(
    path: str | Path,
    given: Format | None,
    part: Range | None,
    progress: Callable[[int], object] | None,
    companion: Callable[[], Corpus] | None,
    all_annotators: bool,
) -> Iterator[Corpus]:
    keep_freed_memory()
    by_bytes = given is not None and given.part_unit == "bytes"
    with Source(path, part, progress, by_bytes=by_bytes, may_be_empty=given is not None, companion=companion) as source:
        chosen, reason = (given, "as given") if given is not None else recognise(source)
        if given is None and all_annotators:
            chosen = chosen.with_all_annotators()
        if source.is_folder and not chosen.folders:
            raise InputError(f"this is a folder, but {chosen.name} reads single files; name a file in it.", source.name)
        empty = True
        for corpus in _explained(chosen, source, None if given is not None else reason):
            if not chosen.checks_spans and (flaw := corpus.flaw()):
                raise InputError(flaw.message, f"{source.name}: {flaw.place(corpus)}")
            if empty and len(corpus) and part is None and (doubt := suspicion(corpus, chosen)):
                source.notes.append(f"{source.name}: {doubt}")
            empty = empty and not len(corpus)
            notes = (*source.notes, *corpus.notes)
            yield corpus.with_columns(source=source.name, format=repr(chosen), format_reason=reason, notes=notes)
        if empty and given is None:
            raise InputError("the file holds no document; name its format if it is meant to be empty.", source.name)
        if empty:
            yield Corpus.concat([]).with_columns(source=source.name, format=repr(chosen), format_reason=reason)


def _explained(chosen: Format, source: Source, reason: str | None) -> Iterator[Corpus]:
    """Read; every error names the file, and its format if that was auto-detected."""
    try:
        yield from chosen.read(source)
    except InputError as error:
        if error.of_another_file or (error.has_place and reason is None):
            raise
        how = "" if reason is None else f" The file was read as {chosen.name} ({reason})."
        raise InputError(f"{error}{how}" if error.has_place else f"{source.name}: {error}{how}") from None


def class_of(format_: str) -> type[Format]:
    """Return the class of the format of a corpus, which is empty if the corpus was not read from a file."""
    return REGISTRY.find(format_.partition("(")[0]) if format_ else Format


def recognise(source: Source) -> tuple[Format, str]:
    """Return the format of a source, and the reason.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.jsonl")
    ...     _ = path.write_text('{"id": "d1", "spans": []}')
    ...     with Source(path) as source:
    ...         recognise(source)
    (spanscore, 'the first line is a JSON object with "spans"')
    """
    sample = source.sample
    for name in FIRST:
        claim = REGISTRY.find(name).recognise(sample)
        if claim is not None and claim.strength == CERTAIN:
            return REGISTRY.make(name), claim.reason
    claims = [(claim, one) for one in REGISTRY.classes() if (claim := one.recognise(sample)) is not None]
    if not claims:
        raise _unrecognised(sample, source)
    claim, found = max(claims, key=lambda one: one[0].strength)
    return found(), claim.reason


def _unrecognised(sample: Sample, source: Source) -> InputError:
    hint = "name its format with an option such as --gold-format or --from (list formats with: spanscore formats)"
    fields = "records(text=..., spans=..., start=..., end=..., label=...)"
    if schema_of(sample):
        what = f"this table is in no known format; say which column is which with {fields}"
    elif source.is_folder and not sample.files:
        what = "this is a folder or zip file without files"
    elif source.is_folder:
        what = "no known folder format matches this folder; name a file in it, or the format"
    elif sample.is_json and _is_broken_json(sample):
        what = f"this begins like JSON, but is not valid JSON; correct it, or {hint}"
    elif sample.is_json:
        what = f"this JSON is in no known format{_fields(sample)}; say which field is which with {fields}, or {hint}"
    elif not sample.is_text:
        what = "this is neither UTF-8 text nor any other known format"
    elif _may_have_columns(sample):
        rows = "records(id=..., start=..., end=..., label=...)"
        what = f"the format was not recognised; if this is a table, say which column is which with {rows}, or {hint}"
    else:
        what = f"the format was not recognised; {hint}"
    return InputError(f"{what}.", source.name)


def _fields(sample: Sample) -> str:
    """Return a remark with the keys of JSON if all look like names of fields; other keys may be text of documents."""
    keys = sorted(sample.top_keys or sample.keys)
    named = 0 < len(keys) <= MOST_FIELDS and all(map(_FIELD.fullmatch, keys))
    return f" (its keys: {', '.join(keys[:12])}{', …' if len(keys) > 12 else ''})" if named else ""


def _is_broken_json(sample: Sample) -> bool:
    """Return whether a file that begins like JSON is neither JSON nor JSON Lines; False if it is too long to tell."""
    if len(sample.head) >= HEAD - len(BOM):
        return False
    for data in (sample.first_line, sample.start):
        try:
            msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        except RecursionError:
            return False
        return False
    return True


def _may_have_columns(sample: Sample) -> bool:
    """Return whether the first line may be the header of a table."""
    line = sample.first_line.decode("utf-8", "replace")
    names = line.split(guess_delimiter(line))
    return len(names) > 2 and all(name.strip('" ').replace("_", "").isalnum() for name in names)


def writer(target: str, format: str | Format | None = None) -> Format:  # noqa: A002
    """Return the format to write a file in: the given one, or the one for the ending of its name."""
    if format is not None:
        chosen = REGISTRY.make(format)
        if not chosen.writes():
            able = ", ".join(one.name for one in REGISTRY.classes() if one.writes())
            raise UsageError(f"the format {chosen.name} cannot be written; use one of {able}.")
        return chosen
    ending = Path(target).suffix
    named = (one for one in REGISTRY.classes() if one.writes() and ending in one.suffixes)
    return next(named, REGISTRY.find("spanscore")).for_file(target)
