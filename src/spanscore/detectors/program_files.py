"""The files that a command line runs: its program, scripts and modules, also those behind `sh -c` and `python -m`."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.detectors.fingerprint import Fingerprint, content_hash
from spanscore.detectors.named_files import data_hash
from spanscore.detectors.source_files import module_file, read_source, sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PYTHON = re.compile(r"(python|pypy)[\d.]*w?(\.exe)?")
_SHELL = re.compile(r"(ba|da|k|z|a)?sh")
_LAUNCHER = re.compile(
    r"(node|deno|bun|npx|npm|ruby|perl|php|lua|julia|java|Rscript|go|cargo|dotnet|uv|uvx|pipx|poetry|conda|make|docker|"
    r"podman|kubectl|ssh|env|nice|nohup|timeout|sudo|xargs|cd|cat|echo)(\.exe)?"
)
"""Programs whose own files say nothing about a detector: most of them run what their arguments name."""


_NO_LAUNCHER = ("cd", "cat", "echo")
_NODE = re.compile(r"(node|deno|bun)(\.exe)?")
_OTHER = re.compile(r"(ruby|perl|php|lua|julia|java|Rscript)(\.exe)?")
"""Interpreters of scripts whose parts are not looked for."""
_JAVASCRIPT = re.compile(r"""(?:\brequire\s*\(|\bimport\b\s*\(?|\bfrom\b)\s*["'](\.{1,2}/[^"']+)["']""")
"""An import of a file in JavaScript."""


_FOLDERS_OF_OTHERS = ("cd", "mkdir", "rm", "ls", "test", "[")
"""Commands whose arguments are folders, but no data of the detector."""
_WRITTEN = re.compile(r"--?(o|(\w+[-_])*(out(put)?|logs?|cache|te?mp)([-_]?(dir|file|folder|path))?)")
"""An option that names what a program writes."""


@dataclass
class ProgramFiles:
    """The fingerprint of the files that a command line names, and whether some of them are the detector's own."""

    fingerprint: Fingerprint = field(default_factory=dict)
    known: bool = False
    incomplete: bool = False
    """Whether a script is known, but not all that it runs."""


def program_files(call: Sequence[str]) -> ProgramFiles:
    """Return the files of a command line.

    These are its program, the files and folders among its arguments, the modules that a Python program consists of, the
    files that a JavaScript program imports, and the same for each command of a shell script.
    """
    found = ProgramFiles()
    _add(call, found)
    return found


def _add(call: Sequence[str], found: ProgramFiles) -> None:
    program = call[0]
    if (place := shutil.which(program)) is not None:
        own = not any(kind.fullmatch(Path(program).name) for kind in (_PYTHON, _SHELL, _LAUNCHER))
        found.known |= own
        _add_file(program, Path(place), _interpreter(Path(place)) if own else "", found)
    for name in call[1:]:
        if is_file(name):
            shell = _SHELL.fullmatch(Path(program).name) or program in (".", "source")
            found.known |= not _PYTHON.fullmatch(Path(name).name)
            _add_file(name, Path(name), "sh" if shell else _interpreter(Path(name)), found)
            found.incomplete |= any(_OTHER.fullmatch(Path(word).name) for word in call)
    for name in _data(call):
        if f"file {name}" not in found.fingerprint and (known := data_hash(Path(name))):
            found.fingerprint[f"file {name}"] = known
    python = next((at for at, word in enumerate(call) if _PYTHON.fullmatch(Path(word).name)), None)
    if python is not None:
        modules = _modules(call[python:])
        found.fingerprint |= modules
        found.known |= bool(modules)
    elif _SHELL.fullmatch(Path(program).name) and (script := _after(call, "c")) is not None:
        _add_commands(script, found)


def _data(call: Sequence[str]) -> Iterator[str]:
    """Yield the arguments that may name data, also behind `--option=`, but not where the program goes or writes to.

    >>> list(_data(["python3", "find.py", "--model=words.json", "--out=a", "--cache-dir", "b", "models"]))
    ['find.py', 'words.json', 'models']
    """
    for before, word in pairwise(() if call[0] in _FOLDERS_OF_OTHERS else call):
        option, equals, value = word.partition("=")
        name, of = (value, option) if equals else (word, before)
        if re.search(r"\w", name) and name[0] != "-" and of != "-m" and not _WRITTEN.fullmatch(of):
            yield name


def _add_file(name: str, file: Path, interpreter: str, found: ProgramFiles) -> None:
    """Add a file, and what it runs if it is a script."""
    if f"file {name}" in found.fingerprint:
        return
    found.fingerprint[f"file {name}"] = content_hash(file)
    if _PYTHON.fullmatch(interpreter) or file.suffix == ".py":
        found.fingerprint |= _modules(["python", str(file)])
    elif _SHELL.fullmatch(interpreter) or file.suffix in (".sh", ".bash"):
        _add_commands(os.fsdecode(read_source(file)), found)
    elif _NODE.fullmatch(interpreter) or file.suffix in (".js", ".mjs", ".cjs"):
        for target in _JAVASCRIPT.findall(os.fsdecode(read_source(file))):
            inner = os.path.normpath(Path(name).parent / target)
            endings = ("", ".js", ".mjs", ".cjs", ".json", "/index.js")
            if one := next((inner + end for end in endings if is_file(inner + end)), None):
                _add_file(one, Path(one), "", found)
    elif _OTHER.fullmatch(interpreter):
        found.incomplete = True


def _add_commands(script: str, found: ProgramFiles) -> None:
    """Add what the commands of a shell script run."""
    begun = ""
    for line in script.replace("\\\n", " ").splitlines():
        begun += line + "\n"
        try:
            commands = list(_commands(begun))
        except ValueError:  # a quotation mark is not closed in this line
            continue
        begun = ""
        for command in commands:
            inner = ProgramFiles(found.fingerprint)
            _add(command, inner)
            names = [Path(word).name for word in command]
            runs = any(kind.fullmatch(name) for name in names for kind in (_PYTHON, _SHELL, _NODE, _OTHER))
            runs = runs or command[0] in (".", "source") or ("/" in command[0] and not is_file(command[0]))
            found.incomplete |= inner.incomplete or (runs and not inner.known) or _is_variable(command)
            found.known |= inner.known
    found.incomplete |= bool(begun)


def _is_variable(command: Sequence[str]) -> bool:
    """Return whether what a command runs depends on variables of the shell, other than the script's arguments.

    >>> _is_variable(["exec", "$HERE/tool"]), _is_variable(["exec", "python", "find.py", "$@"])
    (True, False)
    """
    runs_another = command[0] == "exec" or (_LAUNCHER.fullmatch(command[0]) and command[0] not in _NO_LAUNCHER)
    places = command if runs_another else command[:1]
    program = any(re.match(r"[$`](?![@*#?\d])", word) for word in places)
    return program or any("/" in word and re.search("[$`]", word) for word in command)


def is_file(name: str) -> bool:
    """Return whether an argument is the name of a file; it may be anything."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # such as too long
        return False


def _interpreter(file: Path) -> str:
    """Return the name of the program that runs a script, which its first line tells; empty if it is not a script."""
    try:
        with file.open("rb") as script:
            line = os.fsdecode(script.readline(1000))
    except OSError:
        return ""
    words = line[2:].split() if line.startswith("#!") else []
    return next((name for name in (Path(word).name for word in words) if name != "env" and name[:1] != "-"), "")


def _modules(call: Sequence[str]) -> Fingerprint:
    """Return the modules that a call of Python runs: a script, `-m module` or `-c code`, and what it imports."""
    here = Path.cwd()
    if (name := _after(call, "m")) is not None:
        for folder in _import_folders(call, here):
            for module in (f"{name}.__main__", name):
                if module_file(folder, module) is not None:
                    return sources(folder, module).fingerprint()
        return {}
    if (code := _after(call, "c")) is not None:
        return sources(here, "", code.encode()).fingerprint()
    script = next((Path(word) for word in call[1:] if not word.startswith("-") and is_file(word)), None)
    if script is None:
        return {}
    return sources(script.resolve().parent, "", read_source(script)).fingerprint()


def _after(call: Sequence[str], flag: str) -> str | None:
    """Return the argument of a flag before the first other argument.

    >>> _after(["python", "-X", "dev", "-um", "finder", "--fast"], "m"), _after(["bash", "run.sh", "-c", "x"], "c")
    ('finder', None)
    """
    words = iter(call[1:])
    for word in words:
        if not word.startswith("-"):
            return None
        if re.fullmatch(rf"-[a-zA-Z]*{flag}", word):
            return next(words, None)
        if word in ("-W", "-X", "-m", "-c", "-o"):
            next(words, None)
    return None


def _import_folders(call: Sequence[str], here: Path) -> Iterator[Path]:
    """Yield the folders from which `python -m` imports: the current one first, and then those the interpreter names."""
    yield here
    ask = [call[0], "-c", "import sys; print(*sys.path, sep='\\n')"]
    try:
        done = subprocess.run(ask, capture_output=True, check=True, timeout=30, stdin=subprocess.DEVNULL)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return
    for line in os.fsdecode(done.stdout).splitlines():
        if line and Path(line).is_dir():
            yield Path(line)


def _commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each simple command of a shell script, without assignments and files that it writes.

    An unclosed quotation mark raises ValueError.

    >>> list(_commands("cd work && MODEL=a python -m finder 2> log.txt | ./clean.sh"))
    [['cd', 'work'], ['python', '-m', 'finder', '2'], ['./clean.sh']]
    """
    words = shlex.shlex(script, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    command: list[str] = []
    writes = False
    for word in words:
        if set(word) <= set("();<>|&"):
            writes = ">" in word
            if not writes and command:
                yield command
                command = []
        elif writes:
            writes = False
        elif command or not re.match(r"\w+=", word):
            command.append(word)
    if command:
        yield command
