"""Strings as a column: whatever is done to them, they are what a list of them would be."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanscore.corpus.strings import Strings

TEXT = st.one_of(
    st.sampled_from(["", "a", "doc-1", "doc-2", "eight by", "Zoë", "😀", "\ud800", "x" * 64, "y" * 65, "z" * 300]),
    st.text(max_size=12),
)
LISTS = st.lists(TEXT, max_size=8)


def scattered(strings: list[str]) -> Strings[str]:
    """The same strings, with other things between them."""
    spelt = [one.encode("utf-8", "surrogatepass") for one in strings]
    buffer, begin = b"", []
    for number, one in enumerate(spelt):
        buffer += b"\xff" * (number % 3)
        begin.append(len(buffer))
        buffer += one
    starts = np.array(begin, np.int64)
    return Strings(buffer, starts, starts + np.array([len(one) for one in spelt], np.int64))


LAID = pytest.mark.parametrize("lay", [Strings.of, scattered], ids=["packed", "scattered"])


@LAID
@given(strings=LISTS, data=st.data())
def test_a_column_is_a_list(lay: Any, strings: list[str], data: st.DataObject) -> None:
    column = lay(strings)
    assert column.tolist() == list(column) == [column[i] for i in range(len(strings))] == strings
    assert column.lengths.tolist() == [len(one) for one in strings]
    assert column == strings
    assert column == Strings.of(strings)
    assert column.packed.buffer == "".join(strings).encode("utf-8", "surrogatepass")
    assert column.packed == column
    assert pickle.loads(pickle.dumps(column)) == column
    assert column.marks.tolist() == Strings.of(strings).marks.tolist()
    assert column.hashes.tolist() == Strings.of(strings).hashes.tolist()
    assert column[1:-1] == strings[1:-1]
    rows = data.draw(st.lists(st.integers(-1, max(len(strings) - 1, -1)), max_size=6))
    taken = column.take(np.array(rows, np.int64))
    assert taken.tolist() == [None if row < 0 else strings[row] for row in rows]
    assert (None in taken) == (-1 in rows)
    assert taken.lengths.tolist() == [-1 if row < 0 else len(strings[row]) for row in rows]


@LAID
@given(a=LISTS, b=LISTS)
def test_two_columns(lay: Any, a: list[str], b: list[str]) -> None:
    one, other = lay(a), Strings.of(b)
    assert (one == other) == (a == b)
    assert Strings.concat([one, other]) == a + b
    distinct = list(dict.fromkeys(a))
    assert lay(distinct).find(other).tolist() == [distinct.index(name) if name in distinct else -1 for name in b]
    twice = one.repeated()
    assert (twice is None) == (len(set(a)) == len(a))
    assert twice is None or a.count(twice) > 1


@given(st.lists(st.one_of(st.none(), TEXT), max_size=8), st.lists(st.one_of(st.none(), TEXT), max_size=8))
def test_some_are_missing(a: list[str | None], b: list[str | None]) -> None:
    one, other = Strings.of(a), Strings.of(b)
    assert one.tolist() == a
    assert one.present == sum(text is not None for text in a)
    assert (one == other) == (a == b)
    assert Strings.concat([one, other, Strings.absent(1)]) == [*a, *b, None]
    assert pickle.loads(pickle.dumps(one)) == a


def test_strings_with_the_same_hash_are_distinguished() -> None:
    known, asked = Strings.of(["a", "b"]), Strings.of(["b", "c"])
    for column in (known, asked):
        column.__dict__["marks"] = np.zeros(2, np.uint64)
    assert known.find(asked).tolist() == [1, -1]
    assert known.repeated() is None
