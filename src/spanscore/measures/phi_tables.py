"""Tables of the address types that are protected health information (PHI); users can replace them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.errors import InputError, printable
from spanscore.files import file_stamp

if TYPE_CHECKING:
    from collections.abc import Mapping

ANSWERS = {"yes": True, "no": False}


@dataclass(frozen=True)
class PhiTable:
    """Whether an address type, in upper case, is PHI."""

    name: str
    phi: Mapping[str, bool]

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that identify the table."""
        return blake2b(repr(sorted(self.phi.items())).encode(), digest_size=4).hexdigest()

    def __call__(self, kind: str) -> bool:
        """Return whether an address type is PHI.

        >>> phi_table("hipaa")("city"), phi_table("hipaa")("State"), phi_table("i2b2")("State")
        (True, False, True)
        """
        answer = self.phi.get(kind.upper())
        if answer is None:
            what = f"unknown address type '{printable(kind)}'; the table {self.name} has {', '.join(sorted(self.phi))}"
            raise InputError(f"{what}. To add it, give a table of your own with --hipaa-table.")
        return answer


def phi_table(name: str) -> PhiTable:
    """Return the table `hipaa`, `i2b2` (the same types, all PHI), or that of a file: lines of type, tab, yes or no."""
    return _table(name, file_stamp(name[1:]) if name.startswith("@") else (0, 0))


@cache
def _table(name: str, stamp: tuple[int, int]) -> PhiTable:
    if name == "i2b2":
        return PhiTable(name, dict.fromkeys(phi_table("hipaa").phi, True))
    path = name[1:] if name.startswith("@") else "hipaa.tsv"
    try:
        source = Path(path) if name.startswith("@") else Path(__file__).with_name(path)
        lines = source.read_text("utf-8-sig" if name.startswith("@") else "utf-8").split("\n")
    except UnicodeDecodeError:
        raise InputError("the table of address types is not UTF-8.", path) from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"the table of address types cannot be read ({getattr(error, 'strerror', error)}).", path
        ) from None
    table: dict[str, bool] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        kind, _, answer = line.rpartition("\t")
        if not kind.strip() or answer.strip().lower() not in ANSWERS:
            raise InputError("expected an address type, a tab, and yes or no.", f"{path}:{number}")
        if table.setdefault(kind.strip().upper(), said := ANSWERS[answer.strip().lower()]) != said:
            raise InputError(
                f"the address type '{printable(kind.strip())}' is listed twice with different answers.",
                f"{path}:{number}",
            )
    if not table:
        raise InputError("the table of address types is empty.", path)
    return PhiTable(name, table)
