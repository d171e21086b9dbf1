"""Documents in which spans overlap in millions of pairs: the same numbers in bounded memory, or a clear refusal."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import spanscore as ss
from spanscore.align.span_groups import SpanGroups
from spanscore.errors import InputError
from spanscore.measures import names
from spanscore.measures.exact_ratios import at_least, fraction
from spanscore.overlap import Join
from spanscore.report.leak_table import write_leaks
from spanscore.report.page.examples import Examples
from spanscore.report.page.frequent import Frequent

pytestmark = pytest.mark.slow

WORDS = ["to", "be,", "or", "not", "to", "be:", "that", "is", "the", "question;", "Ann", "Lee"]
MORE = (
    "iou(merge=false)",
    "iou(count=spans, merge=false)",
    "sixway.strict(threshold=0.28)",
    "sandbox.instance-relax(anchor=both, tolerance=3)",
    "sets::type",
    "overlap-sumsum::span+type",
)


def corpora(seed: int, documents: int = 8) -> tuple[ss.Corpus, ss.Corpus]:
    rng = random.Random(seed)
    sides: tuple[list[dict[str, object]], list[dict[str, object]]] = ([], [])
    for number in range(documents):
        text = " ".join(rng.choice(WORDS) for _ in range(30))
        shared: list[dict[str, object]] = []
        for side in sides:
            spans = list(shared)
            for _ in range(rng.randrange(12)):
                start = rng.randrange(len(text))
                end = min(len(text), start + rng.choice([0, 1, 3, 5, 8, 20, 50]))
                attrs = {"kbid": rng.choice(["Q1", "Q2", "NIL3"])} | ({"text": rng.choice("uv")} if number % 2 else {})
                label, score = rng.choice(["A", "B", "LOCATION", "DATE"]), rng.choice([0.1, 0.5, 0.9])
                spans.append({"start": start, "end": end, "label": label, "score": score, "attrs": attrs})
            side.append({"id": str(number), "text": text, "spans": spans})
            shared = spans[::2]
    return ss.Corpus.from_documents(sides[0]), ss.Corpus.from_documents(sides[1])


def everything(gold: ss.Corpus, pred: ss.Corpus, measure: str, resolve: str) -> Iterator[object]:
    try:
        found = ss.score(gold, pred, measure, resolve=resolve).scores[0]
        tally = found.tally
        yield sorted(zip(tally.doc.tolist(), tally.label.tolist(), tally.counts.tolist(), strict=True))
        yield [str(error) for error in found.errors(correct=True)]
        yield sorted(found.confusion.items(), key=str)
    except InputError as error:
        yield str(error)


@pytest.mark.parametrize("measure", [*names(), *MORE])
def test_small_blocks_give_the_same_numbers_and_verdicts(measure: str) -> None:
    for seed in range(2):
        sides = corpora(seed)
        for resolve in ("none", "score"):
            expected = list(everything(*sides, measure, resolve))
            with (
                mock.patch.object(Join, "_limit", 3),
                mock.patch("spanscore.tally.EVENTS", 3),
                mock.patch("spanscore.measures.tab.BLOCK", 3),
            ):
                assert list(everything(*sides, measure, resolve)) == expected


SCRIPT = """
import resource, sys
import spanscore as ss
from spanscore.report.leak_table import write_leaks

number, *measures = int(sys.argv[1]), *sys.argv[2:]
labels = ["DATE", "LOCATION", "NAME", "ORG"]
sides = [
    ss.Corpus.from_arrays(
        ["d"], [0] * number, range(number), [4 * number + side - i for i in range(number)],
        [labels[(i + side * (i % 3)) % 4] for i in range(number)], score=[i % 97 / 97 for i in range(number)],
        text=["word " * (4 * number // 5 + 2)],
    )
    for side in range(2)
]
for measure in measures:
    found = ss.score(*sides, measure).scores[0]
    assert sum(1 for _ in found.errors(correct=True)) > 0, measure
    ss.score(*sides, measure, resolve="score")
"""
PEAK = """
print(max(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) // 1024)
"""
NO_PAIRS = (
    "exact",
    "sets::span",
    "sandbox.instance",
    "token",
    "token.pii",
    "sandbox.token",
    "b_cubed",
    "iou",
    "char",
    "i2b2.token",
)
BY_BLOCKS = ("sixway.strict", "iou(merge=false)", "tab.token")


def megabytes(number: int, *measures: str) -> int:
    call = [sys.executable, "-c", SCRIPT + PEAK, str(number), *measures]
    return int(subprocess.run(call, capture_output=True, check=True, text=True).stdout)


def test_nested_spans_take_little_memory() -> None:
    """Four million pairs, as one list with what a measure adds to it, take up to a gigabyte."""
    assert megabytes(2000, "exact", "token", "sandbox.instance", *BY_BLOCKS) < 350


def test_tokens_of_nested_spans_take_little_memory() -> None:
    """14 million tokens on each side, most of them those of other spans as well."""
    assert megabytes(6000, "i2b2.token") < 350


ONE_WORD = """
import spanscore as ss
number = 6000
sides = [
    ss.Corpus.from_arrays(
        ["d"], [0] * number, range(number), range(3 * number + side, 2 * number + side, -1), ["A"] * number,
        text=["xy" * 2 * number],
    )
    for side in range(2)
]
found = ss.score(*sides, "sandbox.token").scores[0]
assert sum(1 for _ in found.errors(correct=True)) > 0
"""


def test_parts_of_one_long_word_take_little_memory() -> None:
    """12,000 parts of a word of 24,000 characters: 140 million characters, which took 1.8 GB."""
    done = subprocess.run([sys.executable, "-c", ONE_WORD + PEAK], capture_output=True, check=True, text=True)
    assert int(done.stdout) < 250


@pytest.mark.slow
@pytest.mark.parametrize("measure", [*NO_PAIRS, *BY_BLOCKS])
def test_very_many_nested_spans_take_little_memory(measure: str) -> None:
    """400 million pairs, of which a list takes 10 GB."""
    assert megabytes(20_000, measure) < 700


def test_a_pairing_of_too_many_spans_is_refused_with_the_numbers() -> None:
    number = 3000
    sides = [
        ss.Corpus.from_arrays(
            ["d"], [0] * number, range(number), range(3 * number + side, 2 * number + side, -1), ["A"] * number
        )
        for side in range(2)
    ]
    with pytest.raises(InputError, match=r'document "d": 9,000,000 pairs of spans .* limit of 8,388,608; give --res'):
        ss.score(sides[0], sides[1], "semeval.strict")
    assert ss.score(sides[0], sides[0], "semeval.strict").scores[0].recall == 1


@pytest.mark.parametrize("measure", ["exact", "sandbox.instance", "semeval.strict", "sixway.strict", "token"])
def test_many_types_in_one_place(measure: str) -> None:
    """3,000 types on each side, half of them shared: each error has a partner, and no list of all pairs is made."""
    number = 3000
    sides = [
        ss.Corpus.from_arrays(
            ["d"],
            [0] * number,
            [0] * number,
            [4] * number,
            [f"T{i + side * 1500}" for i in range(number)],
            text=["Anna"],
        )
        for side in range(2)
    ]
    found = ss.score(sides[0], sides[1], measure).scores[0]
    assert sum(1 for _ in found.errors(correct=True)) > 0


def test_every_hundredth_is_a_boundary_that_holds() -> None:
    whole, part = np.meshgrid(np.arange(1, 201), np.arange(201))
    for hundredth in range(101):
        expected = part * 100 >= whole * hundredth
        assert (at_least(part, whole, hundredth / 100) == expected).all()


@pytest.mark.parametrize("least", [Fraction(1, 3), Fraction(2, 3), Fraction(5, 6), Fraction(1, 7), Fraction(7, 25)])
def test_a_threshold_stands_for_the_fraction_that_was_meant(least: Fraction) -> None:
    assert fraction(float(least)) == least


@pytest.mark.parametrize(
    ("measure", "field", "counts"),
    [("semeval.exact(overlap=0.28)", "incorrect", (1, 0)), ("sixway.strict(threshold=0.28)", "exact", (1, 0))],
)
def test_seven_of_25_characters_are_28_percent(measure: str, field: str, counts: tuple[int, int]) -> None:
    gold = ss.Corpus.from_arrays(["d"], [0], [0], [25], ["A"])
    for size, expected in zip((7, 6), counts, strict=True):
        pred = ss.Corpus.from_arrays(["d"], [0], [0], [size], ["A"])
        assert ss.score(gold, pred, measure).scores[0].counts[field] == expected


def test_checks_of_nested_spans_take_little_memory(tmp_path: Path) -> None:
    """The texts of 10,000 nested spans are 200 MB, and they overlap 50 million predictions."""
    number = 10_000
    ends = range(4 * number, 3 * number, -1)
    text = ["word " * (4 * number // 5)]
    for name, labels in (("gold", ["A", "B"]), ("pred", ["B", "C"])):
        corpus = ss.Corpus.from_arrays(
            ["d"], [0] * number, range(number), ends, labels * (number // 2), text=text, score=[0.9] * number
        )
        ss.convert(corpus, tmp_path / f"{name}.jsonl")
    script = "import spanscore as ss\nss.check('gold.jsonl', 'pred.jsonl')\n" + PEAK
    call = [sys.executable, "-c", script]
    assert int(subprocess.run(call, cwd=tmp_path, capture_output=True, check=True, text=True).stdout) < 250
    with pytest.raises(InputError, match=r"suspects overlap 100,000,000 times with gold spans, .* limit of 1,048,576"):
        ss.suspects(tmp_path / "gold.jsonl", {"p": tmp_path / "pred.jsonl"})


def nested(size: int) -> ss.Corpus:
    """A document of 2 * `size` characters with `size` spans, each inside the one before."""
    ends = range(2 * size, size, -1)
    return ss.Corpus.from_arrays(["d"], [0] * size, range(size), ends, ["A"] * size, text=["ab" * size])


@pytest.mark.parametrize("target", ["presidio", "csv", "brat", "i2b2", "labelstudio"])
def test_nested_spans_are_not_written_with_all_their_texts(target: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"text of each span: 144,012,000 characters for a text of 24,000"):
        ss.convert(nested(12_000), tmp_path / "out", to_format=target)
    assert list(tmp_path.iterdir()) == []
    ss.convert(nested(100), tmp_path / "few", to_format=target)
    ss.convert(nested(12_000), tmp_path / "doccano.jsonl", to_format="doccano")


def test_lists_of_errors_have_excerpts_of_long_texts(tmp_path: Path) -> None:
    gold = nested(2000)
    result = ss.score(gold, gold.with_spans(np.zeros(0, np.int64)), "exact")
    result.save(tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "errors.jsonl").read_text().splitlines()]
    assert max(len(line["text"]) for line in lines) == 1000
    assert sum("…" in line["text"] for line in lines) == sum(gold.end - gold.start > 1000)
    assert len(next(iter(result.errors("exact"))).text or "") == 4000


STRINGS = """
import sys
import numpy as np
import spanscore as ss
from spanscore.align.span_groups import SpanGroups
from spanscore.report.page.examples import Examples
from spanscore.report.page.frequent import Frequent
number = 8000
gold = ss.Corpus.from_arrays(
    ["d"], [0] * number, range(number), range(3 * number, 2 * number, -1), ["A"] * number, text=["word " * 4800]
)
if sys.argv[1] == "seen":
    assert len(SpanGroups.of("span.seen:a.jsonl", lambda _: gold).table) == number
else:
    scores = ss.score(gold, gold.with_spans(np.zeros(0, np.int64)), "exact").scores[0]
    assert Frequent.of(Examples.of(scores), scores.pairing, "show").times.tolist() == [1] * number
"""


@pytest.mark.parametrize("what", ["seen", "frequent"])
def test_strings_of_nested_spans_are_not_kept(what: str) -> None:
    """128 million characters, and as many in lower case."""
    call = [sys.executable, "-c", STRINGS + PEAK, what]
    assert int(subprocess.run(call, capture_output=True, check=True, text=True).stdout) < 120


def test_long_strings_are_grouped_by_all_of_their_characters() -> None:
    text = "".join(f"{'a' * 5000}{'bBcb'[number]} " for number in range(4))
    starts = range(0, 4 * 5002, 5002)
    gold = ss.Corpus.from_arrays(["d"], [0] * 4, starts, [start + 5001 for start in starts], ["A"] * 4, text=[text])
    scores = ss.score(gold, gold.with_spans(np.zeros(0, np.int64)), "exact").scores[0]
    assert scores.pairing is not None
    found = Frequent.of(Examples.of(scores), scores.pairing, "show")
    assert found is not None
    assert found.listed == [(False, "A", "a" * 80, 3)]
    assert found.group.tolist() == [0, 0, -1, 0]
    groups = SpanGroups.of("span.seen:a.jsonl", lambda _: gold.with_spans(np.array([0])))
    codes, names = groups.group(scores.pairing)
    assert [names[code] for code in codes.tolist()] == ["seen", "seen", "unseen", "seen"]


LEAKS = """
import sys
import numpy as np
import spanscore as ss
from spanscore.report.leak_table import write_leaks
number = int(sys.argv[1])
gold = ss.Corpus.from_arrays(
    ["d"], [0] * number, range(number), [11_000 - i for i in range(number)], ["A"] * number, text=["word " * 2200]
)
none = gold.with_spans(np.zeros(0, np.int64))
assert sum(1 for _ in ss.score(gold, none, "leak").scores[0].errors()) == number
"""


def test_leaks_of_nested_spans_take_little_memory() -> None:
    """14 million readable characters, of 11,000 in the text."""
    call = [sys.executable, "-c", LEAKS + PEAK, "1500"]
    assert int(subprocess.run(call, capture_output=True, check=True, text=True).stdout) < 150


def test_leaks_are_written_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = nested(25)
    result = ss.score(gold, gold.with_spans(np.zeros(0, np.int64)), "leak")

    def written() -> bytes:
        file = BytesIO()
        assert write_leaks(file, result["leak"], text="show") == 25
        return file.getvalue()

    whole = written()
    monkeypatch.setattr("spanscore.report.leak_table.BLOCK", 7)
    assert written() == whole
