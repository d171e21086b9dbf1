"""`spanscore weights`: weights of related types from a type hierarchy."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from spanscore.cli import options as shared
from spanscore.cli.options import SCORING, option
from spanscore.errors import InputError, UsageError


@shared.command("weights")
@click.argument("hierarchy")
@option(SCORING, "--decay", type=float, default=0.5, show_default=True, help="Factor for each level up.")
def command(hierarchy: str, decay: float) -> None:
    """Print weights for --type-weights from HIERARCHY, a JSON object that maps types to lists of subtypes.

    A prediction d levels above the gold type gets the weight decay^d.

    \b
    echo '{"place": ["city", "state"]}' > types.json
    spanscore weights types.json --decay 0.5 > weights.tsv
    spanscore score gold.tsv system.tsv -m sets::span+type --type-weights weights.tsv
    """
    from spanscore.measures.weights import of_hierarchy

    if not 0 <= decay <= 1:
        raise UsageError("the decay must be between 0 and 1.")
    try:
        table = of_hierarchy(_read(hierarchy), decay).table
    except InputError as error:
        raise InputError(str(error), "" if str(error).startswith(hierarchy) else hierarchy) from None
    click.echo("".join(f"{gold}\t{system}\t{weight!r}\n" for (gold, system), weight in table.items()), nl=False)


def _read(path: str) -> dict[str, list[str]]:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        said = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once)
    except AttributeError:
        raise InputError("standard input is closed.", path) from None
    except UnicodeDecodeError:
        raise InputError("the hierarchy is not UTF-8.", path) from None
    except OSError as error:
        raise InputError(f"cannot read the hierarchy ({error.strerror}).", path) from None
    except (ValueError, RecursionError):
        raise InputError("the hierarchy is not a JSON object, or names a type twice.", path) from None
    right = isinstance(said, dict) and all(
        isinstance(below, list) and all(isinstance(name, str) and _plain(name) for name in below) and _plain(parent)
        for parent, below in said.items()
    )
    if not right:
        raise InputError("expected a JSON object of types, each with a list of its subtypes.", path)
    return said  # type: ignore[no-any-return]


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def _plain(name: str) -> bool:
    return bool(name) and name.isprintable()
