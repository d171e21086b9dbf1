"""`spanscore perturb`: labelled variants of gold data."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, VARIANTS, option, together
from spanscore.errors import plural, printable

if TYPE_CHECKING:
    from spanscore.corpus import Corpus

perturbation_options = together(
    option(
        VARIANTS,
        "--with",
        "perturbations",
        required=True,
        metavar="A,B",
        help="Perturbations: typos, upper, lower, ocr, whitespace, accents, swap-names:FILE, original.",
    ),
    option(
        VARIANTS,
        "--names",
        metavar="A,B",
        default="PERSON",
        show_default=True,
        help="Labels of the spans that swap-names replaces.",
    ),
    option(
        VARIANTS,
        "--rate",
        type=float,
        default=0.1,
        show_default=True,
        help="Share of words with an error (typos, ocr), or of spaces that change (whitespace).",
    ),
)


@shared.command("perturb")
@click.argument("gold")
@option(INPUT, "--format", "format_", metavar="FORMAT", help=shared.format_help)
@shared.max_bytes_option
@perturbation_options
@option(VARIANTS, "--seed", type=int, default=0, show_default=True, help="Random seed.")
@option(OUTPUT, "-o", "--output", metavar="FILE", default="-", show_default=True, help="Output file; '-' is stdout.")
@option(OUTPUT, "--to", metavar="FORMAT", help="Output format (default: by the extension of FILE, or spanscore).")
@shared.quiet_option
def command(
    gold: str,
    format_: str | None,
    perturbations: str,
    names: str,
    rate: float,
    seed: int,
    output: str,
    to: str | None,
    quiet: bool,
) -> None:
    """Make variants of GOLD with noisy text or other names, labelled like the original.

    The document d1 becomes d1~typos and so on, with the fields perturbation and perturbed_from in its metadata.
    swap-names replaces names with those of FILE. Each line has a name, optionally followed by a tab and its group;
    with groups, there is a variant for each.

    \b
    spanscore perturb gold.jsonl --with typos,upper,ocr -o noisy.jsonl
    spanscore perturb gold.jsonl --with swap-names:names.tsv --names PERSON,PATIENT -o swapped.jsonl
    """
    from spanscore.analysis.perturbation import perturb
    from spanscore.cli.convert import print_lost
    from spanscore.engine.conversion import write_corpus
    from spanscore.formats import read

    @cache
    def variants() -> Corpus:
        corpus = read(gold, format_)
        found = perturb(corpus, perturbations, seed=seed, rate=rate, names=shared.listed_names(names, "--names"))
        shared.print_warnings(found.notes, quiet=quiet)
        return found

    print_lost(output, write_corpus(output, to, lambda: iter([variants()])))
    if output != "-" and not quiet:
        click.echo(f"{printable(output, limit=255)}: {plural(len(variants()), 'document')}", err=True)
