"""`framedex memory --plan`: the memory of a program on a simulated machine, without running its compiled functions.

The mock TPU compiles each function for the machine and counts its arguments, results and temporaries. Results are
zeros, so a loop that ends when a value has converged may not end. The simulated devices have far more memory than the
machine: the program ends, and the plan shows by how much the machine's memory is exceeded. A real TPU compiler can
replace the mock's: native/framedex_native/mock_tpu/planned_compiler.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from framedex.base import words
from framedex.base.nativepart import framedex_native
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.selection import CaptureSelection
from framedex.commands.launching.launch import Launch, check_python, find_interpreter, find_runtime, launch
from framedex.commands.launching.options import (
    MockMachine,
    build_machine_variables,
    build_mandatory_platform,
    check_mock,
    read_mock_machine,
)
from framedex.commands.launching.outcome import Outcome
from framedex.commands.launching.program import parse_program
from framedex.commands.launching.runtimes import Runtime, find_plugin
from framedex.commands.output.console import exit_nothing_found, note, print_json, print_lines
from framedex.commands.output.documents import build_memory_document
from framedex.commands.output.render_calls import render_python_line
from framedex.commands.output.render_memory import render_memory_lines
from framedex.commands.output.terminal import Line, Span
from framedex.index import Index
from framedex.ingest.temporary import temporary_index
from framedex.model import DeviceMemory, PythonLine

_DEFAULT_DEVICE = "v5e"
_HEADROOM = 64
"""The memory of a simulated device, as a multiple of the machine's."""
_ADDRESS_SPACE_BYTES = 1 << 45
"""The limit of all simulated memory of one host: the address space of a process has 2**47 bytes."""
_MAX_DEVICE_BYTES = 1 << 44


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The predicted memory of a program: its peak on the fullest device (bytes), and the line with most of it.

    `peak` includes an allocation that failed. `compiler` is the plug-in that compiled, empty for XLA's compiler for the
    CPU. `memory` is that of each of the machine's `devices` in bytes, `status`
    the program's exit status, negative after a signal.
    """

    script: str
    fits: bool
    peak: int
    line: PythonLine | None
    devices: int
    memory: int
    status: int
    compiler: str


def print_plan(
    script: str,
    arguments: Sequence[str],
    machine: Mapping[str, Any],
    plugin: str | None,
    selection: CaptureSelection | None,
    limit: int,
    *,
    all_lines: bool,
    as_json: bool,
) -> None:
    """Print whether a program fits into the memory of a machine, and its memory by line. Exit with 1 if it does not."""
    if selection is not None:
        raise click.UsageError("--plan records the program itself: leave out --capture.")
    variables = build_machine_variables({**machine, "dry_run": "1"}) | _build_compiler_variables(
        plugin, machine["device"]
    )
    library, environment = framedex_native.library_path(), os.environ | variables
    check_mock(library, environment, Runtime.PJRT)
    size = read_mock_machine(library, environment)
    with _recorded_dry_run(script, arguments, variables, size, machine["hosts"] or 1) as (index, outcome):
        status = outcome.status
        answer, devices = index.answer_of(), index.memory(all_lines=all_lines)
        if not devices:
            reason = "." if outcome.captures else f": {outcome.empty_reason()}"
            exit_nothing_found(f"The program {_format_end(status)} and used no device memory{reason}")
        fullest = max(devices, key=_compute_needed_bytes)
        peak = _compute_needed_bytes(fullest)
        fits = peak <= size.memory and not any(device.failures for device in devices)
        line = max(fullest.lines, key=lambda line: line.at_peak).line if fullest.lines else None
        plan = MemoryPlan(script, fits, peak, line, size.devices, size.memory, status, plugin or "")
    if as_json:
        print_json({"plan": asdict(plan), **build_memory_document(answer, devices, limit)})
    else:
        shows_capture = len({device.capture for device in devices}) > 1
        lines = render_memory_lines(devices, limit, shows_capture=shows_capture)
        print_lines([*_render_verdict_lines(plan, machine["device"] or _DEFAULT_DEVICE), *lines])
    if status:
        note(f"The program {_format_end(status)}: the plan covers only its calls until then.")
    if status or not fits:
        raise click.exceptions.Exit(1)


@contextmanager
def _recorded_dry_run(
    script: str, arguments: Sequence[str], variables: Mapping[str, str], size: MockMachine, hosts: int
) -> Iterator[tuple[Index, Outcome]]:
    """Record a dry run of a program; yield its index, and its outcome. Its output goes to stderr."""
    program = parse_program((script, *arguments), find_interpreter(sys.executable), is_named=False)  # noqa: TID251
    check_python(program.python)
    runtime = find_runtime(program.python)
    settings = {**variables, **build_mandatory_platform("tpu"), "FRAMEDEX_HBM": str(find_simulated_memory(size, hosts))}
    with TemporaryDirectory(prefix="framedex-plan-") as folder:
        captures, output = Path(folder, "captures"), sys.stderr.fileno()
        outcome = launch(Launch(program.python, program.arguments, captures, settings, runtime=runtime, stdout=output))
        with temporary_index(outcome.captures) as index:
            yield index, outcome


def _build_compiler_variables(plugin: str | None, device: str | None) -> dict[str, str]:
    """The environment variable that selects the compiling plug-in, if any. Raises click.UsageError without a shape."""
    if plugin is None:
        return {}
    if ":" not in (device or ""):
        raise click.UsageError("--plugin needs the machine's shape, such as --device v5e:2x2.")
    return {"FRAMEDEX_PLAN_COMPILER": os.fspath(find_plugin(plugin, sys.executable).path)}  # noqa: TID251


def find_simulated_memory(machine: MockMachine, hosts: int) -> int:
    """Return the memory of a simulated device in bytes: more than the machine's, as far as one host can hold it."""
    own_share = _ADDRESS_SPACE_BYTES // (machine.devices // hosts)
    return max(machine.memory, min(machine.memory * _HEADROOM, own_share, _MAX_DEVICE_BYTES))


def _compute_needed_bytes(device: DeviceMemory) -> int:
    """The peak of a device, with the allocation that failed."""
    return max(device.peak, *(failure.alive + (failure.wanted or 0) for failure in device.failures), 0)


def _format_end(status: int) -> str:
    return f"was ended by {words.signal_name(-status)}" if status < 0 else f"ended with status {status}"


def _render_verdict_lines(plan: MemoryPlan, device: str) -> Iterator[Line]:
    machine = f"{device}, {words.count(plan.devices, 'device')} of {words.format_size(plan.memory)}"
    compiler = make_printable(plan.compiler) or "XLA's compiler for the CPU"
    yield (
        Span(
            f"Plan of {make_printable(plan.script)} on {make_printable(machine)}: compiled by {compiler}, not run",
            "head",
        ),
    )
    if plan.fits:
        verdict = Span(
            f"fits: {words.format_size(plan.peak)} on one device, {words.format_size(plan.memory - plan.peak)} left"
        )
    else:
        more = words.format_size(max(plan.peak - plan.memory, 0))
        verdict = Span(f"does not fit: {words.format_size(plan.peak)} on one device, {more} too much", "error")
    yield (verdict, Span("; most of it from "), *render_python_line(plan.line, 0))
