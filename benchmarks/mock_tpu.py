"""Cost of the mock TPU: dispatch, behaviours, the allocator of device memory, and real programs of JAX's libraries."""

from __future__ import annotations

import ast
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

import framedex_native
from benchmarks.figures import Figure
from benchmarks.processes import ROOT, build_native, median_ratio, neutral_environment, print_header, print_row
from framedex_native.behaviour import Call, active, on

# --- dispatch ---------------------------------------------------------------------------------------------------------

DISPATCH_PROGRAM = """
import json, sys, time
begin = time.perf_counter()
import jax, jax.numpy as jnp, numpy as np
step = jax.jit(lambda x: x + 1)
jax.block_until_ready(step(np.float32(1)))
found = {"start": time.perf_counter() - begin}
count, REPEATS = int(sys.argv[1]), int(sys.argv[2])

def best(function, calls):
    function(calls)
    times = []
    # Short loops and the best of many: what else the machine does only ever adds.
    for _ in range(REPEATS):
        begin = time.perf_counter()
        function(calls)
        times.append((time.perf_counter() - begin) / calls)
    return min(times)

def blocked(calls):
    for _ in range(calls):
        step(x).block_until_ready()

def pipelined(calls):
    for _ in range(calls):
        y = step(x)
    y.block_until_ready()

def chained(calls):
    y = x
    for _ in range(calls):
        y = step(y)
    y.block_until_ready()

def fifty(calls):
    for _ in range(calls):
        jax.block_until_ready(many(fifty_arrays))

def moved(calls):
    for _ in range(calls):
        np.asarray(step(array))

def compiled(calls):
    for i in range(calls):
        compiled.number += 1
        jax.jit(lambda x, n=compiled.number: jnp.sin(x) * n).lower(x).compile()

compiled.number = 0
array = np.arange(16, dtype=np.float32)
x = jax.device_put(array)
many = jax.jit(lambda xs: [x + 1 for x in xs])
fifty_arrays = [jax.device_put(array + i) for i in range(50)]
found["blocked"] = best(blocked, count)
found["pipelined"] = best(pipelined, count)
found["chained"] = best(chained, count)
found["moved"] = best(moved, count)
found["fifty"] = best(fifty, max(1, count // 20))
found["compiled"] = best(compiled, 1)
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class DispatchStep:
    """A row of the table: a key in the output of DISPATCH_PROGRAM, and the factor from seconds to its unit."""

    key: str
    title: str
    unit: str
    factor: float


DISPATCH_STEPS = (
    DispatchStep("blocked", "jit call and block", "us", 1e6),
    DispatchStep("pipelined", "jit call, pipelined", "us", 1e6),
    DispatchStep("chained", "jit call on the last one's result", "us", 1e6),
    DispatchStep("moved", "NumPy in, NumPy out", "us", 1e6),
    DispatchStep("fifty", "50 arrays in, 50 out, and block", "us", 1e6),
    DispatchStep("compiled", "lower and compile a small program", "ms", 1e3),
    DispatchStep("start", "import jax to the first result", "ms", 1e3),
    DispatchStep("process", "the whole of a small program", "ms", 1e3),
)
CPU, MOCK, RECORDED = "CPU backend", "mock", "mock, recorded"
BACKENDS = (CPU, MOCK, RECORDED)


@dataclass(frozen=True, slots=True)
class DispatchRun:
    """Options of every process."""

    calls: int
    repeats: int
    devices: int
    library: str | None

    def measure(self, backend: str) -> dict[str, float]:
        """Seconds of each step, in processes of their own."""
        with tempfile.TemporaryDirectory() as captures:
            environment = self._environment(backend, captures)
            program = (DISPATCH_PROGRAM, str(self.calls), str(self.repeats))
            steps: dict[str, float] = json.loads(_run_python(program, environment))
            began = time.perf_counter()
            _run_python(["import jax; jax.jit(lambda x: x + 1)(1.0).block_until_ready()"], environment)
            return steps | {"process": time.perf_counter() - began}

    def _environment(self, backend: str, captures: str) -> dict[str, str]:
        plain = neutral_environment()
        if backend == CPU:
            return plain | {"JAX_PLATFORMS": "cpu"}
        record = {"FRAMEDEX_OUT": captures} if backend == RECORDED else {"FRAMEDEX_RECORD": "0"}
        library = self.library or framedex_native.library_path().as_posix()
        return plain | {"TPU_LIBRARY_PATH": library, "FRAMEDEX_DEVICES": str(self.devices)} | record


@click.command()
@click.option("--rounds", type=int, default=9, show_default=True, help="Number of rounds.")
@click.option("--calls", type=int, default=200, show_default=True, help="Calls in a timed loop.")
@click.option("--repeats", type=int, default=30, show_default=True, help="Timed loops; the fastest counts.")
@click.option("--devices", type=int, default=1, show_default=True, help="Devices of the mock TPU.")
@click.option("--library", help="Measure this libtpu.so in place of the installed mock TPU.")
def dispatch(rounds: int, calls: int, repeats: int, devices: int, library: str | None) -> list[Figure]:
    """Measure calls, compilation and start-up on the mock TPU, against JAX's CPU backend.

    Each round starts one process for each backend, in rotating order.
    """
    run = DispatchRun(calls, repeats, devices, library)
    measured = []
    for number in range(rounds):
        order = [*BACKENDS[number % 3 :], *BACKENDS[: number % 3]]
        measured.append({backend: run.measure(backend) for backend in order})
    print_header("step", "unit", *BACKENDS, "mock / CPU", "recorded / mock")
    figures = []
    for step in DISPATCH_STEPS:
        times = {backend: [one[backend][step.key] * step.factor for one in measured] for backend in BACKENDS}
        medians = {backend: statistics.median(times[backend]) for backend in BACKENDS}
        to_cpu, to_cpu_text = median_ratio(times[MOCK], times[CPU])
        to_mock, to_mock_text = median_ratio(times[RECORDED], times[MOCK])
        print_row(step.title, step.unit, *(f"{value:.1f}" for value in medians.values()), to_cpu_text, to_mock_text)
        figures.append(Figure(f"{step.title}, unrecorded", medians[MOCK], step.unit, CPU, to_cpu))
        figures.append(Figure(f"{step.title}, recorded", medians[RECORDED], step.unit, "unrecorded mock TPU", to_mock))
    return figures


def _run_python(program: Sequence[str], environment: dict[str, str]) -> str:
    command = [sys.executable, "-c", *program]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


# --- behaviours -------------------------------------------------------------------------------------------------------

BEHAVIOURS = {
    "without behaviours": "",
    "with a behaviour on another function": "PJRT_Client_Compile",
    "with a behaviour that runs the call": "PJRT_Client_BufferFromHostBuffer",
}


@click.command()
@click.option("--rounds", type=int, default=7, show_default=True, help="Number of rounds.")
@click.option("--calls", type=int, default=3000, show_default=True, help="Calls in a round.")
def behaviours(rounds: int, calls: int) -> list[Figure]:
    """Measure a call with a behaviour, and without behaviours.

    The three take turns in this process, unrecorded, on the mock TPU. The call is a jax.device_put of four floats.
    """
    library = str(framedex_native.library_path())
    os.environ |= {"FRAMEDEX_RECORD": "0", "JAX_PLATFORMS": "tpu,cpu", "TPU_LIBRARY_PATH": library}
    put = _device_put()
    _microseconds(put, calls)
    times: dict[str, list[float]] = {title: [] for title in BEHAVIOURS}
    for _ in range(rounds):
        for title, function in BEHAVIOURS.items():
            with _behaviour_on(function):
                times[title].append(_microseconds(put, calls))
    print_header("PJRT_Client_BufferFromHostBuffer", "best, us", "median, us")
    figures = []
    plain = statistics.median(times["without behaviours"])
    for title, values in times.items():
        median = statistics.median(values)
        print_row(title, f"{min(values):.1f}", f"{median:.1f}")
        figures.append(Figure(f"device_put {title}", median, "us", "no behaviours", median / plain))
    return figures


def _device_put() -> Callable[[], object]:
    """A call of jax.device_put. Imports JAX, which reads the environment at that moment."""
    import jax
    import numpy as np

    values = np.ones(4, np.float32)
    return lambda: jax.device_put(values)


@contextmanager
def _behaviour_on(function: str) -> Iterator[None]:
    """Activate a behaviour that runs the call of this function; without a name, no behaviour."""
    with active():
        if function:
            on(function)(_run_call)
        yield


def _run_call(call: Call) -> None:
    call.run()


def _microseconds(work: Callable[[], object], calls: int) -> float:
    began = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - began) / calls * 1e6


# --- device memory ----------------------------------------------------------------------------------------------------


@click.command()
def device_memory() -> list[Figure]:
    """Measure the mock TPU's allocator at steady state, against malloc.

    Builds native/ with the benchmark. One operation is one release and one allocation.
    """
    benchmark = build_native("device_memory_benchmark", "device_memory_benchmark")
    environment = os.environ | {"FRAMEDEX_RECORD": "0"}
    output = subprocess.run([benchmark], check=True, capture_output=True, text=True, env=environment).stdout
    print_header("distinct sizes", "DeviceMemory, ns", "malloc, ns")
    figures = []
    for row in map(json.loads, output.splitlines()):
        sizes, own, malloc = row["distinct_sizes"], float(row["device_memory_ns"]), float(row["malloc_ns"])
        print_row(sizes, own, malloc)
        figures.append(Figure(f"allocation among {sizes} distinct sizes", own, "ns", "malloc", own / malloc))
    return figures


# --- real programs ----------------------------------------------------------------------------------------------------

# Each runs in its own process, in an environment with the libraries, which the first run creates.
REAL_PROGRAMS = Path(__file__).parent / "programs" / "real"
# Arguments: a file and the name of its function. Prints seconds of the backend's compiler, the number of compilations,
# processor seconds of the program, and its numbers.
REAL_PROGRAM_WORKER = """
import importlib.util, json, sys, time
import jax, numpy as np

durations = []

def listen(event, duration_secs, **details):
    if event == "/jax/core/compile/backend_compile_duration":
        durations.append(duration_secs)

jax.monitoring.register_event_duration_secs_listener(listen)
file, name = sys.argv[1:]
began = time.process_time()
spec = importlib.util.spec_from_file_location("program", file)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
numbers = np.asarray(getattr(module, name)(), np.float64).ravel().tolist()
print(json.dumps({
    "compile_s": sum(durations), "compilations": len(durations), "processor_s": time.process_time() - began,
    "numbers": numbers,
}))
"""
LIBRARIES = (
    *("flax", "dm-haiku", "equinox", "optax", "blackjax", "numpyro", "netket", "jraph", "mujoco", "mujoco-mjx"),
    *("penzai", "tinygp", "keras"),
)
RATIO_LIMIT = 1.5  # of the mock's time of compilation to the CPU backend's
MIN_COMPILE_S = 1.0  # programs that compile in less vary more than the limit
TOLERANCE = 0.02


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one program on one platform. `error` is the exception, or empty. Times are in seconds."""

    error: str = ""
    compile_s: float = math.nan
    compilations: int = 0
    processor_s: float = math.nan  # of the whole program
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Outcomes of one program on both platforms."""

    name: str
    cpu: Outcome
    mock: Outcome

    @property
    def ratio(self) -> float:
        """The mock's time of compilation divided by the CPU backend's."""
        return self.mock.compile_s / self.cpu.compile_s

    @property
    def processor_ratio(self) -> float:
        """The mock's processor time divided by the CPU backend's. Other processes change it less than wall time."""
        return self.mock.processor_s / self.cpu.processor_s

    @property
    def is_slow(self) -> bool:
        """Whether compilation takes longer than the limit, by wall time and by processor time."""
        return min(self.ratio, self.processor_ratio) > RATIO_LIMIT

    @property
    def agrees(self) -> bool:
        """Whether the mock's numbers are those of the CPU backend."""
        pairs = zip(self.mock.numbers, self.cpu.numbers, strict=False)
        return len(self.mock.numbers) == len(self.cpu.numbers) and all(
            math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in pairs
        )


programs_argument = click.argument("names", nargs=-1, metavar="[PROGRAM]...")
environment_option = click.option(
    "--environment",
    type=click.Path(path_type=Path),
    default=ROOT / "build" / "real-programs",
    help="Virtual environment with JAX's libraries; created if missing.",
)


@click.command()
@programs_argument
@environment_option
@click.option("--library", type=click.Path(path_type=Path), help="Use this libtpu.so in place of the installed mock.")
@click.option("--rounds", type=int, default=1, show_default=True, help="Number of rounds; the fastest counts.")
@click.option("--seconds", type=float, default=300, show_default=True, help="Limit the time of one program.")
def real_programs(
    names: tuple[str, ...], environment: Path, library: Path | None, rounds: int, seconds: float
) -> list[Figure]:
    """Run real programs of JAX's libraries on the mock TPU and on the CPU backend, and compare compilation.

    PROGRAM is a function of benchmarks/programs/real, or a file without .py. Without one, all programs run: some ten
    minutes. The first run installs the libraries with pip (1.5 GB).
    """
    python = create_environment(environment)
    selected = select_programs(names)
    mock = (library or framedex_native.library_path()).absolute()
    print_header("program", "CPU, s", "mock, s", "mock / CPU", "processor time", "compilations", "outcome")
    found = []
    for file, name in selected:
        cpu = _fastest([_run_program(python, file, name, None, seconds) for _ in range(rounds)])
        own = _fastest([_run_program(python, file, name, mock, seconds) for _ in range(rounds)])
        found.append(Comparison(f"{file.stem}.{name}", cpu, own))
        _print_comparison(found[-1])
    return [*([] if names else _summarise(found)), *_program_figures(found)]


def select_programs(names: Sequence[str], folder: Path = REAL_PROGRAMS) -> list[tuple[Path, str]]:
    """The programs in a folder with these names, or of the files with these names; all programs without names.

    Raises UsageError for an unknown name.
    """
    programs = [
        (file, node.name)
        for file in sorted(folder.glob("*.py"))
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    known = {name for file, program in programs for name in (file.stem, program)}
    if unknown := [name for name in names if name not in known]:
        raise click.UsageError(f"No program is named {unknown[0]!r}. Programs and files: {', '.join(sorted(known))}")
    return [(file, program) for file, program in programs if not names or {file.stem, program} & set(names)]


def create_environment(folder: Path) -> Path:
    """The Python of a virtual environment with the libraries and this environment's jax."""
    python = folder / "bin" / "python"
    complete = folder / "complete"
    if complete.exists():
        return python
    installed = [f"{name}=={version(name)}" for name in ("jax", "jaxlib")]
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *installed, *LIBRARIES], check=True)
    complete.touch()
    return python


def _run_program(python: Path, file: Path, name: str, mock: Path | None, seconds: float) -> Outcome:
    platform = (
        {"JAX_PLATFORMS": "cpu"}
        if mock is None
        else {"JAX_PLATFORMS": "tpu,cpu", "TPU_LIBRARY_PATH": str(mock), "FRAMEDEX_RECORD": "0"}
    )
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [python, "-P", "-c", REAL_PROGRAM_WORKER, file, name], cwd=folder, env=neutral_environment() | platform,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Outcome(f"did not end within {seconds:g} s")
    if done.returncode:
        return Outcome(_error_line(done.stderr) or f"exit status {done.returncode}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return Outcome("", result["compile_s"], result["compilations"], result["processor_s"], tuple(result["numbers"]))


def _error_line(text: str) -> str:
    """The last line with an exception, or the last line."""
    lines = [line.strip()[:200] for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Interrupt)\b", line)]
    return (errors or lines or [""])[-1]


def _fastest(outcomes: Sequence[Outcome]) -> Outcome:
    return min(outcomes, key=lambda outcome: math.inf if outcome.error else outcome.compile_s)


def _print_comparison(comparison: Comparison) -> None:
    cpu, mock = comparison.cpu, comparison.mock
    outcome = f"CPU: {cpu.error}" if cpu.error else mock.error or ("same" if comparison.agrees else "other numbers")
    print_row(
        comparison.name, f"{cpu.compile_s:.2f}", f"{mock.compile_s:.2f}", f"{comparison.ratio:.2f}",
        f"{comparison.processor_ratio:.2f}", f"{mock.compilations} / {cpu.compilations}", outcome,
    )  # fmt: skip


def _program_figures(found: Sequence[Comparison]) -> list[Figure]:
    return [
        Figure(
            f"{each.name}: compilation", each.mock.compile_s, "s", "CPU backend", each.ratio,
            note=f"Processor time of the program: {each.processor_ratio:.2f} times.",
        )
        for each in found if not each.cpu.error and not each.mock.error
    ]  # fmt: skip


def _summarise(found: Sequence[Comparison]) -> list[Figure]:
    """The figures of all programs together."""
    on_cpu = [each for each in found if not each.cpu.error]
    on_both = [each for each in on_cpu if not each.mock.error]
    same = sum(each.agrees for each in on_both)
    large = [each for each in on_both if each.cpu.compile_s >= MIN_COMPILE_S]
    slow = [each.name for each in large if each.is_slow]
    return [
        Figure("programs that end", len(on_both), "programs", "CPU backend", len(on_both) / max(1, len(on_cpu))),
        Figure("programs with the numbers of the CPU backend", same, "programs"),
        Figure(
            f"programs that compile for {MIN_COMPILE_S:g} s or more, slower than {RATIO_LIMIT:g} times", len(slow),
            "programs", note=f"{', '.join(slow) or 'None'} of {len(large)}.",
        ),
        _total_seconds("compilation of all programs", [(each.mock.compile_s, each.cpu.compile_s) for each in on_both]),
        _total_seconds(
            "processor time of all programs", [(each.mock.processor_s, each.cpu.processor_s) for each in on_both]
        ),
    ]  # fmt: skip


def _total_seconds(name: str, seconds: Sequence[tuple[float, float]]) -> Figure:
    """The sum of the mock's seconds, with its ratio to the sum of the CPU backend's."""
    mock, cpu = (sum(each) for each in zip(*seconds, strict=True)) if seconds else (0.0, 0.0)
    return Figure(name, mock, "s", "CPU backend", mock / cpu if cpu else None)
