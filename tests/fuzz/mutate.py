"""Mutations of files: small changes of valid ones, which get further into a reader than random bytes do."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PIECES = [
    b"\n", b"\n\n", b"\r", b"\r\n", b"\t", b"\t\t", b" ", b"\0", b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"\\udc00",
    b"{", b"}", b"[", b"]", b"[]", b"{}", b",", b":", b"null", b"true", b"1e999", b"-1", b"0", b"1.5", b"NaN", b"Infinity",
    b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"18446744073709551616", b"-9223372036854775809",
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xe2\x80\x8b", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\x1b[31m",
    b'"id"', b'"spans"', b'"start"', b'"end"', b'"label"', b'"text"', b"B-", b"I-", b"-", b"O", b"#", b"-DOCSTART-",
    b"<", b">", b"<a>", b"</a>", b"&amp;", b"&x;", b"&#0;", b"&#55296;", b"<![CDATA[", b"]]>",
    b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>', b"|", b";", b"=", b"../", b"%s", b"T1", b"[" * 2000, b"{\"a\":" * 2000,
]  # fmt: skip


def mutated(seeds: Sequence[bytes], others: Sequence[bytes], rng: random.Random) -> bytes:
    """Return a seed after one to six changes; sometimes gzipped, sometimes large."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        _change(data, others, rng)
    if rng.random() < 0.01:
        data = bytearray(_repeated(data, rng))
    if rng.random() < 0.03:
        return _packed(bytes(data), rng)
    return bytes(data)


def _change(data: bytearray, others: Sequence[bytes], rng: random.Random) -> None:
    at = rng.randint(0, len(data))
    size = rng.choice((1, 1, 2, 4, 16, 64))
    kind = rng.randrange(9)
    if kind == 0 and at < len(data):
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[at : at + size]
    elif kind == 2:
        data[at:at] = rng.choice(PIECES)
    elif kind == 3:
        data[at : at + size] = rng.choice(PIECES)
    elif kind == 4:
        data[at:at] = rng.randbytes(size)
    elif kind == 5:
        to = rng.randint(0, len(data))
        data[to:to] = data[at : at + size * 4]
    elif kind == 6:
        other = rng.choice(others)
        cut = rng.randint(0, len(other))
        data[at:at] = other[cut : cut + size * 4]
    elif kind == 7:
        digits = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
        if digits:
            data[(place := rng.choice(digits)) : place + 1] = str(rng.choice((0, 1, 7, 99, -1, 2**31, 2**63))).encode()
    else:
        del data[at:]


def _repeated(data: bytearray, rng: random.Random) -> bytes:
    """Repeat a part of the data many times: what takes quadratic time is noticed then."""
    at = rng.randint(0, len(data))
    part = bytes(data[at : at + rng.choice((1, 8, 64, 400))])
    times = min(rng.choice((100, 3000, 30_000)), 300_000 // max(len(part), 1))
    return bytes(data[:at]) + part * times + bytes(data[at:])


def _packed(data: bytes, rng: random.Random) -> bytes:
    """Compress the data, and sometimes damage or cut the result."""
    packed = bytearray(gzip.compress(data, mtime=0) if rng.random() < 0.5 else _zipped(data, rng))
    if rng.random() < 0.5:
        packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
    return bytes(packed[: rng.randint(1, len(packed))] if rng.random() < 0.3 else packed)


def _zipped(data: bytes, rng: random.Random) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", rng.choice((0, 8, 12, 14))) as archive:
        for name in ("a.txt", "../b.ann", "c/d.xml")[: rng.randint(1, 3)]:
            archive.writestr(name, data)
    return file.getvalue()
