"""Errors in a user's own code: one line with the user's file and line, without text of a document."""

from __future__ import annotations

import ast
import errno
import os
import re
import sysconfig
from linecache import getlines
from pathlib import Path
from traceback import FrameSummary, extract_tb

from spanscore.errors import printable

ABOUT_NAMES = (ImportError, ModuleNotFoundError, AttributeError, NameError, UnboundLocalError)
ABOUT_NOTHING = (ZeroDivisionError, IndexError, RecursionError, MemoryError, NotImplementedError)
"""Errors whose messages hold names or numbers if Python itself raises them."""
_KNOWN = {os.strerror(code) for code in errno.errorcode}


def explained(error: BaseException) -> str:
    """Return the type of an error that no document can have caused, where it was raised, and its message.

    >>> try: int("x")
    ... except ValueError as error: explained(error)
    "ValueError: invalid literal for int() with base 10: 'x'"
    """
    return _said(error, error.msg if isinstance(error, SyntaxError) else str(error))


def explained_without_text(error: BaseException) -> str:
    """Return the type of an error and where it was raised; the message only if it cannot hold text of a document.

    A message is shown if it is a constant string of the code that raises it, or if Python itself wrote it about names
    that the code contains (a missing module, attribute or variable) or about no value at all (a division by zero). Of
    an f-string in a raise statement, the constant parts are shown, and of an error of the operating system its kind and
    a file that the code names.

    >>> try: int("Ann")
    ... except ValueError as error: explained_without_text(error)
    'ValueError'
    """
    return _said(error, _message_without_text(error))


def _message_without_text(error: BaseException) -> str:
    frames = extract_tb(error.__traceback__)
    if not frames:
        return ""
    if isinstance(error, OSError) and error.strerror in _KNOWN:
        return _of_system(error, frames)
    raised = _raised(frames[-1])
    if raised is not None:
        return _of_raise(raised, error)
    if type(error) in ABOUT_NAMES:
        name = getattr(error, "name", None)
        known = isinstance(name, str) and bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", _code(frames[-1])))
    else:
        known = type(error) in ABOUT_NOTHING and bool(_code(frames[-1]))
    return str(error) if known else ""


def _said(error: BaseException, message: str) -> str:
    place = _place(error)
    shown = printable(" ".join(message.split()), limit=200)
    return f"{type(error).__name__}{f' at {place}' if place else ''}{f': {shown}' if shown else ''}"


def _raised(frame: FrameSummary) -> ast.Raise | None:
    """Return the `raise` statement at the line of a frame; None if something else is there."""
    try:
        tree = ast.parse("".join(getlines(frame.filename)))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    raises = (node for node in ast.walk(tree) if isinstance(node, ast.Raise))
    return next((node for node in raises if node.lineno == frame.lineno), None)


def _of_raise(raised: ast.Raise, error: BaseException) -> str:
    """Return the string in `raise SomeError("string")`; of an f-string only its constant parts."""
    match raised.exc:
        case ast.Call(args=[ast.Constant(value=str(message))]):
            return message if error.args == (message,) else ""
        case ast.Call(args=[ast.JoinedStr(values=parts)]):
            return "".join([str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts])
    return ""


def _of_system(error: OSError, frames: list[FrameSummary]) -> str:
    """Return what the operating system says, and the file if the user's code names it."""
    name = str(error.filename)
    code = "".join(_code(frame) for frame in frames if _is_users(frame.filename))
    return f"{error.strerror}: {name}" if f"'{name}'" in code or f'"{name}"' in code else str(error.strerror)


def _code(frame: FrameSummary) -> str:
    """Return the lines of the code that a frame runs."""
    first = frame.lineno or 0
    return "".join(getlines(frame.filename)[max(first - 1, 0) : frame.end_lineno or first])


def _place(error: BaseException) -> str:
    """Return the file and line of the user's code that raised an error, the innermost one; empty if none did."""
    if isinstance(error, SyntaxError) and error.filename and _is_users(error.filename):
        return _named(error.filename, error.lineno)
    frames = _users_frames(error)
    return _named(frames[-1].filename, frames[-1].lineno) if frames else ""


def _named(file: str, line: int | None) -> str:
    return f"{_short(file)}:{line}" if Path(file).is_file() else f"line {line} of a notebook cell"


def _users_frames(error: BaseException) -> list[FrameSummary]:
    return [frame for frame in extract_tb(error.__traceback__) if _is_users(frame.filename)]


def _is_users(file: str) -> bool:
    """Return whether a file is neither of spanscore, nor of Python, nor of an installed package.

    The cell of a notebook is not a file, but Python knows its lines.
    """
    path = Path(file)
    if not path.is_file():
        return bool(getlines(file))
    if {"site-packages", "dist-packages"} & set(path.parts):
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
