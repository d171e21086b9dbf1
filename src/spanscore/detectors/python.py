"""`python`: a function of a module, called with each text and the language."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.detectors.detector import Detector, Failure, Outcome, spans_of
from spanscore.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spanscore.corpus.records import Document


class Python(Detector):
    """A function, or `module:function`; modules are looked for in the current folder too."""

    name: ClassVar[str] = "python"
    in_processes: ClassVar[bool] = True

    def __init__(self, function: str | Callable[[str, str], Any]) -> None:
        self._function = _load(function) if isinstance(function, str) else function

    def __call__(self, documents: Iterable[Document], language: str) -> Iterator[Outcome]:
        """Call the function for each text; what it raises is a failure of that document."""
        for document in documents:
            text = document.text or ""
            try:
                found = self._function(text, language)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                yield Failure(f"the function raised {type(error).__name__}")
                continue
            yield spans_of(found, len(text))


def _load(named: str) -> Callable[[str, str], Any]:
    module, colon, attribute = named.partition(":")
    if not (module and colon and attribute):
        raise UsageError(f"'{printable(named)}' is not a function; write module:function.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UsageError(f"the module '{printable(module)}' cannot be imported ({type(error).__name__}).") from None
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise UsageError(f"the module '{printable(module)}' has no function '{printable(attribute)}'.")
    return found  # type: ignore[no-any-return]
