"""`spanscore generate`: labelled text from templates."""

from __future__ import annotations

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, option


@shared.command("generate")
@option(INPUT, "-n", "--count", type=int, default=500, show_default=True, help="Number of documents.")
@option(
    INPUT,
    "--locale",
    "locales",
    multiple=True,
    default=("en_US",),
    show_default=True,
    help="Locale; repeat for several.",
)
@option(
    INPUT,
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Random seed; the same seed gives the same output (with the same version of Faker).",
)
@option(
    INPUT, "--templates", metavar="FILE", help="Your own templates, one per line, with placeholders such as {{PERSON}}."
)
@option(OUTPUT, "-o", "--output", metavar="FILE", default="-", show_default=True, help="Output file; '-' is stdout.")
def command(count: int, locales: tuple[str, ...], seed: int, templates: str | None, output: str) -> None:
    """Generate labelled documents from templates and random values, as spanscore JSON Lines.

    \b
    spanscore generate -n 500 --locale en_US --locale de_DE --seed 7 -o data.jsonl
    """
    import msgspec

    from spanscore.errors import printable
    from spanscore.files import atomic_file, check_outputs, standard_output
    from spanscore.generate import generate

    check_outputs(None if output == "-" else output, None)
    encoder = msgspec.json.Encoder()
    lines = (encoder.encode(one) + b"\n" for one in generate(count, locale=locales, seed=seed, templates=templates))
    with standard_output() if output == "-" else atomic_file(output) as file:
        for line in lines:
            file.write(line)
    if output != "-":
        click.echo(f"{printable(output, limit=255)}: {count} documents", err=True)
