"""Cost of exchange: exports, imports, shared captures, reports and guidebooks."""

from __future__ import annotations

import gzip
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure
from benchmarks.processes import FRAMEDEX, Command, print_header, print_row, run_framedex, run_measured
from framedex.base.folders import read_capture_folder
from framedex.base.nativepart import protobuf
from framedex.captures import find_captures_within
from framedex.export.formats import FORMATS
from framedex.guidebook.api_functions import read_api_functions, read_api_releases
from framedex.guidebook.observation_files import format_observations, read_observation_file
from framedex.guidebook.observations import observe
from framedex.guidebook.site.writer import write_site
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, ingest_captures
from framedex.model import CallFilter

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SPEED_UNIT = "calls a second of a processor"

# --- exports ----------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("index", type=click.Path(exists=True, path_type=Path))
@click.option("--until", type=float, help="Export only calls that began in these first seconds.")
@click.option("--only", type=click.Choice(list(FORMATS)), multiple=True, help="Measure only this format; repeatable.")
def export(index: Path, until: float | None, only: tuple[str, ...]) -> list[Figure]:
    """Measure `framedex export` by format: speed, memory and bytes per call."""
    before = None if until is None else int(until * 1e9)
    with Index.open(index) as opened:
        calls = opened.calls.count(CallFilter(before=before))
    print(f"{calls:,} calls\n")
    print_header("format", "s of a processor", "calls a second", "MiB of memory", "bytes a call")
    options = [] if until is None else ["--until", f"{until}s"]
    figures = []
    for name in only or FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "output"
            command: Command = [
                *FRAMEDEX,
                "--index",
                index.absolute(),
                "export",
                "--format",
                name,
                "-o",
                output,
                *options,
            ]
            cost = run_measured(command, Path("/"))  # SCIP names files below the current folder
            files = output.iterdir() if output.is_dir() else [output]
            size, speed = sum(file.stat().st_size for file in files), calls / cost.processor_s
        cells = (f"{cost.processor_s:.1f}", f"{speed:,.0f}", f"{cost.memory_mib:.0f}", f"{size / calls:.1f}")
        print_row(name, *cells)
        figures.append(Figure(f"export of {name}", speed, SPEED_UNIT))
    return figures


# --- imports ----------------------------------------------------------------------------------------------------------

MIB = 1 << 20
STACKS, FUNCTIONS, DEPTH = 20_000, 5_000, 40
PROFILED_PROGRAM = """\
import sys, jax, jax.numpy as jnp

step = jax.jit(lambda x: jnp.sin(x) @ x.T)
x = step(jnp.ones((64, 64))).block_until_ready()
options = jax.profiler.ProfileOptions()
options.python_tracer_level = 1
with jax.profiler.trace(sys.argv[1], profiler_options=options):
    for _ in range(int(sys.argv[2])):
        x = step(x)
    x.block_until_ready()
"""


def _random_stacks() -> Iterator[list[int]]:
    """Random stacks of function numbers, outermost first; neighbours share half of their frames."""
    chance = random.Random(1)
    stack = [chance.randrange(FUNCTIONS) for _ in range(DEPTH)]
    for _ in range(STACKS):
        position = chance.randrange(DEPTH // 2, DEPTH)
        stack[position:] = [chance.randrange(FUNCTIONS) for _ in range(DEPTH - position)]
        yield list(stack)


def _write_collapsed(path: Path, share: float) -> None:
    """Write 1 GiB of collapsed stacks, in random order of their lines."""
    lines = [";".join(f"module_{each % 97}.function_{each}" for each in stack) for stack in _random_stacks()]
    left = int(1024 * MIB * share)
    with path.open("w") as file:
        for number in range(1 << 60):
            left -= file.write(f"{lines[number % len(lines)]} {number % 7 + 1}\n")
            if left <= 0:
                return


def _write_pprof(path: Path, share: float) -> None:
    """Write a profile with 300 MiB of uncompressed data."""
    whole, integer, several = protobuf.message_field, protobuf.integer_field, protobuf.packed_field
    locations = [several(1, [each + 1 for each in reversed(stack)]) for stack in _random_stacks()]
    left = int(300 * MIB * share)
    with gzip.open(path, "wb", 1) as file:
        file.write(whole(1, integer(1, 1) + integer(2, 2)))
        for number in range(1 << 60):
            left -= file.write(whole(2, locations[number % STACKS] + several(2, [number % 1_000_000])))
            if left <= 0:
                break
        for each in range(FUNCTIONS):
            file.write(whole(4, integer(1, each + 1) + whole(4, integer(1, each + 1) + integer(2, 7))))
            file.write(whole(5, integer(1, each + 1) + integer(2, each + 3)))
        texts = ("", "cpu", "nanoseconds", *(f"function_{each}" for each in range(FUNCTIONS)))
        file.writelines(whole(6, text.encode()) for text in texts)


def _write_perfetto(path: Path, share: float) -> None:
    """Write a trace of 100 MiB: slices with a stack each."""
    whole, integer = protobuf.message_field, protobuf.integer_field
    packets = [whole(5, integer(1, each + 1) + whole(2, b"function_%d" % each)) for each in range(FUNCTIONS)]
    packets += [whole(6, integer(1, each + 1) + integer(2, each + 1)) for each in range(FUNCTIONS)]
    for number, stack in enumerate(_random_stacks(), 1):
        packets.append(whole(7, integer(1, number) + b"".join(integer(2, each + 1) for each in stack)))
    sequence = integer(10, 1)
    left = int(100 * MIB * share)
    with path.open("wb") as file:
        file.write(whole(1, sequence + whole(12, b"".join(packets)) + integer(13, 1)))
        for number in range(1 << 60):
            begin = integer(9, 1) + whole(23, b"step") + integer(56, number % STACKS + 1)
            left -= file.write(whole(1, integer(8, 1000 * number) + sequence + whole(11, begin)))
            left -= file.write(whole(1, integer(8, 1000 * number + 800) + sequence + whole(11, integer(9, 2))))
            if left <= 0:
                return


def _write_xplane(path: Path, share: float) -> None:
    """Write the profile of 2,000 steps by JAX's profiler, with Python functions."""
    folder = path.with_suffix(".profiled")
    command = [sys.executable, "-c", PROFILED_PROGRAM, str(folder), str(max(int(2_000 * share), 1))]
    subprocess.run(command, check=True, env=os.environ | {"JAX_PLATFORMS": "cpu"}, capture_output=True)
    (written,) = folder.rglob("*.xplane.pb")
    written.rename(path)


WRITERS: dict[str, Callable[[Path, float], None]] = {
    "collapsed": _write_collapsed,
    "pprof": _write_pprof,
    "perfetto": _write_perfetto,
    "xplane": _write_xplane,
}


@click.command("import")
@click.option("--share", "scale", type=float, default=1.0, help="Scale the sizes: 0.1 for a tenth.")
@click.option("--only", type=click.Choice(list(WRITERS)), multiple=True, help="Measure only this format; repeatable.")
def import_profiles(scale: float, only: tuple[str, ...]) -> list[Figure]:
    """Measure `framedex import` by format, with generated profiles: speed and memory.

    The XPlane is that of a JAX loop under jax.profiler.trace.
    """
    print_header("format", "MiB", "samples", "s of a processor", "samples a second", "MiB of memory")
    figures = []
    for name in only or WRITERS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "profile"
            WRITERS[name](path, scale)
            cost = run_framedex(path.parent, "import", path)
            samples = int(cost.output.partition(" sample")[0].rpartition(" ")[2].replace(",", ""))
            size, rate = path.stat().st_size / MIB, samples / cost.processor_s
        cells = (f"{size:.0f}", f"{samples:,}", f"{cost.processor_s:.0f}", f"{rate:,.0f}", f"{cost.memory_mib:.0f}")
        print_row(name, *cells)
        figures.append(Figure(f"import of {name}", rate, "samples a second of a processor"))
    return figures


# --- shared captures --------------------------------------------------------------------------------------------------


@click.command()
@click.argument("index", type=click.Path(exists=True, path_type=Path))
@click.argument("capture_id", metavar="ID", type=int)
def share(index: Path, capture_id: int) -> list[Figure]:
    """Measure sharing a capture and importing it: speed, memory and bytes per call."""
    with Index.open(index) as opened:
        capture = next(each for each in opened.captures() if each.id == capture_id)
    recorded = read_capture_folder(capture.path).size / capture.calls
    print(f"{capture.calls:,} calls; the capture's folder has {recorded:.1f} bytes a call\n")
    print_header("step", "s of a processor", "calls a second", "MiB of memory", "bytes a call")
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shared, index_there = folder / "a.fdx.zip", folder / ".framedex" / "index.db"
        command = ("--index", index.absolute(), "share", str(capture_id), "-o", shared)
        for step, arguments, written in (
            ("share", command, shared),
            ("share --redact", (*command, "--redact"), shared),
            ("import", ("import", shared), index_there),
        ):
            cost = run_framedex(folder, *arguments)
            rate, size = capture.calls / cost.processor_s, written.stat().st_size / capture.calls
            print_row(step, f"{cost.processor_s:.1f}", f"{rate:,.0f}", f"{cost.memory_mib:.0f}", f"{size:.1f}")
            figures.append(Figure(f"framedex {step}, {capture.calls:,} calls", rate, SPEED_UNIT))
            if step == "share":
                figures.append(Figure("shared file", size, "bytes a call", "the capture", size / recorded))
    return figures


# --- reports ----------------------------------------------------------------------------------------------------------

EMPTY_PAGE = "<!DOCTYPE html>\n<title>empty</title>\n"
COMPLETE_TIME = "performance.getEntriesByType('navigation')[0].domComplete"


@click.command()
@click.argument("index", type=click.Path(exists=True, path_type=Path))
@click.option("--rounds", type=int, default=5, show_default=True, help="Number of rounds.")
def report(index: Path, rounds: int) -> list[Figure]:
    """Measure writing `framedex report` and opening it in Chromium, against an empty page.

    `make test-editors` sets up Chromium. A page is open when its pictures are complete, by its own clock.
    """
    from tests.browsers import chromium

    with Index.open(index) as opened:
        calls = sum(capture.calls for capture in opened.captures())
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        page, empty = folder / "report.html", folder / "empty.html"
        empty.write_text(EMPTY_PAGE)
        command = ("--index", index.resolve(), "report", "-o", page)
        written = [run_framedex(folder, *command).processor_s for _ in range(rounds)]
        started = [run_framedex(folder, "--version").processor_s for _ in range(rounds)]
        pages = [(_open_page(browser, page), _open_page(browser, empty)) for _ in range(rounds)]
        size = page.stat().st_size
    seconds, start = statistics.median(written), statistics.median(started)
    own, plain = (statistics.median(times) for times in zip(*pages, strict=True))
    print_header("calls", "kB", "written, s of a processor", "start of framedex, s", "opened, ms", "an empty page, ms")
    print_row(f"{calls:,}", f"{size / 1e3:,.0f}", f"{seconds:.2f}", f"{start:.2f}", f"{own:.0f}", f"{plain:.0f}")
    return [
        Figure(f"report of {calls:,} calls", seconds, "s of a processor"),
        Figure("report opened in Chromium", own, "ms", "an empty page", own / plain),
    ]


def _open_page(browser: Browser, page: Path) -> float:
    """Open a page in a browser; return the milliseconds until it is complete."""
    tab = browser.new_page()
    tab.goto(page.as_uri())
    durations = float(tab.evaluate(COMPLETE_TIME))
    tab.close()
    return durations


# --- guidebooks -------------------------------------------------------------------------------------------------------

_GUIDEBOOK_STEPS = ("index", "observe", "keep", "read the kept observations", "write the site")


@click.command()
@click.argument("captures", type=click.Path(exists=True, path_type=Path))
@click.option("--rounds", type=int, default=3, show_default=True, help="Number of rounds.")
def guidebook_site(captures: Path, rounds: int) -> list[Figure]:
    """Measure a guidebook: index captures, observe them, keep the observations, write the site.

    CAPTURES is for example build/guidebook/captures after `make guidebook-captures`. Needs mkdocs-material:
    pip install 'framedex[guidebook]'.
    """
    folders = find_captures_within(captures)
    durations: dict[str, list[tuple[float, float]]] = {step: [] for step in _GUIDEBOOK_STEPS}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            runs, calls, sizes = _run_guidebook_round(folders, Path(folder), durations)
    processor = {step: statistics.median(each[0] for each in times) for step, times in durations.items()}
    clock = {step: statistics.median(each[1] for each in times) for step, times in durations.items()}
    total = sum(processor.values())
    table = Table("step", "processor, s", "clock, s", "share")
    figures = []
    for step in _GUIDEBOOK_STEPS:
        ratio = processor[step] / total
        table.add_row(step, f"{processor[step]:.1f}", f"{clock[step]:.1f}", f"{ratio:.0%}")
        figures.append(Figure(f"guidebook, {step}", processor[step], "s of a processor", "all steps", ratio))
    table.add_row("all", f"{total:.1f}", f"{sum(clock.values()):.1f}", "")
    Console().print(f"{runs} runs, {calls:,} calls; {sizes}; peak memory {_peak_mib():.0f} MiB")
    Console().print(table)
    return figures


def _run_guidebook_round(
    captures: list[Path], folder: Path, durations: dict[str, list[tuple[float, float]]]
) -> tuple[int, int, str]:
    index, kept_path, site = folder / "index.db", folder / "kept.json", folder / "site"
    with _timed(durations["index"]), Store(index) as store:
        ingest_captures(store, captures, [], SilentProgress())
    with _timed(durations["observe"]), Index.open(index) as opened:
        observations = observe(opened)
    with _timed(durations["keep"]):
        kept_path.write_text(format_observations(observations))
    with _timed(durations["read the kept observations"]):
        read_observation_file(kept_path)
    with _timed(durations["write the site"]):
        write_site(observations, read_api_functions(), site, title="Guidebook", releases=read_api_releases())
    pages = [page.stat().st_size for page in site.rglob("*.html")]
    everything = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    sizes = (
        f"site {everything / 1e6:.1f} MB, {len(pages)} pages, the largest {max(pages) / 1e3:.0f} kB;"
        f" kept {kept_path.stat().st_size / 1e6:.1f} MB"
    )
    return len(observations.runs), sum(run.calls for run in observations.runs), sizes


@contextmanager
def _timed(times: list[tuple[float, float]]) -> Iterator[None]:
    processor, clock = _processor_seconds(), time.perf_counter()
    yield
    times.append((_processor_seconds() - processor, time.perf_counter() - clock))


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
