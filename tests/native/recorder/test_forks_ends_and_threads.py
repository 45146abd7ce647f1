"""Programs that fork, end in every way, are killed, or start many threads: the capture has all their calls."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from framedex.captures import capture_folders, read_capture
from framedex.model import MergeOutcome, PythonFrame, StopReason
from framedex_native import _native
from tests.native.recorded import recorded
from tests.reading import Call, calls_of
from tests.running import PROGRAMS, mock_environment, run

PUT = "PJRT_Client_BufferFromHostBuffer"
RING_KILLS = 12
KILLS = int(os.environ.get("FRAMEDEX_TEST_KILLS", "4"))  # `make test-all` sets 200


def test_every_call_of_eight_threads_is_recorded_with_arguments() -> None:
    done = recorded("threads.py")
    calls = calls_of(done.capture, PUT)
    for number, tid in done.result.items():
        sent = [call.arguments for call in calls if call.tid == tid]
        assert [arguments["dims"] for arguments in sent] == [[int(number) + 1, i + 1] for i in range(200)]
        assert {(arguments["type"], arguments["bytes"]) for arguments in sent} == {
            ("S8", (int(number) + 1) * (i + 1)) for i in range(200)
        }
    assert len(calls) == 8 * 200
    assert read_capture(done.capture).problems == ()


ENDINGS = {
    "returns": 0,
    "exits": 3,
    "exits_at_once": 4,
    "raises": 1,
    "raises_in_jax": 1,
    "aborts": -signal.SIGABRT,
    "is_terminated": -signal.SIGTERM,
    "is_interrupted": -signal.SIGINT,
    "leaves_a_daemon_thread": 0,
}


@pytest.mark.exhaustive(keep=["exits_at_once", "raises", "is_terminated"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_capture_is_complete_however_the_program_ends(tmp_path: Path, ending: str) -> None:
    done = run("endings.py", ending, folder=tmp_path)
    assert done.status == ENDINGS[ending]
    assert sizes(calls_of(done.capture, PUT))[:5] == [1, 2, 3, 4, 5]
    assert read_capture(done.capture).problems == ()
    assert all(call.duration >= 0 for call in calls_of(done.capture))


def test_a_crash_inside_a_call_shows_an_unfinished_call(tmp_path: Path) -> None:
    done = run("endings.py", "segfaults_in_a_call", folder=tmp_path)
    assert done.status == -signal.SIGSEGV
    *before, crashed = calls_of(done.capture, PUT)
    assert sizes(before) == [1, 2, 3, 4, 5]
    assert (crashed.duration, crashed.error) == (-1, -1)
    assert crashed.arguments["dims"] == [4096]
    assert "segfaults_in_a_call" in [frame.name for frame in crashed.frames]
    assert read_capture(done.capture).problems == ()


def test_a_kill_at_any_moment_keeps_every_completed_call(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        lost = list(pool.map(lambda seed: calls_lost_in_a_kill(tmp_path / str(seed), seed), range(KILLS)))
    assert lost == [[]] * KILLS


@pytest.mark.exhaustive
def test_a_kill_at_any_moment_leaves_a_ring_with_the_newest_calls(tmp_path: Path) -> None:
    ring = {"FRAMEDEX_LIMIT": str(2 * _native.SEGMENT_SIZE), "FRAMEDEX_RING": "1"}
    for seed in range(RING_KILLS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        command = [sys.executable, str(PROGRAMS / "endless.py")]
        environment = mock_environment(folder) | ring
        with subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE) as process:
            assert process.stdout
            reports = [process.stdout.readline() for _ in range(random.Random(seed).randrange(800, 4000))]
            process.kill()
            completed = int((reports + process.stdout.readlines())[-1])
        read = read_capture(*capture_folders(folder / "captures"))
        sent = sizes([call for call in calls_of(read, PUT) if call.duration >= 0])
        assert read.problems == (), seed
        assert sent == list(range(sent[0], sent[-1] + 1)), seed
        assert sent[-1] >= completed, seed


def calls_lost_in_a_kill(folder: Path, seed: int) -> list[str]:
    """Kill an endless program after a random number of its reports; return the calls that its capture lacks."""
    folder.mkdir()
    command = [sys.executable, str(PROGRAMS / "endless.py")]
    with subprocess.Popen(command, env=mock_environment(folder), cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout
        reports = [process.stdout.readline() for _ in range(random.Random(seed).randrange(1, 3000))]
        process.kill()
        completed = int((reports + process.stdout.readlines())[-1])
    (capture,) = capture_folders(folder / "captures")
    read = read_capture(capture)
    returned = sizes([call for call in calls_of(read, PUT) if call.duration >= 0])
    lost = [f"size {size}" for size in sorted(set(range(1, completed + 1)).difference(returned))]
    if returned != list(range(1, len(returned) + 1)):
        lost.append("order")
    open_calls = [read.functions[function].name for function in read.calls.function[read.calls.duration < 0]]
    # Boundary functions nest: an allocation may be in progress within a transfer.
    if len(open_calls) > 2:
        lost.append(f"open: {open_calls}")
    return lost + list(read.problems)


def test_parent_and_child_of_a_fork_have_separate_captures(tmp_path: Path) -> None:
    done = run("forking.py", "plain", folder=tmp_path)
    parent, child = parent_and_child(done.captures, done.result["child"])
    assert done.result["status"] == 0
    assert sizes(calls_of(parent, PUT)) == [1, 2, 3]
    assert sizes(calls_of(child, PUT)) == [101, 102]
    assert [read_capture(capture).problems for capture in (parent, child)] == [(), ()]


def test_a_child_forked_inside_a_call_does_not_write_into_its_parents_capture(tmp_path: Path) -> None:
    done = run("forking.py", "inside-a-call", folder=tmp_path)
    parent, child = parent_and_child(done.captures, done.result["child"])
    assert done.result["status"] == 0
    assert sizes(calls_of(parent, PUT)) == [1, 2, 500, *range(1000, 1200), 3]
    assert sizes(calls_of(child, PUT)) == [101, 102]
    assert [read_capture(capture).problems for capture in (parent, child)] == [(), ()]
    # JAX also calls this function; this call came directly from the program.
    (forked_in,) = [call for call in calls_of(parent, "PJRT_Event_OnReady") if names(call)[-1] == "Table._enter"]
    assert forked_in.error == 0
    assert forked_in.start + forked_in.duration < calls_of(parent, PUT)[-1].start


@pytest.mark.exhaustive
def test_a_child_forked_while_a_thread_is_first_recorded_can_call_and_load_libraries(tmp_path: Path) -> None:
    library = tmp_path / "listing.so"
    source = PROGRAMS / "fork_while_listing.cc"
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    done = run("fork_while_listing.py", str(library), folder=tmp_path, LD_PRELOAD=str(library))
    assert done.result["status"] == 0
    parent, child = parent_and_child(done.captures, done.result["child"])
    found = [[call.function for call in calls_of(capture)] for capture in (parent, child)]
    assert found == [["GetPjrtApi", *["PJRT_Plugin_Attributes"] * 2], ["PJRT_Plugin_Attributes"]]
    assert [read_capture(capture).problems for capture in (parent, child)] == [(), ()]


def parent_and_child(captures: tuple[Path, ...], child: int) -> tuple[Path, Path]:
    """The two captures of a run that forked."""
    assert len(captures) == 2
    first, second = captures
    return (first, second) if read_capture(second).metadata.pid == child else (second, first)


@pytest.mark.own_start
def test_a_stack_too_deep_for_the_recorder_is_marked_with_the_reason(tmp_path: Path, python: str) -> None:
    done = run("too_deep.py", folder=tmp_path, python=python)
    assert done.status == 0, done.stderr
    read = read_capture(done.capture)
    too_deep, shallow = calls_of(read, "PJRT_Device_MemoryStats")
    assert (shallow.outcome, names(shallow)) == (MergeOutcome.MERGED, ["<module>"])
    assert too_deep.outcome is MergeOutcome.NO_HOST, (
        "the frame that runs `descend` is there, and where its Python ends is not"
    )
    (stack,) = [stack for stack in read.stacks if stack.is_truncated]
    innermost = read.frames[stack.python[0]]
    assert isinstance(innermost, PythonFrame)
    assert read.codes[innermost.code].qualname == "descend"
    assert len(stack.python) > 4000
    assert read.problems == ()


def test_nothing_is_recorded_if_recording_is_switched_off(tmp_path: Path) -> None:
    done = run("endings.py", "returns", folder=tmp_path, FRAMEDEX_RECORD="0")
    assert (done.status, done.stdout, done.stderr) == (0, "out\n", "err\n")
    assert done.captures == ()
    assert not (tmp_path / "captures").exists()


def test_a_folder_that_cannot_be_created_is_named_and_the_program_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("endings.py", "returns", folder=tmp_path, FRAMEDEX_OUT=str(tmp_path / "file" / "captures"))
    assert (done.status, done.stdout) == (0, "out\n")
    failure, program_output = done.stderr.splitlines()
    assert failure.startswith(f"framedex: nothing is recorded: cannot create the folder {tmp_path}/file/captures: ")
    assert "framedex run -o DIR" in failure
    assert program_output == "err"


def test_a_full_disk_ends_the_recording_but_not_the_program(tmp_path: Path) -> None:
    done = run("full_disk.py", folder=tmp_path)
    assert done.result == {"sent": 2000}
    read = read_capture(done.capture)
    assert read.stops.reasons == (StopReason.DISK_FULL,)
    assert sizes(calls_of(read, PUT)) == list(range(1, len(calls_of(read, PUT)) + 1))
    assert 0 < len(calls_of(read, PUT)) < 2000


def sizes(calls: list[Call]) -> list[int]:
    """The first dimension of each sent array: programs identify their arrays by it."""
    return [call.arguments["dims"][0] for call in calls]


def names(call: Call) -> list[str]:
    """The names of its Python frames."""
    return [frame.name for frame in call.frames if frame.is_python]
