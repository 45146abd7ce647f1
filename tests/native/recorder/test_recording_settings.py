"""The environment configures what is recorded, and how much."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from framedex.captures import capture_folders, read_capture
from framedex.model import Capture, MergeOutcome, StopReason
from framedex_native import _native
from tests.reading import calls_of
from tests.running import PROGRAMS, mock_environment, run
from tests.tiers import exhaustive_unless

PUT = "PJRT_Client_BufferFromHostBuffer"
SEGMENT = 256 << 10


def sizes(capture: Path | Capture) -> list[int]:
    """The sizes of the arrays sent, in order."""
    return [call.arguments["dims"][0] for call in calls_of(capture, PUT)]


def test_patterns_select_functions(tmp_path: Path) -> None:
    patterns = {"FRAMEDEX_INCLUDE": "PJRT_Buffer_*,*Allocate", "FRAMEDEX_EXCLUDE": "*_Destroy,*_Device"}
    names = {call.function for call in calls_of(run("many_puts.py", "3", folder=tmp_path, **patterns).capture)}
    assert "DeviceMemory::Allocate" in names
    assert "PJRT_Buffer_Memory" in names
    assert not any(name.endswith(("_Destroy", "_Device")) or name == PUT for name in names)


def test_every_fourth_call_is_recorded_with_stack_and_result(tmp_path: Path) -> None:
    (tmp_path / "every").mkdir()
    every = calls_of(run("many_puts.py", "200", folder=tmp_path / "every").capture)
    fourth = calls_of(run("many_puts.py", "200", folder=tmp_path, FRAMEDEX_SAMPLE="4").capture)
    assert len(fourth) == pytest.approx(len(every) / 4, rel=0.02)
    assert all(call.duration >= 0 and call.frames for call in fourth)


@pytest.mark.parametrize("puts", exhaustive_unless([3000, 5000], 3000))
def test_recording_stops_at_the_limit_and_says_so(tmp_path: Path, puts: int) -> None:
    completed = run("many_puts.py", str(puts), folder=tmp_path, FRAMEDEX_LIMIT=str(3 * SEGMENT))
    assert completed.result == puts
    sent = sizes(completed.capture)
    assert 0 < len(sent) < puts  # the number depends on how many calls this JAX makes for each
    assert sent == list(range(1, len(sent) + 1))
    stops = read_capture(completed.capture).stops
    assert (stops.reasons, stops.threads, stops.lacks_threads) == ((StopReason.LIMIT,), 1, False)
    assert stops.missing_calls > 0


@pytest.mark.parametrize("puts", exhaustive_unless([6000, 20_000], 6000))
def test_a_ring_keeps_the_newest_calls_complete(tmp_path: Path, puts: int) -> None:
    completed = run("many_puts.py", str(puts), folder=tmp_path, FRAMEDEX_LIMIT=str(3 * SEGMENT), FRAMEDEX_RING="1")
    sent = sizes(completed.capture)
    assert sent[-1] == puts
    assert 0 < len(sent) < puts // 2
    assert sent == list(range(sent[0], puts + 1))
    read = read_capture(completed.capture)
    assert read.problems == ()
    assert {stack.outcome for stack in read.stacks} == {MergeOutcome.MERGED}
    assert sum(file.stat().st_size for file in completed.capture.glob("*.ring.fdx")) <= 4 * SEGMENT


def test_in_flight_mode_calls_without_effect_are_only_counted(tmp_path: Path) -> None:
    (tmp_path / "every").mkdir()
    every = run("many_puts.py", "50", folder=tmp_path / "every").capture
    flight = run("many_puts.py", "50", folder=tmp_path, FRAMEDEX_FLIGHT="1").capture
    # An object's own table is traced only if the call that returned the object is recorded.
    functions = Counter(call.function for call in calls_of(every) if "_FunctionTable." not in call.function)
    recorded = Counter(call.function for call in calls_of(flight))
    read = read_capture(flight)
    assert functions.keys() - recorded.keys() >= {"PJRT_Memory_Kind", "PJRT_Buffer_Memory", "PJRT_Buffer_IsDeleted"}
    assert {name: recorded[name] for name in recorded} == {name: functions[name] for name in recorded}
    assert recorded.keys() >= {PUT, "PJRT_Event_OnReady", "PJRT_Event_Destroy", "PJRT_Buffer_Destroy"}
    assert read.stops.queries == functions.total() - recorded.total()
    assert read.metadata.selected_by == ("FRAMEDEX_FLIGHT",)
    assert not read.stops and read.problems == ()
    assert list(flight.glob("*.ring.fdx"))


@pytest.mark.exhaustive(keep=["FRAMEDEX_LIMIT-1GiB-FRAMEDEX_LIMIT=1GiB is not a positive whole number"])
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("FRAMEDEX_SAMPLE", "0", "FRAMEDEX_SAMPLE=0 is not a positive whole number"),
        ("FRAMEDEX_LIMIT", "1GiB", "FRAMEDEX_LIMIT=1GiB is not a positive whole number"),
        ("FRAMEDEX_RING", "1", "FRAMEDEX_RING=1 needs a size: set FRAMEDEX_LIMIT"),
    ],
)
def test_a_malformed_setting_is_reported_and_the_program_runs(
    tmp_path: Path, name: str, value: str, message: str
) -> None:
    completed = run("many_puts.py", "2", folder=tmp_path, **{name: value})
    assert completed.result == 2
    assert message in completed.stderr
    assert completed.captures == ()


def test_recording_without_a_folder_uses_the_default_one(tmp_path: Path) -> None:
    environment = mock_environment(tmp_path) | {"FRAMEDEX_RECORD": "1"}
    del environment["FRAMEDEX_OUT"]
    subprocess.run([sys.executable, PROGRAMS / "many_puts.py", "2"], env=environment, cwd=tmp_path, check=True)
    (capture,) = (tmp_path / ".framedex" / "captures").iterdir()
    assert sizes(capture) == [1, 2]


@pytest.mark.parametrize("reads", exhaustive_unless([3, 19], 3))
def test_a_capture_can_be_read_while_it_is_written(tmp_path: Path, reads: int) -> None:
    command = [sys.executable, str(PROGRAMS / "endless.py")]
    with subprocess.Popen(command, env=mock_environment(tmp_path), cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        seen = 0
        for reported in range(1, reads + 1):
            while int(process.stdout.readline()) < reported * 200:
                pass
            (capture,) = (tmp_path / "captures").iterdir()
            read = read_capture(capture)
            sent = sizes(read)
            assert read.problems == ()
            assert sent == list(range(1, len(sent) + 1))
            assert len(sent) >= reported * 200
            assert len(sent) >= seen
            seen = len(sent)
        process.kill()


@pytest.mark.exhaustive
def test_a_ring_can_be_read_while_it_is_overwritten(tmp_path: Path) -> None:
    ring = {"FRAMEDEX_LIMIT": str(2 * SEGMENT), "FRAMEDEX_RING": "1"}
    environment = mock_environment(tmp_path) | ring
    command = [sys.executable, str(PROGRAMS / "many_puts.py"), "30000"]
    turned = set()
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            for capture in capture_folders(tmp_path / "captures"):
                read = read_capture(capture)
                assert read.problems == ()
                assert {stack.outcome for stack in read.stacks} <= {MergeOutcome.MERGED}
                sent = sizes(read)
                assert sent == sorted(set(sent))
                turned.add(sent[0] if sent else 0)
    assert len(turned) > 5
    assert sizes(capture_folders(tmp_path / "captures")[0])[-1] == 30000


@pytest.mark.parametrize(("rounds", "least"), [(40, 4_000), pytest.param(150, 17_000, marks=pytest.mark.exhaustive)])
def test_every_stack_equals_that_of_libgcc(python: str, tmp_path: Path, rounds: int, least: int) -> None:
    completed = run("many_stacks.py", str(rounds), folder=tmp_path, python=python, FRAMEDEX_VERIFY="1")
    counts = _native.count_records(os.fsencode(completed.capture))
    assert counts["verified"] == counts["calls"] > least
    assert counts["different"] == 0
