"""`spanscore check`: what is in files, and what is wrong or suspicious."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, option
from spanscore.errors import InputError, plural, printable

if TYPE_CHECKING:
    from spanscore.analysis.check import CheckedFile, Finding


@shared.command("check")
@click.argument("files", nargs=-1, required=True)
@option(INPUT, "--format", "format_", metavar="FORMAT", help=shared.format_help)
@shared.max_bytes_option
@option(INPUT, "--each", is_flag=True, help="Check each file separately, without comparing it with the first.")
@option(OUTPUT, "--json", "json_", is_flag=True, help="Print JSON.")
def command(files: tuple[str, ...], format_: str | None, each: bool, json_: bool) -> None:
    """Read FILES as `score` does, and report their content and any problems.

    With several files, the first one is the gold data that the others are compared with, unless --each is given. The
    exit code is 1 if there is a problem that makes scores wrong, and 2 if a file cannot be read; with --each, the other
    files are still checked.

    \b
    spanscore check gold.jsonl
    spanscore check gold.jsonl pred.jsonl
    """
    from spanscore.analysis.check import Check, check

    unreadable: list[InputError] = []
    if each:
        checked: list[CheckedFile] = []
        for file in files:
            try:
                checked += check(file, format=format_).files
            except InputError as error:
                unreadable.append(error)
        found = Check(tuple(checked))
    else:
        found = check(*files, format=format_)
    if json_:
        import msgspec

        shared.print_data(msgspec.json.format(msgspec.json.encode(found.to_dict()), indent=2) + b"\n")
    else:
        for one in found.files:
            click.echo(f"{one.source}: {one.format} ({one.format_reason})")
            click.echo(f"  {plural(one.documents, 'document')}, {one.texts} with text; {plural(one.spans, 'span')}")
            for label, count in one.labels.items():
                click.echo(f"  {count:>8}  {printable(label)}")
            for finding in one.findings:
                _print(finding)
            click.echo(f"  fingerprint {one.fingerprint}")
        for finding in found.findings:
            _print(finding)
    for one_error in unreadable:
        click.echo(f"spanscore: {one_error}", err=True)
    if unreadable or found.problems:
        sys.exit(2 if unreadable else 1)


def _print(finding: Finding) -> None:
    click.echo(f"  {'problem' if finding.problem else 'note'}: {finding.message}")
    for example in finding.examples:
        click.echo(f"      {example}")
