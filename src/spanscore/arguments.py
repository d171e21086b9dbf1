"""Checks of arguments against the types that a public function declares, for errors that users understand."""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from functools import cache, partial, wraps
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, cast, get_args, overload

from spanscore.errors import UsageError, printable, unknown

F = TypeVar("F", bound=Callable[..., Any])

Text = Literal["show", "mask", "hide"]
"""Write the text of documents as it is, its shape character by character, or nothing."""
CHOICES = {"Text": get_args(Text)}
"""The values of declared types that have a few."""
ALIASES = {"Conditions", "Data", "Extra", "GivenMap", "Level", "Range", "Resolve", "Systems"}
OPEN = {"Any", "object", *ALIASES}
"""Declared types that anything has, or that the function checks itself."""
LISTS = {"Sequence", "Iterable", "Iterator", "tuple", "list"}


@overload
def checked(function: F) -> F: ...
@overload
def checked(*, settings: Collection[str]) -> Callable[[F], F]: ...
def checked(function: F | None = None, *, settings: Collection[str] = ()) -> F | Callable[[F], F]:
    """Return the function with its arguments checked against its annotations.

    `settings` are the names that it takes beside its own arguments, and passes on.

    >>> @checked
    ... def rate(share: float, names: str | Sequence[str] = ()) -> float: ...
    >>> rate("x")
    Traceback (most recent call last):
    spanscore.errors.UsageError: share must be a number, not str.
    >>> rate(1, [3])
    Traceback (most recent call last):
    spanscore.errors.UsageError: names must be text or a list of text, not a list with int.
    >>> rate(1, nmes="a")
    Traceback (most recent call last):
    spanscore.errors.UsageError: There is no argument of rate 'nmes'; did you mean 'names'? Known: names, share.
    """
    if function is None:
        return cast("Callable[[F], F]", partial(_checked, settings=settings))
    return _checked(function, settings=settings)


def _checked(function: F, *, settings: Collection[str]) -> F:
    signature = inspect.signature(function)
    takes_any = not settings and any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())
    declared = {
        name: one.annotation
        for name, one in signature.parameters.items()
        if isinstance(one.annotation, str) and one.kind is not one.VAR_KEYWORD
    }
    several = {name for name, one in signature.parameters.items() if one.kind is one.VAR_POSITIONAL}

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        __tracebackhide__ = True  # of pytest, so that failed assertions show the user's line
        known = {name for name, one in signature.parameters.items() if one.kind in _NAMED} | set(settings)
        if not takes_any and (other := next((name for name in named if name not in known), None)) is not None:
            raise UsageError(unknown(f"argument of {function.__name__}", other, known - {"self", "cls"}))
        try:
            bound = signature.bind(*arguments, **named)
        except TypeError as error:
            raise TypeError(f"{function.__name__}(): {error}") from None
        for name, value in bound.arguments.items():
            if name in declared:
                for one in value if name in several else (value,):
                    check(name, one, declared[name])
        return function(*arguments, **named)

    return cast("F", call)


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def names_of(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the arguments of a function that are given by name only."""
    parameters = inspect.signature(function).parameters
    return frozenset(name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY)


def check_fields(value: Any) -> None:
    """Check the fields of a dataclass against their annotations."""
    for one in fields(value):
        if isinstance(one.type, str):
            check(one.name, getattr(value, one.name), one.type)


def check(name: str, value: Any, annotation: str) -> None:
    """Raise an error unless a value has a declared type."""
    kind = _parsed(annotation)
    if not _fits(value, kind):
        raise UsageError(f"{name} must be {_described(kind)}, not {_shown(value)}.")


@cache
def _parsed(annotation: str) -> ast.expr:
    return ast.parse(annotation, mode="eval").body


def _fits(value: Any, kind: ast.expr) -> bool:
    match kind:
        case ast.BinOp(left=left, right=right):
            return _fits(value, left) or _fits(value, right)
        case ast.Constant(value=None):
            return value is None
        case ast.Subscript(value=ast.Name(id="Mapping"), slice=ast.Tuple(elts=[key, item])):
            return isinstance(value, Mapping) and all(_fits(k, key) and _fits(v, item) for k, v in value.items())
        case ast.Subscript(value=ast.Name(id=name), slice=inside) if name in LISTS:
            return _is_list(value) and (name == "Iterable" or _all_fit(value, inside))
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inside):
            return value in _constants(inside)
        case ast.Name(id=name) if name in CHOICES:
            return value in CHOICES[name]
        case ast.Subscript(value=ast.Name(id=name)) | ast.Name(id=name):
            return name in OPEN or _is_a(value, name)
    return True


def _constants(inside: ast.expr) -> tuple[object, ...]:
    listed = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    return tuple(one.value for one in listed if isinstance(one, ast.Constant))


def _all_fit(value: Any, inside: ast.expr) -> bool:
    """Return whether the items fit, in a list of Python's own, which can be read again."""
    if not isinstance(value, list | tuple | set | frozenset):
        return True
    kinds = [one for one in inside.elts if not _is_dots(one)] if isinstance(inside, ast.Tuple) else [inside]
    if len(kinds) > 1:
        return len(value) == len(kinds) and all(map(_fits, value, kinds))
    return all(_fits(one, kinds[0]) for one in value)


def _is_dots(one: ast.expr) -> bool:
    return isinstance(one, ast.Constant) and one.value is ...


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | os.PathLike)


def _is_a(value: Any, name: str) -> bool:
    known: dict[str, Any] = {"str": str, "int": Integral, "float": Real, "Path": os.PathLike, "Callable": Callable}
    if name in ("int", "float") and isinstance(value, bool):
        return False
    if name in known:
        return isinstance(value, known[name])
    return any(one.__name__ == name for one in type(value).__mro__)


def _described(kind: ast.expr) -> str:
    names = list(dict.fromkeys(_names(kind)))
    if "a path" in names and "text" in names:
        names.remove("text")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _names(kind: ast.expr) -> list[str]:
    words = {
        "str": "text",
        "int": "a whole number",
        "float": "a number",
        "bool": "True or False",
        "Path": "a path",
        "Callable": "a function",
    }
    match kind:
        case ast.BinOp(left=left, right=right):
            return [*_names(left), *_names(right)]
        case ast.Constant(value=None):
            return ["None"]
        case ast.Subscript(value=ast.Name(id="Mapping"), slice=ast.Tuple(elts=[_, item])):
            inside = _described(item)
            return ["a mapping" if inside == "anything" else f"a mapping of names to {inside}"]
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=items)) if not any(map(_is_dots, items)):
            return [f"a tuple ({', '.join(map(_described, items))})"]
        case ast.Subscript(value=ast.Name(id=name), slice=inside) if name in LISTS:
            first = inside.elts[0] if isinstance(inside, ast.Tuple) else inside
            return ["a list" if _described(first) == "anything" else f"a list of {_described(first)}"]
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inside):
            return [repr(one) for one in _constants(inside)]
        case ast.Name(id=name) if name in CHOICES:
            return [repr(one) for one in CHOICES[name]]
        case ast.Subscript(value=ast.Name(id=name)) | ast.Name(id=name):
            return [words.get(name, "anything" if name in OPEN else f"a {name}")]
    return ["anything"]


def _shown(value: Any) -> str:
    """Return the type of a value, never what it holds: that may be text of a document."""
    if isinstance(value, list | tuple) and value:
        return f"a {type(value).__name__} with {', '.join(dict.fromkeys(type(one).__name__ for one in value[:100]))}"
    if isinstance(value, Mapping) and value:
        inside = ", ".join(dict.fromkeys(type(one).__name__ for one in value.values()))
        return f"a mapping to {inside}"
    return "None" if value is None else printable(type(value).__name__)
