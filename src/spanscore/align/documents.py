"""Documents of gold data and a system: joined by id, and compared in their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from spanscore.corpus.strings import Strings
from spanscore.errors import InputError, plural, printable
from spanscore.formats import class_of

if TYPE_CHECKING:
    from spanscore.align.account import Account
    from spanscore.corpus import Corpus

Extra = Literal["refuse", "ignore", "score"]
"""What to do with documents that only a system has."""


def join(gold: Corpus, pred: Corpus, system: str, extra: Extra, account: Account) -> tuple[Corpus, Corpus]:
    """Return both sides with the same documents, in the order of the gold data."""
    if gold.ids == pred.ids:
        return gold, pred
    rows = pred.ids.find(gold.ids)
    ids = gold.ids
    if missing := int(np.count_nonzero(rows < 0)):
        account[system, "missing", ""] += missing
    beside = np.ones(len(pred), np.bool_)
    beside[rows[rows >= 0]] = False
    if beside.any():
        more = np.flatnonzero(beside)
        if extra == "refuse":
            hint = "give --extra-documents ignore to leave such documents out, or score to count them as wrong."
            name = printable(pred.ids[int(more[0])])
            if len(more) == len(pred) and len(gold):
                raise no_common_document(gold.ids[0], pred.ids[0], pred.source or system)
            what = f'{len(more)} documents are not in the gold data, first "{name}"'
            what = what if len(more) > 1 else f'the document "{name}" is not in the gold data'
            raise InputError(f"{what}; {hint}", pred.source or system)
        account[system, "ignored" if extra == "ignore" else "scored", ""] += len(more)
        if extra == "score":
            ids = Strings.concat([ids, pred.ids.take(more)])
            rows = np.concatenate([rows, more])
            gold = gold.take(np.append(np.arange(len(gold)), np.full(len(more), -1))).with_columns(ids=ids)
    return gold, pred.take(rows).with_columns(ids=ids)


def no_common_document(ours: str, theirs: str, where: str) -> InputError:
    """Return the error for predictions none of whose documents is in the gold data, with an id of each side."""
    ids = f'it has documents such as "{printable(theirs)}", the gold data "{printable(ours)}"'
    what = f"this file and the gold data have no document id in common: {ids}; use the same ids"
    if f"/{ours}".endswith(f"/{theirs}") or f"/{theirs}".endswith(f"/{ours}"):
        what += " (the id of a file is its path in the folder or zip file)"
    return InputError(f"{what}.", where)


def compare_texts(gold: Corpus, pred: Corpus, system: str) -> None:
    """Refuse documents whose texts differ: offsets would not refer to the same characters."""
    if gold.text is None or pred.text is None or gold.text == pred.text:
        return
    for name, ours, theirs in zip(gold.ids, gold.text, pred.text, strict=True):
        if ours is not None and theirs is not None and ours != theirs:
            pairs = zip(ours, theirs, strict=False)
            place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))
            hint = changed_words(gold.format, pred.format)
            message = f"the text differs from the gold text at character {place}; offsets must refer to one text{hint}."
            raise InputError(message, f'{pred.source or system}: document "{printable(name)}"')


def changed_words(*formats: str) -> str:
    """Return a hint for systems that changed words but not their number, if all files are in a format of words."""
    if not all(class_of(one).builds_text for one in formats):
        return ""
    return "; if words were changed, but not their number, read both files with conll(words=ignore)"


def refuse_split_differently(gold: Corpus, pred: Corpus, system: str) -> None:
    """Refuse files with numbered documents, which have no ids of their own, if they are split differently."""
    if len(gold) == len(pred) or not any(class_of(one.format).builds_text for one in (gold, pred)):
        return
    texts = [None if one.text is None or not len(one) else one.text[0] for one in (gold, pred)]
    if None not in texts and texts[0] != texts[1]:
        what = f"{plural(len(pred), 'document')} against {len(gold)} in the gold data: the files are split differently"
        raise InputError(f"{what}; mark documents with -DOCSTART- in both or in neither.", pred.source or system)


def fit_text(gold: Corpus, pred: Corpus, system: str) -> None:
    """Refuse a span past the end of the text that the other side has: it was made on another text."""
    for mine, other, side, whose in ((pred, gold, system, "gold"), (gold, pred, "gold", system)):
        if other.text_length is None:
            continue
        length = np.repeat(other.text_length, np.diff(mine.bounds))
        past = np.flatnonzero((mine.end > length) & (length >= 0))
        if past.size:
            row = int(past[0])
            what = f"the end {mine.end[row]} of a span is past the {whose} text, which has {length[row]} characters"
            where = f'{mine.source or side}: document "{printable(gold.ids[mine.doc[row]])}"'
            raise InputError(f"{what}; offsets count code points from 0, ends are exclusive.", where)
