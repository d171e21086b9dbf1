"""Run as a process that has imported the program and forks for each call: see `calls.Program`.

The forked process takes the arguments, folder, environment and streams of the call, runs the program, and ends as any
Python process does. Only the time to import is saved.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import socket
import sys
from contextlib import suppress

HEAVY = ("compat", "detectors", "spark", "testing", "__main__")
"""Parts of the package that import optional libraries, or run when they are imported."""


def wait(channel: socket.socket, libraries: list[str]) -> None:
    """Import the program, and return in a new process for each call; report its id, and then how it ended."""
    import spanscore

    for module in pkgutil.walk_packages(spanscore.__path__, "spanscore."):
        if not set(HEAVY) & set(module.name.split(".")):
            with suppress(ImportError, spanscore.MissingExtraError):  # of an extra that is not installed
                importlib.import_module(module.name)
    for library in ("numpy.random", "scipy.special", *libraries):
        importlib.import_module(library)
    gc.freeze()  # what is imported is not looked at again in every call
    while True:
        message, streams, _, _ = socket.recv_fds(channel, 1 << 18, 3)
        if not message:
            os._exit(0)
        process = os.fork()
        if process == 0:
            channel.close()
            become(json.loads(message), streams)
            return
        for stream in streams:
            os.close(stream)
        channel.send(b"%d" % process)
        channel.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))


def become(call: dict[str, object], streams: list[int]) -> None:
    """Make this process the one that was asked for."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(str(call["cwd"]))
    os.environ.clear()
    os.environ.update(call["env"])  # type: ignore[call-overload]
    sys.path[:0] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    importlib.invalidate_caches()
    sys.argv = ["spanscore", *call["arguments"]]  # type: ignore[misc]


if __name__ == "__main__":
    del sys.path[0]  # the current folder, as in `python -m spanscore`
    wait(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
    from spanscore.cli import main

    main()
