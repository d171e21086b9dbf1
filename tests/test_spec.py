"""One spelling for measures, formats and detectors: parsed, printed, checked and found."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from spanscore import detectors, formats, measures
from spanscore.detectors import detector
from spanscore.formats.conll import Conll
from spanscore.spec import REQUIRED, Parameter, Registry, Spec

REGISTRIES: list[Registry[Any]] = [measures.REGISTRY, formats.REGISTRY, detectors.REGISTRY]
names = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,8}", fullmatch=True)
keys = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)


@given(names, st.dictionaries(keys, st.text(max_size=12), max_size=4))
def test_any_value_is_read_back_as_it_was_written(name: str, arguments: dict[str, str]) -> None:
    spec = Spec(name, tuple(arguments.items()))
    assert Spec.parse(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("a( b = c , d= 'e, f' )", (("b", "c"), ("d", "e, f"))),
        ('a(url="http://localhost:3000", timeout=60)', (("url", "http://localhost:3000"), ("timeout", "60"))),
        ("a(url=http://localhost:3000)", (("url", "http://localhost:3000"),)),
        (r'a(b="say \"hi\" c:\\x\y")', (("b", r'say "hi" c:\x\y'),)),
        ("a()", ()),
        (" a ", ()),
    ],
)
def test_spellings(text: str, arguments: tuple[tuple[str, str], ...]) -> None:
    assert Spec.parse(text) == Spec("a", arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be parsed"),
        ("iou(", "cannot be parsed"),
        ("iou)x", "cannot be parsed"),
        ("iou(threshold)", "expected key=value at 'threshold'"),
        ("iou(a=1, a=2)", "a is given twice"),
        ("http(url=http://x/?q=1)", 'quote the value of url: url="..."'),
        ("iou(a='b)", "quote the value of a"),
    ],
)
def test_misspellings_say_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(ss.UsageError) as error:
        Spec.parse(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "spec",
    [
        'http(url="http://host/?key=SECRET"',
        'http("http://host/?SECRET")',
        "http(url='http://host/?SECRET)",
        'http(url="http://host/?SECRET", url=b)',
        "http(url=http://host/?SECRET)",
        'command(run="./run --key \'SECRET")',
        "command(run='API_KEY=SECRET ./run')",
    ],
)
def test_messages_about_detectors_show_no_values(spec: str, tmp_path: Path) -> None:
    with pytest.raises(ss.SpanscoreError) as error:
        ss.run(ss.Corpus.from_documents([{"id": "a", "text": "Ann", "spans": []}]), spec, tmp_path / "out")
    assert "SECRET" not in str(error.value)
    with pytest.raises(ss.SpanscoreError) as error:
        detector(spec, url="http://host/?SECRET").describe()
    assert "SECRET" not in str(error.value)


@pytest.mark.parametrize("blanks", [10_000, 100_000])
@pytest.mark.parametrize("text", ["a{}(b=1)", "a(b={}1)", "a(b=1{})", "a({}b=1,{}c=2)", "{}a", 'a(b="{}', "a(,{}"])
def test_parsing_takes_linear_time(text: str, blanks: int) -> None:
    began = time.process_time()
    with suppress(ss.UsageError):
        Spec.parse(text.replace("{}", " " * blanks))
    assert time.process_time() - began < 2  # quadratic time would take minutes


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda one: one.kind)
def test_every_value_explains_itself(registry: Registry[Any]) -> None:
    for found in registry.classes():
        assert (found.__doc__ or "").split("\n")[0].endswith("."), found
        for one in found.parameters():
            assert one.description.endswith("."), (found, one.name)
            assert one.description[0].isupper(), (found, one.name)
            assert one.default is REQUIRED or one.check(one.default) == one.default
            assert one.allowed()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: measures.measure("iuo"),
            "There is no measure 'iuo'; did you mean 'iou'? List them with: spanscore measures.",
        ),
        (
            lambda: ss.read("x", "conl"),
            "There is no format 'conl'; did you mean 'conll'? List them with: spanscore formats.",
        ),
        (lambda: measures.measure("strong_link_mach"), "did you mean 'strong_link_match'?"),
        (lambda: measures.measure("all_tagging"), "did you mean 'all-tagging'?"),
        (lambda: measures.measure("entity_match2"), "did you mean 'entity_match'?"),
        (lambda: measures.measure("IOU"), "There is no measure 'IOU'; did you mean 'iou'?"),
        (lambda: ss.read("x", "CoNLL"), "There is no format 'CoNLL'; did you mean 'conll'?"),
        (lambda: ss.read("x", "jsonl"), "There is no format 'jsonl'; did you mean 'spanscore'?"),
        (lambda: measures.measure("iou(unit=token)", unit="char"), "'iou(unit…': unit is given twice."),
        (lambda: detector("presido"), "There is no detector 'presido'; did you mean 'presidio'?"),
        (lambda: measures.measure("iou(treshold=1)"), "iou has no option 'treshold'; did you mean 'threshold'?"),
        (lambda: ss.read("x", "conll", colum=1), "conll has no option 'colum'; did you mean 'column'?"),
        (lambda: ss.read("x", "spanscore", column=1), "spanscore has no option 'column'."),
        (lambda: ss.read("x", column=1), "column: name the format that these options are for."),
        (lambda: detector("http", uri="x"), "http has no option 'uri'; did you mean 'url'?"),
        (lambda: detector("http"), "http needs url (Address of the service, such as http://localhost:3000)"),
        (lambda: detector("http(url=a)", url="b"), "url is given twice"),
        (lambda: detector("http(url=a, timeout=0)"), "timeout must be a number greater than 0 and at most 86400"),
        (lambda: ss.read("x", "conll(column=two)"), "column=two is not valid; column must be a whole number"),
        (lambda: Conll(scheme="BIO"), "scheme must be one of auto, IO, IOB1"),
        (lambda: detector("python(function=x)", language=7), "language must be a string"),
    ],
)
def test_a_wrong_name_or_option_is_an_error(make: object, message: str) -> None:
    with pytest.raises(ss.UsageError) as error:
        make()  # type: ignore[operator]
    assert message in str(error.value)


def test_values_are_equal_and_print_without_defaults() -> None:
    assert formats.REGISTRY.make("conll(column=-1, scheme=IOBES)") == Conll(scheme="IOBES")
    assert repr(Conll(scheme="IOBES", repair="begin")) == "conll(scheme=IOBES)"
    assert repr(detector("http", url="http://a/?b=c", timeout=60)) == 'http(url="http://a/?b=c", timeout=60)'
    assert repr(detector("presidio", entities=["A", "B"])) == 'presidio(entities="A,B")'


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        (Parameter("x", float, 1.0, "", above=0, high=1000), "a number greater than 0 and at most 1000"),
        (Parameter("x", float, 1.0, "", low=0, high=1), "a number from 0 to 1"),
        (Parameter("x", int, 1, "", low=1), "a whole number at least 1"),
        (Parameter("x", int, 1, ""), "a whole number"),
        (Parameter("x", int, 1, "", low=0, high=2**31 - 1), "a whole number from 0 to 2147483647"),
        (Parameter("x", float, 1.0, "", above=0, high=604_800), "a number greater than 0 and at most 604800"),
        (Parameter("x", float, 0.5, "", low=-1.5, high=1e9), "a number from -1.5 to 1000000000"),
        (Parameter("x", str, "", ""), "a string"),
        (Parameter("x", bool, True, ""), "true or false"),
    ],
)
def test_what_is_allowed_is_said_in_words(parameter: Parameter, words: str) -> None:
    assert parameter.allowed() == words
