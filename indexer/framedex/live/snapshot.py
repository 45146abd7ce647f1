"""Take a snapshot of a process: kernel threads, Python frames and calls in progress, joined by thread id."""

from __future__ import annotations

import platform
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError
from framedex.base.regularfile import host_name
from framedex.captures.hang_reports import read_hang_report
from framedex.captures.metadata import ProgramEnd, read_program_end
from framedex.live.crashes import read_crash
from framedex.live.memory import ProcessMemory
from framedex.live.model import (
    Activity,
    GilRole,
    LiveThread,
    LockObject,
    ProcessSnapshot,
    ProcessState,
    Python,
    PythonThread,
    Task,
)
from framedex.live.python_frames import PythonReader
from framedex.live.runtime import Runtime, UnknownRuntimeError, find_python_binaries
from framedex.live.targets import Target
from framedex.live.tasks import read_command_line, read_process_state, read_tasks, read_working_folder

if TYPE_CHECKING:
    from framedex.captures.open_calls import ThreadCalls

_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")


def take_snapshot(target: Target) -> ProcessSnapshot:
    """The process of a target as it is now, or the end of its recording if it has ended."""
    state = _read_target_state(target)
    streams, capture_problem = _read_streams(target.capture)
    now = _now_ns(target, state)
    threads: Sequence[LiveThread] = ()
    version, problem, remedy = "", "", ""
    if target.is_here and state is not ProcessState.ENDED:
        tasks, python, problem, remedy = _read_process(target.pid)
        if tasks:
            version = f"3.{python.minor}" if python is not None else ""
            threads = _join_threads(target.pid, tasks, python, streams)
        else:
            state = ProcessState.ENDED
    if not threads:
        threads = [_add_calls(LiveThread(tid, each.name, None), each) for tid, each in streams.items()]
    metadata = target.metadata
    end = _read_end(target) if state is ProcessState.ENDED else None
    ended_capture = target.capture if state is ProcessState.ENDED else None
    crash_file, crash_frames = read_crash(ended_capture) if ended_capture is not None else ("", ())
    return ProcessSnapshot(
        pid=target.pid,
        command=metadata.command if metadata is not None else shlex.join(read_command_line(target.pid)),
        state=state,
        time_ns=now,
        started_unix_ns=target.started_unix_ns,
        threads=tuple(threads),
        capture=None if target.capture is None else str(target.capture),
        python_version=version,
        end=(end.text if end is not None else ""),
        ended_unix_ns=end.ended_unix_ns if end is not None else None,
        problem=problem,
        remedy=remedy,
        capture_problem=capture_problem,
        hang_report=read_hang_report(ended_capture) if ended_capture is not None else "",
        crash_file=crash_file,
        crash_frames=crash_frames,
    )


def _now_ns(target: Target, state: ProcessState) -> int:
    """The time on the process's CLOCK_MONOTONIC. Another machine's is derived from the wall clock."""
    metadata = target.metadata
    if state is ProcessState.ELSEWHERE and metadata and metadata.started_clock_ns and metadata.started_unix_ns:
        return metadata.started_clock_ns + time.time_ns() - metadata.started_unix_ns
    return time.monotonic_ns()


def _read_target_state(target: Target) -> ProcessState:
    if target.is_here:
        return read_process_state(target.pid)
    is_other_host = target.metadata is not None and target.metadata.host != host_name()
    return ProcessState.ELSEWHERE if is_other_host and _read_end(target) is None else ProcessState.ENDED


def _read_streams(capture: Path | None) -> tuple[dict[int, ThreadCalls], str]:
    """The recorded threads by thread id, and the reason if there are none."""
    from framedex.captures.open_calls import read_open_calls

    if capture is None:
        return {}, ""
    try:
        return {each.thread_id: each for each in read_open_calls(capture)}, ""
    except FramedexError as error:
        return {}, error.message


def _read_end(target: Target) -> ProgramEnd | None:
    return None if target.capture is None else read_program_end(target.capture)


def _read_process(pid: int) -> tuple[list[Task], Python | None, str, str]:
    """The threads of a process and its Python, with the reason if its Python is not readable, and a remedy."""
    machine = platform.machine()
    if machine != "x86_64":
        problem = f"Python frames and waits of process {pid} are not readable on {machine}: only x86-64 is supported."
        return read_tasks(pid, None), None, problem, ""
    try:
        memory = ProcessMemory(pid)
    except OSError as error:
        problem, remedy = describe_refusal(pid, error)
        return read_tasks(pid, None), None, problem, remedy
    with memory:
        tasks = read_tasks(pid, memory)
        try:
            reader = PythonReader(memory, Runtime.find(memory, find_python_binaries(pid)), read_working_folder(pid))
            return tasks, reader.read(), "", ""
        except UnknownRuntimeError as error:
            return tasks, None, f"Python frames of process {pid} are not readable: {error}.", ""
        except PermissionError as error:
            return tasks, None, *describe_refusal(pid, error)
        except OSError as error:
            return tasks, None, f"Python frames of process {pid} are not readable: {error}.", ""


def describe_refusal(pid: int, error: OSError) -> tuple[str, str]:
    """The message and remedy if the system does not let this user read the memory of a process."""
    problem = f"Python frames and waits of process {pid} are not readable: {error.strerror}."
    try:
        scope = _YAMA.read_text().strip()
    except OSError:
        scope = "0"
    if scope == "0":
        return problem, "Run this command as the same user, or as root (in a container: --cap-add=SYS_PTRACE)."
    return problem, (
        f"The system restricts tracing ({_YAMA} is {scope}). Run this command as root, or allow it until the next"
        " start: sudo sysctl kernel.yama.ptrace_scope=0"
    )


def _join_threads(
    pid: int, tasks: Sequence[Task], python: Python | None, streams: Mapping[int, ThreadCalls]
) -> list[LiveThread]:
    pythons = {each.tid: each for each in python.threads} if python is not None else {}
    threads = []
    for task in tasks:
        of_python = pythons.get(task.tid)
        thread = LiveThread(
            task.tid,
            task.name,
            task,
            of_python,
            _determine_gil_role(task, of_python, python),
            _find_waited_lock(task, of_python),
            is_main=task.tid == pid,
        )
        threads.append(_add_calls(thread, streams.get(task.tid)))
    return threads


def _add_calls(thread: LiveThread, stream: ThreadCalls | None) -> LiveThread:
    if stream is None:
        return thread
    return replace(
        thread,
        calls=stream.calls,
        last_record_ns=stream.last_record_ns,
        open_calls=stream.open_calls,
        pending=stream.pending,
        signal=stream.signal,
    )


def _determine_gil_role(task: Task, thread: PythonThread | None, python: Python | None) -> GilRole | None:
    if thread is None or python is None:
        return None
    if thread.has_gil:
        return GilRole.HOLDS
    return GilRole.WAITS if task.futex in python.gil else None


def _find_waited_lock(task: Task, thread: PythonThread | None) -> LockObject | None:
    """The lock that a thread waits for: its waiters sleep on its own address, or (from 3.14 on) it is used now."""
    if thread is None or task.activity is not Activity.FUTEX:
        return None
    return next((lock for lock in thread.reached if lock.futex in (0, task.futex)), None)
