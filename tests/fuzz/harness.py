"""Attack one reader with atheris, which looks for inputs that reach new code.

Run: PYTHONPATH=tests .venv-fuzz/bin/python -m fuzz.harness conll -max_total_time=60

All arguments after the format are those of libFuzzer. `make fuzz` attacks all readers in turn.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Attack the reader named by the first argument, starting from its seeds."""
    import atheris

    with atheris.instrument_imports(include=["spanscore"]):
        from fuzz.targets import attack, lay_out, seeds
        from spanscore.formats import REGISTRY

        kind = REGISTRY.find(sys.argv[1])
    folder = Path(tempfile.mkdtemp(prefix="spanscore-fuzz-"))
    start = folder / "seeds"
    start.mkdir()
    for number, seed in enumerate(seeds(kind.name)):
        (start / str(number)).write_bytes(seed)

    def one_input(data: bytes) -> None:
        attack(lay_out(data, folder / "input"), None if data[:1] == b"?" else kind())

    limits = ["-timeout=5", "-rss_limit_mb=1024", "-max_len=65536", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, *sys.argv[2:], str(start)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
