"""The taxonomy: what the labels of datasets and detectors mean, in three levels: PII, branches and types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from spanscore.errors import InputError, UsageError, printable, unknown
from spanscore.files import file_stamp

Level = Literal["pii", "branch", "type", "raw"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""From coarse to fine; at `raw`, labels stay as they are."""
DEFAULT_LEVEL: Level = "branch"
"""The level that label sets of different detail have in common."""
ROOT = "PII"
EXACT, ALIAS, COUNTRY, NONE = "exact", "alias", "country prefix", "none"
"""Why a label has its type: it is its name, or a known label of it, or either after a country; or it has none."""
REPLACE = "!replace"
"""The first line of a user's taxonomy that is used instead of the built-in one."""
_WITH_COUNTRY = {"GOVERNMENT_ID", "FINANCIAL", "PHI", "VEHICLE", "POSTAL_CODE", "PHONE_NUMBER"}
"""Branches and types that have country-specific variants."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_CODE_FIRST = re.compile(r"([A-Z]{2})([A-Z]+[a-z][A-Za-z]*)")


class Resolved(NamedTuple):
    """The type and branch of a label, and why; `type` and `branch` are None if the taxonomy does not know it."""

    type: str | None
    branch: str | None
    why: str


class Entry(NamedTuple):
    """Labels of a label set that mean the same type."""

    branch: str
    type: str
    label_set: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Taxonomy:
    """Types in branches, and the labels that mean them; later entries override earlier ones."""

    entries: tuple[Entry, ...]
    own: tuple[Entry, ...] = ()
    """The user's entries, from which a taxonomy other than the built-in one is built again."""
    extends: bool = True
    """Whether the user's entries were added to the built-in ones."""

    @classmethod
    def read(cls, path: str | Path) -> Taxonomy:
        """Read a user's file, which extends the built-in taxonomy, or replaces it if its first line is `!replace`.

        Each line has three or four columns, separated by tabs: branch, type, optionally the name of the label set, and
        labels separated by spaces, with `_` for a space in a label.
        """
        return _read(str(path), file_stamp(str(path)))

    @classmethod
    def of(cls, given: Taxonomy | str | Path | Mapping[str, object] | None) -> Taxonomy:
        """Accept a taxonomy, a user's file, what `setting` returns, or None for the built-in one."""
        if isinstance(given, Taxonomy):
            return given
        if given is None:
            return built_in()
        if isinstance(given, Mapping):
            rows = given["entries"]
            assert isinstance(rows, Sequence)
            own = tuple(Entry(str(row[0]), str(row[1]), str(row[2]), tuple(map(str, row[3]))) for row in rows)
            return cls.with_own(own, extends=bool(given["extends"]))
        return cls.read(given)

    @classmethod
    def chosen(
        cls,
        align: str | None,
        taxonomy: Taxonomy | str | Path | Mapping[str, object] | None,
        levels: str | Sequence[str],
    ) -> Taxonomy | None:
        """Return the taxonomy by which a user asks to align labels: with `align="taxonomy"`, a taxonomy, or levels."""
        if align not in (None, "taxonomy"):
            raise UsageError(unknown("alignment", str(align), ["taxonomy"]))
        return None if align is None and taxonomy is None and not levels_of(levels) else cls.of(taxonomy)

    @classmethod
    def with_own(cls, own: tuple[Entry, ...], *, extends: bool) -> Taxonomy:
        """Return the taxonomy with these entries, added to the built-in ones or alone."""
        return cls((*built_in().entries, *own) if extends else own, own, extends)

    def __reduce__(self) -> tuple[object, tuple[object]]:
        """Send other processes no more than the user's entries."""
        return Taxonomy.of, (self.setting(),)

    def setting(self) -> dict[str, object] | None:
        """Return what is needed to build it again, as JSON values; None for the built-in taxonomy."""
        if not self.own and self.extends:
            return None
        return {"extends": self.extends, "entries": [[*one[:3], list(one.labels)] for one in self.own]}

    @cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits that identify what labels mean, whatever their label sets."""
        said = json.dumps([sorted(self.types.items()), sorted(self._known.items())])
        return blake2b(said.encode(), digest_size=4).hexdigest()

    @cached_property
    def types(self) -> dict[str, str]:
        """The branch of each type, in order."""
        return {one.type: one.branch for one in self.entries}

    @cached_property
    def branches(self) -> tuple[str, ...]:
        """The branches, in order."""
        return tuple(dict.fromkeys(self.types.values()))

    @cached_property
    def label_sets(self) -> dict[str, tuple[str, ...]]:
        """The labels of each label set, sorted."""
        found: dict[str, set[str]] = {}
        for one in self.entries:
            if one.label_set:
                found.setdefault(one.label_set, set()).update(one.labels)
        return {name: tuple(sorted(labels)) for name, labels in found.items()}

    def labels_of(self, label_set: str) -> tuple[str, ...]:
        """Return the labels of a label set; an unknown one is an error."""
        named = {key_of(name): name for name in self.label_sets}
        if key_of(label_set) not in named:
            raise UsageError(unknown("label set", label_set, self.label_sets))
        return self.label_sets[named[key_of(label_set)]]

    @cached_property
    def _known(self) -> dict[str, str]:
        """The type of each label, and of each name of a type, by its key; later entries win."""
        known = {key_of(branch): branch for branch in (ROOT, *self.branches)}
        for one in self.entries:
            known[key_of(one.type)] = one.type
        for one in self.entries:
            known |= {key_of(label): one.type for label in one.labels}
        return known

    def resolve(self, label: str) -> Resolved:
        """Return the type and branch of a label, and why; case, `_`, `-`, spaces and CamelCase are ignored.

        >>> taxonomy = built_in()
        >>> taxonomy.resolve("email-address")
        Resolved(type='EMAIL_ADDRESS', branch='CONTACT', why='exact')
        >>> taxonomy.resolve("givenName"), taxonomy.resolve("FR_PASSPORT").why
        (Resolved(type='FIRST_NAME', branch='PERSON', why='alias'), 'country prefix')
        >>> taxonomy.resolve("Castle")
        Resolved(type=None, branch=None, why='none')
        """
        found = self._cache.get(label)
        if found is None:
            found = self._cache[label] = self._resolve(label)
        return found

    @cached_property
    def _cache(self) -> dict[str, Resolved]:
        return {}

    def _resolve(self, label: str) -> Resolved:
        key = key_of(label)
        of_country = [kind for rest in _after_country(label) if (kind := self._of_countries(rest)) is not None]
        kind = self._known.get(key) or next(iter(of_country), None)
        if kind is None:
            return Resolved(None, None, NONE)
        why = EXACT if key_of(kind) == key else COUNTRY if kind in of_country else ALIAS
        return Resolved(kind, self.branch_of(kind), why)

    def _of_countries(self, key: str) -> str | None:
        """Return the type of a label, by its key, if it has country-specific variants."""
        kind = self._known.get(key)
        return kind if kind is not None and {kind, self.branch_of(kind)} & _WITH_COUNTRY else None

    def branch_of(self, kind: str) -> str:
        """Return the branch of a type; a branch and the root are their own."""
        return self.types.get(kind, kind)

    def names(self, label: str) -> tuple[str, ...]:
        """Return a label and what it is called at the levels type and branch, from fine to coarse."""
        found = self.resolve(label)
        return label if found.type is None else found.type, label if found.branch is None else found.branch

    def at(self, level: Level, label: str) -> str:
        """Return what a label is called at a level; a label that the taxonomy does not know stays, except at `pii`.

        >>> [built_in().at(level, "FIRSTNAME") for level in LEVELS]
        ['PII', 'PERSON', 'FIRST_NAME', 'FIRSTNAME']
        """
        if level == "pii":
            return ROOT
        if level == "raw":
            return label
        return self.names(label)[level == "branch"]

    def hierarchy(self) -> dict[str, list[str]]:
        """Return the branches below the root and the types below each branch, for weights of related types."""
        children: dict[str, list[str]] = {ROOT: list(self.branches)}
        for kind, branch in self.types.items():
            if kind != branch:
                children.setdefault(branch, []).append(kind)
        return children


def levels_of(given: str | Sequence[str]) -> tuple[Level, ...]:
    """Return levels as users write them: `branch,type` or a list.

    >>> levels_of("branch, type"), levels_of(["raw"])
    (('branch', 'type'), ('raw',))
    """
    named = given.split(",") if isinstance(given, str) else given
    levels = tuple(dict.fromkeys(name.strip() for name in named if name.strip()))
    if isinstance(given, str) and not levels:
        raise UsageError(f"name a level: {', '.join(LEVELS)}.")
    if other := next((name for name in levels if name not in LEVELS), None):
        raise UsageError(unknown("level", other, LEVELS))
    return tuple(level for level in LEVELS if level in levels)


@lru_cache(1 << 16)
def key_of(label: str) -> str:
    """Return a label without case and separators.

    >>> key_of("Driver's license-number"), key_of("driversLicenseNumber")
    ('DRIVERSLICENSENUMBER', 'DRIVERSLICENSENUMBER')
    """
    return re.sub(r"[\W_]+", "", label).upper() or label


@cache
def built_in() -> Taxonomy:
    """Return the taxonomy that comes with spanscore."""
    return Taxonomy(_parse(Path(__file__).with_name("taxonomy.tsv").read_text("utf-8"), "taxonomy.tsv"))


@cache
def _countries() -> frozenset[str]:
    lines = Path(__file__).with_name("countries.txt").read_text("utf-8").splitlines()
    return frozenset(key_of(name) for line in lines if not line.startswith("#") for name in line.split())


def _after_country(label: str) -> list[str]:
    """Return the keys of what may follow the name of a country in a label, the longest first."""
    words = [word.upper() for word in _WORDS.findall(label)]
    starts = [count for count in (1, 2, 3) if len(words) > count and "".join(words[:count]) in _countries()]
    found = ["".join(words[count:]) for count in starts]
    short = _CODE_FIRST.fullmatch(label)
    while short is not None and short[1] in _countries():  # BRCPFNumber, USUKPassportNumber
        found.append(short[2].upper())
        short = _CODE_FIRST.fullmatch(short[2])
    return found


@cache
def _read(path: str, stamp: tuple[int, int]) -> Taxonomy:
    try:
        text = Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("the taxonomy is not valid UTF-8.", path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the taxonomy ({getattr(error, 'strerror', error)}).", path) from None
    first, _, rest = text.partition("\n")
    replaces = first.strip() == REPLACE
    own = _parse(f"\n{rest}" if replaces else text, path)
    if not own:
        raise InputError("the taxonomy is empty.", path)
    return Taxonomy.with_own(own, extends=not replaces)


def _parse(text: str, path: str) -> tuple[Entry, ...]:
    """Read the lines of a taxonomy; a label with two types, or a type in two branches, is an error."""
    entries: list[Entry] = []
    meaning: dict[str, str] = {}
    branch_of: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{path}:{number}"
        columns = [column.strip() for column in line.rstrip("\r").split("\t")]
        if len(columns) == 3:
            columns.insert(2, "")
        if len(columns) != 4 or not (columns[0] and columns[1]):
            raise InputError("expected columns separated by tabs: branch, type, label set, labels.", where)
        branch, kind, label_set, listed = columns
        if branch_of.setdefault(kind, branch) != branch:
            raise InputError(f"the type '{printable(kind)}' is in two branches.", where)
        entries.append(Entry(branch, kind, label_set, tuple(listed.split())))
        for label in (kind, *entries[-1].labels):
            if meaning.setdefault(key_of(label), kind) != kind:
                raise InputError(f"the label '{printable(label)}' has two types.", where)
    return tuple(entries)
