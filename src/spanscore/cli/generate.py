"""`spanscore generate`: labelled text from templates."""

from __future__ import annotations

import sys

import click


@click.command("generate")
@click.option("-n", "--count", type=int, default=500, show_default=True, help="How many documents.")
@click.option("--locale", "locales", multiple=True, default=("en_US",), show_default=True, help="Give several.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same bytes.")
@click.option("--templates", metavar="FILE", help="Your own templates, one a line, with places such as {{PERSON}}.")
@click.option("-o", "--output", metavar="FILE", default="-", show_default=True, help="Where to write; '-' is stdout.")
def command(count: int, locales: tuple[str, ...], seed: int, templates: str | None, output: str) -> None:
    """Write labelled documents made up from templates and invented values, as spanscore JSON Lines.

    \b
    spanscore generate -n 500 --locale en_US --locale de_DE --seed 7 -o data.jsonl
    """
    import msgspec

    from spanscore.files import check_outputs, whole
    from spanscore.generate import generate

    check_outputs(None if output == "-" else output, None)
    encoder = msgspec.json.Encoder()
    lines = (encoder.encode(one) + b"\n" for one in generate(count, locale=locales, seed=seed, templates=templates))
    if output == "-":
        for line in lines:
            sys.stdout.buffer.write(line)
        return
    with whole(output) as file:
        for line in lines:
            file.write(line)
    click.echo(f"{output}: {count} documents", err=True)
