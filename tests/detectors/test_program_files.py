"""The files that a command runs: scripts of shells and of JavaScript, and what they run and import."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from spanscore.detectors import DetectorError, detector

FILES = {
    "run.sh": '#!/bin/sh\n# finds names\n. ./cfg.sh\nif true; then\n  exec {python} \\\n    program.py "$@"\nfi\n',
    "cfg.sh": "source more.sh; . ./cfg.sh\nexport MODEL=a\n",
    "more.sh": "LABEL=PERSON\n",
    "program.py": "import helper\n",
    "helper.py": "",
    "main.mjs": "import a from './lib/a.js'\nimport 'node:fs'\nexport * from \"./b\"\nawait import('./c.cjs')\n",
    "lib/a.js": "const {x} = require('..//b'), y = require('./none'), z = require('./main')\n",
    "lib/main/index.js": "",
    "b.js": "require('./main.mjs')",
    "c.cjs": "",
    "direct": "#!/usr/bin/env -S {python} -u\nimport helper\n",
    "hidden.sh": 'cd "$(dirname "$0")"\npython3 elsewhere.py\n',
    "variable.sh": "$FINDER --fast\n",
    "builtin.sh": "while read -r line; do echo '[]'; done\n",
    "find.pl": "require './more.pl';\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content.replace("{python}", sys.executable))
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("call", "files", "modules"),
    [
        ("sh run.sh", {"run.sh", "./cfg.sh", "more.sh", "program.py"}, {"helper"}),
        ("./run.sh", {"./run.sh", "./cfg.sh", "more.sh", "program.py"}, {"helper"}),
        ("node main.mjs", {"main.mjs", "lib/a.js", "b.js", "c.cjs", "lib/main/index.js"}, set()),
        ("./direct", {"./direct"}, {"helper"}),
        ("sh builtin.sh", {"builtin.sh"}, set()),
    ],
)
def test_scripts_are_followed(call: str, files: set[str], modules: set[str], folder: Path) -> None:
    if shutil.which(call.split()[0]) is None:
        pytest.skip("the program is not installed")
    made = detector("command", run=call)
    found = {name for name in made.fingerprint() if not name.startswith("option ")}
    programs = {f"file {name}" for name in ("sh", "node", "true", "echo", sys.executable)}
    assert found - programs == {f"file {name}" for name in files} | {f"module {name}" for name in modules}
    assert not made.describe().notes


@pytest.mark.parametrize("call", ["sh hidden.sh", "./variable.sh", "sh -c './variable.sh'", "perl find.pl"])
def test_scripts_that_cannot_be_followed_are_warned_about(call: str, folder: Path) -> None:
    if shutil.which(call.split()[0]) is None:
        pytest.skip("the program is not installed")
    (note,) = detector("command", run=call).describe().notes
    assert note.startswith("some of what '")
    assert note.endswith("runs cannot be fingerprinted: --resume will not notice if it changes.")


def test_a_missing_program_is_an_error_and_not_warned_about(folder: Path) -> None:
    (folder / "find.pl").chmod(0o644)
    for program, why in (("./nope", "No such file or directory"), ("./find.pl", "Permission denied")):
        with pytest.raises(DetectorError, match=rf"cannot run the command '{program}' \({why}\)\."):
            detector("command", run=program).describe()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ("--model=words.json mdir", {"words.json", "mdir"}),
        ("--model=mdir", {"mdir"}),
        ("--model mdir words.json", {"words.json", "mdir"}),
        ("--out=mdir --cache-dir mdir -o mdir . .. / --log-file=words.json --model=none", set()),
        ("run", set()),
    ],
)
def test_data_among_the_arguments_counts(arguments: str, found: set[str], folder: Path) -> None:
    for name in ("words.json", "mdir/weights.bin", "run/run.json"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("1")
    made = detector("command", run=f"{sys.executable} program.py {arguments}")
    known = {f"file {name}" for name in (sys.executable, "program.py")}
    before = made.fingerprint()
    assert {name for name in before if name.startswith("file ")} - known == {f"file {name}" for name in found}
    for name in ("words.json", "mdir/weights.bin", "run/run.json"):
        Path(name).write_text("2")
    after = made.fingerprint()
    assert {name for name in before if before[name] != after[name]} == {f"file {name}" for name in found}


def test_data_alone_does_not_tell_what_runs(folder: Path) -> None:
    Path("words.json").write_text("[]")
    (note,) = detector("command", run="make --file=words.json lib").describe().notes
    assert note == "what 'make' runs cannot be fingerprinted: --resume will not notice if it changes."
