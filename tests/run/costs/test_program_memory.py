"""The memory inside programs: totals compared with JAX's own analysis, and the buffers and lines of known programs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median

import pytest
from click.testing import CliRunner, Result

from framedex.base.nativepart import protobuf
from framedex.base.protobuf import Message
from framedex.commands.main import cli
from framedex.index import Index
from framedex.model import DeviceMemory
from framedex.programs import read_program_memory
from framedex.programs.hlo import Module
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.run.costs.cases import line_marked
from tests.running import PROGRAMS, run

PROGRAM = PROGRAMS / "costs" / "program_memory.py"


class Recorded:
    """The index of the program; for each name its device, its temporaries and the device's peak in bytes."""

    def __init__(self, folder: Path) -> None:
        ran = run("costs/program_memory.py", folder=folder, FRAMEDEX_DEVICES="20")
        self.said: dict[str, tuple[int, int, int]] = {name: tuple(sizes) for name, sizes in ran.result.items()}
        self.capture = Path(str(ran.capture))
        self.index = folder / "index.db"
        index_without_sources(self.index, self.capture)

    def devices(self) -> dict[str, DeviceMemory]:
        """The device of each program that has temporaries."""
        with Index.open(self.index) as index:
            found = {device.device: device for device in index.memory()}
        return {name: found[str(number)] for name, (number, temporaries, _) in self.said.items() if temporaries}

    def read(self, *arguments: str) -> Result:
        return CliRunner(env={"COLUMNS": "120"}).invoke(cli, ["--index", str(self.index), "memory", *arguments])


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return made_once("program-memory", Recorded)


def test_temporaries_equal_those_of_jax_and_the_peak_that_of_the_device(recorded: Recorded) -> None:
    devices = recorded.devices()
    assert len(devices) >= 15
    for name, device in devices.items():
        _, temporaries, peak = recorded.said[name]
        assert device.program is not None, name
        assert (name, device.program.temporaries, device.temporaries) == (name, temporaries, temporaries)
        assert (name, device.peak) == (name, peak)


def test_live_buffers_fill_the_compilers_allocation(recorded: Recorded) -> None:
    for name, device in recorded.devices().items():
        program = device.program
        assert program is not None
        assert program.is_exact
        # the rest is alignment and gaps between buffers
        assert 0.98 * program.temporaries - 1024 <= program.peak <= program.temporaries, name
        assert sum(buffer.size for buffer in program.buffers) == program.peak, name
        assert max(alive for _, alive in program.over_time) == program.peak, name


def test_buffers_have_the_line_that_computes_them(recorded: Recorded) -> None:
    devices = recorded.devices()
    for name in ("attention", "sort"):
        program = devices[name].program
        assert program is not None
        lines = {line.location.line for buffer in program.buffers if (line := buffer.line) and not buffer.is_near}
        assert lines <= {line_marked(PROGRAM, name), line_marked(PROGRAM, name) - 1}
        assert lines


def test_a_large_initial_loop_value_is_alive_in_the_loop(recorded: Recorded) -> None:
    program = recorded.devices()["carried"].program
    assert program is not None
    largest = program.buffers[0]
    assert largest.size == 128 * 128 * 4
    assert "tuple" not in {buffer.opcode for buffer in program.buffers}


def test_recomputed_values_lower_the_peak(recorded: Recorded) -> None:
    devices = recorded.devices()
    tower, remat = devices["tower"].program, devices["remat_tower"].program
    assert tower is not None
    assert remat is not None
    saved = sum(saving.size for saving in tower.savings if saving.change == "remat")
    assert saved > 0
    assert tower.peak - remat.peak >= saved / 2
    assert not any(saving.change == "remat" for saving in remat.savings)
    for name in ("attention", "sort", "attention_gradient"):  # no backward pass; no repeated layer
        program = devices[name].program
        assert program is not None
        assert not any(saving.change == "remat" for saving in program.savings), name


def test_the_command_shows_the_lines_inside_a_program(recorded: Recorded) -> None:
    result = recorded.read()
    assert result.exit_code == 0
    assert "in sort  512 KiB of temporaries  (compiled by call" in result.stdout
    assert f"program_memory.py:{line_marked(PROGRAM, 'sort')} in sort" in result.stdout
    document = json.loads(recorded.read("--json").stdout)
    assert all(device["program"]["sizes"] for device in document["devices"] if device["temporaries"])


def test_without_compiler_offsets_the_peak_is_an_estimate(recorded: Recorded) -> None:
    """Other plug-ins supply only the module: values that XLA computes in place may count twice."""
    ratios = []
    for file in sorted(recorded.capture.joinpath("programs").iterdir()):
        exact = read_program_memory(file.read_bytes())
        if exact is None or not exact.steps:
            continue
        module = Message(file.read_bytes()).content(1)
        estimate = read_program_memory(protobuf.message_field(1, module))
        assert estimate is not None
        assert not estimate.is_exact
        ratios.append(estimate.peak / exact.peak)
    assert len(ratios) >= 15
    assert 0.9 < min(ratios) <= max(ratios) < 2.1
    assert 0.97 < median(ratios) < 1.03


class Dump:
    """XLA's own texts about the memory of a program, in the folder of `--xla_dump_to`."""

    def __init__(self, live_ranges: Path) -> None:
        text = live_ranges.read_text()
        assignment = live_ranges.with_name(live_ranges.name.replace("live-range", "buffer-assignment")).read_text()
        self.instructions = set(re.findall(r"^    \d+:(\S+)$", text, re.MULTILINE))
        allocations = [part for part in assignment.split("\nallocation ") if "preallocated-temp" in part.split("\n")[0]]
        self.temporaries = sum(int(re.findall(r"size (\d+)", part)[0]) for part in allocations)
        values = re.findall(r"value: <\d+ ([^\s{]+)[^@\n]* @\d+> \(size=(\d+)", "\n".join(allocations))
        self.values = {(name, int(size)) for name, size in values}
        at_peak = re.search(r"Live ranges at \d+ \(peak\):\n((?:    .*\n)*)", text)
        alive = re.findall(r"^    ([^\s{]+)\{\S*: (\d+) bytes", at_peak[1] if at_peak else "", re.MULTILINE)
        self.alive_at_peak = sum(int(size) for name, size in alive if (name, int(size)) in self.values)


@pytest.mark.exhaustive
def test_the_buffers_are_those_of_xlas_own_dump(tmp_path: Path) -> None:
    """XLA's peak includes arguments and results, so that it may be at another step with less temporaries."""
    flags = f"--xla_dump_to={tmp_path / 'dump'}"
    ran = run("costs/program_memory.py", folder=tmp_path, FRAMEDEX_DEVICES="20", XLA_FLAGS=flags)
    dumps = [Dump(path) for path in tmp_path.joinpath("dump").glob("*live-range.txt")]
    compared = 0
    for file in Path(str(ran.capture)).joinpath("programs").iterdir():
        memory = read_program_memory(file.read_bytes())
        if memory is None or not memory.buffers:
            continue
        module = Module(Message(file.read_bytes()).content(1))
        names = {each.name for part in module.computations.values() for each in part.instructions.values()}
        (dump,) = (each for each in dumps if each.temporaries and each.instructions <= names)
        lower_bound = min(dump.alive_at_peak, dump.temporaries) - 1024  # XLA counts operands updated in place twice
        assert lower_bound <= memory.peak <= dump.temporaries, module.name
        assert {(buffer.instruction, buffer.size) for buffer in memory.buffers} <= dump.values, module.name
        compared += 1
    assert compared >= 15


def test_a_damaged_program_has_no_memory(recorded: Recorded) -> None:
    file = max(recorded.capture.joinpath("programs").iterdir(), key=lambda file: file.stat().st_size)
    data = file.read_bytes()
    for end in range(0, len(data), len(data) // 50):
        read_program_memory(data[:end])
        read_program_memory(data[:end] + b"\xff" + data[end + 1 :])
    assert read_program_memory(b"") is None
    assert read_program_memory(b"\xff" * 100) is None


def test_implausible_sizes_make_a_program_unreadable() -> None:
    shape = protobuf.integer_field(2, 11) + protobuf.packed_field(3, [1 << 40] * 3)

    def instruction(number: int, opcode: bytes, operands: list[int]) -> bytes:
        fields = protobuf.message_field(1, b"x") + protobuf.message_field(2, opcode) + protobuf.message_field(3, shape)
        return fields + protobuf.integer_field(35, number) + protobuf.packed_field(36, operands)

    instructions = [instruction(1, b"parameter", []), instruction(2, b"sine", [1]), instruction(3, b"cosine", [2])]
    computation = b"".join(protobuf.message_field(2, each) for each in instructions)
    computation += protobuf.integer_field(5, 1) + protobuf.integer_field(6, 3)
    module = protobuf.message_field(3, computation) + protobuf.integer_field(6, 1)
    assert read_program_memory(protobuf.message_field(1, module)) is None
