"""Cost of recording: loops of calls, stack walks, FFI handlers, kept programs and binaries, contents and replays."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

import framedex_native
from benchmarks.figures import Figure
from benchmarks.processes import (
    FRAMEDEX,
    ROOT,
    build_native,
    jaxlib_library,
    median_ratio,
    mock_environment,
    print_header,
    print_row,
    run_framedex,
    run_measured,
)
from framedex.binaries import BinaryStore, DigestCache
from tests.ffi_running import CPU, UNTRACED, library_for, tracing
from tests.running import plain_environment

# --- a loop of device_put ---------------------------------------------------------------------------------------------

DEVICE_PUT_LOOP = """
import json, sys, time
import jax, numpy as np
array = np.arange(6, dtype=np.float32).reshape(2, 3)
CLOCKS = time.perf_counter_ns, time.thread_time_ns, time.process_time_ns
def loop(count):
    begin = [clock() for clock in CLOCKS]
    for _ in range(count):
        jax.device_put(array)
    return [(clock() - before) / count for clock, before in zip(CLOCKS, begin)]
count = int(sys.argv[1])
loop(500)
elapsed, thread, process = zip(*[loop(count // 5) for _ in range(5)])
print(json.dumps([min(elapsed), sum(thread) / 5, (sum(process) - sum(thread)) / 5]))
"""


@dataclass(frozen=True, slots=True)
class LoopCosts:
    """Costs of one process: nanoseconds per device_put, and capture bytes per call (0 if nothing is recorded)."""

    clock: float
    thread: float
    other_threads: float
    size: float


@click.command()
@click.option("--rounds", type=int, default=9, show_default=True, help="Number of rounds.")
@click.option("--calls", type=int, default=3000, show_default=True, help="Calls in each process.")
@click.option("--other", type=click.Path(path_type=Path), help="Also measure this libtpu.so of another framedex.")
def device_put_loop(rounds: int, calls: int, other: Path | None) -> list[Figure]:
    """Measure a loop of jax.device_put, recorded and unrecorded, on the mock TPU.

    Each round starts one process for each variant, in rotating order. "clock" is the fastest fifth of the loop,
    "thread" the processor time of the calling thread, "others" that of all other threads.
    """
    here = framedex_native.library_path()
    variants = {"unrecorded": (here, False), "recorded": (here, True)}
    if other is not None:
        variants["recorded by the other"] = (other, True)
    costs: dict[str, list[LoopCosts]] = {name: [] for name in variants}
    for number in range(rounds):
        turn = number % len(variants)
        for name in (*list(variants)[turn:], *list(variants)[:turn]):
            costs[name].append(_run_loop(*variants[name], calls))
    print_header("us per device_put", "clock", "thread", "others", "bytes a call")
    for name, found in costs.items():
        times = (statistics.median(getattr(cost, kind) for cost in found) / 1e3 for kind in _LOOP_TIMES)
        print_row(name, *(f"{value:.2f}" for value in times), f"{statistics.median(c.size for c in found):.1f}")
    figures = []
    plain = costs.pop("unrecorded")
    for name, found in costs.items():
        for kind in ("clock", "thread"):
            values = [getattr(cost, kind) for cost in found]
            ratio, text = median_ratio(values, [getattr(cost, kind) for cost in plain])
            print(f"{name}, ratio of {kind}: {text}, median of {rounds} rounds")
            median = statistics.median(values) / 1e3
            figures.append(Figure(f"device_put, {name}, {kind}", median, "us", "unrecorded mock TPU", ratio))
    recorded = statistics.median(cost.size for cost in costs["recorded"])
    return [*figures, Figure("capture size per call", recorded, "bytes")]


_LOOP_TIMES = ("clock", "thread", "other_threads")


def _run_loop(library: Path, is_recorded: bool, calls: int) -> LoopCosts:
    with tempfile.TemporaryDirectory() as captures:
        environment = mock_environment(captures if is_recorded else None, library)
        command = [sys.executable, "-c", DEVICE_PUT_LOOP, str(calls)]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        clock, thread, other_threads = json.loads(done.stdout)
        # Each device_put makes eleven calls, the first 500 included; the files' unused ends are part of their size.
        size = sum(file.stat().st_size for file in Path(captures).glob("*/thread-*.fdx")) / (11 * (calls + 500))
        return LoopCosts(clock, thread, other_threads, size)


# --- a training step --------------------------------------------------------------------------------------------------

TRAINING_STEPS = """
import ctypes, json, sys, time
import jax, numpy as np
def loss_of(params, x, y):
    for weights, bias in params:
        x = jax.numpy.tanh(x @ weights + bias)
    return ((x - y) ** 2).mean()
@jax.jit
def step(params, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree_util.tree_map(lambda p, g: p - 0.01 * g, params, gradients), loss
params = jax.device_put([(np.full((8, 8), 0.1, np.float32), np.zeros(8, np.float32)) for _ in range(8)])
x, y = np.ones((4, 8), np.float32), np.zeros((4, 8), np.float32)
CLOCKS = time.perf_counter_ns, time.thread_time_ns
def train(count):
    global params
    begin = [clock() for clock in CLOCKS]
    for _ in range(count):
        params, loss = step(params, jax.device_put(x), jax.device_put(y))
    loss.block_until_ready()
    return [(clock() - before) / count for clock, before in zip(CLOCKS, begin)]
library, blocks = sys.argv[1], int(sys.argv[2])
is_active = ctypes.c_bool.in_dll(ctypes.CDLL(library), "_ZN8framedex8recorder9is_activeE")
train(500)
times = {True: [], False: []}
for block in range(2 * blocks):
    is_active.value = block % 2 == 1
    times[is_active.value].append(train(10))
def quick(kind, is_recorded):
    return sorted(each[kind] for each in times[is_recorded])[blocks // 6]
print(json.dumps([[quick(kind, False), quick(kind, True)] for kind in range(2)]))
"""


@click.command()
@click.option("--rounds", type=int, default=5, show_default=True, help="Processes for each variant.")
@click.option("--blocks", type=int, default=500, show_default=True, help="Blocks of ten steps, on and off.")
def training_step(rounds: int, blocks: int) -> list[Figure]:
    """Measure a training step with 16 parameters and two transfers, recorded in full and in flight mode.

    Each process turns recording on and off for alternate blocks of steps. Times are those of the fastest sixth of the
    blocks, which is robust beside busy processes. "clock" is elapsed time, "thread" that of the calling thread.
    """
    variants = {"recorded": {}, "flight mode": {"FRAMEDEX_FLIGHT": "1", "FRAMEDEX_LIMIT": str(4 << 20)}}
    steps: dict[str, list[list[list[float]]]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, variables in variants.items():
            steps[name].append(_run_steps(variables, blocks))
    print_header("us per step", "clock, unrecorded", "clock", "thread, unrecorded", "thread")
    for name, found in steps.items():
        times = (statistics.median(one[number][column] for one in found) for number in range(2) for column in range(2))
        print_row(name, *(f"{value / 1e3:.1f}" for value in times))
    figures = []
    for name, found in steps.items():
        for number, kind in enumerate(("clock", "thread")):
            plain, recorded = ([one[number][column] for one in found] for column in range(2))
            added = statistics.median(after - before for before, after in zip(plain, recorded, strict=True)) / 1e3
            ratio, text = median_ratio(recorded, plain)
            print(f"{name}, {kind}: {added:.1f} us more, ratio {text}, median of {rounds} processes")
            title = f"added to a training step, {name}, {kind}"
            figures.append(Figure(title, added, "us", "unrecorded mock TPU", ratio))
    return figures


def _run_steps(variables: Mapping[str, str], blocks: int) -> list[list[float]]:
    """Nanoseconds per step, unrecorded and recorded, of each clock."""
    recorder = framedex_native.library_path().with_name("libframedex_recorder.so")
    with tempfile.TemporaryDirectory() as captures:
        command = [sys.executable, "-c", TRAINING_STEPS, str(recorder), str(blocks)]
        environment = {**mock_environment(captures), **variables}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        nanoseconds: list[list[float]] = json.loads(done.stdout)
        return nanoseconds


# --- one stack --------------------------------------------------------------------------------------------------------

NESTED_PROGRAM = """
import jax, numpy as np
array = np.arange(6, dtype=np.float32).reshape(2, 3)
def user_function(depth):
    # Python - C++ - Python: each level adds native frames, up to the 40 to 50 of a real program.
    if depth:
        return jax.tree_util.tree_map(lambda leaf: user_function(depth - 1), 0)
    return jax.device_put(array)
for _ in range(100):
    user_function(4)
"""


_STACK_STEPS = {
    "libgcc": "libgcc _Unwind_Backtrace, native only",
    "native_walk": "own walk, native only, nothing known",
    "native_known": "own walk, native only, stack known",
    "merged_interned": "walked again, merged, interned",
    "merged_in_turn": "walked again in turn with another stack",
    "replay": "known stack, by replay",
    "recorded_call": "a recorded call",
    "idle_call": "a call while recording is off",
}


@click.command()
@click.option("--runs", type=int, default=5, show_default=True, help="Processes for each interpreter.")
@click.option("--python", "pythons", multiple=True, default=[sys.executable], help="Measure this interpreter.")
def stack_walk(runs: int, pythons: tuple[str, ...]) -> list[Figure]:
    """Measure one stack at a PJRT call inside a JAX process: libgcc, our walk, merged, replayed.

    Builds native/ with a benchmark plug-in between JAX and the mock TPU. At a jax.device_put, the plug-in runs every
    variant in turn on the stack of the call.
    """
    plugin = build_native("stack_benchmark", "libstack_benchmark.so")
    figures = []
    for python in pythons:
        measured = [_measure_stack(python, plugin) for _ in range(runs)]
        medians = {name: statistics.median(run[name] for run in measured) for name in measured[0]}
        native, merged = medians["native_frames"], medians["merged_frames"]
        print(f"{python}: {native:.0f} native frames, {merged:.0f} merged frames")
        print_header("step", "ns", "libgcc / step")
        for step, title in _STACK_STEPS.items():
            print_row(title, f"{medians[step]:.1f}", f"{medians['libgcc'] / medians[step]:.1f}")
            figures.append(Figure(title, medians[step], "ns", "libgcc", medians[step] / medians["libgcc"]))
        print(f"recorded call without the replay: {medians['recorded_call'] - medians['replay']:.1f} ns")
    return figures


def _measure_stack(python: str, plugin: Path) -> dict[str, float]:
    """Run one process; the median nanoseconds of every variant."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        environment = mock_environment(folder, plugin) | {
            "FRAMEDEX_BENCHMARK_PLUGIN": str(framedex_native.library_path()),
            "FRAMEDEX_BENCHMARK_RESULT": str(result),
        }
        subprocess.run([python, "-c", NESTED_PROGRAM], env=environment, check=True)
        values: dict[str, float] = json.loads(result.read_text())
    return values


# --- FFI handlers -----------------------------------------------------------------------------------------------------

HANDLER_MODES = ("none", "trampoline", "recorded")
SCAN_PROGRAM = """
import json, statistics, sys, time
import ffi_examples, jax, jax.numpy as jnp, numpy as np
ffi_examples.register(sys.argv[1])
RUNS = 2000
def handler(x, _): return jax.ffi.ffi_call("rms_norm", ffi_examples.like(x))(x, eps=np.float32(1)), ()
def nothing(x, _): return x * 0.5 + 1, ()
x = jnp.ones((1,), jnp.float32)
def nanoseconds(step):
    scan = jax.jit(lambda x: jax.lax.scan(step, x, length=RUNS)[0])
    scan(x).block_until_ready()
    times = []
    for _ in range(60):
        start = time.perf_counter_ns()
        scan(x).block_until_ready()
        times.append((time.perf_counter_ns() - start) / RUNS)
    return min(times), statistics.median(times)
(least, median), (least_of_nothing, median_of_nothing) = nanoseconds(handler), nanoseconds(nothing)
print(json.dumps([least - least_of_nothing, median - median_of_nothing]))
"""


@click.command()
@click.option("--rounds", type=int, default=7, show_default=True, help="Number of rounds.")
def ffi_handler(rounds: int) -> list[Figure]:
    """Measure one run of an FFI handler: alone, through a trampoline, and recorded.

    Each process scans 2,000 runs of a small handler on the CPU. The time of a scan with arithmetic in place of the
    handler is subtracted.
    """
    measured = [{mode: _run_scan(mode) for mode in HANDLER_MODES} for _ in range(rounds)]
    print_header("handler", "shortest, ns", "median, ns", "ratio of shortest", "ratio of medians")
    figures = []
    for mode in HANDLER_MODES:
        shortest, median = (statistics.median(one[mode][part] for one in measured) for part in range(2))
        ratios = [statistics.median(one[mode][part] / one["none"][part] for one in measured) for part in range(2)]
        print_row(mode, f"{shortest:.0f}", f"{median:.0f}", *(f"{ratio:.2f}" for ratio in ratios))
        figures.append(Figure(f"handler run, {mode}", median, "ns", "a handler without framedex", ratios[1]))
    return figures


def _run_scan(mode: str) -> tuple[float, float]:
    """Nanoseconds per run, the shortest and the median."""
    with tempfile.TemporaryDirectory() as folder:
        environment = plain_environment() | UNTRACED | CPU
        if mode != "none":
            environment |= tracing(Path(folder))
        if mode == "trampoline":
            environment |= {"FRAMEDEX_RECORD": "0"}
        command = [sys.executable, "-c", SCAN_PROGRAM, os.fspath(library_for(sys.executable))]
        ended = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    least, median = json.loads(ended.stdout)
    return least, median


# --- start-up and training steps -------------------------------------------------------------------------------------

TRAINING_PROGRAM = """\
import json, sys, time
import jax, jax.numpy as jnp

def loss(weights, x):
    for up, down in weights:
        x = x + jnp.tanh(x @ up) @ down
    return (x**2).mean()

@jax.jit
def step(weights, x):
    return jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, weights, jax.grad(loss)(weights, x))

def train(weights, steps):
    for _ in range(steps):
        weights = step(weights, x)
    return jax.block_until_ready(weights)

x = jnp.ones((32, 64))
weights = train([(jnp.ones((64, 256)), jnp.ones((256, 64)))] * 12, 1)
first = time.process_time()
weights = train(weights, 300)
each = (time.process_time() - first) / 300
calls = []
sys.setprofile(lambda frame, *_: calls.append(1) if "framedex_native" in frame.f_code.co_filename else None)
train(weights, 20)
sys.setprofile(None)
print(json.dumps([first, each, len(calls)]))
"""
_WITHOUT_LINES = {"FRAMEDEX_FFI": "0", "FRAMEDEX_PROGRAMS": "0"}


@click.command()
@click.option("--rounds", type=int, default=5, show_default=True, help="Number of rounds.")
def first_step(rounds: int) -> list[Figure]:
    """Measure the start and the steps of a training program, compared with a recording without lines of programs.

    These lines need start-up phases, JAX's notes, and programs with their memory. Times are those of the processor.
    Also count the Python calls of framedex's hooks in 20 steps.
    """
    runs: dict[bool, list[list[float]]] = {True: [], False: []}
    for _ in range(rounds):
        for is_full, measured in runs.items():
            measured.append(_train({} if is_full else _WITHOUT_LINES))
    figures = []
    for place, (title, unit, factor) in enumerate((("start to the first step", "s", 1), ("a step", "ms", 1e3))):
        values, peers = ([run[place] for run in runs[is_full]] for is_full in (True, False))
        ratio, text = median_ratio(values, peers)
        print(f"{title}: {text}")
        figures.append(Figure(title, statistics.median(values) * factor, unit, "without lines of programs", ratio))
    calls = max(int(run[2]) for run in runs[True])
    print(f"Python calls of hooks in 20 steps: {calls}")
    return [*figures, Figure("Python calls of hooks in 20 steps", calls, "calls")]


def _train(settings: dict[str, str]) -> list[float]:
    """Record the training program: seconds to the first step and of a step, and the calls of hooks."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(TRAINING_PROGRAM)
        recorded = run_framedex(Path(folder), "run", script, **settings)
        measured: list[float] = json.loads(recorded.output.splitlines()[0])
        return measured


# --- kept programs and binaries ---------------------------------------------------------------------------------------

COMPILING_PROGRAM = """\
import json, sys, time
import jax, jax.numpy as jnp, numpy as np

def compiled(function, *arguments):
    lowered = jax.jit(function).lower(*arguments)
    begin = time.perf_counter()
    lowered.compile()
    return time.perf_counter() - begin

x = jnp.arange(4.0)
compiled(lambda x: x - 1, x)
small = [compiled(lambda x: sum(jnp.sin(x * k * number) for k in range(20)), x) for number in range(30)]
constant = np.random.default_rng(0).random(5_000_000, np.float32)
large = [compiled(lambda x: x.sum() + (constant + number).sum(), x) for number in range(3)]
print(json.dumps([small, large]))
"""


@click.command()
@click.option("--rounds", type=int, default=3, show_default=True, help="Number of rounds.")
def kept_programs(rounds: int) -> list[Figure]:
    """Measure a compilation while framedex keeps programs, compared with FRAMEDEX_PROGRAMS=0.

    A recorded program compiles small functions, then functions with a constant of 20 MB.
    """
    times: dict[str, tuple[list[float], list[float]]] = {"1": ([], []), "0": ([], [])}
    for _ in range(rounds):
        for is_kept, (small, large) in times.items():
            small_seconds, large_seconds = _compile_programs(is_kept)
            small += small_seconds
            large += large_seconds
    figures = []
    for kind, title in enumerate(("20 sines", "a constant of 20 MB")):
        kept, plain = (statistics.median(times[each][kind]) * 1e3 for each in ("1", "0"))
        print(f"{title}: {kept:.2f} ms kept, {plain:.2f} ms not kept: ratio {kept / plain:.3f}")
        figures.append(Figure(f"compilation with {title}", kept, "ms", "programs not kept", kept / plain))
    return figures


def _compile_programs(is_kept: str) -> tuple[list[float], list[float]]:
    """Seconds of each compilation of small and of large programs."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        script.write_text(COMPILING_PROGRAM)
        environment = mock_environment(f"{folder}/captures") | {"FRAMEDEX_PROGRAMS": is_kept}
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
        small, large = json.loads(done.stdout.splitlines()[-1])
        return small, large


@click.command()
@click.option("--rounds", type=int, default=7, show_default=True, help="Number of rounds.")
def kept_binaries(rounds: int) -> list[Figure]:
    """Measure copying jaxlib's library into the cache of binaries, and finding the copy there.

    The peer is the digest of the library, which `framedex run` needs in any case.
    """
    path = jaxlib_library()
    seconds: dict[str, list[float]] = {"digest": [], "first": [], "again": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=Path.home()) as folder:  # on the disk of the user's own cache
            contents, kept = DigestCache(Path(folder, "contents.json")), BinaryStore(Path(folder, "binaries"))
            seconds["digest"].append(_seconds(lambda: contents.compute_digest(path)))  # noqa: B023 - called at once
            digest = contents.compute_digest(path)
            seconds["first"].append(_seconds(lambda: kept.keep(path, digest)))  # noqa: B023
            seconds["again"].append(_seconds(lambda: kept.keep(path, digest)))  # noqa: B023
            size = kept.size()
    digest_ms, first_ms, again_ms = (statistics.median(times) * 1e3 for times in seconds.values())
    print(f"{path.name}: {size / 1e6:.0f} MB kept")
    print(f"digest {digest_ms:.0f} ms; copy {first_ms:.0f} ms, ratio {first_ms / digest_ms:.2f}")
    print(f"already kept {again_ms:.2f} ms")
    return [
        Figure(f"first copy of {path.name}", first_ms, "ms", "its digest", first_ms / digest_ms),
        Figure(f"copy of {path.name} found", again_ms, "ms", "its digest", again_ms / digest_ms),
    ]


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


# --- contents and their replays ---------------------------------------------------------------------------------------

_CORPUS = (
    "transformer_step",
    "diffusion_sampling",
    "data_parallel_step",
    "molecular_dynamics",
    "callbacks_in_a_loop",
)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def replayed_recordings(folder: Path) -> list[Figure]:
    """Replay the recordings of `scripts/make_recordings.py` at the mock TPU."""
    report = run_measured([*FRAMEDEX, "conform", "--only", "recordings", "--recordings", folder, "--json"], ROOT)
    checks = json.loads(report.output)["checks"]
    equal = [each for each in checks if each["status"] == "pass"]
    contents = sum(int(each["detail"].split()[0]) for each in equal)
    size = sum(each.stat().st_size for each in folder.glob("*.fdxreplay"))
    print(f"{len(equal)} of {len(checks)} replays give the recorded bits, in {contents} contents; {size:,} bytes")
    return [
        Figure("recordings whose replay gives the recorded bits", len(equal), "recordings", note=f"Of {len(checks)}."),
        Figure("contents with the recorded bits", contents, "contents"),
        Figure("files of these recordings", size, "bytes"),
    ]


@click.command()
@click.option("--runs", default=3, show_default=True, help="Runs of each program; the median counts.")
def recorded_contents(runs: int) -> list[Figure]:
    """Measure `run --contents` with real programs: processor time and bytes on disk."""
    print_header("program", "without", "with contents", "bytes of contents")
    figures = []
    for name in _CORPUS:
        plain = statistics.median(_record_contents(name, "")[0] for _ in range(runs))
        kept = [_record_contents(name, "all") for _ in range(runs)]
        seconds, size = statistics.median(each[0] for each in kept), kept[0][1]
        print_row(name, f"{plain:.2f} s", f"{seconds:.2f} s", f"{size:,}")
        note = f"{size:,} bytes of contents."
        figures.append(Figure(f"{name}, recorded with contents", seconds, "s", "without", seconds / plain, note))
    return figures


def _record_contents(name: str, contents: str) -> tuple[float, int]:
    """Record a program of the corpus: its processor time, and the bytes of its contents."""
    with tempfile.TemporaryDirectory() as folder:
        environment = mock_environment(folder) | {"FRAMEDEX_CONTENTS": contents, "FRAMEDEX_DEVICES": "8"}
        cost = run_measured([sys.executable, "-m", "tests.programs.corpus", name], ROOT, environment)
        return cost.processor_s, sum(each.stat().st_size for each in Path(folder).glob("*/buffers/*"))
