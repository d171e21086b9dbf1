"""Options that say how the labels of gold data and predictions are aligned."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from spanscore.cli.options import INPUT, SCORING, option, together

if TYPE_CHECKING:
    from collections.abc import Callable

_levels = together(
    option(
        SCORING,
        "--align",
        type=click.Choice(["taxonomy"]),
        help="Align labels by meaning: taxonomy (default level: branch).",
    ),
    option(
        SCORING,
        "--level",
        "levels",
        metavar="A,B",
        help="Score at these levels of the taxonomy: pii, branch, type, raw; several in one pass.",
    ),
    option(
        SCORING,
        "--shared-types",
        is_flag=True,
        help="Score only types that every side has, and report what is left out.",
    ),
)
_taxonomy = option(
    SCORING,
    "--taxonomy",
    metavar="FILE",
    help="Your own types: lines of branch, type, label set and labels that extend or replace the built-in ones.",
)
_maps = together(
    option(
        INPUT,
        "--map",
        "label_map",
        metavar="FILE",
        help="Lines 'from: to' that rename labels on both sides; 'from: null' drops them.",
    ),
    option(INPUT, "--gold-map", metavar="FILE", help="The same for gold labels only; overrides --map."),
    option(INPUT, "--pred-map", metavar="FILE", help="The same for predicted labels only; overrides --map."),
)


def map_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the label maps, which reach the command as `LabelMap` or None."""

    @wraps(function)
    def with_maps(**rest: Any) -> Any:
        from spanscore.align import LabelMap

        for name in ("label_map", "gold_map", "pred_map"):
            rest[name] = None if rest[name] is None else LabelMap.read(rest[name])
        return function(**rest)

    return _maps(with_maps)


def taxonomy_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare --taxonomy, which reaches the command as `Taxonomy` or None."""

    @wraps(function)
    def with_taxonomy(taxonomy: str | None, **rest: Any) -> Any:
        from spanscore.align.taxonomy import Taxonomy

        return function(taxonomy=None if taxonomy is None else Taxonomy.read(taxonomy), **rest)

    return _taxonomy(with_taxonomy)


def level_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare --align, --level, --taxonomy and --shared-types, which reach the command as settings of a plan."""

    @wraps(function)
    def with_levels(levels: str | None, **rest: Any) -> Any:
        from spanscore.align.taxonomy import levels_of

        return function(levels=() if levels is None else levels_of(levels), **rest)

    return _levels(taxonomy_option(with_levels))


def label_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the maps and the levels, which reach the command as settings of a plan."""
    return map_options(level_options(function))
