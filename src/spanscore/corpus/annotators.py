"""Where a corpus keeps its annotators: the attribute of a span, and the metadata of a document.

The attribute `annotator` of a span is who marked it. The metadata field `annotators` of a document is who saw it,
separated by commas: an annotator who saw a document and marked nothing in it counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable

ANNOTATOR = "annotator"
"""The attribute of a span."""
ANNOTATORS = "annotators"
"""The metadata field of a document."""


def joined(names: Iterable[str]) -> str:
    """Join the names to one text; commas and percent signs in names are percent-encoded.

    >>> joined(["ann", "Lee, Bo"])
    'ann,Lee%2C Bo'
    """
    return ",".join(name.replace("%", "%25").replace(",", "%2C") for name in names)


def separated(text: object) -> list[str]:
    """Return the names in a text made by `joined`.

    >>> separated("ann,Lee%2C Bo")
    ['ann', 'Lee, Bo']
    """
    return [unquote(name.strip()) for name in str(text).split(",") if name.strip()]
