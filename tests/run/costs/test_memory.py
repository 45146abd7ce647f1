"""`framedex memory` on programs of known behaviour, compared with the device's allocator and with JAX."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.commands.output.render_memory import render_memory_lines
from framedex.index import Index, Store
from framedex.index.write.costs.activity import CaptureActivity
from framedex.index.write.costs.memory import write_memory
from framedex.model import CallFilter, DeviceMemory, LineMemory
from tests import tiers
from tests.once import made_once
from tests.run.costs.cases import Cases, line_marked, recorded_cases
from tests.running import PROGRAMS

PROGRAM = PROGRAMS / "costs" / "memory_cases.py"
KIB = 1024
CASES = (
    *("kept_list", "freed", "by_del", "replaced", "donation", "donated_tree", "jit_outputs", "leak_in_a_loop"),
    "kept_sometimes",
    *("numpy_operands", "reference_cycle", "two_devices", "sharded", "out_of_memory", "by_callers", "scattered"),
    *("donates_some", "not_usable", "training", "by_threads", "host_memory", "waiting_runs"),
)
# The cases of `make test`: `make test-all` records all of them.
KEPT = (
    *(
        "kept_list",
        "kept_sometimes",
        "freed",
        "donation",
        "jit_outputs",
        "leak_in_a_loop",
        "two_devices",
        "out_of_memory",
        "by_callers",
    ),
    "training",
)
# Cases where JAX has released a run's inputs while it still runs, or where arrays are not whole device rows.
BEHIND = ("replaced", "leak_in_a_loop", "numpy_operands", "not_usable", "waiting_runs")


class Recorded(Cases):
    """All cases; each printed JAX's and the allocator's figures at its checkpoints."""

    def devices(self, case: str, *, all_lines: bool = False) -> list[DeviceMemory]:
        """The index's memory data for the devices of a case, by number."""
        with self.within(case) as narrow:
            return sorted(narrow.memory(all_lines=all_lines), key=lambda device: device.device)


def _record(folder: Path, cases: Sequence[str]) -> Recorded:
    memory = {case: str((1 if case == "out_of_memory" else 64) * KIB * KIB) for case in cases}
    settings = {case: {"FRAMEDEX_DEVICES": "2", "FRAMEDEX_HBM": memory[case]} for case in cases}
    return Recorded(*recorded_cases(folder, "costs/memory_cases.py", settings))


@pytest.fixture(scope="module")
def recorded(request: pytest.FixtureRequest) -> Recorded:
    """The cases of this tier, recorded and indexed."""
    cases = KEPT if request.config.getoption(tiers.OPTION) else CASES
    return made_once("memory-cases", lambda folder: _record(folder, cases))


@pytest.fixture
def line_of(recorded: Recorded) -> Callable[[str, str], LineMemory]:
    """The memory of the line with a comment, on the first device of a case."""
    return lambda case, comment: _line(recorded.devices(case)[0], comment)


def _line(device: DeviceMemory, comment: str) -> LineMemory:
    number = line_marked(PROGRAM, comment)
    (found,) = (line for line in device.lines if line.line is not None and line.line.location.line == number)
    return found


def _from(device: DeviceMemory, comment: str) -> LineMemory:
    """The memory allocated through the line with this comment."""
    number = line_marked(PROGRAM, comment)
    (found,) = (line for line in device.lines if any(each.location.line == number for each in line.outward))
    return found


# Compared with the allocator and JAX


@pytest.mark.exhaustive(keep=KEPT)
@pytest.mark.parametrize("case", CASES)
def test_live_memory_equals_that_of_the_allocator_and_jax(recorded: Recorded, case: str) -> None:
    device = recorded.devices(case)[0]
    said = _said_by_device(recorded, case)
    for begin, end, in_use, peak in said:
        # Memory released by other threads meanwhile may be counted or not.
        assert in_use in {_alive_at(device, time) for time in [begin, *_events(device, begin, end)]}
        assert peak == max((size for when, size in device.over_time if when < end), default=0)
    looks = recorded.results[case]
    assert {(in_use, peak) for _, in_use, peak, *_ in looks} <= {(in_use, peak) for _, _, in_use, peak in said}
    if case not in BEHIND:
        assert [live for *_, live, _ in looks] == [in_use for _, in_use, *_ in looks]
    if case != "host_memory":  # JAX's own profile does not distinguish them
        assert [profiled for *_, profiled in looks] == [live for *_, live, _ in looks]
    assert device.peak == max(size for _, size in device.over_time) >= max(peak for _, _, peak, *_ in looks)
    assert device.unsized == 0


def _said_by_device(recorded: Recorded, case: str) -> list[tuple[int, int, int, int]]:
    """The time range of the device's checkpoint, and its bytes in use and peak bytes then."""
    with Index.open(recorded.index) as index, index.restrict_to_captures([recorded.captures[case]]) as narrow:
        calls = narrow.calls.find(CallFilter(function="PJRT_Device_MemoryStats"), 10_000)
    device = calls[-1].arguments["device"]
    return [
        (call.start, call.start + call.duration, call.arguments["bytes_in_use"], call.arguments["peak_bytes_in_use"])
        for call in calls
        if call.arguments["device"] == device
    ]


def _alive_at(device: DeviceMemory, time: int) -> int:
    return next((size for when, size in reversed(device.over_time) if when <= time), 0)


def _events(device: DeviceMemory, begin: int, end: int) -> list[int]:
    return [when for when, _ in device.over_time if begin < when < end]


@pytest.mark.exhaustive(keep=KEPT)
@pytest.mark.parametrize("case", CASES)
def test_lines_add_up_to_their_device(recorded: Recorded, case: str) -> None:
    for by_way in (False, True):
        for device in recorded.devices(case, all_lines=by_way):
            assert sum(line.at_peak for line in device.lines) == device.peak
            assert sum(line.at_end for line in device.lines) == device.at_end
            assert sum(line.buffers for line in device.lines) == device.buffers
            assert all(line.at_peak <= line.most for line in device.lines)
            assert all(line.at_peak - line.temporaries <= line.allocated for line in device.lines)
            assert all(before[0] <= after[0] for before, after in pairwise(device.over_time))


# Memory of lines


def test_a_donated_array_belongs_to_the_line_it_was_donated_to(recorded: Recorded) -> None:
    (device, *_) = recorded.devices("donation")
    donated = _line(device, "donated")
    assert (donated.buffers, donated.most, donated.allocated) == (5, 16 * KIB, 5 * 16 * KIB)
    assert device.peak == 32 * KIB
    assert donated.growth == 0


@pytest.mark.exhaustive
def test_several_donated_arrays_keep_their_sizes(line_of: Callable[[str, str], LineMemory]) -> None:
    assert line_of("donated_tree", "tree made").at_peak == 28 * KIB
    assert line_of("donated_tree", "tree donated").most == 28 * KIB
    assert line_of("donated_tree", "twice").most == 8 * KIB


@pytest.mark.exhaustive
def test_of_several_donated_arrays_each_result_has_its_own(line_of: Callable[[str, str], LineMemory]) -> None:
    """Two arrays are donated to results in another order, and one of these is donated again."""
    assert (line_of("donates_some", "swapped").most, line_of("donates_some", "swapped").buffers) == (12 * KIB, 2)
    assert line_of("donates_some", "of the larger").most == 8 * KIB


@pytest.mark.exhaustive
def test_an_unusable_donation_belongs_to_the_line_that_created_it(recorded: Recorded) -> None:
    (device, *_) = recorded.devices("not_usable")
    made = _line(device, "donated in vain")
    assert (made.buffers, made.at_end, made.allocated) == (5, 0, 5 * 512)


def test_a_training_step_counts_its_state_once(recorded: Recorded) -> None:
    updated = _line(recorded.devices("training")[0], "updated")
    assert (updated.buffers, updated.most, updated.growth) == (32, 34 * KIB, 0)


@pytest.mark.exhaustive
def test_donated_memory_is_released_when_runs_end(recorded: Recorded) -> None:
    """Runs that wait until the program has enqueued all of them."""
    (device, *_) = recorded.devices("waiting_runs", all_lines=True)
    assert _from(device, "let go").growth == 0
    waiting = _line(device, "waits, too")
    assert (waiting.buffers, waiting.rounds, waiting.growth) == (24, 12, 2 * KIB)


@pytest.mark.exhaustive
def test_results_in_host_memory_do_not_count_as_device_memory(recorded: Recorded) -> None:
    made = _line(recorded.devices("host_memory")[0], "half of it on the host")
    assert (made.buffers, made.allocated) == (5, 20 * KIB)


@pytest.mark.exhaustive
def test_donation_is_followed_on_each_device(recorded: Recorded) -> None:
    for device in recorded.devices("sharded"):
        assert (_line(device, "sharded donated").buffers, _line(device, "sharded donated").most) == (3, 8 * KIB)


def test_program_results_belong_to_their_line(line_of: Callable[[str, str], LineMemory]) -> None:
    made = line_of("jit_outputs", "outputs made")
    assert (made.buffers, made.at_peak, made.at_end) == (2, 5 * KIB, 0)


def test_devices_are_separate(recorded: Recorded) -> None:
    first, second = recorded.devices("two_devices")
    assert [first.peak, second.peak] == [16 * KIB, 24 * KIB]
    assert _line(first, "first").at_peak == 16 * KIB
    assert _line(second, "second").at_peak == 8 * KIB
    assert _line(second, "copied").at_peak == 16 * KIB


# Growth


def test_a_leak_in_a_loop_is_reported_per_iteration(recorded: Recorded) -> None:
    (device,) = recorded.devices("leak_in_a_loop", all_lines=True)
    leaking = _from(device, "leaks")
    assert (leaking.growth, leaking.rounds) == (4 * KIB, 12)
    assert _from(device, "passes").growth == 0


@pytest.mark.exhaustive(keep=["kept_list-4096", "freed-0"])
@pytest.mark.parametrize(
    ("case", "growth"),
    [("kept_list", 4 * KIB), ("reference_cycle", 4 * KIB), ("freed", 0)],
)
def test_growth_is_the_memory_left_by_each_iteration(recorded: Recorded, case: str, growth: int) -> None:
    assert [line.growth for line in recorded.devices(case)[0].lines] == [growth]


def test_iterations_without_calls_do_not_count(recorded: Recorded) -> None:
    (line,) = recorded.devices("kept_sometimes")[0].lines
    assert (line.growth, line.rounds) == (4 * KIB, 4)


@pytest.mark.exhaustive
def test_growth_by_threads_may_lack_a_round_in_progress(recorded: Recorded) -> None:
    (line,) = recorded.devices("by_threads")[0].lines
    assert line.growth == pytest.approx(4 * KIB, rel=1 / 10)  # of 12 iterations, 10 are measured


def test_repeatedly_donated_memory_does_not_grow(recorded: Recorded) -> None:
    assert not any(line.growth for line in recorded.devices("donation")[0].lines)


# Failures


def test_out_of_memory_errors_list_live_memory(recorded: Recorded) -> None:
    failures = recorded.devices("out_of_memory")[0].failures
    assert [failure.wanted for failure in failures] == [KIB * KIB] * 3
    for failure in failures:
        assert failure.alive == 512 * KIB
        assert [(held.buffers, held.size) for held in failure.held] == [(2, 512 * KIB)]
    assert failures[-1].line is not None
    assert failures[-1].line.location.line == line_marked(PROGRAM, "fails in a run")


# The verb


def test_the_callers_option_separates_callers(recorded: Recorded) -> None:
    (device,) = recorded.devices("by_callers", all_lines=True)
    assert (_from(device, "thrice").buffers, _from(device, "once").buffers) == (3, 1)
    shown = recorded.read("memory", "by_callers", "--all-lines").stdout
    assert re.search(rf"^ +called from \S+:{line_marked(PROGRAM, 'thrice')} in by_callers$", shown, re.M)


def test_omitted_lines_are_counted(recorded: Recorded) -> None:
    *_, last = recorded.read("memory", "leak_in_a_loop", "--limit", "1").stdout.splitlines()
    assert last == "  and 1 more line: --limit 0 shows all."


def test_devices_with_equal_figures_are_shown_once(recorded: Recorded) -> None:
    (device,) = recorded.devices("donation")
    other = replace(device, device="9", peak=2 * device.peak)
    alike = [replace(device, device=str(number), peak_time=number, peak_call=number) for number in (0, 1, 2, 5)]

    text = "\n".join(
        "".join(span.text for span in line) for line in render_memory_lines([*alike, other], 20, shows_capture=False)
    )

    assert re.findall(r"^devices? .*?  ", text, re.MULTILINE) == ["devices 0-2, 5, each  ", "device 9  "]


def test_the_output_fits_and_names_its_captures(recorded: Recorded) -> None:
    shown = recorded.read("memory", "out_of_memory")
    assert shown.exit_code == 0, shown.stderr
    head, _, device, *_ = shown.stdout.splitlines()
    assert head.startswith(f"Capture {recorded.captures['out_of_memory']} of memory_cases.py")
    assert device.startswith("device 0  peak 512 KiB")
    assert "ran out of memory when 1 MiB were requested, 512 KiB alive" in shown.stdout


def test_json_output_equals_the_python_api(recorded: Recorded) -> None:
    told = json.loads(recorded.read("memory", "donation", "--json").stdout)
    (device,) = told["devices"]
    (expected,) = recorded.devices("donation")
    assert (device["peak"], device["line_count"]) == (expected.peak, len(expected.lines))
    assert [line["most"] for line in device["lines"]] == [line.most for line in expected.lines]


def test_removing_a_capture_removes_its_memory_rows(recorded: Recorded, tmp_path: Path) -> None:
    copy = tmp_path / "index.db"
    copy.write_bytes(recorded.index.read_bytes())
    with Store(copy) as store:
        store.remove_captures([*recorded.captures.values()])
    with Index.open(copy) as index:
        assert not index.memory()
        assert not index.captures_with_memory()
    assert CliRunner().invoke(cli, ["--index", str(copy), "memory"]).exit_code == 1


# Other plug-ins, without a recorded allocator


@pytest.fixture(scope="module")
def without_allocator(recorded: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The same without recorded allocator calls."""
    copy = tmp_path_factory.mktemp("without allocator") / "index.db"
    copy.write_bytes(recorded.index.read_bytes())
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(
            "UPDATE boundaries SET boundary = 'other', name = 'other ' || name WHERE boundary = 'mock_tpu'"
        )
        for capture in recorded.captures.values():
            write_memory(connection, capture, CaptureActivity.read(connection, capture))
    return replace(recorded, index=copy)


@pytest.mark.exhaustive(keep=KEPT)
@pytest.mark.parametrize("case", CASES)
def test_live_memory_without_an_allocator_equals_that_of_jax(
    recorded: Recorded, without_allocator: Recorded, case: str
) -> None:
    (device,) = (each for each in without_allocator.devices(case) if each.device == "memory#1")
    assert device.unsized == 0
    said, looks = _said_by_device(recorded, case), recorded.results[case]
    for (begin, _, _, _), (*_, live, _) in zip(said[-len(looks) :], looks, strict=True):
        assert _alive_at(device, begin) == live


def test_results_of_unknown_size_are_counted_but_not_summed(without_allocator: Recorded, tmp_path: Path) -> None:
    """Programs that were not stored."""
    copy = tmp_path / "index.db"
    copy.write_bytes(without_allocator.index.read_bytes())
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE compilations SET program = NULL")
        write_memory(
            connection,
            without_allocator.captures["jit_outputs"],
            CaptureActivity.read(connection, without_allocator.captures["jit_outputs"]),
        )
    devices = replace(without_allocator, index=copy).devices("jit_outputs")
    assert sum(device.unsized for device in devices) == 2
    assert max(device.peak for device in devices) == 4 * KIB


def test_memory_kinds_are_separate_without_an_allocator(without_allocator: Recorded) -> None:
    first, second = without_allocator.devices("two_devices")
    assert (first.device[:7], second.device[:7]) == ("memory#", "memory#")
    assert (first.peak, second.peak) == (16 * KIB, 24 * KIB)
    assert _line(second, "copied").at_peak == 16 * KIB


@pytest.mark.exhaustive(keep=["freed", "kept_list"])
@pytest.mark.parametrize("case", ["freed", "by_del", "kept_list", "donated_tree"])
def test_figures_are_equal_without_an_allocator(recorded: Recorded, without_allocator: Recorded, case: str) -> None:
    (expected, *_), (found, *_) = recorded.devices(case), without_allocator.devices(case)
    assert (found.peak, found.at_end, found.buffers) == (expected.peak, expected.at_end, expected.buffers)
    assert [line.growth for line in found.lines] == [line.growth for line in expected.lines]


def test_an_out_of_memory_error_without_an_allocator_has_the_size_in_its_message(without_allocator: Recorded) -> None:
    failures = [each for device in without_allocator.devices("out_of_memory") for each in device.failures]
    assert [failure.wanted for failure in failures] == [KIB * KIB] * 3
    assert {failure.alive for failure in failures} == {512 * KIB}


def test_a_view_has_the_memory_of_lines(recorded: Recorded) -> None:
    (device, *_) = recorded.devices("kept_list")
    told = {(held.line and held.line.location.line, held.at_peak, held.buffers) for held in device.lines}

    with closing(sqlite3.connect(recorded.index)) as database:
        query = "SELECT line, at_peak, buffers FROM memory_readable WHERE capture = ? AND device = ?"
        assert set(database.execute(query, (recorded.captures["kept_list"], device.device))) == told
