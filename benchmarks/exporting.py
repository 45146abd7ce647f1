"""What exports take: calls a second of processor time, memory, and bytes a call, by format.

    python benchmarks/exporting.py INDEX [--until 3s] [--only perfetto pprof]

Each format is a process of its own, `framedex export`, which writes into a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from framedex.export.formats import FORMATS
from framedex.index import Index
from framedex.model import CallFilter

FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]


def main() -> None:
    """Print a row for each format."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("index", type=Path)
    arguments.add_argument("--until", type=float, help="Only calls that began in these first seconds.")
    arguments.add_argument("--only", nargs="+", choices=FORMATS, default=list(FORMATS))
    given = arguments.parse_args()
    before = None if given.until is None else int(given.until * 1e9)
    with Index.open(given.index) as index:
        calls = index.calls.count(CallFilter(before=before))
    print(f"{calls:,} calls\n")
    print("| format | s of a processor | calls a second | MiB of memory | bytes a call |\n|---|---|---|---|---|")
    for name in given.only:
        options = [] if given.until is None else ["--until", f"{given.until}s"]
        seconds, memory, size = measured(given.index, name, options)
        print(f"| {name} | {seconds:.1f} | {calls / seconds:,.0f} | {memory:.0f} | {size / calls:.1f} |", flush=True)


def measured(index: Path, name: str, options: list[str]) -> tuple[float, float, int]:
    """Processor time in s, memory at most in MiB, and bytes written."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        command = [*FRAMEDEX, "--index", str(index.absolute()), "export", "--format", name, "-o", str(output), *options]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd="/")  # of the files below which SCIP is
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, name
        files = output.iterdir() if output.is_dir() else [output]
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, sum(file.stat().st_size for file in files)


if __name__ == "__main__":
    main()
