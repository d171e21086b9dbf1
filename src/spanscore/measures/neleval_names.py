"""neleval's names: measures that stand for an aggregate, a filter and a key, and groups of measures."""

from __future__ import annotations

NAMED = {
    "strong_mention_match": ("sets", "none", "span"),
    "strong_typed_mention_match": ("sets", "none", "span+type"),
    "strong_linked_mention_match": ("sets", "is_linked", "span"),
    "strong_link_match": ("sets", "is_linked", "span+kbid"),
    "strong_nil_match": ("sets", "is_nil", "span"),
    "strong_all_match": ("sets", "none", "span+kbid"),
    "strong_typed_link_match": ("sets", "is_linked", "span+type+kbid"),
    "strong_typed_nil_match": ("sets", "is_nil", "span+type"),
    "strong_typed_all_match": ("sets", "none", "span+type+kbid"),
    "entity_match": ("sets", "is_linked", "docid+kbid"),
    "b_cubed_plus": ("b_cubed", "none", "span+kbid"),
    "mention_ceaf_plus": ("mention_ceaf", "none", "span+kbid"),
    "typed_mention_ceaf": ("mention_ceaf", "none", "span+type"),
    "typed_mention_ceaf_plus": ("mention_ceaf", "none", "span+type+kbid"),
}
"""Name -> aggregate, filter and key; `muc`, `b_cubed`, `entity_ceaf`, `mention_ceaf` and `pairwise` are names as
well as aggregates, with the key `span`."""

_TAGGING = tuple(name for name, (aggregate, _, _) in NAMED.items() if aggregate == "sets")
_COREF = (
    "mention_ceaf",
    "entity_ceaf",
    "b_cubed",
    "pairwise",
    "muc",
    "b_cubed_plus",
    "typed_mention_ceaf",
    "mention_ceaf_plus",
    "typed_mention_ceaf_plus",
)
_TAC09 = ("strong_link_match", "strong_nil_match", "strong_all_match")
_TAC11 = (*_TAC09, "b_cubed", "b_cubed_plus")

GROUPS = {
    "all": (*_TAGGING, *_COREF),
    "all-tagging": _TAGGING,
    "all-coref": _COREF,
    "tac09": _TAC09,
    "tac11": _TAC11,
    "tac14": (
        *_TAC11,
        "strong_mention_match",
        "strong_typed_mention_match",
        "strong_typed_all_match",
        "mention_ceaf",
        "typed_mention_ceaf",
    ),
    "cornolti": ("strong_linked_mention_match", "strong_link_match", "entity_match"),
    "hachey": ("strong_mention_match", "strong_linked_mention_match", "strong_link_match", "entity_match"),
    "luo": ("muc", "b_cubed", "mention_ceaf", "entity_ceaf"),
    "tmp": ("mention_ceaf", "entity_ceaf", "pairwise"),
}
"""Group -> the names in it."""
