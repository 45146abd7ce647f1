"""What sharing a capture takes, and importing it: calls a second of processor time, memory, and bytes a call.

    python benchmarks/sharing.py INDEX ID

Each is a process of its own; the capture is imported into an index of a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from framedex.capturefolder import folder_now
from framedex.index import Index

FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]


def main() -> None:
    """Print a row for each."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("index", type=Path)
    arguments.add_argument("capture", type=int)
    given = arguments.parse_args()
    with Index.open(given.index) as index:
        capture = next(each for each in index.captures() if each.id == given.capture)
    recorded = folder_now(capture.path).size / capture.calls
    print(f"{capture.calls:,} calls; the capture's folder has {recorded:.1f} bytes a call\n")
    print("| | s of a processor | calls a second | MiB of memory | bytes a call |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shared = folder / "a.fdx.zip"
        share = ["--index", str(given.index.absolute()), "share", str(given.capture), "-o", str(shared)]
        index_there = folder / ".framedex" / "index.db"
        for verb, command, written in (
            ("share", share, shared),
            ("share --redact", [*share, "--redact"], shared),
            ("import", ["import", str(shared)], index_there),
        ):
            seconds, memory = measured(command, folder)
            rate, size = capture.calls / seconds, written.stat().st_size / capture.calls
            print(f"| {verb} | {seconds:.1f} | {rate:,.0f} | {memory:.0f} | {size:.1f} |", flush=True)


def measured(arguments: list[str], folder: Path) -> tuple[float, float]:
    """Processor time in s, and memory at most in MiB."""
    process = subprocess.Popen(
        [*FRAMEDEX, *arguments], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=folder
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
