"""Assemble the report page, with a content security policy that only allows its own scripts."""

from __future__ import annotations

import base64
import html
import re
import zlib
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from spanscore.errors import InputError, UsageError, plural
from spanscore.files import atomic_file, output_folder
from spanscore.report.page.examples import encodable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus.columns import Longs
    from spanscore.report.page.payload import Payload

MODULES = (
    "dom",
    "data",
    "state",
    "numbers",
    "verdicts",
    "pairs",
    "view",
    "annotators",
    "select",
    "answer",
    "tables",
    "matrix",
    "plots",
    "curve",
    "systems",
    "lanes",
    "marks",
    "list",
    "frequent",
    "filters",
    "document",
    "help",
    "app",
)
"""JavaScript modules of the page, in dependency order."""
RIGHT = 1000
"""Maximum number of documents without errors in the report."""
FEW = 3000
"""As many documents probably fit, so that no sample is needed to know how many do."""
MAX_MB = 25.0
MEGABYTES = (0.3, 2000.0)
"""Limits of --max-mb: a page must hold its scripts, and a browser must be able to open it."""


def write_page(payload: Payload, path: str | Path, *, max_mb: float = MAX_MB, right: int = RIGHT) -> dict[str, int]:
    """Write one self-contained page of at most `max_mb` megabytes, and return how many documents were omitted."""
    if not MEGABYTES[0] < max_mb <= MEGABYTES[1]:
        raise UsageError(f"--max-mb must be greater than {MEGABYTES[0]:g} and at most {MEGABYTES[1]:g}.")
    script, style = _script(), _asset("page.css")
    room = int(max_mb * 1e6) - len(script.encode()) - len(style) - 20_000
    wrong = payload.with_errors()
    most = [len(wrong), right]
    each = 1.0 if len(payload.ids) <= FEW else _bytes_each(payload, wrong, right)
    for _ in range(8):
        most = _fitting(most, len(wrong), len(payload.ids) - len(wrong), room, each)
        chosen, left_out = _choose(payload, wrong, *most)
        packed = [_pack(payload.head(chosen, left_out)), *map(_pack, payload.shards(chosen))]
        size = sum(map(len, packed))
        if size <= room:
            break
        each = max(each * 1.02, (size - each) / max(len(chosen), 1)) * 1.02
    else:
        raise UsageError("the report does not fit in a page of this size; increase --max-mb or use --folder.")
    data = (
        f'<script type="application/octet-stream" id="{name}">{content}</script>\n'
        for name, content in zip(("head", *(f"shard-{n}" for n in range(len(packed) - 1))), packed, strict=True)
    )
    with atomic_file(path) as file:
        for part in _page(encodable(payload.title), style, script, data):
            file.write(part.encode())
    return left_out


def write_folder(payload: Payload, folder: str | Path) -> dict[str, int]:
    """Write a page that loads its data from files next to it on demand, for any number of documents."""
    chosen, left_out = _choose(payload, payload.with_errors(), len(payload.ids), len(payload.ids))
    earlier = [path.name for path in Path(folder).glob("shard-*.js")]
    with output_folder(folder, last="index.html", stale=earlier) as new:
        for number, shard in enumerate(payload.shards(chosen)):
            with atomic_file(new / f"shard-{number}.js") as file:
                file.write(f'spanscoreShard({number}, "{_pack(shard)}");\n'.encode())
        head = f'<script type="application/octet-stream" id="head">{_pack(payload.head(chosen, left_out))}</script>\n'
        with atomic_file(new / "index.html") as file:
            for part in _page(encodable(payload.title), _asset("page.css"), _script(), [head], more="'self' file:"):
                file.write(part.encode())
    return left_out


def check_target(path: str | Path, *, folder: bool) -> None:
    """Raise an error for an unwritable target before any work is done."""
    target = Path(path)
    if folder and target.exists() and not target.is_dir():
        raise InputError("cannot write the report: this is a file, not a folder.", str(path))
    if not folder and (target.is_dir() or not target.absolute().parent.is_dir()):
        raise InputError("cannot write the report: this is a folder, or its parent folder does not exist.", str(path))


def omission_note(left_out: dict[str, int]) -> str | None:
    """Return a note about the documents omitted from the report; None if there are none."""
    wrong, right = left_out["wrong"], left_out["right"]
    parts = [f"{plural(wrong, 'document')} with errors"] if wrong else []
    parts += [f"{plural(right, 'document')} without errors"] if right else []
    return f"the report omits {' and '.join(parts)}." if parts else None


def _bytes_each(payload: Payload, wrong: Longs, right: int) -> float:
    """Estimate the number of bytes per document from a sample."""
    some, _ = _choose(payload, wrong, 300, min(right, 50))
    if not len(some):
        return 1.0
    bare = len(_pack(payload.head(some[:0], {})))
    packed = len(_pack(payload.head(some, {}))) - bare + sum(len(_pack(shard)) for shard in payload.shards(some))
    return packed / len(some)


def _fitting(most: list[int], wrong: int, right: int, room: int, each: float) -> list[int]:
    """Return how many documents with and without errors fit, giving priority to those with errors."""
    number = max(int(room / each), 0)
    with_errors = min(most[0], wrong, number)
    return [with_errors, min(most[1], right, number - with_errors)]


def _choose(payload: Payload, wrong: Longs, most_wrong: int, most_right: int) -> tuple[Longs, dict[str, int]]:
    """Sample documents with and without errors, and return them in order with the number of omitted ones."""
    right = np.setdiff1d(np.arange(len(payload.ids)), wrong)
    random = np.random.default_rng(0)
    sampled = [
        group if len(group) <= most else np.sort(random.choice(group, most, replace=False))
        for group, most in ((wrong, most_wrong), (right, most_right))
    ]
    left_out = {"wrong": len(wrong) - len(sampled[0]), "right": len(right) - len(sampled[1])}
    return np.sort(np.concatenate(sampled)), {"documents": len(payload.ids), **left_out}


def _pack(value: Any) -> str:
    """Encode a value as gzipped, Base64-encoded JSON, which is safe to embed in HTML."""
    packer = zlib.compressobj(4, wbits=31)
    return base64.b64encode(packer.compress(msgspec.json.encode(value)) + packer.flush()).decode()


def _page(title: str, style: str, script: str, data: Iterable[str], more: str = "") -> Iterator[str]:
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy([script], style, more)}">\n'
        '<meta name="viewport" content="width=device-width">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n"
    )
    yield _asset("page.html")
    yield from data
    yield f'<script type="module">{script}</script>\n</body>\n</html>\n'


def policy(scripts: Iterable[str], style: str, more: str = "") -> str:
    """Return a content security policy that allows these scripts and this style sheet, and nothing from elsewhere."""
    allowed = " ".join([*map(hashed, scripts), *more.split()])
    return f"default-src 'none'; script-src {allowed}; style-src {hashed(style)}; base-uri 'none'; form-action 'none'"


def hashed(text: str) -> str:
    """Return the source expression of a content security policy for an inline script or style sheet."""
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def _script() -> str:
    """Return the page's modules joined into one script."""
    return "\n".join(_inline(_asset(f"{name}.js")) for name in MODULES)


def _inline(module: str) -> str:
    """Strip imports and exports, so that modules can share one script."""
    return re.sub(r"^(?:import .*\n|export )", "", module, flags=re.MULTILINE)


def _asset(name: str) -> str:
    return (files("spanscore.report.page") / "assets" / name).read_text("utf-8")
