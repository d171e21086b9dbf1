"""Attack all readers with atheris, one after the other, and share the time among them.

Run: PYTHONPATH=tests .venv-fuzz/bin/python -m fuzz.all_readers SECONDS
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from fuzz.targets import formats


def main() -> int:
    """Return 1 if an input broke a promise; it is in the folder fuzz-findings then."""
    names = [kind.name for kind in formats()]
    seconds = max(1, int(sys.argv[1]) // len(names))
    findings = Path("fuzz-findings")
    findings.mkdir(exist_ok=True)
    failed = []
    total = 0
    for name in names:
        call = [sys.executable, "-m", "fuzz.harness", name, f"-max_total_time={seconds}"]
        done = subprocess.run(
            [*call, f"-artifact_prefix={findings}/{name}-"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        counted = re.findall(r"number_of_executed_units: (\d+)", done.stderr)
        count = int(counted[-1]) if counted else 0
        total += count
        print(f"{name}: {count} inputs in {seconds} s{'' if done.returncode == 0 else ', FAILED'}", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stderr[-4000:], flush=True)
    print(f"{total} inputs, {len(names)} readers, failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
