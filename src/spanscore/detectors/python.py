"""`python`: a function of a module, called with each text and the language."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.detectors.interface import Description, Detection, Detector, Failure, spans_of
from spanscore.errors import UsageError, printable
from spanscore.spec import REQUIRED, parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spanscore.corpus.records import Document


@dataclass(frozen=True, repr=False)
class Python(Detector):
    """A Python function that is called with a text and the language and returns a list of spans.

    A span is a dictionary or object with `start`, `end`, `label` or `entity_type`, and optionally `score`. Modules are
    also imported from the current folder.
    """

    name: ClassVar[str] = "python"
    in_processes: ClassVar[bool] = True
    function: str | Callable[[str, str], Any] = parameter(  # noqa: RUF009
        REQUIRED, "Function to call, as module:function.", type=str, callable=True
    )

    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Call the function for each text; an exception is a failure of that document."""
        call = self._call
        for document in documents:
            text = document.text or ""
            try:
                found = call(text, self.language)
            except (Exception, SystemExit) as error:
                yield Failure(f"the function raised {type(error).__name__}")
                continue
            yield spans_of(found, len(text))

    def describe(self) -> Description:
        """Import the function."""
        self._call  # noqa: B018 - importing it is the point
        return Description()

    @cached_property
    def _call(self) -> Callable[[str, str], Any]:
        return _load(self.function) if isinstance(self.function, str) else self.function


def _load(named: str) -> Callable[[str, str], Any]:
    module, colon, attribute = named.partition(":")
    if not (module and colon and attribute):
        raise UsageError(f"'{printable(named)}' is not a function; write module:function.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module)
    except (Exception, SystemExit) as error:
        raise UsageError(f"cannot import the module '{printable(module)}' ({type(error).__name__}).") from None
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise UsageError(f"the module '{printable(module)}' has no function '{printable(attribute)}'.")
    return found  # type: ignore[no-any-return]
