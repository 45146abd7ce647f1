"""What each verb that asks an index takes at its end: the most memory, and how long, in an index of millions of calls.

    python benchmarks/verb_memory.py INDEX [--only VERB ...] [--limit-mib 1024]

INDEX is one of a loop of `jax.device_put`, as `benchmarks/ingest.py` makes them. Output goes to no terminal, but
through a pipe that is read to its end. Each verb once; the status is 1 if one took more than the limit.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from framedex.index import Index

FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]
_VERBS = (
    *("captures", "summary", "summary --by-thread", "summary --function Buffer --slower 1us", "check", "ffi --all"),
    *("compiles", "transfers", "memory", "waits", "report -o -"),
    *("calls", "calls --all", "trace BufferFromHostBuffer", "trace <module>", "where loop.py", "where loop.py:5"),
    *("find Buffer", "callers device_put", "callees device_put", "callees '*e*'", "sources", "doctor"),
    *("calls --slower 100us --limit 0", "calls --object buffer#7 --limit 0", "calls --group --limit 0"),
    *(
        "calls --limit 0",
        "calls --all --limit 1000000",
        "calls --json --function BufferFromHost --limit 0 --stack line",
    ),
    *("calls --group --all --limit 0", "calls --all --limit 0", "calls --json --limit 0"),
)


def main() -> None:
    """Measure, and print a table for RESULTS.md."""
    options = _options()
    with Index.open(options.index) as index:
        calls = sum(capture.calls for capture in index.captures())
    print(f"{calls:,} calls", "", "| verb | MiB | s | MB written |", "|---|---|---|---|", sep="\n")
    most = 0
    for verb in options.only or _VERBS:
        memory, seconds, written = _taken(
            [*FRAMEDEX, "--index", str(options.index.resolve()), *_words(verb)], options.folder
        )
        most = max(most, memory)
        print(f"| {verb} | {memory:,} | {seconds:.1f} | {written / 1e6:,.1f} |", flush=True)
    sys.exit(most > options.limit_mib)


def _taken(command: Sequence[str], folder: Path) -> tuple[int, float, int]:
    """The most memory of a command in MiB, its seconds, and how many bytes it wrote to stdout."""
    began = time.monotonic()
    started = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert started.stdout is not None
    written = 0
    while piece := os.read(started.stdout.fileno(), 1 << 16):
        written += len(piece)
    _, status, usage = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        sys.exit(f"{' '.join(command[3:])} ended with status {started.returncode}")
    return usage.ru_maxrss // 1024, time.monotonic() - began, written


def _words(verb: str) -> list[str]:
    return [word.strip("'") for word in verb.split()]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--only", nargs="+", metavar="VERB")
    parser.add_argument("--folder", type=Path, default=Path(), help="Where the program is, which `where` is asked of.")
    parser.add_argument("--limit-mib", type=int, default=1024)
    return parser.parse_args()


if __name__ == "__main__":
    main()
