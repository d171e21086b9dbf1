"""Reports for people and programs: tables, JSON, error lists and the HTML report.

This room is called as a function too: `spanscore.report(...)` writes the HTML report.
"""

from __future__ import annotations

import sys
from inspect import Signature, signature
from types import ModuleType
from typing import Any


class _Report(ModuleType):
    """A package that can be called, because the public function has its name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from spanscore.report.python_call import report

        return report(*arguments, **options)

    @property
    def __signature__(self) -> Signature:
        """The signature of the function, for `help()` and for completion in notebooks."""
        from spanscore.report.python_call import report

        return signature(report)


sys.modules[__name__].__class__ = _Report
