"""Fingerprints of detectors: in run.json, in every signature, and in the way of resuming with another detector."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from calls import spanscore, write
from spanscore.detectors import Detector, detector
from spanscore.detectors.fingerprint import content_hash, digest
from spanscore.errors import UsageError

HERE = Path(__file__).parent
FUNCTION = """
from helper import LABEL
def find(text, language):
    return [{"start": 0, "end": 3, "label": LABEL}]
"""
PROGRAM = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"spans": [{"start": 0, "end": 3, "label": "PERSON"}]}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "data.jsonl", [{"id": str(i), "text": "Ann", "spans": []} for i in range(6)])
    (tmp_path / "mine.py").write_text(FUNCTION)
    (tmp_path / "helper.py").write_text("LABEL = 'PERSON'\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def about(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / "run.json").read_text())
    return found


def cut(folder: Path) -> None:
    """Make a finished run look like one that was killed after three documents."""
    out = folder / "out"
    lines = (out / "predictions.jsonl").read_text().splitlines(keepends=True)
    (out / "predictions.partial.jsonl").write_text("".join(lines[:3]))
    (out / "run.partial.json").write_text(json.dumps({"detection": about(folder)["detection"]}))
    for name in ("predictions.jsonl", "metrics.json", "run.json"):
        (out / name).unlink()


@pytest.mark.slow
@pytest.mark.parametrize("killed", [True, False], ids=["killed", "finished"])
@pytest.mark.parametrize(
    ("spec", "changed", "content", "named"),
    [
        ("python(function=mine:find)", "mine.py", FUNCTION + "# changed\n", "module mine"),
        ("python(function=mine:find)", "helper.py", "LABEL = 'NAME'\n", "function, module helper"),
        (f'command(run="{sys.executable} program.py")', "program.py", PROGRAM + "# changed\n", "file program.py"),
        (f'command(run="{sys.executable} -m program")', "program.py", PROGRAM + "# changed\n", "module program"),
        (
            f"command(run=\"sh -c 'exec {sys.executable} program.py'\")",
            "program.py",
            PROGRAM + "# changed\n",
            "file program.py",
        ),
    ],
    ids=["function", "helper", "program", "module", "shell"],
)
def test_resuming_with_another_detector_is_refused(
    spec: str, changed: str, content: str, named: str, killed: bool, folder: Path
) -> None:
    call = ("run", "data.jsonl", "--detector", spec, "-o", "out", "-q")
    spanscore(*call, cwd=folder)
    first = about(folder)
    if killed:
        cut(folder)
    (folder / changed).write_text(content)
    before = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    said = spanscore(*call, "--resume", cwd=folder, code=2).stderr
    assert "the detector has changed since this run began" in said
    assert all(f"{one}: " in said for one in named.split(", "))
    assert "--resume-anyway" in said
    assert {path.name: path.read_bytes() for path in (folder / "out").iterdir()} == before
    spanscore(*call, "--resume-anyway", cwd=folder)
    second = about(folder)
    old, new = (digest(one["detection"]["fingerprint"]) for one in (first, second))
    assert second["documents_detected_now"] == (3 if killed else 0)
    (change,) = second["resumed_anyway"]
    assert change["before"] == old != new
    assert ", ".join(one.partition(":")[0] for one in change["changed"]) == named
    assert any("the detector changed during this run" in one for one in second["warnings"])
    assert all(f"|detector:{old}+{new}|" in one for one in second["signatures"])
    # what was recorded stays recorded
    spanscore(*call, "--resume", cwd=folder)
    assert about(folder)["resumed_anyway"] == [change]


def test_a_fingerprint_is_in_every_signature(folder: Path) -> None:
    call = ("run", "data.jsonl", "--detector", "python(function=mine:find)", "-o", "out", "-q")
    spanscore(*call, cwd=folder)
    run = about(folder)
    fingerprint = run["detection"]["fingerprint"]
    assert list(fingerprint) == ["option function", "function", "module helper", "module mine", "Python"]
    assert fingerprint["module mine"] == content_hash(folder / "mine.py")
    part = f"|detector:{digest(fingerprint)}|"
    metrics = json.loads((folder / "out" / "metrics.json").read_text())
    results = json.loads((folder / "out" / "results.json").read_text())
    found = [*run["signatures"], *metrics["signatures"], *(row["signature"] for row in results["results"])]
    assert all(part in one for one in found)
    assert part in (folder / "out" / "confusion_matrix.html").read_text()
    # scoring again by the report finds the same signatures
    spanscore("report", "out", "-o", "again.html", cwd=folder)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("{python} program.py", {"file program.py", "module helper"}),
        ("{python} -u -m program --fast", {"module program", "module helper"}),
        ("{python} -m package", {"module package", "module package.__main__", "module package.part"}),
        ("{python} -m elsewhere", {"module elsewhere"}),
        ("{python} -c 'import program'", {"module program", "module helper"}),
        ("sh -c 'MODEL=a {python} program.py 2> log.txt | tr a b'", {"file program.py", "module helper"}),
        ("bash -c 'cd . && exec {python} -m program'", {"module program", "module helper"}),
        ("env A=1 {python} -m program", {"module program", "module helper"}),
    ],
)
def test_the_files_of_a_command_line(call: str, found: set[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "program.py").write_text("def main():\n    import helper\n    import json\n")
    (folder / "log.txt").write_text("")
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "package" / "__main__.py").write_text("from .part import run\n")
    (folder / "package" / "part.py").write_text("run = 1\n")
    (folder / "path").mkdir()
    (folder / "path" / "elsewhere.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(folder / "path"))
    monkeypatch.chdir(folder)
    made = detector("command", run=call.format(python=sys.executable))
    named = {name for name in made.fingerprint() if not name.startswith("option ")}
    programs = {f"file {name}" for name in (sys.executable, "sh", "bash", "tr", "env")}
    assert named - programs == found
    assert not made.describe().notes


@pytest.mark.parametrize("call", ["sh -c 'cd work && ./find'", "python3 -m no_such_module", "make image", "env x"])
def test_a_program_that_cannot_be_fingerprinted_is_warned_about(call: str, folder: Path) -> None:
    (note,) = detector("command", run=call).describe().notes
    assert note.endswith("cannot be fingerprinted: --resume will not notice if it changes.")


def test_that_warning_is_recorded(folder: Path) -> None:
    (folder / "work").mkdir()
    (folder / "program.py").rename(folder / "work" / "program.py")
    call = f"sh -c 'cd work && {sys.executable} program.py'"
    done = spanscore("run", "data.jsonl", "--detector", f'command(run="{call}")', "-o", "out", cwd=folder)
    assert "what 'sh' runs cannot be fingerprinted" in done.stderr
    assert any("cannot be fingerprinted" in one for one in about(folder)["warnings"])


def test_versions_of_imported_packages_and_of_python_count(folder: Path) -> None:
    (folder / "helper.py").write_text("LABEL = 'PERSON'\ndef later():\n    import yaml, json, no_such_thing\n")
    spanscore("run", "data.jsonl", "--detector", "python(function=mine:find)", "-o", "out", "-q", cwd=folder)
    found = about(folder)["detection"]["fingerprint"]
    assert found["package PyYAML"] == version("PyYAML")
    assert found["Python"] == platform.python_version()
    assert about(folder)["versions"]["PyYAML"] == version("PyYAML")
    assert not [name for name in found if "json" in name or "no_such" in name]


def test_a_function_without_a_file_counts_with_its_constants_and_what_it_calls() -> None:
    source = (
        "import yaml\ndef helper():\n    return {}\ndef find(text, language):\n    return yaml and [{}, helper()]\n"
    )

    def fingerprint(one: str, other: str) -> Any:
        space: dict[str, Any] = {"__name__": "no_such_notebook"}
        exec(source.format(one, other), space)
        return detector("python", function=space["find"]).fingerprint()

    first = fingerprint("1", "2")
    assert first == fingerprint("1", "2")
    assert first["package PyYAML"] == version("PyYAML")
    assert first["function"] != fingerprint("1", "3")["function"]
    assert first["function"] != fingerprint("4", "2")["function"]


HELD = {
    "pattern": "import re\nP = re.compile('{}')\ndef find(text, language): return P.findall(text)",
    "global": "P = ['{}']\ndef find(text, language): return P",
    "default": "def find(text, language, n='{}'): return n",
    "keyword": "def find(text, language, *, n='{}'): return n",
    "closure": "def make(n):\n def find(text, language): return n\n return find\nfind = make('{}')",
    "wrapped": "from functools import wraps\ndef deco(f):\n @wraps(f)\n def g(*a): return f(*a)\n return g\n"
    "@deco\ndef find(text, language): return '{}'",
    "base class": "class B:\n def __call__(self, text, language): return '{}'\nclass C(B): pass\nfind = C()",
    "static method": "class C:\n @staticmethod\n def h(): return '{}'\n def __call__(self, t, l): return self.h()\nfind = C()",
    "class attribute": "class C:\n a = {{'k': '{}'}}\n def __call__(self, text, language): return self.a\nfind = C()",
    "attribute": "class C:\n def __init__(self, a): self.a = a\n def __call__(self, t, l): return self.a\nfind = C('{}')",
    "class used": "class C:\n def g(self): return '{}'\ndef find(text, language): return C().g()",
    "partial": "from functools import partial\ndef f(text, language, n): return n\nfind = partial(f, n={{'{}'}})",
}


@pytest.mark.parametrize("held", HELD)
def test_what_a_function_without_a_file_holds_counts(held: str) -> None:
    def fingerprint(value: str) -> Any:
        space: dict[str, Any] = {"__name__": "no_such_notebook"}
        exec(HELD[held].format(value), space)
        made = detector("python", function=space["find"])
        assert not made.describe().notes
        return made.fingerprint()

    assert fingerprint("a") == fingerprint("a") != fingerprint("b")


def test_values_that_cannot_be_fingerprinted_cause_a_note() -> None:
    made = detector("python", function=partial(_with_a_lock, lock=Lock()))
    assert "cannot be fingerprinted" in made.describe().notes[0]
    assert made.fingerprint() == detector("python", function=partial(_with_a_lock, lock=Lock())).fingerprint()


def _with_a_lock(text: str, language: str, lock: object) -> list[object]:
    return []


WRAPPED = {
    "variable in a path": ('HERE=.\nexec "$HERE/tool"', "tool"),
    "variable behind env": ('HERE=.\nenv A=1 "$HERE/tool" | cat', "tool"),
    "condition": ('HERE=.\nif true; then "$HERE/tool"; fi', "tool"),
    "variable interpreter": ('PYTHON=python3\n"$PYTHON" finder.py', "helper.py"),
    "code on several lines": ("python3 -c '\nimport helper\nhelper.answer()\n'", "helper.py"),
    "executed program": ("exec ./tool", "helper.py"),
    "env": ("env ./tool", "helper.py"),
    "timeout": ("timeout 60 ./finder.py", "helper.py"),
    "sh -c": ("sh -c 'exec ./tool'", "helper.py"),
}


@pytest.mark.parametrize("how", WRAPPED)
def test_what_a_wrapper_script_runs_counts_or_causes_a_note(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script, changed = WRAPPED[how]
    for name, content in (
        ("wrapper.sh", f"#!/bin/sh\n{script}\n"),
        ("tool", "#!/usr/bin/env python3\nimport helper\nhelper.answer()\n"),
        ("finder.py", "#!/usr/bin/env python3\nimport helper\nhelper.answer()\n"),
        ("helper.py", "def answer(): pass\n"),
    ):
        Path(name).write_text(content)
        Path(name).chmod(0o755)
    for run in ("./wrapper.sh", "sh wrapper.sh"):
        made = detector("command", run=run)
        before, notes = made.fingerprint(), made.describe().notes
        Path(changed).write_text(Path(changed).read_text() + "# changed\n")
        assert made.fingerprint() != before or "cannot be fingerprinted" in notes[0]


def test_arguments_may_be_anything(tmp_path: Path) -> None:
    made = detector("command", run=f"python3 -c '{'x' * 5000}' 'a\0b'")
    made.describe()
    with pytest.raises(UsageError, match="the command is empty"):
        detector("command", run="''")


def test_the_place_of_a_file_does_not_matter_but_its_content_does(tmp_path: Path) -> None:
    for name, label in (("a", "X"), ("b", "X"), ("c", "Y")):
        (tmp_path / name).mkdir()
        span = {"start": 0, "end": 1, "label": label}
        write(tmp_path / name / "p.jsonl", [{"id": "1", "text": "Ann", "spans": [span]}])
    found = [detector("replay", file=str(tmp_path / name / "p.jsonl")).fingerprint() for name in "abc"]
    assert found[0] == found[1] != found[2]
    assert content_hash(tmp_path / "a") == content_hash(tmp_path / "b") != content_hash(tmp_path / "c")
    (tmp_path / "b" / "p.jsonl").rename(tmp_path / "b" / "q.jsonl")
    assert content_hash(tmp_path / "a") != content_hash(tmp_path / "b")


def test_options_that_change_nothing_do_not_count() -> None:
    slow, quick, other = (
        detector("http", url=url, timeout=seconds) for url, seconds in (("a:1", 10), ("a:1", 20), ("b:1", 20))
    )
    assert Detector.fingerprint(slow) == Detector.fingerprint(quick) != Detector.fingerprint(other)


def test_the_version_of_a_service_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for told in ("1", "2"):
        monkeypatch.setenv("SERVICE_VERSION", told)
        with subprocess.Popen([sys.executable, str(HERE / "service.py")], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            http = detector("http", url=f"http://127.0.0.1:{process.stdout.readline().strip()}")
            found.append(http.fingerprint()["service version"])
            http.close()
            process.kill()
    assert found == ["1", "2"]


@pytest.mark.slow
def test_resuming_with_another_model_is_refused(folder: Path) -> None:
    save_model(folder / "model", "Ann")
    (folder / "nlp.yaml").write_text("nlp_engine_name: spacy\nmodels:\n  - {lang_code: en, model_name: model}\n")
    call = ("run", "data.jsonl", "--detector", "presidio(nlp_config=nlp.yaml)", "-o", "out", "-q")
    spanscore(*call, cwd=folder)
    first = about(folder)["detection"]["fingerprint"]
    assert first["spaCy model"].startswith("en_pipeline 0.0.0 ")
    assert {"package presidio-analyzer", "package spacy", "option nlp_config"} <= first.keys()
    cut(folder)
    save_model(folder / "model", "Anne")
    said = spanscore(*call, "--resume", cwd=folder, code=2).stderr
    assert "the detector has changed since this run began (spaCy model: en_pipeline 0.0.0 " in said
    spanscore(*call, "--resume-anyway", cwd=folder)
    assert len(about(folder)["resumed_anyway"]) == 1
    assert about(folder)["documents_detected_now"] == 3
    found = [
        [span["label"] for span in json.loads(line)["spans"]]
        for line in (folder / "out" / "predictions.jsonl").read_text().splitlines()
    ]
    assert found == [["PERSON"]] * 3 + [[]] * 3


def save_model(path: Path, name: str) -> None:
    """Save a spaCy pipeline that finds one name."""
    import spacy

    pipeline = spacy.blank("en")
    ruler: Any = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": name}])
    pipeline.to_disk(path)


AT_IMPORT = {
    "words": "import json\nWORDS = json.load(open('words.json'))\ndef find(text, language): return [w for w in WORDS]\n",
    "helper": "import json\nWORDS = set(json.load(open('words.json')))\ndef words(): return WORDS\n"
    "def find(text, language): return words()\n",
}


@pytest.mark.parametrize("how", AT_IMPORT)
def test_data_that_a_module_reads_when_it_is_imported_counts(how: str, tmp_path: Path) -> None:
    (tmp_path / "reads.py").write_text(f"import logging\nLOG = logging.getLogger()\n{AT_IMPORT[how]}\nLOG.info('')\n")
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "Ann", "spans": []}])
    (tmp_path / "words.json").write_text("[]")
    call = ("run", "data.jsonl", "--detector", "python(function=reads:find)", "-o", "out")
    assert "cannot be fingerprinted" not in spanscore(*call, cwd=tmp_path).stderr
    (tmp_path / "words.json").write_text('["Ann"]')
    assert "function: " in spanscore(*call, "--resume", cwd=tmp_path, code=2).stderr


def test_a_model_that_a_module_loads_when_it_is_imported_causes_a_note(tmp_path: Path) -> None:
    (tmp_path / "loads.py").write_text(
        "import spacy\nnlp = spacy.blank('en')\ndef find(text, language): return nlp(text)\n"
    )
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "Ann", "spans": []}])
    call = ("run", "data.jsonl", "--detector", "python(function=loads:find)", "-o", "out")
    assert "the function uses values that cannot be fingerprinted" in spanscore(*call, cwd=tmp_path).stderr


def test_models_of_recognizers_count(tmp_path: Path) -> None:
    from presidio_analyzer import EntityRecognizer

    from spanscore.detectors.presidio_engine import recognizer_models

    class Named(EntityRecognizer):  # as GLiNERRecognizer names its model
        def __init__(self) -> None:
            super().__init__(["PERSON"], name="Named")
            self.model_name = str(tmp_path)

        def load(self) -> None: ...

        def analyze(self, text: str, entities: list[str], nlp_artifacts: object) -> list[Any]:
            return []

    class Analyzer:
        def get_recognizers(self, language: str) -> list[EntityRecognizer]:
            return [Named()]

    before = recognizer_models(Analyzer(), "en")
    (tmp_path / "weights.bin").write_bytes(b"1")
    assert list(before) == ["Named model_name"]
    assert recognizer_models(Analyzer(), "en") != before
