"""Frames of another process, compared with those that the process itself reports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from framedex.live.memory import Memory, ProcessMemory
from framedex.live.model import Activity, LiveFrame, ProcessSnapshot
from framedex.live.python_frames import PythonReader, find_handler_depth, find_line
from framedex.live.runtime import Runtime, UnknownRuntimeError, find_python_binaries
from framedex.live.snapshot import take_snapshot
from framedex.live.targets import Target
from tests import pythons
from tests.indexer.live.programs import started_process, wait_for
from tests.running import PROGRAMS, TIMEOUT
from tests.tiers import exhaustive_unless


@pytest.fixture(scope="module", params=exhaustive_unless(pythons.RECORDABLE, pythons.OWN_VERSION))
def interpreter(request: pytest.FixtureRequest) -> str:
    """An interpreter of each version, with or without JAX."""
    found = next(iter(pythons.found(request.param)), None)
    if found is None:
        pytest.skip(f"no Python {request.param} here")
    return found.path


def _snapshot(process: subprocess.Popen[str]) -> ProcessSnapshot:
    return take_snapshot(Target(process.pid, True, None))


def test_frames_of_all_threads_are_those_that_the_process_reports(interpreter: str) -> None:
    with started_process(interpreter, str(PROGRAMS / "live_frames.py")) as (process, line):
        truth = {int(tid): [LiveFrame(*frame) for frame in frames] for tid, frames in json.loads(line).items()}

        snapshot = _snapshot(process)

        found = {thread.tid: list(thread.python.frames) for thread in snapshot.threads if thread.python is not None}
        assert len(truth) == 6
        assert {tid: found[tid] for tid in truth} == truth
        assert found[process.pid][-1].function == "<module>"
        assert snapshot.problem == ""


NAMED_MAIN = """\
import ctypes, threading

def work():
    ctypes.CDLL(None).prctl(15, b"main", 0, 0, 0)  # PR_SET_NAME
    print("ready", flush=True)
    threading.Event().wait()

threading.Thread(target=work, daemon=True).start()
threading.Event().wait()
"""


def test_the_main_thread_is_known_by_its_id_not_by_its_name(interpreter: str) -> None:
    with started_process(interpreter, "-c", NAMED_MAIN) as (process, _):
        snapshot = _snapshot(process)

        assert "main" in {thread.name for thread in snapshot.threads}
        assert [thread.tid for thread in snapshot.threads if thread.is_main] == [process.pid]


@pytest.mark.parametrize(
    ("file", "is_user_code"),
    [
        ("/usr/lib64/python3.12/threading.py", False),
        ("/opt/python/lib/python3.13t/queue.py", False),
        ("/home/me/.venv/lib/python3.13/site-packages/jax/_src/api.py", False),
        ("<frozen importlib._bootstrap>", False),
        ("<stdin>", True),
        ("/home/me/lib/train.py", True),
    ],
)
def test_library_files_are_not_the_users(file: str, is_user_code: bool) -> None:
    assert LiveFrame("f", file, 1).is_user_code == is_user_code


def test_a_stopped_process_has_the_same_frames(interpreter: str) -> None:
    with started_process(interpreter, str(PROGRAMS / "live_frames.py")) as (process, _):
        before = _snapshot(process)
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)

        snapshot = _snapshot(process)

        assert snapshot.state == "stopped"
        frames = {thread.tid: thread.python and thread.python.frames for thread in before.threads}
        assert {thread.tid: thread.python and thread.python.frames for thread in snapshot.threads} == frames
        assert {thread.task and thread.task.activity for thread in snapshot.threads} == {Activity.STOPPED}


def test_frames_of_a_running_thread_are_of_one_moment_or_marked(interpreter: str) -> None:
    """Every frame is on the line that calls the next inner one."""
    seen: set[int] = set()
    unmarked = 0
    with started_process(interpreter, str(PROGRAMS / "live_motion.py")) as (process, _):
        end = time.monotonic() + TIMEOUT
        while len(seen) < 10 or unmarked < 60:
            assert time.monotonic() < end, (seen, unmarked)
            (thread,) = _snapshot(process).threads
            assert thread.python is not None
            if thread.python.is_changing:
                continue
            unmarked += 1
            chain = [
                frame for frame in thread.python.frames if frame.file == "<chain>" and frame.function != "<lambda>"
            ]
            seen.add(len(chain))
            numbers = [int(frame.function.removeprefix("f")) for frame in chain]
            assert numbers == list(range(len(chain)))[::-1]
            assert all(
                frame.line == _calling_line(number) for frame, number in zip(chain[1:], numbers[1:], strict=True)
            )


def test_threads_that_start_and_end_do_not_hide_others(interpreter: str) -> None:
    """As long as the process lives, its main thread has its frames."""
    with started_process(interpreter, str(PROGRAMS / "live_threads.py")) as (process, _):
        look_at_event = wait_for(
            lambda: _snapshot(process), lambda snapshot: _main_functions(snapshot)[:2] == EVENT_WAIT
        )
        seen: set[int] = set()
        end = time.monotonic() + TIMEOUT
        while len(seen) <= 5:
            assert time.monotonic() < end, seen
            snapshot = _snapshot(process)
            assert snapshot.problem == ""
            assert _main_functions(snapshot) == _main_functions(look_at_event)
            seen |= {thread.tid for thread in snapshot.threads if thread.python is not None}


EVENT_WAIT = ["Condition.wait", "Event.wait"]


def _main_functions(snapshot: ProcessSnapshot) -> list[str]:
    python = snapshot.threads[0].python
    return [] if python is None else [frame.function for frame in python.frames]


def _calling_line(number: int) -> int:
    """The line of `live_motion.py`'s text where a function of the chain calls the next one."""
    return sum(other + 3 for other in range(number)) + number + 3


@pytest.mark.exhaustive
def test_a_process_that_is_not_python_has_threads_without_frames() -> None:
    with started_process("sh", "-c", "echo ready; read line") as (process, _):
        snapshot = _snapshot(process)

        assert [thread.tid for thread in snapshot.threads] == [process.pid]
        assert (
            snapshot.problem == f"Python frames of process {process.pid} are not readable: it is not a Python program."
        )


def test_tables_are_decoded_as_the_interpreter_does() -> None:
    """For every function of a module with exception handlers and long lines of code."""
    source = Path(subprocess.__file__).read_text()
    codes = [compile(source, "subprocess.py", "exec")]
    for code in codes:
        codes += [each for each in code.co_consts if isinstance(each, type(code))]
        for start, end, line in code.co_lines():
            assert {find_line(code.co_linetable, code.co_firstlineno, at) for at in range(start, end, 2)} == {line or 0}

    assert len(codes) > 50


@pytest.mark.parametrize("table", [b"", b"\xff", b"\x80" * 3, bytes(range(256)), b"\xf8\x7f\x7f\x7f\x7f\x7f\x7f\x7f"])
def test_malformed_tables_have_an_answer(table: bytes) -> None:
    assert find_line(table, 1, 100) >= 0
    assert find_handler_depth(table, 100) >= 0


MAPPED_AS_DATA = """
import mmap, re
binaries = set(re.findall("/.*python3.*", open("/proc/self/maps").read()))
opened = [open(file, "rb") for file in binaries if "/bin/" in file or "/libpython" in file]
mapped = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) for file in opened]
"""


def test_a_binary_that_the_program_also_maps_as_data_is_found_where_it_is_loaded() -> None:
    with started_process(sys.executable, "-c", MAPPED_AS_DATA + NAMED_MAIN) as (process, _):
        assert _snapshot(process).problem == ""


class _Cycle(Memory):
    """An interpreter without threads that follows itself."""

    def read(self, address: int, size: int) -> bytes:
        return (64 if address in (8, 64 + 16) else 0).to_bytes(size, "little")


def test_a_cyclic_list_of_interpreters_ends() -> None:
    offsets = defaultdict(lambda: 100) | {"runtime.interpreters_head": 0, "interpreter.next": 16}

    assert PythonReader(_Cycle(), Runtime(8, 13, offsets), "").read().threads == ()


class _Damaged(ProcessMemory):
    """A process with damaged offsets of CPython."""

    def words(self, address: int, count: int) -> tuple[int, ...]:
        return (1 << 62,) * count


@pytest.mark.skipif(sys.version_info < (3, 13), reason="this CPython does not have its offsets in memory")
def test_damaged_offsets_are_refused() -> None:
    with (
        started_process(sys.executable, "-c", NAMED_MAIN) as (process, _),
        _Damaged(process.pid) as memory,
        pytest.raises(UnknownRuntimeError, match="damaged"),
    ):
        Runtime.find(memory, find_python_binaries(process.pid))
