"""Cost and quality of a stack, of framedex and of other tools, on the same JAX program.

Two programs run on the mock TPU. On their stacks, the language changes four times.
  standing  copies an array of 256 MiB byte by byte into the device, so it is nearly always inside
            PJRT_Client_BufferFromHostBuffer. py-spy dump, pystack and gdb read its stack from outside.
  looping   puts a small array on the device repeatedly. framedex, memray and py-spy record observe the whole run. Their
            cost per stack is the slowdown of the loop, divided by the number of their stacks.
"""

from __future__ import annotations

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

import click

from benchmarks.figures import Figure
from benchmarks.processes import Command, mock_environment, print_header, print_row
from framedex.captures import read_capture

Stack = Sequence[str]  # names of functions, outermost first

# --- programs with a known stack --------------------------------------------------------------------------------------

USER_FUNCTION = """
import json, sys, time
import jax, numpy as np
assert jax.devices()[0].platform == "tpu", jax.devices()
def user_function(depth):
    if depth:
        return jax.tree_util.tree_map(lambda leaf: user_function(depth - 1), 0)
    return jax.device_put(array)
"""


STANDING_PROGRAM = (
    USER_FUNCTION
    + """
array = np.zeros((1 << 14, 1 << 14), np.uint8).T
print("standing", flush=True)
while True:
    user_function(1)
"""
)
LOOPING_PROGRAM = (
    USER_FUNCTION
    + """
array = np.arange(6, dtype=np.float32).reshape(2, 3)
def loop(count):
    begin = time.perf_counter_ns()
    for _ in range(count):
        user_function(1)
    return (time.perf_counter_ns() - begin) / count
count = int(sys.argv[1])
loop(200)
batches = [loop(count // 5) for _ in range(5)]
print(json.dumps({"least": min(batches), "mean": sum(batches) / 5}))
"""
)


# The entry into C++, where a Python profiler's hook would be called.
EXTRACTING_PROGRAM = (
    USER_FUNCTION
    + """
import traceback
from jax._src.interpreters import pxla
array = np.arange(6, dtype=np.float32).reshape(2, 3)
put, times, stacks = pxla.xc.batched_device_put, [], []
def hook(*arguments, **options):
    begin = time.perf_counter_ns()
    stack = traceback.extract_stack()
    times.append(time.perf_counter_ns() - begin)
    stacks[:] = [[frame.name for frame in stack[:-1]]]
    return put(*arguments, **options)
pxla.xc.batched_device_put = hook
for _ in range(3000):
    user_function(1)
print(json.dumps({"nanoseconds": sorted(times)[len(times) // 2], "stacks": stacks}))
"""
)


# Known to be on the stack in this order, outermost first. Four changes of language.
LANDMARKS = (
    "user_function",
    "tree_map",
    "jax::PyTreeDef::Unflatten",
    "<lambda>",
    "user_function",
    "device_put",
    "batched_device_put",
    "jax::PyArray::BatchedDevicePut",
    "xla::PjRtCApiClient::BufferFromHostBuffer",
)
NATIVE_LANDMARKS = tuple(name for name in LANDMARKS if "::" in name)
PYTHON_LANDMARKS = tuple(name for name in LANDMARKS if "::" not in name)

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


class UnavailableError(Exception):
    """The tool is not installed, or it ended without a stack."""


@dataclass(slots=True)
class ToolRuns:
    """Measurements of one tool, one entry per run; `problems` are the messages of failed runs."""

    tool: str
    counted: str
    seconds: list[float] = field(default_factory=list)
    slow_downs: list[float] = field(default_factory=list)
    stacks: list[Stack] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Workbench:
    """The folder of a benchmark run: programs, and a virtual environment for the tools."""

    folder: Path
    iterations: int

    def program(self, name: str, text: str) -> Path:
        """Write a program into the folder."""
        path = self.folder / f"{name}.py"
        path.write_text(text)
        return path

    def tool(self, name: str) -> Path:
        """The path of an installed tool. Raises UnavailableError."""
        path = self.folder / "tools" / "bin" / name
        if not path.exists():
            raise UnavailableError("could not be installed with pip")
        return path


@click.command()
@click.option("--runs", type=int, default=5, show_default=True, help="Number of dumps with each tool.")
@click.option("--rounds", type=int, default=5, show_default=True, help="Whole runs with each tool.")
@click.option("--iterations", type=int, default=3000, show_default=True, help="Iterations of the loop in a whole run.")
def other_tools(runs: int, rounds: int, iterations: int) -> list[Figure]:
    """Measure a stack with py-spy, pystack, memray, gdb, traceback and framedex.

    The benchmark compares the output of every tool with the known stack. It installs py-spy, pystack and memray into
    a temporary virtual environment and takes gdb from the system. A missing or failing tool is a row with the reason.
    py-spy, pystack and gdb need the right to trace other processes (root, or kernel.yama.ptrace_scope=0).
    """
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(Path(folder), iterations)
        versions = _install(bench)
        outside = _measure_from_outside(bench, runs)
        whole_runs = _measure_whole_runs(bench, rounds)
        extracting = ToolRuns("traceback.extract_stack", "the call, where C++ is entered")
        _run_guarded(extracting, partial(_measure_extract_stack, bench))
    print(f"Python {sys.version.split()[0]}, {', '.join(versions)}\n")
    return _print_table([*whole_runs, extracting, *outside])


def _install(bench: Workbench) -> list[str]:
    """Install each tool separately, so that a failure does not stop the others; return the versions."""
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


def _measure_from_outside(bench: Workbench, runs: int) -> list[ToolRuns]:
    """Measure the tools that stop a process, in turn, on one process inside device_put."""
    looks: dict[str, Callable[[int], list[Stack]]] = {
        "py-spy dump --native": lambda pid: _py_spy_dump(bench, pid),
        "pystack remote --native": lambda pid: _pystack_remote(bench, pid),
        "gdb -batch -ex bt": _gdb_backtrace,
    }
    rows = [ToolRuns(tool, "the command, from start to end") for tool in looks]
    with _standing_process(bench) as pid:
        for _ in range(runs):
            for row, look in zip(rows, looks.values(), strict=True):
                _run_guarded(row, partial(_time_stack_dump, look=look, pid=pid))
    return rows


def _time_stack_dump(row: ToolRuns, *, look: Callable[[int], list[Stack]], pid: int) -> None:
    begin = time.perf_counter()
    stacks = look(pid)
    row.seconds.append(time.perf_counter() - begin)
    row.stacks.append(_best_stack(stacks))


@contextmanager
def _standing_process(bench: Workbench) -> Iterator[int]:
    """Run a process inside device_put; yield its process id."""
    command: Command = [sys.executable, bench.program("standing", STANDING_PROGRAM)]
    with subprocess.Popen(command, env=_tool_environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline() != "standing\n":
                raise RuntimeError("the standing program ended")
            yield process.pid
        finally:
            process.kill()


def _py_spy_dump(bench: Workbench, pid: int) -> list[Stack]:
    text = _run_tool([bench.tool("py-spy"), "dump", "--native", "--pid", str(pid)])
    threads = text.split("\nThread ")[1:]
    return [re.findall(r"^    (.*) \(.*\)$", thread, re.MULTILINE)[::-1] for thread in threads]


def _pystack_remote(bench: Workbench, pid: int) -> list[Stack]:
    text = _run_tool([bench.tool("pystack"), "remote", "--native", str(pid)])
    threads = text.split("Traceback for thread ")[1:]
    return [re.findall(r'^    \((?:C|Python)\) File ".*?", line \d+, in (.*)$', one, re.MULTILINE) for one in threads]


def _gdb_backtrace(pid: int) -> list[Stack]:
    gdb = shutil.which("gdb")
    if gdb is None:
        raise UnavailableError("is not on PATH")
    command = [gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", str(pid), "-ex", "bt"]
    return [re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(.*)$", _run_tool(command), re.MULTILINE)[::-1]]


# --- a whole run ------------------------------------------------------------------------------------------------------


def _measure_whole_runs(bench: Workbench, rounds: int) -> list[ToolRuns]:
    """Measure framedex, memray and py-spy record over the looping program, in turn with the program alone."""
    program = bench.program("looping", LOOPING_PROGRAM)
    framedex = ToolRuns("framedex run", "the loop's loss per recorded call")
    memray = ToolRuns("memray run --native", "the loop's loss per allocation, which are all it sees")
    py_spy = ToolRuns("py-spy record --native", "the loop's loss per sample; names: the best sample")
    calls = _events_per_iteration(bench, lambda count: _framedex_run(bench, program, count)[1])
    allocations = 0.0

    def count_allocations(_: ToolRuns) -> None:
        nonlocal allocations
        allocations = _events_per_iteration(bench, lambda count: _memray_run(bench, program, count)[1])

    _run_guarded(memray, count_allocations)
    for _ in range(rounds):
        alone = json.loads(_run_tool([sys.executable, program, str(bench.iterations)]))
        recorded, _calls = _framedex_run(bench, program, bench.iterations)
        _add_overhead(framedex, alone["least"], recorded["least"], calls)
        _run_guarded(memray, partial(_watch_memray, bench, program, alone["least"], allocations))
        _run_guarded(py_spy, partial(_watch_py_spy, bench, program, alone["mean"]))
    # A sample is anywhere in the loop, so only the best of all can have every frame.
    py_spy.stacks[:] = [_best_stack(py_spy.stacks)]
    framedex.stacks.append(_name_framedex(bench, framedex))
    _run_guarded(memray, lambda row: row.stacks.append(_memray_stack(bench, program)))
    framedex.counted += f" ({calls:.1f} per iteration)"
    memray.counted += f" ({allocations:.1f} per iteration)"
    return [framedex, memray, py_spy]


def _events_per_iteration(bench: Workbench, events: Callable[[int], int]) -> float:
    """The number of events of one iteration of the loop, without start-up."""
    few = bench.iterations // 5
    return (events(bench.iterations) - events(few)) / (bench.iterations - few)


def _add_overhead(row: ToolRuns, alone: float, watched: float, events: float) -> None:
    """Add the time that watching costs per iteration, divided by the number of its `events`."""
    row.seconds.append((watched - alone) / events / 1e9)
    row.slow_downs.append(watched / alone)


def _framedex_run(bench: Workbench, program: Path, count: int) -> tuple[dict[str, float], int]:
    """Times of the loop, and the number of recorded calls."""
    shutil.rmtree(bench.folder / ".framedex", ignore_errors=True)
    command: Command = [_framedex_command(), "run", program, str(count)]
    times = json.loads(_run_tool(command, environment={"FRAMEDEX_RECORD": "1"}, folder=bench.folder))
    (capture,) = (bench.folder / ".framedex" / "captures").iterdir()
    return times, len(read_capture(capture).calls)


def _name_framedex(bench: Workbench, row: ToolRuns) -> Stack:
    """The names of a recorded call's frames. The time to name all stacks of the capture goes into the row."""
    begin = time.perf_counter()
    _run_tool([_framedex_command(), "index"], folder=bench.folder)
    row.counted += f"; `framedex index` names all stacks afterwards in {time.perf_counter() - begin:.1f} s"
    trace = _run_tool([_framedex_command(), "trace", "PJRT_Client_BufferFromHostBuffer", "--json"], folder=bench.folder)
    return [frame["function"]["name"] for frame in json.loads(trace)["frames"]]


def _framedex_command() -> Path:
    return Path(sys.executable).with_name("framedex")


def _watch_memray(bench: Workbench, program: Path, alone: float, allocations: float, row: ToolRuns) -> None:
    times, _ = _memray_run(bench, program, bench.iterations)
    _add_overhead(row, alone, times["least"], allocations)


def _memray_run(bench: Workbench, program: Path, count: int) -> tuple[dict[str, float], int]:
    """Times of the loop, and the number of recorded allocations."""
    recording, statistics_file = bench.folder / "memray.bin", bench.folder / "memray.json"
    memray = bench.tool("memray")
    times = json.loads(_run_tool([memray, "run", "--native", "--quiet", "-f", "-o", recording, program, str(count)]))
    _run_tool([memray, "stats", "--json", "-f", "-o", statistics_file, recording])
    return times, json.loads(statistics_file.read_text())["total_num_allocations"]


def _memray_stack(bench: Workbench, program: Path) -> Stack:
    """The stack with most landmarks, among the allocations below user_function in a short run."""
    _memray_run(bench, program, 5)
    script = bench.program("memray_stacks", MEMRAY_STACKS)
    stacks = json.loads(_run_tool([bench.tool("memray").with_name("python"), script, bench.folder / "memray.bin"]))
    return _best_stack(stacks)


def _watch_py_spy(bench: Workbench, program: Path, alone: float, row: ToolRuns) -> None:
    """Take 100 samples per second over ten times the iterations, to have enough samples."""
    count, samples = bench.iterations * 10, bench.folder / "py-spy.txt"
    record: Command = ["record", "--native", "--rate", "100", "--format", "raw", "--output", samples]
    text = _run_tool([bench.tool("py-spy"), *record, "--", sys.executable, program, str(count)])
    times = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
    in_loop = [line.rsplit(" ", 1) for line in samples.read_text().splitlines() if "user_function" in line]
    if not in_loop:
        raise UnavailableError("took no sample in the loop")
    _add_overhead(row, alone, times["mean"], sum(int(number) for _, number in in_loop) / count)
    row.stacks.append(_best_stack([re.sub(r" \([^()]*\)(?=;|$)", "", stack).split(";") for stack, _ in in_loop]))


def _measure_extract_stack(bench: Workbench, row: ToolRuns) -> None:
    answer = json.loads(_run_tool([sys.executable, bench.program("extracting", EXTRACTING_PROGRAM)]))
    row.seconds.append(answer["nanoseconds"] / 1e9)
    row.stacks.extend(answer["stacks"])


# --- processes --------------------------------------------------------------------------------------------------------


def _run_guarded(row: ToolRuns, measure: Callable[[ToolRuns], None]) -> None:
    """Measure once; add a failure to the problems of the row."""
    try:
        measure(row)
    except UnavailableError as problem:
        row.problems.append(str(problem))


def _run_tool(command: Command, environment: dict[str, str] | None = None, folder: Path | None = None) -> str:
    """The output of a command. Raises UnavailableError, with its message, if it fails or takes two minutes."""
    try:
        return subprocess.run(
            command, env=_tool_environment() | (environment or {}), cwd=folder,
            check=True, capture_output=True, text=True, timeout=120,
        ).stdout  # fmt: skip
    except subprocess.CalledProcessError as error:
        words = (error.stderr or error.stdout).strip().splitlines() or ["no message"]
        said = next((line for line in words if "error" in line.lower()), words[-1])
        raise UnavailableError(f"failed: {said.strip()[:120]}") from None
    except subprocess.TimeoutExpired:
        raise UnavailableError("failed: took more than two minutes") from None


def _tool_environment() -> dict[str, str]:
    """The environment of an unrecorded program on the mock TPU, in which the tools' Python finds jax."""
    jax = importlib.util.find_spec("jax")
    assert jax is not None and jax.origin is not None
    paths = [os.fspath(Path(jax.origin).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return mock_environment(None) | {"PYTHONPATH": os.pathsep.join(paths)}


# --- judging stacks ---------------------------------------------------------------------------------------------------


def _best_stack(stacks: Sequence[Stack]) -> Stack:
    """The stack with most landmarks, among several threads or samples."""
    return min(stacks, key=lambda stack: len(_missing_landmarks(stack)), default=())


def _missing_landmarks(stack: Stack, landmarks: Sequence[str] = LANDMARKS) -> list[str]:
    """The landmarks that are missing or out of order."""
    missing, position = [], 0
    for landmark in landmarks:
        found = next((index for index in range(position, len(stack)) if _is_named(stack[index], landmark)), None)
        if found is None:
            missing.append(landmark)
        else:
            position = found + 1
    return missing


def _is_named(name: str, landmark: str) -> bool:
    """Whether a tool's name of a function is this landmark: with or without parameters, qualified or not."""
    if "::" in landmark:
        return re.match(re.escape(landmark) + r"(?!\w)", name) is not None
    return name.rsplit(".", 1)[-1] == landmark


def _rate_names(stack: Stack) -> str:
    """The number of C++ landmarks with a name, in any order."""
    named = sum(any(_is_named(name, landmark) for name in stack) for landmark in NATIVE_LANDMARKS)
    return "yes" if named == len(NATIVE_LANDMARKS) else f"{named} of {len(NATIVE_LANDMARKS)}" if named else "none"


def _rate_merging(stack: Stack) -> str:
    """Whether Python and C++ are one stack, in the right order."""
    missing = _missing_landmarks(stack)
    if not missing:
        return "yes"
    if not any(_is_named(name, landmark) for name in stack for landmark in PYTHON_LANDMARKS):
        return "no: C++ only"
    if not any(_is_named(name, landmark) for name in stack for landmark in NATIVE_LANDMARKS):
        return "no: Python only"
    return f"no: {', '.join(f'`{name}`' for name in missing)} lost or out of place"


# --- the table --------------------------------------------------------------------------------------------------------


def _print_table(rows: Sequence[ToolRuns]) -> list[Figure]:
    """Print the table and return its figures; framedex, the first row, is the peer of the others."""
    own = statistics.median(rows[0].seconds)
    print_header("tool", "per stack", "to framedex", "slow-down", "C++ of libjax named", "merged", "counted")
    figures = []
    for row in rows:
        if not row.seconds:
            print_row(row.tool, row.problems[0], "", "", "", "", "")
            continue
        median = statistics.median(row.seconds)
        ratio = f"{median / own:,.{0 if median > 100 * own else 1}f}" if own > 0 else "framedex is below the noise"
        slow = f"{statistics.median(row.slow_downs):.2f}" if row.slow_downs else "-"
        verdicts = [_most_common(_rate_names, row.stacks), _most_common(_rate_merging, row.stacks)]
        counted = row.counted + (f"; {len(row.problems)} runs {row.problems[0]}" if row.problems else "")
        print_row(row.tool, _format_duration(median), ratio, slow, *verdicts, counted)
        to_framedex = median / own if own > 0 else None
        figures.append(Figure(f"one stack, {row.tool}", median * 1e6, "us", "framedex run", to_framedex))
        if row.slow_downs:
            slow_down = statistics.median(row.slow_downs)
            figures.append(Figure(f"program under {row.tool}", slow_down, "", "the program alone", slow_down))
    return figures


def _most_common(verdict: Callable[[Stack], str], stacks: Sequence[Stack]) -> str:
    """The verdict on the stacks, with counts if runs differ."""
    verdicts = Counter(verdict(stack) for stack in stacks)
    if len(verdicts) == 1:
        return next(iter(verdicts))
    return "; ".join(f"{text} ({number} of {len(stacks)})" for text, number in verdicts.most_common())


def _format_duration(seconds: float) -> str:
    """Format seconds in a suitable unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds * 1e9:,.0f} ns"
