"""Which format a file is in, told from its first bytes, and why."""

from __future__ import annotations

import re

import msgspec

from spanscore.errors import InputError

HINT = "name one with --format, --gold-format or --pred-format"
KEY = re.compile(rb'"([^"\\]*)"\s*:')
TAG = re.compile(rb"O|[BILUES]-\S+")
JSON_LIST = re.compile(rb"\[\s*[\[{\"\]\d]")
NUMBER = re.compile(rb"\d+")


def sniff(head: bytes, name: str) -> tuple[str, str]:
    """The name of the format and the reason.

    >>> sniff(b'{"id": "d1", "spans": []}', "a.jsonl")
    ('spanscore', 'the first line is a JSON object with "spans"')
    """
    if head.startswith(b"PAR1"):
        return "parquet", "it begins with PAR1"
    start = head.lstrip()
    keys = {key.decode("utf-8", "replace") for key in KEY.findall(start[:65536])}
    line = start.split(b"\n", 1)[0]
    if start[:1] == b"{" and {"id", "spans"} <= _top_keys(line):
        return "spanscore", 'the first line is a JSON object with "spans"'
    if start[:1] == b"{" or JSON_LIST.match(start):
        if any(key.startswith("text") and key.endswith("Annotations") for key in keys):
            return "nlpsandbox", 'it is JSON with "text...Annotations"'
        if "full_text" in keys:
            return "presidio", 'it is JSON with "full_text"'
        if start[:1] == b"{" and b'"spans"' in line:
            return "spanscore", 'the first line is a JSON object with "spans"'
        if start[:1] == b"{":
            return "spanscore", "the first line is a JSON object"
        raise InputError(
            "this JSON is of no format that is known here; name one with --format, --gold-format or --pred-format.",
            name,
        )
    columns = line.rstrip(b"\r").split(b"\t")
    if len(columns) >= 3 and NUMBER.fullmatch(columns[1]) and NUMBER.fullmatch(columns[2]):
        return "neleval", "the second and third column are numbers"
    if b"\0" in head[:4096] or not _is_text(head[:4096]):
        raise InputError("this is not text in UTF-8, so in no format that is known here.", name)
    rows = [row.split() for row in start.split(b"\n", 200)[:200] if row.strip()]
    if all(len(row) >= 2 for row in rows[:-1]) and any(TAG.fullmatch(row[-1]) for row in rows):
        return "conll", "lines are words and tags in columns"
    raise InputError(f"the format cannot be told; {HINT}.", name)


def _top_keys(line: bytes) -> set[str]:
    try:
        return set(msgspec.json.decode(line, type=dict[str, msgspec.Raw]))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return set()


def _is_text(data: bytes) -> bool:
    try:
        data[: max(len(data) - 4, 0)].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(data) - 8
    return True
