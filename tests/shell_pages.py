"""The shell blocks of a page of the documentation: run as printed, and compared with the output shown.

A block starts with ```console. A line with `$ ` is a command; a backslash continues it. The lines after it are its
output; `...` stands for any text. Without such lines the output is not shown, and not compared. All commands of a page
run in one shell, one after the other. `python tests/shell_pages.py PAGE...` runs pages in a folder with nothing but
`examples`, and writes the output that it gets to them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
END = "\x1e"


@dataclass(frozen=True)
class Command:
    """A command, the output that its page shows, and where that output stands in the page."""

    text: str
    shown: str
    start: int
    end: int


def commands(page: str) -> Iterator[Command]:
    """Find the commands in a page's console blocks."""
    for block in re.finditer(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        for one in re.finditer(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block[1], re.MULTILINE):
            yield Command(one[1], one[2], block.start(1) + one.start(2), block.start(1) + one.end(2))


def outputs(texts: list[str], folder: Path, *, installed: bool = True) -> list[tuple[str, int]]:
    """Run commands in one shell; return what each of them prints on both streams, and its exit code.

    `installed` puts this environment's spanscore on the path; without it, the commands have to install one.
    """
    script = "".join(f"{text}\n__code=$?; printf '{END}%d{END}' $__code; (exit $__code)\n" for text in texts)
    here = str(Path(sys.executable).parent)
    path = os.pathsep.join([here] * installed + [one for one in os.environ["PATH"].split(os.pathsep) if one != here])
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**environment, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    parts = done.stdout.split(END)
    assert len(parts) == 2 * len(texts) + 1, done.stdout
    return [(said, int(code)) for said, code in zip(parts[:-1:2], parts[1::2], strict=True)]


def check(page: Path, folder: Path, *, installed: bool = True) -> int:
    """Run a page's commands in a folder and compare what they print; return how many there are.

    A command may fail only if the page then shows its exit code with `echo $?`.
    """
    found = list(commands(page.read_text(encoding="utf-8")))
    said_and_code = outputs([one.text for one in found], folder, installed=installed)
    for place, (command, (said, code)) in enumerate(zip(found, said_and_code, strict=True)):
        asked = place + 1 < len(found) and found[place + 1].text == "echo $?"
        assert code == 0 or asked, f"{page.name}: {command.text}\n{said}"
        if command.shown:
            assert matches(said, command.shown), f"{page.name}: $ {command.text}\nprints\n{said}\nnot\n{command.shown}"
    return len(found)


def matches(said: str, shown: str) -> bool:
    """Say whether an output is the one shown, in which `...` stands for anything."""
    return re.fullmatch(".*?".join(map(re.escape, shown.split("..."))), said, re.DOTALL) is not None


def rewrite(page: Path, folder: Path) -> None:
    """Write the output of each command to its page, unless the page shows none or has the same with `...`."""
    text = page.read_text(encoding="utf-8")
    found = list(commands(text))
    said = outputs([one.text for one in found], folder)
    for command, (output, _) in reversed(list(zip(found, said, strict=True))):
        if command.shown and not matches(output, command.shown):
            text = text[: command.start] + output + text[command.end :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as empty:
            shutil.copytree(ROOT / "examples", Path(empty) / "examples")
            rewrite(Path(name), Path(empty))
