"""What many tests do: call the program as a user does, and write documents a line each."""

from __future__ import annotations

import atexit
import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

WAITING = Path(__file__).with_name("waiting_program.py")
AT_START = ("PYTHON", "LANG", "LC_")
"""Names of environment variables that matter when Python starts begin with one of these."""


def content(path: Path) -> bytes:
    """The bytes of a file that somebody can read: of a page, with the data packed in it, and without packed bytes, which
    contain any short word by chance."""
    found = path.read_bytes()
    if path.suffix != ".html":
        return found
    packed = rb'(<script type="application/octet-stream"[^>]*>)([^<]*)<'
    data = (zlib.decompress(base64.b64decode(one), wbits=31) for _, one in re.findall(packed, found))
    return b"".join((re.sub(packed, rb"\1<", found), *data))


def start(
    arguments: Sequence[str | bytes],
    cwd: Path | None = None,
    *,
    stdin: bytes = b"",
    env: dict[str, str] | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """A call of the program in a new Python: for tests of its start, its workers and its end."""
    call = [sys.executable, "-m", "spanscore", *arguments]
    environment = {**os.environ, **(env or {})}
    return subprocess.run(
        call, cwd=cwd, input=stdin, capture_output=True, check=False, env=environment, timeout=timeout
    )


def fork(
    arguments: Sequence[str | bytes],
    cwd: Path | None = None,
    *,
    stdin: bytes = b"",
    env: dict[str, str] | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """The same in a process that is forked from one that has imported the program, which takes a tenth of the time."""
    changed = {name for name in env or {} if name != "PYTHONPATH"}
    if sys.platform != "linux" or any(name.startswith(AT_START) for name in changed):
        return start(arguments, cwd, stdin=stdin, env=env, timeout=timeout)
    words = [os.fsdecode(one) for one in arguments]
    libraries = ["presidio_analyzer"] if any(word.startswith("presidio") for word in words) else []
    return waiting(*libraries).call(words, cwd or Path.cwd(), stdin, env or {}, timeout)


@cache
def waiting(*libraries: str) -> Program:
    """The process, with these libraries imported, that this test process forks calls from."""
    program = Program(libraries)
    atexit.register(program.close)
    return program


class Program:
    """A process that has imported the program, and libraries, and forks a process for each call."""

    def __init__(self, libraries: Sequence[str] = ()) -> None:
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-c", WAITING.read_text(), str(theirs.fileno()), *libraries]
        pipe = subprocess.PIPE
        without_path = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env=without_path, stdin=pipe, stdout=pipe, stderr=pipe
        )
        theirs.close()
        self.threads = ThreadPoolExecutor(3)

    def call(
        self, arguments: list[str], cwd: Path, stdin: bytes, env: dict[str, str], timeout: float | None
    ) -> subprocess.CompletedProcess[bytes]:
        (stdin_out, stdin_in), (stdout_out, stdout_in), (stderr_out, stderr_in) = (os.pipe() for _ in range(3))
        call = {"arguments": arguments, "cwd": str(cwd), "env": {**os.environ, **env}}
        streams = [stdin_out, stdout_in, stderr_in]
        socket.send_fds(self.channel, [json.dumps(call).encode()], streams)
        for stream in streams:
            os.close(stream)
        try:
            process = int(self.channel.recv(20))
        except (ConnectionResetError, ValueError):  # it ended, while importing or when it was called
            raise RuntimeError(self.process.communicate()[1].decode()) from None
        self.threads.submit(_write, stdin_in, stdin)
        said = [self.threads.submit(_read, stream) for stream in (stdout_out, stderr_out)]
        try:
            stdout, stderr = (one.result(timeout) for one in said)
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            raise
        finally:
            code = int(self.channel.recv(20))
        return subprocess.CompletedProcess(["spanscore", *arguments], code, stdout, stderr)

    def close(self) -> None:
        self.channel.close()
        self.process.communicate()
        self.threads.shutdown()


def _write(stream: int, content: bytes) -> None:
    try:
        with open(stream, "wb") as file:
            file.write(content)
    except BrokenPipeError:
        pass


def _read(stream: int) -> bytes:
    with open(stream, "rb") as file:
        return file.read()


def spanscore(*arguments: str, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """A call of the program in a folder, whose modules it finds; it must end with this code, and never with a traceback."""
    return _checked(fork(arguments, cwd, env={"PYTHONPATH": str(cwd)}), code)


def started(*arguments: str, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """The same in a new Python."""
    return _checked(start(arguments, cwd, env={"PYTHONPATH": str(cwd)}), code)


def _checked(done: subprocess.CompletedProcess[bytes], code: int) -> subprocess.CompletedProcess[str]:
    stdout, stderr = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == code, stderr + stdout
    assert "Traceback" not in stderr
    return subprocess.CompletedProcess(done.args, done.returncode, stdout, stderr)


def run(*arguments: str, cwd: Path, code: int = 0) -> tuple[str, str]:
    """What such a call says on both streams."""
    done = spanscore(*arguments, cwd=cwd, code=code)
    return done.stdout, done.stderr


def write(path: Path, documents: list[dict[str, Any]]) -> None:
    """A file of JSON Lines."""
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
