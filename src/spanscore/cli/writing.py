"""What all commands that write results share: how much of the documents' text, and the report."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spanscore.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.result import Result


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


def asked(result: Result, tags: dict[str, Any], text: str) -> Result:
    """The result with what was asked for, for it to be made again: how files were read, and how much text is shown."""
    from spanscore.cli.reading import given

    settings = {"reading": given(tags), "text": text if text != "show" else None}
    return result.with_settings(**{name: value for name, value in settings.items() if value})


def save_all(result: Result, folder: str, *, text: Any, report: bool, quiet: bool) -> None:
    """Write the results, the errors and, unless it is not wanted, the report."""
    from spanscore.report.page_report import NAME, write_report
    from spanscore.result.files import save

    save(result, folder, text=text)
    note = write_report(result, Path(folder) / NAME, text=text) if report else None
    if note is not None and not quiet:
        click.echo(f"warning: {note}", err=True)
