"""What every verb that reads costs beyond the interpreter's own start, on a small index.

    python benchmarks/verb_starts.py --index INDEX [--rounds 9] [--other FRAMEDEX]

INDEX has recorded calls and their sources, such as framedex-demo/.framedex/index.db after `make demo`; a line of
Python, a boundary function and a C++ function are taken from it. Each round runs `python -c pass` and every verb in
turns, as the installed command, with its output into a pipe; the first round, which fills the caches, does not count.
Milliseconds of processor time, user and system, of all processes that a verb starts, above `python -c pass`: medians.
With --other, the `framedex` of another checkout's environment takes its turns in the same rounds; it needs an index of
the same version.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from framedex.index import Index
from framedex.model import CallFilter, Language

_FRAMEDEX = Path(sys.executable).with_name("framedex")
_AIM = 100  # ms


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--other", type=Path)
    options = parser.parse_args()
    index = options.index.resolve()
    installations = [_FRAMEDEX] if options.other is None else [options.other.absolute(), _FRAMEDEX]
    # As it is for users: what Python compiles is kept.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["FRAMEDEX_EDITOR"] = "true {file}:{line}"
    with tempfile.TemporaryDirectory() as folder:
        verbs = _verbs(index, Path(folder))
        taken: dict[tuple[int, int], list[float]] = {}
        starts = []
        for _ in range(options.rounds + 1):
            start = _cost([installations[-1].with_name("python"), "-c", "pass"], index.parent, environment)
            starts.append(start)
            for number, verb in enumerate(verbs):
                for which, framedex in enumerate(installations):
                    command = [framedex, "--index", index, *verb]
                    taken.setdefault((number, which), []).append(_cost(command, index.parent, environment) - start)
    columns = ["this, ms"] if options.other is None else ["other, ms", "this, ms"]
    table = Table("verb", *columns, "least to most", "within 100 ms")
    for number, verb in enumerate(verbs):
        medians = [statistics.median(taken[number, which][1:]) for which in range(len(installations))]
        times = taken[number, len(installations) - 1][1:]
        table.add_row(
            " ".join(Path(word).name for word in verb),
            *(f"{median:.0f}" for median in medians),
            f"{min(times):.0f} to {max(times):.0f}",
            "yes" if medians[-1] <= _AIM else "no",
        )
    Console().print(table)
    print(f"`python -c pass` itself: {statistics.median(starts[1:]):.0f} ms; load {os.getloadavg()[0]:.1f}")


def _verbs(path: Path, folder: Path) -> list[list[str]]:
    """Every verb that reads, with something to ask."""
    with Index.open(path) as index:
        calls = index.calls.find(CallFilter(), limit=1000)
        lines = index.calls.python_lines(calls)
        call = next(call for call in reversed(calls) if call.id in lines)
        line = lines[call.id].location
        trace = index.calls.trace(call.id)
        # What `open` leads to: a C++ function whose source is here.
        symbol = next(
            frame.function.name
            for frame in reversed(trace.frames if trace is not None else ())
            if frame.function.language is Language.NATIVE and frame.location is not None
            if "::" in frame.function.name and Path(frame.location.path).is_file()
            if len(index.names.places_named(frame.function.name)) == 1
        )
    log = folder / "log.txt"
    log.write_text(f'  File "{line.path}", line {line.line}, in main\n')
    place = f"{line.path}:{line.line}"
    return [
        *(["--version"], ["--help"], ["captures"], ["calls"], ["calls", "--group"], ["calls", "--stack", "line"]),
        *(["summary"], ["check"], ["ffi"], ["trace", str(call.id)], ["trace", str(call.id), "--json"]),
        *(["where", place], ["where", line.path], ["explain", str(log)], ["resolve", str(log)]),
        *(["find", symbol.rpartition("::")[2]], ["callers", symbol], ["callees", symbol]),
        *(["open", place], ["open", symbol], ["sources"], ["doctor"]),
    ]


def _cost(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]) -> float:
    """The milliseconds of processor time of a command, which has to succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


if __name__ == "__main__":
    main()
