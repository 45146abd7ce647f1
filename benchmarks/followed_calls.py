"""What it costs to follow the objects of a capture, and to find who had its calls made: in Python, and in C++.

    python benchmarks/followed_calls.py CAPTURE... [--rounds 5] [--times 1]

Microseconds of processor time per call, medians of the rounds, the two sides in turns. The values of the calls are
decoded before; reading them is part of what is measured. With --times the calls of a capture are followed so many times
in C++, as if its program had gone on as long, with rows taken after every 100,000 calls; then the growth of the
process's memory is told beside.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY))

from framedex.captures import read_capture  # noqa: E402
from framedex.captures.object_table import object_table  # noqa: E402
from framedex_native import _call_stream  # noqa: E402
from tests.native.call_stream.encoded import encoded  # noqa: E402
from tests.native.call_stream.linked import stack_tables, threads_with_python  # noqa: E402
from tests.oracle.causal_links import find_causal_links  # noqa: E402
from tests.oracle.lifetimes import follow_objects  # noqa: E402

BATCH = 100_000


def main() -> None:
    """Measure each capture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=1)
    asked = parser.parse_args()
    for path in asked.captures:
        if asked.rounds:
            _measure(path, asked.rounds)
        if asked.times > 1:
            _measure_memory(path, asked.times)


def _measure(path: Path, rounds: int) -> None:
    capture = read_capture(path)
    whole = encoded(capture)
    functions, calls = whole.functions, whole.calls
    tables, with_python = stack_tables(capture), threads_with_python(capture)

    def links() -> None:
        found = _call_stream.CausalLinks(object_table(), tables, bool(capture.metadata.selected_by))
        for function in functions:
            found.add_function(*function)
        for thread in with_python:
            found.add_python_thread(thread)
        found.add(calls, 0, len(calls))
        found.finish()
        found.take_links()

    print(f"{path}: {len(calls):,} calls")
    for name, python, native in (
        ("objects", lambda: follow_objects(capture), lambda: _follow(functions, calls, 1, lambda: None)),
        ("causal links", lambda: find_causal_links(capture), links),
    ):
        seconds: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for side, work in zip(seconds, (python, native), strict=True):
                side.append(_seconds(work))
        before, after = (median(side) / max(len(calls), 1) * 1e6 for side in seconds)
        print(f"  {name}: Python {before:.3f}, C++ {after:.3f} microseconds a call, {before / after:.0f} times")


def _measure_memory(path: Path, times: int) -> None:
    whole = encoded(read_capture(path))
    functions, calls = whole.functions, whole.calls
    before = _resident()
    begin = time.process_time()
    most = before

    def look() -> None:
        nonlocal most
        most = max(most, _resident())

    rows = _follow(functions, calls, times, look)
    seconds = time.process_time() - begin
    total = times * len(calls)
    print(f"  {times} times: {total:,} calls, {rows:,} rows of objects")
    print(f"    {seconds / total * 1e6:.3f} microseconds a call, {(most - before) / (1 << 20):.1f} MiB more of memory")


def _follow(
    functions: list[tuple[str, list[str]]], calls: _call_stream.CallColumns, times: int, look: Callable[[], None]
) -> int:
    """Follow the objects of the calls and return how many of their rows were taken."""
    lifetimes = _call_stream.Lifetimes(object_table())
    for function in functions:
        lifetimes.add_function(*function)
    rows = 0
    for _ in range(times):
        for begin in range(0, len(calls), BATCH):
            lifetimes.add(calls, begin, begin + BATCH)
            rows += len(lifetimes.take_objects()["object"])
            lifetimes.take_violations()
            look()
        lifetimes.finish()
    return rows + len(lifetimes.take_objects()["object"])


def _resident() -> int:
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
