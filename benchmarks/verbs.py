"""Cost of the command line: starts of verbs, completion and the demo."""

from __future__ import annotations

import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

import framedex_native
from benchmarks.figures import Figure
from benchmarks.processes import (
    EMPTY_PYTHON,
    ROOT,
    bytecode_environment,
    jax_folder,
    print_header,
    print_row,
    run_measured,
)
from framedex.index import Index
from framedex.model import CallFilter, Language

INSTALLED_FRAMEDEX = Path(sys.executable).with_name("framedex")
_INDEX_OPTION = click.option(
    "--index",
    type=click.Path(exists=True, path_type=Path),
    required=True,
    help="Index with recorded calls and sources, such as that of `make demo`.",
)

# --- starts of verbs --------------------------------------------------------------------------------------------------

_GOAL_MS = 100


@click.command()
@_INDEX_OPTION
@click.option("--rounds", type=int, default=9, show_default=True, help="Number of rounds.")
@click.option("--other", type=click.Path(path_type=Path), help="Also measure the framedex of another checkout.")
def verb_starts(index: Path, rounds: int, other: Path | None) -> list[Figure]:
    """Measure every verb that reads, above the start of Python, on a small index.

    Milliseconds of processor time of all processes of a verb, with its output into a file. --other takes turns in the
    same rounds; it needs an index of the same version.
    """
    index = index.resolve()
    installations = [INSTALLED_FRAMEDEX] if other is None else [other.absolute(), INSTALLED_FRAMEDEX]
    environment = bytecode_environment() | {"FRAMEDEX_EDITOR": "true {file}:{line}"}

    def milliseconds(command: Sequence[str | Path]) -> float:
        return run_measured(command, index.parent, environment).processor_s * 1e3

    with tempfile.TemporaryDirectory() as folder:
        verbs = _list_verbs(index, Path(folder))
        taken: dict[tuple[int, int], list[float]] = {}
        starts = []
        for _ in range(rounds + 1):  # the first round fills the caches
            start = milliseconds(EMPTY_PYTHON)
            starts.append(start)
            for number, verb in enumerate(verbs):
                for which, framedex in enumerate(installations):
                    own = milliseconds([framedex, "--index", index, *verb]) - start
                    taken.setdefault((number, which), []).append(own)
    columns = ["this, ms"] if other is None else ["other, ms", "this, ms"]
    table = Table("verb", *columns, "least to most", f"within {_GOAL_MS} ms")
    figures = []
    for number, verb in enumerate(verbs):
        medians = [statistics.median(taken[number, which][1:]) for which in range(len(installations))]
        times = taken[number, len(installations) - 1][1:]
        name = " ".join(Path(word).name for word in verb)
        is_reached = "yes" if medians[-1] <= _GOAL_MS else "no"
        table.add_row(name, *(f"{m:.0f}" for m in medians), f"{min(times):.0f} to {max(times):.0f}", is_reached)
        peer = ("the other checkout", medians[-1] / medians[0]) if other else ("", None)
        figures.append(Figure(f"framedex {name}, above python -c pass", medians[-1], "ms of a processor", *peer))
    Console().print(table)
    print(f"python -c pass: {statistics.median(starts[1:]):.0f} ms; load {os.getloadavg()[0]:.1f}")
    return figures


def _list_verbs(path: Path, folder: Path) -> list[list[str]]:
    """Every verb that reads, with arguments from the index."""
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
            if len(index.names.find_locations(frame.function.name)) == 1
        )
    log = folder / "log.txt"
    log.write_text(f'  File "{line.path}", line {line.line}, in main\n')
    location = f"{line.path}:{line.line}"
    return [
        *(["--version"], ["--help"], ["captures"], ["calls"], ["calls", "--group"], ["calls", "--stack", "line"]),
        *(["summary"], ["check"], ["ffi"], ["trace", str(call.id)], ["trace", str(call.id), "--json"]),
        *(["where", location], ["where", line.path], ["explain", str(log)], ["resolve", str(log)]),
        *(["find", symbol.rpartition("::")[2]], ["callers", symbol], ["callees", symbol]),
        *(["open", location], ["open", symbol], ["sources"], ["doctor"]),
    ]


# --- completion -------------------------------------------------------------------------------------------------------

_COMPLETED_WORDS = (
    ["ca"],
    ["calls", "--"],
    ["calls", "--capture", ""],
    ["callees", ""],
    ["callees", "f12"],
    ["trace", "PJRT_"],
)


@click.command()
@_INDEX_OPTION
@click.option("--functions", type=int, default=1_000_000, show_default=True, help="Functions to add to the index.")
@click.option("--rounds", type=int, default=9, show_default=True, help="Number of rounds.")
def completion(index: Path, functions: int, rounds: int) -> list[Figure]:
    """Measure completion at a TAB with a million functions in the index, above the start of Python."""
    environment = os.environ | {"_FRAMEDEX_COMPLETE": "zsh_complete"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy = folder / ".framedex" / "index.db"
        copy.parent.mkdir()
        shutil.copyfile(index, copy)
        _add_functions(copy, functions)
        commands = [list(EMPTY_PYTHON), *([str(INSTALLED_FRAMEDEX), *words] for words in _COMPLETED_WORDS)]
        taken: list[list[tuple[float, float]]] = [[] for _ in commands]
        for _ in range(rounds + 1):
            for times, command in zip(taken, commands, strict=True):
                cost = run_measured(command, folder, environment)
                times.append((cost.processor_s * 1e3, cost.wall_s * 1e3))
    (empty, _), *rest = [tuple(map(statistics.median, zip(*times[1:], strict=True))) for times in taken]
    print(f"python -c pass: {empty:.0f} ms; {functions:,} functions")
    figures = []
    for words, (processor, clock) in zip(_COMPLETED_WORDS, rest, strict=True):
        title = f"framedex {' '.join(words)}<TAB>"
        print(f"{title:34} {processor - empty:6.0f} ms above it, {clock:6.0f} ms on the clock")
        figures.append(Figure(f"`{title}`, above python -c pass", processor - empty, "ms of a processor"))
    return figures


def _add_functions(index: Path, functions: int) -> None:
    """Add functions with new names, as copies of an existing one."""
    with closing(sqlite3.connect(index)) as connection, connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(functions)")]
        others = [each for each in columns if each not in ("id", "name", "short_name")]
        connection.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {functions})"
            f" INSERT INTO functions (id, name, short_name, {', '.join(others)})"
            f" SELECT (SELECT max(id) FROM functions) + i, 'scope.f' || i, 'f' || i, {', '.join(others)}"
            " FROM n, (SELECT * FROM functions LIMIT 1)"
        )


# --- the demo ---------------------------------------------------------------------------------------------------------

FUNCTION = "PJRT_Client_BufferFromHostBuffer"


@click.command()
@click.option("--rounds", type=int, default=5, show_default=True, help="Number of rounds.")
def demo(rounds: int) -> list[Figure]:
    """Measure `make demo` after set-up, step by step.

    Each round runs `framedex demo`, then its steps one by one in the same folder. The peer is the demo program alone,
    on the mock TPU, unrecorded.
    """
    _run_demo_steps()  # warms the file cache
    measured = [_run_demo_steps() for _ in range(rounds)]
    print_header("step", "on the clock", "least to most", "of the processor")
    medians = {}
    for name in measured[0]:
        clock, processor = ([one[name][kind] for one in measured] for kind in (0, 1))
        medians[name] = statistics.median(clock)
        cells = (f"{medians[name]:.2f} s", f"{min(clock):.2f} to {max(clock):.2f}")
        print_row(name, *cells, f"{statistics.median(processor):.2f} s")
    alone = medians.pop("the program alone")
    return [Figure(name, seconds, "s", "the program alone", seconds / alone) for name, seconds in medians.items()]


def _run_demo_steps() -> dict[str, tuple[float, float]]:
    """Wall-clock and processor seconds of every command, in a new folder of the demo."""
    commands: dict[str, Sequence[str | Path]] = {
        "framedex demo": [INSTALLED_FRAMEDEX, "demo", "--folder", "."],
        "framedex run": [INSTALLED_FRAMEDEX, "run", "device_put.py"],
        "framedex index": [INSTALLED_FRAMEDEX, "index", "--source", jax_folder(), "--source", ROOT / "native"],
        "framedex trace": [INSTALLED_FRAMEDEX, "trace", FUNCTION],
        "framedex --help": [INSTALLED_FRAMEDEX, "--help"],
        "the program alone": [sys.executable, "device_put.py"],
        "python -c pass": EMPTY_PYTHON,
    }
    with tempfile.TemporaryDirectory() as folder:
        times = {}
        for name, command in commands.items():
            # The program alone needs the library's path. `framedex run` sets it itself.
            environment = os.environ | {"TPU_LIBRARY_PATH": str(framedex_native.library_path())}
            environment["FRAMEDEX_RECORD"] = "1" if command[0] == INSTALLED_FRAMEDEX else "0"
            cost = run_measured(command, Path(folder), environment)
            times[name] = (cost.wall_s, cost.processor_s)
            if name == "framedex demo":
                shutil.rmtree(Path(folder) / ".framedex")
        return times
