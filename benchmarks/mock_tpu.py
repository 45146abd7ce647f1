"""Cost of the mock TPU: dispatch, behaviours and the allocator of device memory."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import click

import framedex_native
from benchmarks.figures import Figure
from benchmarks.processes import build_native, median_ratio, neutral_environment, print_header, print_row
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
