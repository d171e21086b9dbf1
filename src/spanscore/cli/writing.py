"""What all commands that write documents' text share: options that say how much of it."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from spanscore.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


def text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--no-text and --mask, which reach the command as `text`: show, mask or hide."""

    @wraps(command)
    def with_text(no_text: bool, mask: bool, **rest: Any) -> Any:
        if no_text and mask:
            raise UsageError("--no-text and --mask cannot go together.")
        return command(text="hide" if no_text else "mask" if mask else "show", **rest)

    decorated: Callable[..., Any] = with_text
    for option in (
        click.option("--mask", is_flag=True, help="Write shapes instead of text: Xxxx 99."),
        click.option("--no-text", is_flag=True, help="Leave the documents' text out of what is written."),
    ):
        decorated = option(decorated)
    return decorated
