"""Native frames of living processes, which are stopped for a moment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.live.memory import ProcessMemory
from framedex.live.model import Activity, LiveFrame, ProcessState
from framedex.live.native.image import ProcessImage
from framedex.live.native.stacks import ProcessStacks
from framedex.live.native.stopped import StoppedProcess, read_living_stacks
from framedex.live.tasks import process_state, read_tasks
from tests import pythons
from tests.indexer.live.cores import gdb_frames
from tests.indexer.live.programs import FRAMEDEX, started_process, wait_for
from tests.running import PROGRAMS
from tests.tiers import exhaustive_unless

COUNTS_SIGNALS = """\
import signal, sys

count = 0
def handler(number, frame):
    global count
    count += 1

signal.signal(signal.SIGUSR1, handler)
print("ready", flush=True)
for line in sys.stdin:
    print(count, flush=True)
"""

SPAWNS = """\
import os

print("ready", flush=True)
os.posix_spawn("/bin/true", ["true"], {{}}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, {fifo!r}, os.O_RDONLY, 0)])
print("spawned", flush=True)
"""
"""While the child opens the FIFO, the parent sleeps without interruption."""


@pytest.fixture(scope="module", params=exhaustive_unless(("3.11", "3.12", "3.13"), pythons.OWN_VERSION))
def interpreter(request: pytest.FixtureRequest) -> str:
    """An interpreter of each version with which gdb agrees."""
    found = next(iter(pythons.found(request.param)), None)
    if found is None:
        pytest.skip(f"no Python {request.param} here")
    return found.path


def _live(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["live", "--native", *arguments])


def test_stacks_of_all_threads_are_those_of_the_process_and_of_gdb(interpreter: str, tmp_path: Path) -> None:
    with started_process(interpreter, str(PROGRAMS / "live_frames.py")) as (process, line):
        truth = {int(tid): [LiveFrame(*frame) for frame in frames] for tid, frames in json.loads(line).items()}
        wait_for(lambda: read_tasks(process.pid, None)[0], lambda task: task.activity is Activity.FUTEX)

        stacks = read_living_stacks(process.pid)

        assert process_state(process.pid) is ProcessState.ALIVE
        python = {each.tid: [f for f in each.merged.frames if isinstance(f, LiveFrame)] for each in stacks.threads}
        assert {tid: python[tid] for tid in truth} == truth
        assert {thread.merged.problem for thread in stacks.threads} == {""}
        by_gdb = gdb_frames(["-p", str(process.pid)], tmp_path)
        assert {thread.tid: [frame.address for frame in thread.native.frames] for thread in stacks.threads} == {
            tid: [frame.address for frame in frames if frame.kind != "inlined"] for tid, frames in by_gdb.items()
        }


def test_a_running_thread_is_read_at_any_instruction(interpreter: str) -> None:
    with started_process(interpreter, str(PROGRAMS / "live_motion.py")) as (process, _):
        for _ in range(10):
            (thread,) = read_living_stacks(process.pid).threads
            assert (thread.merged.problem, thread.merged.apart) == ("", ())
            chain = [frame.function for frame in thread.merged.frames if isinstance(frame, LiveFrame)]
            numbers = [int(name[1:]) for name in chain if name.startswith("f")]
            assert numbers == list(range(len(numbers)))[::-1]


def test_threads_may_start_and_end_meanwhile(interpreter: str) -> None:
    with started_process(interpreter, str(PROGRAMS / "live_threads.py")) as (process, _):
        for _ in range(20):
            stacks = read_living_stacks(process.pid)
            assert stacks.problems == ()
            assert stacks.threads[0].tid == process.pid
            assert all(not thread.merged.apart or thread.merged.problem for thread in stacks.threads)
        assert process_state(process.pid) is ProcessState.ALIVE


def test_a_stopped_process_stays_stopped() -> None:
    with started_process(sys.executable, str(PROGRAMS / "live_frames.py")) as (process, _):
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)

        stacks = read_living_stacks(process.pid)

        assert len(stacks.threads) == 7
        assert process_state(process.pid) is ProcessState.STOPPED


def test_no_signal_is_lost_or_added() -> None:
    with started_process(sys.executable, "-c", COUNTS_SIGNALS) as (process, _):
        assert process.stdin is not None and process.stdout is not None
        for count in range(1, 11):
            stopped = StoppedProcess(process.pid)
            process.send_signal(signal.SIGUSR1)
            stopped.resume()
            read_living_stacks(process.pid)
            process.stdin.write("count\n")
            process.stdin.flush()
            assert int(process.stdout.readline()) == count


def test_a_thread_that_could_not_stop_runs_later(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    program = SPAWNS.format(fifo=str(tmp_path / "fifo"))
    with started_process(sys.executable, "-c", program) as (process, _), ProcessMemory(process.pid) as memory:
        assert process.stdout is not None
        wait_for(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0], "D".__eq__)
        stopped = StoppedProcess(process.pid)
        assert stopped.image(memory).problem == "1 thread did not stop and cannot be shown."
        os.close(os.open(tmp_path / "fifo", os.O_WRONLY))
        wait_for(lambda: process_state(process.pid), ProcessState.TRACED.__eq__)

        stopped.resume()

        assert process.stdout.readline() == "spawned\n"


def test_ctrl_z_waits_until_the_process_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    masks = []

    def read(image: ProcessImage, resume: Callable[[], None]) -> ProcessStacks:
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        return ProcessStacks(image, "", (), ())

    monkeypatch.setattr("framedex.live.native.stopped.read_stacks", read)
    with started_process(sys.executable, "-c", COUNTS_SIGNALS) as (process, _):
        assert read_living_stacks(process.pid).image.root == Path("/")
    assert signal.SIGTSTP in masks[0] and signal.SIGTSTP not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_process_that_another_program_traces_names_it() -> None:
    with started_process(sys.executable, str(PROGRAMS / "live_frames.py")) as (process, _):
        stopped = StoppedProcess(process.pid)
        done = subprocess.run([*FRAMEDEX, "live", "--native", str(process.pid)], capture_output=True, text=True)
        stopped.resume()

    assert done.returncode == 1
    assert f"The native frames of process {process.pid} are not readable: Operation not permitted." in done.stderr
    assert "Another program traces it" in done.stderr


def test_live_shows_states_with_merged_stacks() -> None:
    with started_process(sys.executable, str(PROGRAMS / "live_frames.py")) as (process, _):
        text = wait_for(lambda: _live(str(process.pid)).output, lambda text: "waits for Lock" in text)
        document = json.loads(_live(str(process.pid), "--json").stdout)

    first = text.split("\n\n")[1].splitlines()
    assert first[0].startswith("main  waits for Lock")
    assert "PyThread_acquire_lock_timed" in text.split("\n\n")[1]
    assert any(line.startswith("> <module>  ") for line in first)
    stack = document["threads"][0]["stack"]
    assert {frame["language"] for frame in stack["frames"]} == {"native", "python"}
    assert stack["problem"] == ""


def test_an_ended_process_has_no_native_frames(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["live", "--native", str(2**22 - 1)])

    assert result.exit_code == 1
    assert "There is no process" in result.output
