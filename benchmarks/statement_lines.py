"""What it takes to know which lines answer for a line: one with frames of its own, or another line of its statement.

    python benchmarks/statement_lines.py INDEX [--runs 5]

Goes over every line of C++ and Python with recorded frames that is here, and over the other lines of their statements.
Processor time of this process; "first" parses the file, once for each state of it. Prints a table for RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from framedex.index import Index
from framedex.whereabouts.files import found_file

Place = tuple[str, int]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("index", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with Index.open(options.index) as index:
        files = [path for path in _recorded_files(options.index) if found_file(path) is not None]
        recorded = [(path, line) for path in files for line in index.file(path).recorded_lines()]
        others = [(path, line) for path, line in _around(recorded) if index.line(path, line).lines != (line,)]
    print(f"{len(files)} files, {len(recorded)} lines with frames, {len(others)} others that answer for one of those.")
    print(f"load {os.getloadavg()[0]:.1f}\n\n| | p50 | p99 |\n|---|---|---|")
    first_others = list({path: (path, line) for path, line in others}.values())
    for what, places, warm in (
        ("a line with frames", recorded, ()),
        ("another line of a statement, first in its file", first_others, ()),
        ("another line of a statement, again in its file", others, first_others),
    ):
        times = [each for _ in range(options.runs) for each in _times(options.index, places, warm)]
        fiftieth, last = statistics.median(times), statistics.quantiles(times, n=100)[-1]
        print(f"| {what} | {fiftieth * 1e3:.3f} ms | {last * 1e3:.2f} ms |")


def _recorded_files(index: Path) -> Sequence[str]:
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT DISTINCT f.path FROM line_calls l JOIN files f ON f.id = l.file")
        return [path for (path,) in rows]


def _around(places: Sequence[Place], reach: int = 20) -> Sequence[Place]:
    recorded = set(places)
    near = {(path, line + by) for path, line in places for by in range(-reach, reach + 1) if line + by > 0}
    return sorted(near - recorded)


def _times(index_path: Path, places: Sequence[Place], warm: Sequence[Place]) -> list[float]:
    """The seconds that each place takes, in an index opened anew in which those of `warm` were asked before."""
    with Index.open(index_path) as index:
        for path, line in warm:
            with index.reading():
                _ = index.line(path, line).lines

        def asked(path: str, line: int) -> Callable[[], object]:
            return lambda: index.line(path, line).lines

        return [_time(index, asked(*place)) for place in places]


def _time(index: Index, question: Callable[[], object]) -> float:
    with index.reading():
        begin = time.process_time()
        question()
        return time.process_time() - begin


if __name__ == "__main__":
    main()
