"""`spanscore run` with a user's own functions and programs that fail, hang, exit or answer nonsense."""

from __future__ import annotations

import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from calls import started as spanscore
from calls import write
from spanscore.engine.processes import ProcessPool

JOBS = ["1", pytest.param("2", marks=pytest.mark.slow)]
MINE = """
import os, sys, time
def fine(text, language):
    with open("calls.log", "a") as file:
        file.write(text + chr(10))
    return [{"start": 0, "end": 1, "label": "PERSON", "score": 0.5}]
def exits(text, language):
    sys.exit("secret " + text)
def nothing(text, language):
    return []
def alone(text):
    return []
def hangs(text, language):
    time.sleep(600)
def flaky(text, language):
    if os.environ.get("FLAKY") and text.endswith("3"):
        raise ValueError(text)
    return fine(text, language)
def empty(text, language):
    return [{"start": 2, "end": 2, "label": "PERSON"}]
def odd(text, language):
    return [{"start": 0, "end": 1, "label": "A", "score": 10**400}]
def yields(text, language):
    yield {"start": 0, "end": 1, "label": "A"}
    sys.exit("secret " + text)
def stops(text, language):
    yield {"start": 0, "end": 1, "label": "A"}
    raise ValueError("no model")
def endless(text, language):
    while True:
        time.sleep(0.01)
        yield {"start": 0, "end": 1, "label": "A"}
def by_name(text, *, language):
    return []
LABEL = "A"
print("loading")
def prints(text, language):
    print("found")
    return []
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    documents = [
        {"id": f"d{i}", "text": f"text {i}", "spans": [{"start": 0, "end": 1, "label": "PERSON"}]} for i in range(40)
    ]
    write(tmp_path / "data.jsonl", documents)
    return tmp_path


def function(name: str, *more: str) -> tuple[str, ...]:
    return ("run", "data.jsonl", "--detector", f"python(function=mine:{name})", "-q", *more)


def test_a_function_that_takes_no_language_is_refused_before_detection(mine: Path) -> None:
    said = spanscore(*function("alone", "-o", "out"), cwd=mine, code=2).stderr
    assert "'mine:alone' cannot be called with a text and a language; give it two parameters." in said
    assert not (mine / "out").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("by_name", "'mine:by_name' cannot be called with a text and a language; remove the * before its parameters"),
        ("LABEL", "'mine:LABEL' is not a function: its type is str."),
        ("nope", "the module 'mine' has no function 'nope'."),
        ("LABEL.nope", "the module 'mine' has no function 'LABEL.nope'."),
    ],
)
def test_what_cannot_be_called_is_refused(name: str, words: str, mine: Path) -> None:
    assert words in spanscore(*function(name, "-o", "out"), cwd=mine, code=2).stderr


@pytest.mark.parametrize("jobs", JOBS)
def test_errors_of_a_generator_are_those_of_the_function(jobs: str, mine: Path) -> None:
    said = spanscore(*function("yields", "-o", "yields", "--jobs", jobs), cwd=mine, code=2).stderr
    assert "the function raised SystemExit at mine.py:25;" in said
    assert "text 0" not in said
    said = spanscore(*function("stops", "-o", "stops", "--jobs", jobs), cwd=mine, code=2).stderr
    assert "the function raised ValueError at mine.py:28: no model;" in said
    limited = ("run", "data.jsonl", "--detector", "python(function=mine:endless, timeout=0.2)", "-q", "-o", "endless")
    said = spanscore(*limited, "--jobs", jobs, cwd=mine, code=2).stderr
    assert "the function did not return within 0.2 seconds" in said


@pytest.mark.parametrize("jobs", JOBS)
def test_what_a_function_prints_is_not_among_the_results(jobs: str, mine: Path) -> None:
    done = spanscore(*function("prints", "-o", "out", "--jobs", jobs), cwd=mine)
    for printed in ("loading", "found"):
        assert printed in done.stderr
        assert printed not in done.stdout


@pytest.mark.parametrize("jobs", JOBS)
def test_a_function_that_exits_does_not_end_the_run(jobs: str, mine: Path) -> None:
    said = spanscore(*function("exits", "-o", "out", "--jobs", jobs), cwd=mine, code=2).stderr
    assert "the function raised SystemExit at mine.py:8;" in said
    assert "text 0" not in said
    said = spanscore(*function("odd", "-o", "odd", "--jobs", jobs), cwd=mine, code=2).stderr
    assert "a score that is not a finite number" in said


@pytest.mark.parametrize("jobs", JOBS)
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os\nimport no_such_thing\n", "ModuleNotFoundError at broken.py:2: No module named 'no_such_thing'."),
        ("def find(text, language)\n", "SyntaxError at broken.py:1: expected ':'."),
        ("import json\njson.loads('{')\n", "JSONDecodeError at broken.py:2: Expecting property name"),
        ("raise SystemExit('give a key')\n", "SystemExit at broken.py:1: give a key."),
    ],
)
def test_import_errors_show_the_users_file_line_and_message(code: str, words: str, jobs: str, mine: Path) -> None:
    (mine / "broken.py").write_text(code)
    call = ("run", "data.jsonl", "--detector", "python(function=broken:find)", "-o", "out", "--jobs", jobs)
    said = spanscore(*call, cwd=mine, code=2).stderr
    assert f"cannot import the module 'broken': {words}" in said


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("return {}['missing ' + text]", "KeyError at part.py:2;"),
        ("raise ValueError(text.upper().replace(' ', '_'))", "ValueError at part.py:2;"),
        ("raise ValueError(text[:2])", "ValueError at part.py:2;"),
        ("raise ValueError('no name' + text[::-1])", "ValueError at part.py:2;"),
        ("compile(text, text, 'exec')", "SyntaxError at part.py:2;"),
        ("raise ValueError('no model, ask Al')", "ValueError at part.py:2: no model, ask Al;"),
        ("import no_such_thing", "ModuleNotFoundError at part.py:2: No module named 'no_such_thing';"),
        ("return text.tokens", "AttributeError at part.py:2: 'str' object has no attribute 'tokens';"),
        ("return model(text)", "NameError at part.py:2: name 'model' is not defined;"),
        ("return 1 / (len(text) - 15)", "ZeroDivisionError at part.py:2: division by zero;"),
        ("return [][len(text)]", "IndexError at part.py:2: list index out of range;"),
        ("return parse(text)", "RecursionError at part.py:2: maximum recursion depth exceeded;"),
        ("import xml.sax; return xml.sax.make_parser([]).getProperty(text)", "SAXNotRecognizedException at part.py:2;"),
        ("return getattr(text, text)", "AttributeError at part.py:2;"),
        ("return __import__(text)", "ModuleNotFoundError at part.py:2;"),
        ("return eval(text[:2])", "NameError at part.py:2;"),
        ("raise IndexError(text)", "IndexError at part.py:2;"),
        ("raise AttributeError(text, name='text', obj=text)", "AttributeError at part.py:2;"),
        ("return text.index('no such thing')", "ValueError at part.py:2;"),
    ],
)
def test_runtime_errors_show_the_users_file_and_line_but_no_text(code: str, shown: str, mine: Path) -> None:
    (mine / "part.py").write_text(f"def parse(text):\n    {code}\n")
    (mine / "whole.py").write_text(
        "import json\nimport part\n\n\ndef find(text, language):\n    return json.loads(json.dumps(part.parse(text)))\n"
    )
    write(mine / "data.jsonl", [{"id": "a", "text": "Al Miller, 4711", "spans": []}])
    call = ("run", "data.jsonl", "--detector", "python(function=whole:find)", "-o", "out")
    said = spanscore(*call, cwd=mine, code=2).stderr
    assert f'document "a": the detector failed: the function raised {shown}' in said
    failure = json.loads((mine / "out" / "predictions.partial.jsonl").read_text())["meta"]["failure"]
    assert failure == f"the function raised {shown.rstrip(';')}"


def test_an_attribute_that_no_span_has_loses_no_detection(mine: Path) -> None:
    spanscore(*function("fine", "-o", "out", "--by", "attr.nope", "--by", "span.length"), cwd=mine)
    warnings = json.loads((mine / "out" / "run.json").read_text())["warnings"]
    assert "no span has the attribute nope; --by attr.nope is left out." in warnings
    assert "span.length" in (mine / "out" / "results.json").read_text()


def test_empty_predictions_are_counted_in_a_warning(mine: Path) -> None:
    spanscore(*function("empty", "-o", "out"), cwd=mine)
    warnings = json.loads((mine / "out" / "run.json").read_text())["warnings"]
    assert "40 predictions are empty (start = end) and can match only empty gold spans." in warnings


def test_a_failed_write_keeps_the_previous_results(mine: Path) -> None:
    spanscore(*function("fine", "-o", "out"), cwd=mine)
    before = {path.name: path.read_bytes() for path in (mine / "out").iterdir()}
    call = f"ulimit -f 100; exec {sys.executable} -m spanscore {shlex.join(function('nothing', '-o', 'out'))}"
    done = subprocess.run(
        ["bash", "-c", call],
        cwd=mine,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(mine)},
    )
    assert done.returncode == 2, done.stderr
    assert {name: (mine / "out" / name).read_bytes() for name in before} == before


def test_resuming_detects_only_failed_documents_again(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAKY", "1")
    spanscore(*function("flaky", "-o", "out", "--max-failures", "9"), cwd=mine)
    assert failures(mine / "out") == 4
    monkeypatch.delenv("FLAKY")
    (mine / "calls.log").unlink()
    spanscore(*function("flaky", "-o", "out", "--resume"), cwd=mine)
    assert len((mine / "calls.log").read_text().splitlines()) == 4
    assert failures(mine / "out") == 0


def failures(folder: Path) -> int:
    found: int = json.loads((folder / "metrics.json").read_text())["failures"]
    return found


def test_answers_that_may_belong_to_other_documents_are_not_kept(mine: Path) -> None:
    (mine / "shifted.py").write_text(
        "import json, sys\nprint('building a cache')\nfor line in sys.stdin:\n    print(json.dumps({'spans': []}), flush=True)\n"
    )
    (mine / "more.py").write_text(
        "import json, sys\nprint(json.dumps({'spans': []}))\nfor line in sys.stdin:\n    print(json.dumps({'spans': []}), flush=True)\n"
    )
    for name, words in (("shifted", "is not a JSON object"), ("more", "wrote more lines than it was given")):
        call = ("run", "data.jsonl", "--detector", f'command(run="{sys.executable} {name}.py")', "-o", name)
        assert words in spanscore(*call, "--max-failures", "9", cwd=mine, code=2).stderr
        assert not (mine / name).exists()


@pytest.mark.parametrize("jobs", JOBS)
def test_ctrl_c_ends_the_run_at_once(jobs: str, mine: Path) -> None:
    call = [sys.executable, "-m", "spanscore", *function("hangs", "-o", "out", "--jobs", jobs)]
    environment = {**os.environ, "PYTHONPATH": str(mine)}
    process = subprocess.Popen(
        call, cwd=mine, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    while not (mine / "out" / "predictions.partial.jsonl").exists():
        assert process.poll() is None
        os.sched_yield()
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said


def test_ctrl_c_while_work_is_handed_out_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProcessPool(1) as pool:
        monkeypatch.setattr(pool._executor, "submit", lambda *_: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            pool.submit(int)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_two_runs_do_not_share_a_folder(mine: Path) -> None:
    call = [sys.executable, "-m", "spanscore", *function("hangs", "-o", "out")]
    environment = {**os.environ, "PYTHONPATH": str(mine)}
    process = subprocess.Popen(call, cwd=mine, stderr=subprocess.DEVNULL, env=environment)
    while not (mine / "out" / "predictions.partial.jsonl").exists():
        assert process.poll() is None
        os.sched_yield()
    said = spanscore(*function("hangs", "-o", "out", "--resume"), cwd=mine, code=2).stderr
    process.kill()
    process.wait()
    assert "another process is writing to this folder" in said


def test_line_breaks_in_errors_survive_in_csv(mine: Path) -> None:
    spans = [{"start": 0, "end": 6, "label": "PERSON"}]
    write(mine / "data.jsonl", [{"id": "a", "text": "x\r=1+1\n", "spans": spans}])
    spanscore(*function("nothing", "-o", "out"), cwd=mine)
    with (mine / "out" / "false_negatives.csv").open(newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == ["x\r'=1+1"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("--beta", "nan"), "beta must be"),
        (("--score-threshold", "nan"), "finite number"),
        (("--entities", "NOSUCH"), "There is no entity type 'NOSUCH'"),
        (("--language", "é"), "is not a language code"),
    ],
)
def test_impossible_settings_are_refused_before_detection(call: tuple[str, ...], words: str, mine: Path) -> None:
    assert words in spanscore(*function("fine", "-o", "out", *call), cwd=mine, code=2).stderr
    assert not (mine / "calls.log").exists()
    assert not (mine / "out").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("jobs", JOBS)
@pytest.mark.parametrize(
    "caught",
    [
        pytest.param("except Exception: pass", marks=pytest.mark.slow),
        "except BaseException: pass",
        "except: raise ValueError",
        pytest.param("finally: return []", marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_the_run_whatever_the_function_catches(
    number: signal.Signals, jobs: str, caught: str, tmp_path: Path
) -> None:
    """The journal stays, and the run can be continued."""
    (tmp_path / "slow.py").write_text(
        f"import time\n\n\ndef find(text, language):\n    try:\n        time.sleep(0.05)\n    {caught}\n    return []\n"
    )
    write(tmp_path / "data.jsonl", [{"id": str(i), "text": "Ann", "spans": []} for i in range(400)])
    call = [
        sys.executable,
        "-m",
        "spanscore",
        "run",
        "data.jsonl",
        "--detector",
        "python(function=slow:find)",
        "--max-failures",
        "400",
        "--jobs",
    ]
    process = subprocess.Popen([*call, jobs, "-o", "out"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "out" / "predictions.partial.jsonl"
    while not (journal.exists() and journal.stat().st_size):
        assert process.poll() is None
        os.sched_yield()
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "Traceback" not in said
    kept = journal.read_text().splitlines()
    assert 0 < len(kept) < 400
    assert '"failure"' not in journal.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("where", ["while it is imported", "in the last call"])
def test_a_signal_that_the_users_code_swallows_is_not_lost(number: signal.Signals, where: str, tmp_path: Path) -> None:
    swallow = f"try:\n    os.kill(os.getpid(), {int(number)}); time.sleep(9)\nexcept BaseException:\n    pass\n"
    inside = "".join(f"    {line}\n" for line in swallow.splitlines())
    imported = where == "while it is imported"
    (tmp_path / "mine.py").write_text(
        f"import os, time\n{swallow if imported else ''}\ndef find(text, language):\n"
        f"{'' if imported else inside}    return []\n"
    )
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "Ann", "spans": []}])
    call = ("run", "data.jsonl", "--detector", "python(function=mine:find)", "-o", "out")
    spanscore(*call, cwd=tmp_path, code=128 + number)
    assert not (tmp_path / "out" / "results.json").exists()


@pytest.mark.parametrize("end", ["its own cleaning up", "the last resort"])
def test_several_signals_leave_no_program_behind(end: str, tmp_path: Path) -> None:
    """`timeout` and terminals that close send a signal more than once."""
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "Ann", "spans": []}])
    (tmp_path / "slow.sh").write_text("#!/bin/sh\necho $$ > program\nsleep 600\n")
    (tmp_path / "slow.sh").chmod(0o755)
    patience = 5.0 if end == "its own cleaning up" else 0.0
    program = f"""
from spanscore.cli import main
from spanscore.termination import TERMINATION
TERMINATION.patience = {patience}
main()
"""
    call = [sys.executable, "-c", program, "run", "data.jsonl", "--detector", "command(run=./slow.sh)", "-o", "out"]
    with subprocess.Popen(call, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        while not ((tmp_path / "program").exists() and (tmp_path / "program").read_text().strip()):
            assert process.poll() is None
            os.sched_yield()
        for _ in range(3):
            process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode in (128 + signal.SIGTERM, -signal.SIGTERM)  # the last signal may come after the end
    group = int((tmp_path / "program").read_text())
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            break
        os.sched_yield()
    else:
        raise AssertionError("the program is still there")
    again = ("run", "data.jsonl", "--detector", "command(run=true)", "--max-failures", "1", "-o", "out")
    assert "unfinished" not in spanscore(*again, cwd=tmp_path, code=2).stderr


def test_a_signal_that_nohup_ignores_stays_ignored(mine: Path) -> None:
    (mine / "mine.py").write_text(
        f"import os\ndef find(text, language):\n    os.kill(os.getpid(), {int(signal.SIGHUP)})\n    return []\n"
    )
    call = [sys.executable, "-m", "spanscore", "run", "data.jsonl", "--detector", "python(function=mine:find)"]
    ended = subprocess.run(["nohup", *call, "-o", "out"], cwd=mine, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


PANICS = """
import asyncio
class PanicException(BaseException):
    pass
def panics(text, language):
    raise PanicException("it is inside " + text)
def cancels(text, language):
    raise asyncio.CancelledError(text)
"""


@pytest.mark.parametrize("jobs", JOBS)
@pytest.mark.parametrize("name", ["panics", "cancels"])
def test_exceptions_of_any_class_are_failures_without_text(mine: Path, name: str, jobs: str) -> None:
    """Libraries in Rust raise a PanicException, whose message may quote the text, and it is no Exception."""
    (mine / "mine.py").write_text(PANICS)
    said = spanscore(*function(name, "--max-failures", "100", "--jobs", jobs, "-o", "out"), cwd=mine).stderr
    assert json.loads((mine / "out" / "run.json").read_text())["failures"] == 40
    refused = spanscore(*function(name, "--jobs", jobs, "-o", "other"), cwd=mine, code=2).stderr
    kind = "PanicException" if name == "panics" else "CancelledError"
    assert f"the function raised {kind} at mine.py:" in refused
    assert "text 0" not in said + refused


def test_programs_of_a_function_end_with_its_processes(mine: Path) -> None:
    (mine / "mine.py").write_text(
        "import os, subprocess\n"
        "def child(text, language):\n"
        "    running = subprocess.Popen(['sleep', '600'])\n"
        "    with open('pids', 'a') as file:\n"
        "        file.write(f'{running.pid}\\n')\n"
        "    running.wait()\n"
    )
    call = [sys.executable, "-m", "spanscore", *function("child", "--jobs", "2", "-o", "out")]
    environment = {**os.environ, "PYTHONPATH": str(mine)}
    process = subprocess.Popen(call, cwd=mine, env=environment, stderr=subprocess.PIPE, text=True)
    while not (mine / "pids").exists() or (mine / "pids").read_text().count("\n") < 2:
        assert process.poll() is None
        os.sched_yield()
    process.terminate()
    _, said = process.communicate(timeout=60)  # that waits for everyone who holds standard error
    assert process.returncode == 143
    assert "Traceback" not in said
    for pid in (mine / "pids").read_text().split():
        stat = Path(f"/proc/{pid}/stat")
        assert not stat.exists() or stat.read_text().rpartition(") ")[2][0] == "Z"
