"""`python`: a function of a module, called with each text and the language."""

from __future__ import annotations

import inspect
import signal
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.detectors.fingerprint import Fingerprint
from spanscore.detectors.interface import Description, Detection, Detector, Failure, spans_of
from spanscore.detectors.source_files import held_values, source_of
from spanscore.detectors.span_shapes import MalformedSpanError, listed
from spanscore.detectors.user_errors import explained, explained_without_text
from spanscore.errors import UsageError, printable
from spanscore.spec import REQUIRED, parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spanscore.corpus.records import Document


@dataclass(frozen=True, repr=False)
class Python(Detector):
    """A Python function that is called with a text and the language and returns a list of spans.

    A span is a dictionary or object with `start`, `end`, `label`, `entity_type` or `entity_group`, and optionally
    `score`: what Presidio, a Hugging Face pipeline or GLiNER returns is fine, and so is a spaCy Doc, its `ents` or
    `to_json()`, or a dictionary with the list `spans` or `entities`. Anything the function prints goes to
    standard error. Modules are also imported from the current folder.
    """

    name: ClassVar[str] = "python"
    in_processes: ClassVar[bool] = True
    runtime: ClassVar[tuple[str, ...]] = ("timeout", "messages")
    function: str | Callable[[str, str], Any] = parameter(  # noqa: RUF009
        REQUIRED, "Function to call, as module:function.", type=str, callable=True
    )
    timeout: float = parameter(600.0, "Seconds for one text.", above=0, high=604_800)
    messages: bool = parameter(False, "Show the messages of all errors, also those that may contain text.")

    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Call the function for each text; an exception is a failure of that document."""
        call = self._call
        for document in documents:
            text = document.text or ""
            found: Detection
            try:
                with prints_to_stderr(), time_limit(self.timeout):
                    found = spans_of(listed(call(text, self.language)), len(text))  # a generator runs only in `listed`
            except OutOfTimeError:
                found = Failure(f"the function did not return within {self.timeout:g} seconds")
            except MalformedSpanError as error:
                found = Failure(str(error))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # of libraries in Rust, too
                said = explained(error) if self.messages else explained_without_text(error)
                found = Failure(f"the function raised {said}")
            yield found

    def describe(self) -> Description:
        """Import the function, and warn if it holds values that cannot be fingerprinted."""
        if held_values(self._call).complete:
            return Description()
        what = "the function uses values that cannot be fingerprinted, such as a model"
        return Description(notes=(f"{what}: --resume will not notice if they change.",))

    def fingerprint(self) -> Fingerprint:
        """Add the source code of the function's module and of the modules beside it, and versions of their imports."""
        named = self.function.partition(":")[0] if isinstance(self.function, str) else None
        return {**super().fingerprint(), **source_of(self._call, named)}

    @cached_property
    def _call(self) -> Callable[[str, str], Any]:
        found = _load(self.function) if isinstance(self.function, str) else self.function
        if inspect.iscoroutinefunction(found):
            raise UsageError("the function is asynchronous (async def); give one that returns the spans themselves.")
        return found


def prints_to_stderr() -> AbstractContextManager[object]:
    """Print to standard error what the user's code prints: results may be written to standard output.

    Standard output belongs to the whole process, so other threads than the main one leave it as it is.
    """
    return redirect_stdout(sys.stderr) if current_thread() is main_thread() else nullcontext()


class OutOfTimeError(BaseException):
    """A function that takes too long. Like KeyboardInterrupt, it passes through code that catches exceptions."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in this code after some seconds, again and again if it is caught.

    It needs a timer signal, which only the main thread receives and Windows does not have; elsewhere there is no limit.
    """
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)


def _load(named: str) -> Callable[[str, str], Any]:
    module, colon, attribute = named.partition(":")
    if not (module and colon and attribute):
        raise UsageError(f"'{printable(named)}' is not a function; write module:function.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        with prints_to_stderr():
            found: Any = import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of libraries in Rust, too
        raise UsageError(f"cannot import the module '{printable(module)}': {explained(error)}.") from None
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(f"the module '{printable(module)}' has no function '{printable(attribute)}'.")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"'{printable(named)}' is not a function: its type is {type(found).__name__}.")
    if not _takes(found, "text", "language"):
        what = f"'{printable(named)}' cannot be called with a text and a language"
        by_name = _takes(found, "text", language="language") or _takes(found, text="text", language="language")
        how = "remove the * before its parameters: they must be positional" if by_name else "give it two parameters"
        raise UsageError(f"{what}; {how}.")
    return found  # type: ignore[no-any-return]


def _takes(function: Callable[..., Any], *positional: str, **named: str) -> bool:
    """Return whether a function can be called with these arguments, as far as it tells."""
    try:
        parameters = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins do not tell
        return True
    try:
        parameters.bind(*positional, **named)
    except TypeError:
        return False
    return True
