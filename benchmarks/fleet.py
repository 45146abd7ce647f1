"""What a store of captures takes: calls a second of processor time against one index, bytes a call, memory, questions.

    python benchmarks/fleet.py CAPTURE [--captures 10 50 200] [--store-only] [--workers 1 2]

The captures are copies of one, each of a process of its own as its capture.json says. Each step is a process, whose
start and names of frames are in its figures. With --workers captures are also added by so many processes, into stores
of their own: seconds by the clock, and memory of that worker which takes most.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from framedex.fleet.asking import Asking
from framedex.fleet.place import Place
from framedex.fleet.questions import QUESTIONS

FRAMEDEX = [sys.executable, "-m", "framedex"]


def main() -> None:
    """Print a row for each number of captures, then one for each question to the last store."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("capture", type=Path)
    arguments.add_argument("--captures", type=int, nargs="+", default=[10, 50, 200])
    arguments.add_argument("--store-only", action="store_true", help="Make no index beside it.")
    arguments.add_argument("--workers", type=int, nargs="+", default=[], help="Have so many processes add them, too.")
    given = arguments.parse_args()
    print("| captures | calls | calls a second, store | index | MiB, store | index | bytes a call, store | index |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for many in given.captures:
            here = Path(folder) / str(many)
            copies(given.capture, here / "captures", many)
            store, index = here / "store", here / "index.db"
            took = measured("fleet", "add", str(here / "captures"), "--store", str(store), "--workers", "0")
            calls = asked(store, "SELECT sum(calls) FROM captures")[0]
            cells = [of(calls, took, store)]
            if not given.store_only:
                cells.append(of(calls, measured("--index", str(index), "index", str(here / "captures")), index))
            print(
                f"| {many} | {calls:,} | {' | '.join(' | '.join(pair) for pair in zip(*cells, strict=True))} |",
                flush=True,
            )
            index.unlink(missing_ok=True)
        pulled = Path(folder) / "pulled"  # by itself: it gets a folder of captures beside it
        pulled.mkdir()
        seconds, memory = measured(
            "fleet", "pull", "--store", str(store), "--rank", "0", "-o", str(pulled / "index.db")
        )
        one = asked(store, "SELECT max(calls) FROM captures")[0]
        print(f"\npull of {one:,} calls: {one / seconds:,.0f} calls a second, {memory:.0f} MiB", flush=True)
        seconds, memory = measured("fleet", "compact", "--store", str(store))
        print(f"compact: {calls / seconds:,.0f} calls a second, {memory:.0f} MiB", flush=True)
        print("\n| question | s cold, with opening the store | s warm |\n|---|---|---|")
        counting = "SELECT function, count(*), sum(duration) FROM calls GROUP BY function"
        for name, sql in {
            **{name: each.sql for name, each in QUESTIONS.items()},
            "all calls, by function": counting,
        }.items():
            cold, warm = timed(store, sql)
            print(f"| {name} | {cold:.2f} | {warm:.2f} |", flush=True)
        if given.workers:
            print("\n| captures | workers | s | calls a second | of processor time | MiB, a worker | the command |")
            print("|---|---|---|---|---|---|---|")
            for many in given.captures:
                for workers in given.workers:
                    print(f"| {many} | {workers} | {grown(Path(folder) / str(many), workers)} |", flush=True)


def grown(folder: Path, workers: int) -> str:
    """The cells of so many workers that add the captures of a folder: time, calls a second twice, memory twice."""
    store = folder / f"store-{workers}"
    command = ("fleet", "add", str(folder / "captures"), "--store", str(store), "--workers", str(workers))
    process = subprocess.Popen([*FRAMEDEX, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    began = time.perf_counter()
    largest = own = 0
    while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
        largest = max(largest, 0, *map(peak, children(process.pid)))
        own = max(own, peak(process.pid))
        time.sleep(0.1)
    took = time.perf_counter() - began
    _, status, usage = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    calls = asked(store, "SELECT sum(calls) FROM captures")[0]
    processor = usage.ru_utime + usage.ru_stime  # with that of the workers
    cells = (f"{took:.1f}", f"{calls / took:,.0f}", f"{calls / processor:,.0f}", largest >> 10, own >> 10)
    return " | ".join(map(str, cells))


def children(process: int) -> list[int]:
    """The processes that a process has started and that run."""
    with suppress(OSError):
        tasks = Path(f"/proc/{process}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return []


def peak(process: int) -> int:
    """The memory of a process at most, in KiB; 0 of one that has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


def of(calls: int, took: tuple[float, float], path: Path) -> tuple[str, str, str]:
    """Calls a second, memory in MiB, and bytes a call of what took so long and so much."""
    return f"{calls / took[0]:,.0f}", f"{took[1]:.0f}", f"{size(path) / calls:.1f}"


def copies(capture: Path, folder: Path, many: int) -> None:
    """Captures that share their streams' bytes on disk."""
    told = json.loads((capture / "capture.json").read_text())
    for number in range(many):
        copy = folder / f"{capture.name}-{number}"
        copy.mkdir(parents=True)
        for file in capture.iterdir():
            if file.is_file() and file.name != "capture.json":
                (copy / file.name).hardlink_to(file)
        job = {"FRAMEDEX_JOB": "benchmark", "FRAMEDEX_RANK": str(number)}
        (copy / "capture.json").write_text(json.dumps(told | {"pid": 10**8 + number, "job": job}))


def measured(*arguments: str) -> tuple[float, float]:
    """Processor time of a command in s, and its memory at most in MiB."""
    process = subprocess.Popen([*FRAMEDEX, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def asked(store: Path, sql: str) -> tuple[int, ...]:
    """The one row that a query gives."""
    with Asking(Place(str(store))) as asking:
        row: tuple[int, ...] = tuple(map(int, asking.query(sql).rows[0]))
        return row


def timed(store: Path, sql: str) -> tuple[float, float]:
    """How long a question takes in s, with opening the store and again."""
    began = time.perf_counter()
    with Asking(Place(str(store))) as asking:
        asking.query(sql)
        cold = time.perf_counter() - began
        began = time.perf_counter()
        asking.query(sql)
        return cold, time.perf_counter() - began


def size(path: Path) -> int:
    """Bytes of a file, or of all in a folder."""
    return sum(file.stat().st_size for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file())


if __name__ == "__main__":
    main()
