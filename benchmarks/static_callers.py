"""What it takes to find who calls a function in the sources, and how much of that the text tells for sure.

    python benchmarks/static_callers.py INDEX [--functions 200]

INDEX has source trees. Asked about functions spread evenly over the definitions by name, and about the five names that
most calls have. Processor time of this process. Prints tables for RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from framedex.index import Index
from framedex.model import StaticCallers

POPULAR = ("size", "get", "Create", "Run", "device_put")
Function = tuple[str, int, str]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("index", type=Path)
    parser.add_argument("--functions", type=int, default=200)
    options = parser.parse_args()
    with closing(sqlite3.connect(f"file:{options.index}?mode=ro", uri=True)) as connection:
        bytes_of_calls, callers = connection.execute("SELECT sum(length(sites)), count(*) FROM call_sites").fetchone()
        spread = _spread(connection, options.functions)
        popular = [_first_named(connection, name) for name in POPULAR]
    print(f"{bytes_of_calls / 1e6:.0f} MB of calls of {callers:,} definitions; load {os.getloadavg()[0]:.1f}")
    with Index.open(options.index) as index:
        found = [_asked(index, function) for function in spread]
        times = [seconds for _, seconds in found]
        told = [callers for callers, _ in found]
        sure, unsure, doubtful = _totals(told)
        middle, (worst, (*_, name)) = statistics.median(times), max(zip(times, spread, strict=True))
        print(f"{len(spread)} functions: {middle * 1e3:.0f} ms p50, {worst * 1e3:.0f} ms the worst, {name}")
        print(f"callers: {sure:,} sure, {unsure:,} that may be, {doubtful:,} counted and left out")
        for function in filter(None, popular):
            callers_of, seconds = _asked(index, function)
            totals = ", ".join(f"{count:,}" for count in _totals([callers_of]))
            print(f"{function[2]}: {seconds * 1e3:.0f} ms; {totals}")


def _spread(connection: sqlite3.Connection, count: int) -> Sequence[Function]:
    rows = connection.execute(
        "SELECT f.path, d.line, d.name FROM definitions d JOIN files f ON f.id = d.file"
        " WHERE d.kind IN ('function', 'method') ORDER BY d.short_name, f.path, d.line"
    ).fetchall()
    return rows[:: max(len(rows) // count, 1)][:count]


def _first_named(connection: sqlite3.Connection, name: str) -> Function | None:
    found: Function | None = connection.execute(
        "SELECT f.path, d.line, d.name FROM definitions d JOIN files f ON f.id = d.file"
        " WHERE d.short_name = ? AND d.kind IN ('function', 'method') ORDER BY d.name, f.path LIMIT 1",
        (name,),
    ).fetchone()
    return found


def _asked(index: Index, function: Function) -> tuple[StaticCallers, float]:
    path, line, _ = function
    begin = time.process_time()
    with index.reading():
        found = index.line(path, line).static_callers()
    return found, time.process_time() - begin


def _totals(found: Sequence[StaticCallers]) -> tuple[int, int, int]:
    sure = sum(each.is_sure for callers in found for each in callers.callers)
    unsure = sum(not each.is_sure for callers in found for each in callers.callers)
    return sure, unsure, sum(callers.doubtful for callers in found)


if __name__ == "__main__":
    main()
