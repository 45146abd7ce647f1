"""What a stack costs with the tools that users have today, on the same JAX program as framedex, and what is in it.

    python benchmarks/other_tools.py [--runs 5] [--rounds 5] [--iterations 3000]

Two programs run on the mock TPU (known_stack.py), each with four changes of language on its stack:
  standing  copies an array of 256 MiB byte by byte into the device, so that it practically always stands inside
            PJRT_Client_BufferFromHostBuffer. py-spy dump, pystack and gdb look at it from outside.
  looping   puts a small array again and again. Tools that watch a whole run (framedex, memray, py-spy record) are
            charged what the loop loses, divided by the stacks that they got for it.
Every tool's output is parsed and compared with what is known to be on the stack. py-spy, pystack and memray are
installed into a virtual environment that is thrown away; a tool that cannot be had or fails is a row that says so.
Rounds are interleaved; medians. Prints a table for RESULTS.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from known_stack import EXTRACTING, LOOPING, STANDING, Stack, best, merging, naming

import framedex_native
from framedex.captures import read_capture

MEMRAY_STACKS = """
import json, sys, memray
stacks = []
for record in memray.FileReader(sys.argv[1]).get_allocation_records():
    if not memray.AllocatorType(record.allocator).name.endswith(("FREE", "MUNMAP")):
        names = [frame[0] for frame in record.hybrid_stack_trace()]
        if "user_function" in names:
            stacks.append(names[::-1])
print(json.dumps(stacks))
"""

Command = Sequence[str | Path]


class UnavailableError(Exception):
    """A tool that is not there, or that ended without a stack."""


@dataclass(slots=True)
class Measured:
    """What was found about one tool, one entry per run; `problems` are of the runs that failed."""

    tool: str
    counted: str
    seconds: list[float] = field(default_factory=list)
    slow_downs: list[float] = field(default_factory=list)
    stacks: list[Stack] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Bench:
    """The folder of a run of this script: the programs, and a virtual environment for the tools."""

    folder: Path
    iterations: int

    def program(self, name: str, text: str) -> Path:
        path = self.folder / f"{name}.py"
        path.write_text(text)
        return path

    def tool(self, name: str) -> Path:
        """The path of an installed tool. Raises UnavailableError."""
        path = self.folder / "tools" / "bin" / name
        if not path.exists():
            raise UnavailableError("could not be installed with pip")
        return path


def main() -> None:
    """Install, measure, print."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.iterations)
        versions = install(bench)
        outside = look_from_outside(bench, options.runs)
        whole_runs = watch_whole_runs(bench, options.rounds)
        extracting = Measured("traceback.extract_stack", "the call, where C++ is entered")
        guarded(extracting, partial(extract, bench))
    print(f"Python {sys.version.split()[0]}, {', '.join(versions)}\n")
    show([*whole_runs, extracting, *outside])


def install(bench: Bench) -> list[str]:
    """Make the tools' environment, each tool by itself so that one that fails stops no other; return the versions."""
    environment = bench.folder / "tools"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip: Command = [environment / "bin" / "pip", "--disable-pip-version-check"]
    for name in ("py-spy", "pystack", "memray"):
        subprocess.run([*pip, "install", "--only-binary", ":all:", name], check=False, capture_output=True)
    listed = subprocess.run([*pip, "list", "--format", "json"], check=True, capture_output=True, text=True).stdout
    tools = {entry["name"].lower(): entry["version"] for entry in json.loads(listed)}
    versions = [f"{name} {tools[name]}" for name in ("py-spy", "pystack", "memray") if name in tools]
    if gdb := shutil.which("gdb"):
        versions.append(subprocess.run([gdb, "--version"], capture_output=True, text=True).stdout.splitlines()[0])
    return versions


# --- one stack, from outside ------------------------------------------------------------------------------------------


def look_from_outside(bench: Bench, runs: int) -> list[Measured]:
    """The tools that stop a process to look at it, in turn, at one process standing in device_put."""
    looks: dict[str, Callable[[int], list[Stack]]] = {
        "py-spy dump --native": lambda pid: py_spy_dump(bench, pid),
        "pystack remote --native": lambda pid: pystack_remote(bench, pid),
        "gdb -batch -ex bt": gdb_backtrace,
    }
    rows = [Measured(tool, "the command, from start to end") for tool in looks]
    with standing(bench) as pid:
        for _ in range(runs):
            for row, look in zip(rows, looks.values(), strict=True):
                guarded(row, partial(time_look, look=look, pid=pid))
    return rows


def time_look(row: Measured, *, look: Callable[[int], list[Stack]], pid: int) -> None:
    begin = time.perf_counter()
    stacks = look(pid)
    row.seconds.append(time.perf_counter() - begin)
    row.stacks.append(best(stacks))


@contextmanager
def standing(bench: Bench) -> Iterator[int]:
    """A process that stands in device_put; its process id."""
    command: Command = [sys.executable, bench.program("standing", STANDING)]
    with subprocess.Popen(command, env=on_mock(), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline() != "standing\n":
                raise RuntimeError("the standing program ended")
            yield process.pid
        finally:
            process.kill()


def py_spy_dump(bench: Bench, pid: int) -> list[Stack]:
    text = output([bench.tool("py-spy"), "dump", "--native", "--pid", str(pid)])
    threads = text.split("\nThread ")[1:]
    return [re.findall(r"^    (.*) \(.*\)$", thread, re.MULTILINE)[::-1] for thread in threads]


def pystack_remote(bench: Bench, pid: int) -> list[Stack]:
    text = output([bench.tool("pystack"), "remote", "--native", str(pid)])
    threads = text.split("Traceback for thread ")[1:]
    return [re.findall(r'^    \((?:C|Python)\) File ".*?", line \d+, in (.*)$', one, re.MULTILINE) for one in threads]


def gdb_backtrace(pid: int) -> list[Stack]:
    gdb = shutil.which("gdb")
    if gdb is None:
        raise UnavailableError("is not on PATH")
    command = [gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", str(pid), "-ex", "bt"]
    return [re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(.*)$", output(command), re.MULTILINE)[::-1]]


# --- a whole run ------------------------------------------------------------------------------------------------------


def watch_whole_runs(bench: Bench, rounds: int) -> list[Measured]:
    """framedex, memray and py-spy record over the looping program, in turn with the program by itself."""
    program = bench.program("looping", LOOPING)
    framedex = Measured("framedex run", "the loop's loss per recorded call")
    memray = Measured("memray run --native", "the loop's loss per allocation, which are all it sees")
    py_spy = Measured("py-spy record --native", "the loop's loss per sample; names: the best sample")
    calls = events_per_iteration(bench, lambda count: framedex_run(bench, program, count)[1])
    allocations = 0.0

    def count_allocations(_: Measured) -> None:
        nonlocal allocations
        allocations = events_per_iteration(bench, lambda count: memray_run(bench, program, count)[1])

    guarded(memray, count_allocations)
    for _ in range(rounds):
        alone = json.loads(output([sys.executable, program, str(bench.iterations)]))
        recorded, _calls = framedex_run(bench, program, bench.iterations)
        charge(framedex, alone["least"], recorded["least"], calls)
        guarded(memray, partial(watch_memray, bench, program, alone["least"], allocations))
        guarded(py_spy, partial(watch_py_spy, bench, program, alone["mean"]))
    # A sample is anywhere in the loop, so only the best of all can have every frame.
    py_spy.stacks[:] = [best(py_spy.stacks)]
    framedex.stacks.append(name_framedex(bench, framedex))
    guarded(memray, lambda row: row.stacks.append(memray_stack(bench, program)))
    framedex.counted += f" ({calls:.1f} per iteration)"
    memray.counted += f" ({allocations:.1f} per iteration)"
    return [framedex, memray, py_spy]


def events_per_iteration(bench: Bench, events: Callable[[int], int]) -> float:
    """How many events one iteration of the loop adds, start-up left out."""
    few = bench.iterations // 5
    return (events(bench.iterations) - events(few)) / (bench.iterations - few)


def charge(row: Measured, alone: float, watched: float, events: float) -> None:
    """Note the nanoseconds per iteration that watching costs, shared among its `events`."""
    row.seconds.append((watched - alone) / events / 1e9)
    row.slow_downs.append(watched / alone)


def framedex_run(bench: Bench, program: Path, count: int) -> tuple[dict[str, float], int]:
    """Times of the loop, and how many calls were recorded into the folder's only capture."""
    shutil.rmtree(bench.folder / ".framedex", ignore_errors=True)
    command: Command = [framedex_command(), "run", program, str(count)]
    times = json.loads(output(command, environment={"FRAMEDEX_RECORD": "1"}, folder=bench.folder))
    (capture,) = (bench.folder / ".framedex" / "captures").iterdir()
    return times, len(read_capture(capture).calls)


def name_framedex(bench: Bench, row: Measured) -> Stack:
    """The names of a recorded call's frames. What naming took, for every stack of the capture, goes into the row."""
    begin = time.perf_counter()
    output([framedex_command(), "index"], folder=bench.folder)
    row.counted += f"; `framedex index` names all stacks afterwards in {time.perf_counter() - begin:.1f} s"
    trace = output([framedex_command(), "trace", "PJRT_Client_BufferFromHostBuffer", "--json"], folder=bench.folder)
    return [frame["function"]["name"] for frame in json.loads(trace)["frames"]]


def framedex_command() -> Path:
    return Path(sys.executable).with_name("framedex")


def watch_memray(bench: Bench, program: Path, alone: float, allocations: float, row: Measured) -> None:
    times, _ = memray_run(bench, program, bench.iterations)
    charge(row, alone, times["least"], allocations)


def memray_run(bench: Bench, program: Path, count: int) -> tuple[dict[str, float], int]:
    """Times of the loop, and how many allocations were recorded."""
    recording, statistics_file = bench.folder / "memray.bin", bench.folder / "memray.json"
    memray = bench.tool("memray")
    times = json.loads(output([memray, "run", "--native", "--quiet", "-f", "-o", recording, program, str(count)]))
    output([memray, "stats", "--json", "-f", "-o", statistics_file, recording])
    return times, json.loads(statistics_file.read_text())["total_num_allocations"]


def memray_stack(bench: Bench, program: Path) -> Stack:
    """Of the allocations below user_function in a short run, the one whose stack shows most."""
    memray_run(bench, program, 5)
    script = bench.program("memray_stacks", MEMRAY_STACKS)
    stacks = json.loads(output([bench.tool("memray").with_name("python"), script, bench.folder / "memray.bin"]))
    return best(stacks)


def watch_py_spy(bench: Bench, program: Path, alone: float, row: Measured) -> None:
    """100 samples per second, of ten times the iterations so that there are some."""
    count, samples = bench.iterations * 10, bench.folder / "py-spy.txt"
    record: Command = ["record", "--native", "--rate", "100", "--format", "raw", "--output", samples]
    text = output([bench.tool("py-spy"), *record, "--", sys.executable, program, str(count)])
    times = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
    in_loop = [line.rsplit(" ", 1) for line in samples.read_text().splitlines() if "user_function" in line]
    if not in_loop:
        raise UnavailableError("took no sample in the loop")
    charge(row, alone, times["mean"], sum(int(number) for _, number in in_loop) / count)
    row.stacks.append(best([re.sub(r" \([^()]*\)(?=;|$)", "", stack).split(";") for stack, _ in in_loop]))


def extract(bench: Bench, row: Measured) -> None:
    answer = json.loads(output([sys.executable, bench.program("extracting", EXTRACTING)]))
    row.seconds.append(answer["nanoseconds"] / 1e9)
    row.stacks.extend(answer["stacks"])


# --- processes --------------------------------------------------------------------------------------------------------


def guarded(row: Measured, measure: Callable[[Measured], None]) -> None:
    """Measure once; a failure goes into the row, where runs that went well still count."""
    try:
        measure(row)
    except UnavailableError as problem:
        row.problems.append(str(problem))


def output(command: Command, environment: dict[str, str] | None = None, folder: Path | None = None) -> str:
    """What a command prints. Raises UnavailableError, with its message, if it fails or takes two minutes."""
    try:
        return subprocess.run(
            command, env=on_mock() | (environment or {}), cwd=folder, check=True, capture_output=True, text=True,
            timeout=120,
        ).stdout  # fmt: skip
    except subprocess.CalledProcessError as error:
        words = (error.stderr or error.stdout).strip().splitlines() or ["no message"]
        said = next((line for line in words if "error" in line.lower()), words[-1])
        raise UnavailableError(f"failed: {said.strip()[:120]}") from None
    except subprocess.TimeoutExpired:
        raise UnavailableError("failed: took more than two minutes") from None


def on_mock() -> dict[str, str]:
    """The environment of a program on the mock TPU, unrecorded; the tools' environment finds jax through it, too."""
    jax = importlib.util.find_spec("jax")
    assert jax is not None and jax.origin is not None
    paths = [os.fspath(Path(jax.origin).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {
        "TPU_LIBRARY_PATH": os.fspath(framedex_native.library_path()),
        "FRAMEDEX_RECORD": "0",
        "PYTHONPATH": os.pathsep.join(paths),
    }


# --- the table --------------------------------------------------------------------------------------------------------


def show(rows: Sequence[Measured]) -> None:
    """Print the table; framedex, the first row, is what the others are compared with."""
    own = statistics.median(rows[0].seconds)
    print("| tool | per stack | to framedex | slow-down of the program | C++ of libjax named | merged | counted |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        if not row.seconds:
            print(f"| {row.tool} | {row.problems[0]} | | | | | |")
            continue
        median = statistics.median(row.seconds)
        ratio = f"{median / own:,.{0 if median > 100 * own else 1}f}" if own > 0 else "framedex is below the noise"
        slow = f"{statistics.median(row.slow_downs):.2f}" if row.slow_downs else "-"
        shown = [most_common(naming, row.stacks), most_common(merging, row.stacks)]
        counted = row.counted + (f"; {len(row.problems)} runs {row.problems[0]}" if row.problems else "")
        print(f"| {row.tool} | {duration(median)} | {ratio} | {slow} | {' | '.join(shown)} | {counted} |")


def most_common(verdict: Callable[[Stack], str], stacks: Sequence[Stack]) -> str:
    """The verdict on the runs' stacks, with the number of runs where they differ."""
    verdicts = Counter(verdict(stack) for stack in stacks)
    if len(verdicts) == 1:
        return next(iter(verdicts))
    return "; ".join(f"{text} ({number} of {len(stacks)})" for text, number in verdicts.most_common())


def duration(seconds: float) -> str:
    """In the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds * 1e9:,.0f} ns"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="looks from outside, per tool")
    parser.add_argument("--rounds", type=int, default=5, help="whole runs, per tool")
    parser.add_argument("--iterations", type=int, default=3000, help="of the loop in a whole run")
    return parser.parse_args()


if __name__ == "__main__":
    main()
