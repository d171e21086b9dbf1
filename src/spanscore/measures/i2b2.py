"""i2b2: tags of protected health information, as the script of the i2b2 2014 de-identification track counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from spanscore.align.characters import not_plain
from spanscore.align.pairing import IDENTITY, Pairing, without_repeats
from spanscore.align.spans import one_label
from spanscore.errors import InputError, printable
from spanscore.formats.i2b2 import CATEGORIES, OTHER
from spanscore.measures.char import judge_by_coverage, merge_touching
from spanscore.measures.exact import identical, judge_in_place
from spanscore.measures.interface import Measure
from spanscore.measures.judgement import Judgement
from spanscore.measures.sandbox import InstanceRelax
from spanscore.measures.sandbox_tokens import distinct_tokens
from spanscore.spec import parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs

CATEGORY = "category"
"""The attribute that holds a tag's category, which is the name of its XML element."""
_CATEGORY = {label: category for category, labels in CATEGORIES.items() for label in labels.split()}
_HIPAA = {
    "NAME": "PATIENT",
    "LOCATION": "CITY STREET ZIP ORGANIZATION",
    "CONTACT": "PHONE FAX EMAIL",
    "ID": "SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID",
}
"""The types that both the script and its README count as protected by HIPAA; all of AGE and DATE are too."""


class Tag(NamedTuple):
    """The category and the type of a tag."""

    category: str | None
    type: str

    @property
    def label(self) -> str:
        """The type; with the category before it if it is not the one that the task gives to the type."""
        expected = self.category in (None, _CATEGORY.get(self.type), self.type)
        return self.type if expected else f"{self.category}/{self.type}"

    def is_hipaa(self, whose: str) -> bool:
        """Return whether the tag is protected by HIPAA, by the list of the script or of its README."""
        if self == ("ID", "IDNUM"):
            return whose == "readme"
        return self.category in ("AGE", "DATE") or self.type in _HIPAA.get(self.category or "", "").split()


@dataclass(frozen=True, repr=False)
class I2b2(Measure):
    """The tags that count, by category and by HIPAA's list."""

    symmetric: ClassVar[bool] = True
    macro_over_documents: ClassVar[bool] = True
    hipaa: str = parameter(
        "none",
        "The only tags that count: those protected by HIPAA, by the list in the script's code (script, or true), which "
        "lacks IDNUM, or by the one in its README (readme).",
        choices=("none", "script", "readme", "true"),
    )
    category: str = parameter("all", "The only category of tags that counts.", choices=("all", *CATEGORIES, OTHER))
    binary: bool = parameter(False, "Whether tags are compared by their offsets alone.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hipaa == "true":
            object.__setattr__(self, "hipaa", "script")

    @property
    def identity(self) -> tuple[str, ...]:
        """Place, type and category."""
        return (*IDENTITY, CATEGORY)

    def _tags(self, pairing: Pairing) -> Pairing:
        found = pairing.distinct(self.identity).once(_chosen, self.hipaa, self.category)
        return found.once(one_label, "PHI") if self.binary else found


@dataclass(frozen=True, repr=False)
class I2b2Strict(I2b2):
    """Tags with the same category, type, start and end.

    A tag's category is its attribute `category`, as the format i2b2 sets it, or else that of its type in the task's
    list. tp = tags that both sides have; P = tp / predicted, R = tp / annotated. The macro average is over documents:
    the mean P and the mean R, with 0 where they are undefined, and the F of the two.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["110-01"], [0, 0], [28, 74], [39, 86], ["PATIENT", "DOCTOR"])
    >>> pred = ss.Corpus.from_arrays(["110-01"], [0, 0], [28, 74], [41, 86], ["PATIENT", "PATIENT"])
    >>> measures = ["i2b2.strict", "i2b2.relaxed", "i2b2.strict(binary=true)", "i2b2.relaxed(hipaa=script)"]
    >>> [one.counts["tp"] for one in ss.score(gold, pred, measures).scores]
    [0, 1, 1, 1]
    """

    name: ClassVar[str] = "i2b2.strict"

    @property
    def local(self) -> bool:
        """Tags are compared with tags in the same place."""
        return True

    def tally(self, pairing: Pairing) -> Tally:
        """Count the tags that both sides have."""
        pairing = self._tags(pairing)
        return Tally.of_found(pairing, pairing.gold, pairing.pred, identical(pairing, same_label=True)[0])

    def judge(self, pairing: Pairing) -> Judgement:
        """Pair identical tags, then tags in the same place with another type."""
        pairing = self._tags(pairing)
        return judge_in_place(pairing, *identical(pairing, same_label=True))


@dataclass(frozen=True, repr=False)
class I2b2Relaxed(I2b2):
    """Tags with the same category, type and start, whose ends differ by no more than the tolerance.

    As `i2b2.strict`, but two characters at the end do not matter, such as those of "'s". Tags are matched one to one,
    as many as possible.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["110-01"], [0, 0], [28, 51], [39, 64], ["PATIENT", "HOSPITAL"])
    >>> pred = ss.Corpus.from_arrays(["110-01"], [0, 0], [28, 51], [41, 57], ["PATIENT", "HOSPITAL"])
    >>> ss.score(gold, pred, ["i2b2.relaxed"])["i2b2.relaxed"].counts
    {'tp': 1, 'predicted': 2, 'annotated': 2, 'fp': 1, 'fn': 1}
    """

    name: ClassVar[str] = "i2b2.relaxed"
    tolerance: int = parameter(2, "Maximum difference of the ends in characters.", low=0, high=1000)

    def tally(self, pairing: Pairing) -> Tally:
        """Count the tags that match."""
        pairing = self._tags(pairing)
        return Tally.of_found(pairing, pairing.gold, pairing.pred, self._matches(pairing)[0])

    def judge(self, pairing: Pairing) -> Judgement:
        """Pair tags that match, then tags in the same place with another type."""
        pairing = self._tags(pairing)
        return judge_in_place(pairing, *self._matches(pairing))

    def _matches(self, pairing: Pairing) -> tuple[Longs, Longs]:
        return InstanceRelax(tolerance=self.tolerance).matches(pairing)


@dataclass(frozen=True, repr=False)
class I2b2Token(I2b2):
    """Tokens inside tags, matched with tokens inside tags of the same category and type.

    Tokens are the runs of ASCII letters and digits in a tag's text; each counts once for each category and type.
    P = tp / predicted, R = tp / annotated.

    >>> import spanscore as ss
    >>> text = ["seen at Beacon Clinic by Quay"]
    >>> gold = ss.Corpus.from_arrays(["110-01"], [0, 0], [8, 25], [21, 29], ["HOSPITAL", "DOCTOR"], text=text)
    >>> pred = ss.Corpus.from_arrays(["110-01"], [0, 0], [8, 25], [14, 29], ["HOSPITAL", "DOCTOR"])
    >>> ss.score(gold, pred, ["i2b2.token"])["i2b2.token"].counts
    {'tp': 2, 'predicted': 2, 'annotated': 3, 'fp': 0, 'fn': 1}
    """

    name: ClassVar[str] = "i2b2.token"
    counts_spans: ClassVar[bool] = False

    def tally(self, pairing: Pairing) -> Tally:
        """Count tokens."""
        tokens = self._tags(pairing).once(_tokens)
        return Tally.of_found(tokens, tokens.gold, tokens.pred, identical(tokens, same_label=True)[0])

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge a tag as right if all its characters are."""
        return judge_by_coverage(self._tags(pairing).once(merge_touching))


def _chosen(pairing: Pairing, hipaa: str, category: str) -> Pairing:
    """Return the tags that count, labelled by type, and by category where it is not the usual one of the type."""
    sides = pairing.gold, pairing.pred
    if hipaa == "none" and category == "all" and not any(CATEGORY in side.attrs for side in sides):
        return pairing
    described = [_described(side) for side in sides]
    labels = tuple(sorted({tag.label for tags, _ in described for tag in tags}))
    code = {label: number for number, label in enumerate(labels)}

    def counts(tag: Tag) -> bool:
        return category in ("all", tag.category or OTHER) and (hipaa == "none" or tag.is_hipaa(hipaa))

    def chosen(side: Corpus) -> Corpus:
        tags, place = described[0 if side is pairing.gold else 1]
        rows = np.flatnonzero(np.array([counts(tag) for tag in tags] or [False])[place])
        label = np.array([code[tag.label] for tag in tags] or [0], np.int32)[place[rows]]
        return without_repeats(side.with_spans(rows, label=label, labels=labels))

    return pairing.map_sides(chosen)


def _described(side: Corpus) -> tuple[list[Tag], Longs]:
    """Return the tags that a side has, each once, and the number of each span's tag."""
    column = side.attrs.get(CATEGORY)
    codes = np.full(len(side.doc), -1) if column is None else column.codes
    values: tuple[object, ...] = () if column is None else tuple(column.values)
    width = len(values) + 1
    used, place = np.unique(side.label.astype(np.int64) * width + codes + 1, return_inverse=True)
    tags = []
    for label, value in (divmod(one, width) for one in used.tolist()):
        name = side.labels[label]
        tags.append(Tag(str(values[value - 1]) if value else _CATEGORY.get(name), name))
    return tags, place


def _tokens(pairing: Pairing) -> Pairing:
    """Return the tokens of tags, as spans."""
    if not pairing.letters.complete:
        for doc in np.unique(np.concatenate([pairing.gold.doc, pairing.pred.doc])).tolist():
            if pairing.text[doc] is None:
                name = printable(pairing.gold.ids[doc])
                raise InputError(f'the document "{name}" has no text, which i2b2.token needs; add it to the gold data.')

    words = distinct_tokens(pairing, not_plain)

    def cut(side: Corpus) -> Corpus:
        found = words[0 if side is pairing.gold else 1]
        start, end = found.start.astype(np.int32), found.end.astype(np.int32)
        return without_repeats(side.with_spans(found.owner, start=start, end=end))

    return pairing.map_sides(cut)
