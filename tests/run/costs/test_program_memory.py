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
from framedex.model import DeviceMemory, ProgramPeak, TemporaryBuffer
from framedex.programs import read_program_memory
from framedex.programs.hlo import Module
from framedex.texts.costs import format_memory, format_memory_details, list_memory_by_line
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.run.costs.cases import line_marked
from tests.run.costs.xla_dumps import read_dumps
from tests.running import PROGRAMS, run

PROGRAM = PROGRAMS / "costs" / "program_memory.py"


class Recorded:
    """The index of the program; for each name its device, its temporaries and the device's peak in bytes."""

    def __init__(self, folder: Path) -> None:
        self.dump = folder / "dump"
        flags = f"--xla_dump_to={self.dump}"
        ran = run("costs/program_memory.py", folder=folder, FRAMEDEX_DEVICES="20", XLA_FLAGS=flags)
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


def test_a_fused_buffer_has_all_lines_with_their_shares(recorded: Recorded) -> None:
    program = recorded.devices()["scan_gradient"].program
    assert program is not None
    block = [line_marked(PROGRAM, "case: up"), line_marked(PROGRAM, "case: down")]
    fused = [buffer for buffer in program.buffers if buffer.shares]
    assert any({line.location.line for line, _ in buffer.shares} >= set(block) for buffer in fused)
    for buffer in fused:
        shares = [share for _, share in buffer.shares]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(1)
    assert re.search(rf"\d+% of \w*fusion\S*: \S+program_memory\.py:{block[1]} in block", recorded.read().stdout)


def test_editors_show_the_schedule_of_a_program_and_the_lines_of_a_fusion(recorded: Recorded) -> None:
    rows = list(list_memory_by_line([recorded.devices()["scan_gradient"]]))
    details = [text for row in rows if row.temporaries for text in format_memory_details([row])]
    assert any(
        re.fullmatch(r"device \d+: temporaries of scan_gradient: step 1 [▁-█ ]{30} step \d+", each) for each in details
    )
    down = line_marked(PROGRAM, "case: down")
    fused = [text for row in rows if row.fused for text in format_memory_details([row])]
    assert any(re.search(r": \d+% of the ops of \w*fusion\S*: \d", each) for each in fused)
    assert all("is fused into" in format_memory([row]) for row in rows if row.fused)
    assert any(re.search(rf"; a fusion of line \d+ \(\d+%\), .*\bline {down} \(\d+%\)", each) for each in details)


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


@pytest.mark.exhaustive
def test_a_redacted_file_has_the_same_memory_inside_programs(recorded: Recorded, tmp_path: Path) -> None:
    redacted = tmp_path / "index.db"
    invoke = CliRunner().invoke
    share = ["share", "1", "--redact", "-o", str(tmp_path / "redacted.fdx.zip")]
    assert invoke(cli, ["--index", str(recorded.index), *share]).exit_code == 0
    assert invoke(cli, ["--index", str(redacted), "import", str(tmp_path / "redacted.fdx.zip")]).exit_code == 0
    with Index.open(redacted) as index:
        programs = {device.device: device.program for device in index.memory()}
    for name, device in recorded.devices().items():
        expected, found = device.program, programs[device.device]
        assert expected is not None
        assert found is not None
        assert _without_names(found) == _without_names(expected), name


def _without_names(program: ProgramPeak) -> object:
    """The figures, lines and reported changes of a program, without names that redaction may hide."""
    buffers = [(each.opcode, each.shape, each.size, each.first, each.last, _lines(each)) for each in program.buffers]
    savings = [(each.change, each.size, each.line and each.line.location.line) for each in program.savings]
    return program.sizes, program.peak, program.over_time, buffers, sorted(savings, key=str)


def _lines(buffer: TemporaryBuffer) -> list[int | None]:
    """The lines of the op of a buffer, and of the ops that were fused into it."""
    lines = (buffer.line, *buffer.stack, *(line for _, line in buffer.fused))
    return [None if line is None else line.location.line for line in lines]


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


def test_the_live_values_are_those_of_xlas_own_dump(recorded: Recorded) -> None:
    dumps = read_dumps(recorded.dump)
    temporaries = {f"jit_{name}": size for name, (_, size, _) in recorded.said.items()}
    compared = 0
    for file in recorded.capture.joinpath("programs").iterdir():
        memory = read_program_memory(file.read_bytes())
        if memory is None or not memory.buffers:
            continue
        module = Module(Message(file.read_bytes()).content(1))
        dump = dumps[module.name]
        assert dump.has_equal_peak(memory), module.name
        assert temporaries[module.name] == dump.temporaries, module.name
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
