"""The fingerprint of a Python function: the module that names it, and those of what it is made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calls import started as spanscore
from calls import write
from spanscore.detectors import Detector, detector

HELPER = """
def spans(text, language):
    return [{"start": 0, "end": 3, "label": "PERSON"}]
class Finder:
    def find(self, text, language):
        return spans(text, language)
    __call__ = find
"""
NAMED = """
from functools import lru_cache, partial
import {helper}
part = partial({helper}.spans)
bound = {helper}.Finder().find
made = {helper}.Finder()
cached = lru_cache({helper}.spans)
"""


@pytest.mark.parametrize("name", ["part", "bound", "made", "cached"])
def test_partials_methods_and_objects_count_with_their_modules(name: str, tmp_path: Path) -> None:
    (tmp_path / "named.py").write_text(NAMED.format(helper="helper"))
    (tmp_path / "helper.py").write_text(HELPER)
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "Ann", "spans": []}])
    call = ("run", "data.jsonl", "--detector", f"python(function=named:{name})", "-o", "out", "-q")
    spanscore(*call, cwd=tmp_path)
    found = json.loads((tmp_path / "out" / "run.json").read_text())["detection"]["fingerprint"]
    assert list(found) == ["option function", "module helper", "module named", "Python"]
    for changed in ("helper", "named"):
        before = (tmp_path / f"{changed}.py").read_text()
        (tmp_path / f"{changed}.py").write_text(before + "# changed\n")
        assert f"module {changed}: " in spanscore(*call, "--resume", cwd=tmp_path, code=2).stderr
        (tmp_path / f"{changed}.py").write_text(before)


LATER = {
    "model": "@functools.cache\ndef nlp():\n    import spacy\n    return spacy.load('./mymodel')\n",
    "model without a slash": "def nlp():\n    import spacy\n    return spacy.load('mymodel')\n",
    "words": "def words():\n    return json.loads(Path('words.json').read_text())\n",
    "words in a folder": "def words():\n    return json.loads((Path('lists') / 'words.json').read_text())\n",
    "words in a joined path": "def words():\n    return open(os.path.join('lists', 'words.json')).read()\n",
    "words beside the module": "def words():\n    return (Path(__file__).parent / 'beside.json').read_text()\n",
    "constant": "NAME = 'words.json'\ndef words():\n    return open(NAME).read()\n",
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with words and a model, and a folder of modules."""
    for name in ("work/words.json", "work/lists/words.json", "work/mymodel/meta.json", "modules/beside.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("[]")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    return tmp_path


def written(data: Path, code: str) -> Detector:
    """A function of a new module with this code."""
    name = f"reads_{data.name}".replace("-", "_")
    code = f"import functools, json, os\nfrom pathlib import Path\n{code}\ndef find(text, language): return []\n"
    (data / "modules" / f"{name}.py").write_text(code)
    return detector("python", function=f"{name}:find")


@pytest.mark.parametrize("how", LATER)
def test_data_that_a_function_reads_later_counts(how: str, data: Path) -> None:
    made = written(data, LATER[how])
    before = made.fingerprint()
    assert made.fingerprint() == before
    for file in data.rglob("*.json"):
        file.write_text('["Ann"]')
    after = made.fingerprint()
    changed = {name.partition(" ")[0] for name in before if before[name] != after[name]}
    assert changed == {"file"}


@pytest.mark.parametrize(
    "code",
    [
        "A = 'lists', '.', '/', '..', '/tmp', '/proc/uptime', 'find.log', 'a\\0b', '\\ud800', 'x' * 5000, '"
        + "x" * 5000
        + "'",
        "def write(): open('words.json', 'w'); Path('lists/words.json').write_text(''); open('mymodel/meta.json', mode='ab')",
        "def look(): return Path('words.json').exists() or os.path.isfile('lists/words.json')",
        "A = 'run/'",
    ],
)
def test_strings_that_name_no_data_do_not_count(code: str, data: Path) -> None:
    for name in ("run/run.json", "find.log"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("{}")
    assert [name for name in written(data, code).fingerprint() if name.startswith("file ")] == []


def test_installed_models_count_with_their_versions(data: Path) -> None:
    found = {}
    for number in (1, 2):
        about = data / "modules" / "da_ner_special-1.dist-info"
        about.mkdir(exist_ok=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: da_ner_special\nVersion: {number}\n")
        made = written(data, "def nlp():\n    import spacy\n    return spacy.load('da_ner_special')\n")
        found[number] = made.fingerprint().get("package da_ner_special")
    assert found == {1: "1", 2: "2"}


def test_strings_of_a_function_without_a_file_count(data: Path) -> None:
    space: dict[str, Any] = {"__name__": "no_such_notebook"}
    exec("def find(text, language):\n    return open('words.json').read()\n", space)
    made = detector("python", function=space["find"])
    before = made.fingerprint()["file words.json"]
    Path("words.json").write_text("1")
    assert made.fingerprint()["file words.json"] != before
