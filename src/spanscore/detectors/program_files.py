"""The files that a command line runs: its program, scripts and modules, also those behind `sh -c` and `python -m`."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.detectors.fingerprint import Fingerprint, content_hash
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


@dataclass
class ProgramFiles:
    """The fingerprint of the files that a command line names, and whether some of them are the detector's own."""

    fingerprint: Fingerprint = field(default_factory=dict)
    known: bool = False


def program_files(call: Sequence[str]) -> ProgramFiles:
    """Return the files of a command line.

    These are its program, the files among its arguments, the modules that a Python program consists of, and the same
    for each command of a shell's script.
    """
    found = ProgramFiles()
    _add(call, found)
    return found


def _add(call: Sequence[str], found: ProgramFiles) -> None:
    program = call[0]
    if (place := shutil.which(program)) is not None:
        found.fingerprint[f"file {program}"] = content_hash(place)
        found.known |= not any(kind.fullmatch(Path(program).name) for kind in (_PYTHON, _SHELL, _LAUNCHER))
    for name in call[1:]:
        if Path(name).is_file():
            found.fingerprint[f"file {name}"] = content_hash(name)
            found.known |= not _PYTHON.fullmatch(Path(name).name)
    python = next((at for at, word in enumerate(call) if _PYTHON.fullmatch(Path(word).name)), None)
    if python is not None:
        modules = _modules(call[python:])
        found.fingerprint |= modules
        found.known |= bool(modules)
    elif _SHELL.fullmatch(Path(program).name) and (script := _after(call, "c")) is not None:
        for command in _commands(script):
            _add(command, found)


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
    script = next((Path(word) for word in call[1:] if not word.startswith("-") and Path(word).is_file()), None)
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

    >>> list(_commands("cd work && MODEL=a python -m finder 2> log.txt | ./clean.sh"))
    [['cd', 'work'], ['python', '-m', 'finder', '2'], ['./clean.sh']]
    """
    words = shlex.shlex(script, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    command: list[str] = []
    writes = False
    try:
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
    except ValueError:  # an unclosed quotation mark: the shell will say so
        return
    if command:
        yield command
