"""Errors in a user's own code: one line with the user's file and line, without text of a document."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path
from traceback import FrameSummary, extract_tb

from spanscore.errors import printable


def explained(error: BaseException) -> str:
    """Return the type of an error that no document can have caused, where it was raised, and its message.

    >>> try: int("x")
    ... except ValueError as error: explained(error)
    "ValueError: invalid literal for int() with base 10: 'x'"
    """
    return _said(error, error.msg if isinstance(error, SyntaxError) else str(error))


def explained_without_text(error: BaseException) -> str:
    """Return the type of an error and where it was raised; the message only if the code there is a constant string.

    Any other message may hold text of a document in any form. A constant says no more than the file and line do.

    >>> try: int("Ann")
    ... except ValueError as error: explained_without_text(error)
    'ValueError'
    """
    frames = _users_frames(error)
    constant = _raised_constant(frames[-1]) if frames else None
    return _said(error, constant if constant is not None and error.args == (constant,) else "")


def _said(error: BaseException, message: str) -> str:
    place = _place(error)
    shown = printable(" ".join(message.split()), limit=200)
    return f"{type(error).__name__}{f' at {place}' if place else ''}{f': {shown}' if shown else ''}"


def _raised_constant(frame: FrameSummary) -> str | None:
    """Return the string in `raise SomeError("string")` at the line of a frame; None if something else is there."""
    try:
        tree = ast.parse(Path(frame.filename).read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.lineno == frame.lineno and isinstance(node.exc, ast.Call):
            match node.exc.args:
                case [ast.Constant(value=str(message))]:
                    return message
    return None


def _place(error: BaseException) -> str:
    """Return the file and line of the user's code that raised an error, the innermost one; empty if none did."""
    if isinstance(error, SyntaxError) and error.filename and _is_users(error.filename):
        return f"{_short(error.filename)}:{error.lineno}"
    frames = _users_frames(error)
    return f"{_short(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""


def _users_frames(error: BaseException) -> list[FrameSummary]:
    return [frame for frame in extract_tb(error.__traceback__) if _is_users(frame.filename)]


def _is_users(file: str) -> bool:
    """Return whether a file is neither of spanscore, nor of Python, nor of an installed package."""
    path = Path(file)
    if not path.is_file() or {"site-packages", "dist-packages"} & set(path.parts):
        return False
    ours = (Path(__file__).parents[1], Path(sysconfig.get_paths()["stdlib"]))
    return not any(path.resolve().is_relative_to(folder.resolve()) for folder in ours)


def _short(file: str) -> str:
    path = Path(file)
    try:
        path = path.resolve().relative_to(Path.cwd().resolve())
    except (OSError, ValueError):
        path = Path(file)
    return printable(str(path), limit=255)
