"""Kernel threads of a process and their system calls, from /proc."""

from __future__ import annotations

import os
import platform
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from framedex.base.memory_maps import read_maps
from framedex.live.memory import Memory
from framedex.live.model import ANOTHER_PROCESS, Activity, ProcessState, Task

_NS_PER_S = 1_000_000_000
_FUTEX_WAIT = 0
_FUTEX_PRIVATE = 128  # FUTEX_PRIVATE_FLAG: only threads of the process wake it
_SHARED_MEMORY = ("/dev/shm/", "/dev/zero", "/memfd:")
_MAX_PATH_BYTES, _PAGE_BYTES = 1024, 4096
_CONTENDED_MUTEX = 2
_FUTEX_TIMED_ABSOLUTE = 9  # FUTEX_WAIT_BITSET: the end of the wait instead of its length
_FUTEX_REALTIME = 256  # FUTEX_CLOCK_REALTIME
_TIMER_ABSTIME = 1
_TIMESPEC = struct.Struct("<qq")

# x86-64 system calls that wait (arch/x86/entry/syscalls/syscall_64.tbl), whose first argument is a
# descriptor. Other architectures have other numbers.
_DESCRIPTOR_CALLS = {0: "read", 1: "write", 17: "pread64", 19: "readv", 43: "accept", 44: "sendto", 45: "recvfrom"}
_DESCRIPTOR_CALLS |= {20: "writev", 42: "connect", 46: "sendmsg", 47: "recvmsg", 73: "flock", 288: "accept4"}
_MANY_DESCRIPTORS = {7: "poll", 23: "select", 232: "epoll_wait", 270: "pselect6", 271: "ppoll", 281: "epoll_pwait"}
_PATH_CALLS = {2: 0, 257: 1}  # open and openat, with the position of the path in the arguments
_SIGNAL_CALLS = {34: "pause", 128: "rt_sigtimedwait", 130: "rt_sigsuspend"}
_CHILD_CALLS = {61: "wait4", 247: "waitid"}
_FUTEX, _NANOSLEEP, _CLOCK_NANOSLEEP = 202, 35, 230
_SLEEP_CALLS = {_NANOSLEEP: "nanosleep", _CLOCK_NANOSLEEP: "clock_nanosleep"}
_NAMES = _DESCRIPTOR_CALLS | _MANY_DESCRIPTORS | _CHILD_CALLS | _SLEEP_CALLS | _SIGNAL_CALLS | {_FUTEX: "futex"}
_NAMES |= dict.fromkeys(_PATH_CALLS, "open")


def read_process_state(pid: int) -> ProcessState:
    """The state of a process; `ended` if there is none of this id, or only its exit status is left."""
    letter = _read_stat(Path(f"/proc/{pid}/stat"))[0]
    if letter in ("", "Z", "X"):
        return ProcessState.ENDED
    return {"T": ProcessState.STOPPED, "t": ProcessState.TRACED}.get(letter, ProcessState.ALIVE)


def started_unix_ns(pid: int) -> int | None:
    """The start of a process on the wall clock; None if there is no such process."""
    ticks = _read_stat(Path(f"/proc/{pid}/stat"))[2]
    if ticks is None:
        return None
    booted = time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return booted + ticks * _NS_PER_S // os.sysconf("SC_CLK_TCK")


def read_command_line(pid: int) -> list[str]:
    """The arguments of a process; empty if unknown."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
        return [os.fsdecode(each) for each in text.removesuffix(b"\0").split(b"\0")] if text else []
    return []


def read_working_folder(pid: int) -> str:
    """The working folder of a process; empty if unknown."""
    with suppress(OSError):
        return str(Path(f"/proc/{pid}/cwd").readlink())
    return ""


def read_tasks(pid: int, memory: Memory | None) -> list[Task]:
    """The threads of a process, the main thread first. Without `memory`, their system calls are unknown."""
    tasks = [task for tid in read_thread_ids(pid) if (task := _read_task(pid, tid, memory)) is not None]
    if any(task.subject == ANOTHER_PROCESS for task in tasks):
        shared = _read_shared_ranges(pid)
        tasks = [_mark_shared_futex(task, shared) if task.subject == ANOTHER_PROCESS else task for task in tasks]
    return sorted(tasks, key=lambda task: (task.tid != pid, task.tid))


def _mark_shared_futex(task: Task, shared: Sequence[range]) -> Task:
    """The task of a thread whose futex is not marked as private: another process wakes it if the memory is shared."""
    if any(task.futex in each for each in shared):
        return replace(task, activity=Activity.INPUT, futex=0)
    return replace(task, subject="")


def _read_shared_ranges(pid: int) -> list[range]:
    """The addresses that a process shares with others, as for locks of `multiprocessing`."""
    with suppress(OSError):
        return [range(each.start, each.end) for each in read_maps(pid) if each.path.startswith(_SHARED_MEMORY)]
    return []


def _read_task(pid: int, tid: int, memory: Memory | None) -> Task | None:
    """One thread; None if it has ended."""
    folder = Path(f"/proc/{pid}/task/{tid}")
    letter, ticks_ns, _ = _read_stat(folder / "stat")
    cpu_ns = _read_processor_time(folder / "schedstat", ticks_ns)
    if letter in ("", "Z", "X"):
        return None
    name = ""
    with suppress(OSError):
        name = (folder / "comm").read_text(errors="replace").rstrip("\n")
    if letter == "R":
        return Task(tid, name, Activity.RUNNING, cpu_ns)
    if letter in ("T", "t"):
        return Task(tid, name, Activity.STOPPED, cpu_ns)
    if letter == "D":
        return Task(tid, name, Activity.DISK, cpu_ns)
    call = _read_small_text(folder / "syscall")
    if call == "running":  # it woke after its state was read
        return Task(tid, name, Activity.RUNNING, cpu_ns)
    number, arguments = _parse_system_call(call)
    if number is None:
        return Task(tid, name, Activity.UNKNOWN, cpu_ns)
    return _build_waiting_task(
        pid, Task(tid, name, Activity.UNKNOWN, cpu_ns, _NAMES.get(number, "")), number, arguments, memory
    )


def _build_waiting_task(pid: int, task: Task, number: int, arguments: list[int], memory: Memory | None) -> Task:
    first, second, third, fourth = arguments[:4]
    if number == _FUTEX:
        until = _find_futex_end(memory, second, fourth)
        owner = _read_mutex_owner(memory, first, second, third)
        waiting = replace(task, activity=Activity.FUTEX, futex=first, mutex_owner=owner, until_ns=until)
        return waiting if second & _FUTEX_PRIVATE else replace(waiting, subject=ANOTHER_PROCESS)
    if number in _SLEEP_CALLS:
        is_absolute = number == _CLOCK_NANOSLEEP and second & _TIMER_ABSTIME and first == time.CLOCK_MONOTONIC
        until = _read_timespec(memory, third) if is_absolute else None
        return replace(task, activity=Activity.SLEEP, until_ns=until)
    if number in _DESCRIPTOR_CALLS:
        subject, pipe = _describe_descriptor(pid, first)
        return replace(task, activity=Activity.INPUT, subject=subject, pipe=pipe)
    if number in _MANY_DESCRIPTORS:
        return replace(task, activity=Activity.INPUT)
    if number in _PATH_CALLS:
        return replace(task, activity=Activity.INPUT, subject=_read_path(memory, arguments[_PATH_CALLS[number]]))
    if number in _SIGNAL_CALLS:
        return replace(task, activity=Activity.INPUT, subject="a signal")
    if number in _CHILD_CALLS:
        child = first if number == 61 else second
        subject = f"process {child}" if 0 < child < 1 << 31 else "a child process"
        return replace(task, activity=Activity.INPUT, subject=subject)
    return task


def _read_mutex_owner(memory: Memory | None, address: int, operation: int, value: int) -> int:
    """The thread id in a pthread_mutex_t that a thread waits for; 0 if it waits for something else.

    glibc waits for a mutex until its first word is no longer 2, and keeps the owner in the third.
    """
    if memory is None or operation & 0x7F != _FUTEX_WAIT or value != _CONTENDED_MUTEX:
        return 0
    with suppress(OSError):
        return max(memory.int32(address + 8), 0)
    return 0


def _find_futex_end(memory: Memory | None, operation: int, timeout: int) -> int | None:
    """The end of a timed wait on CLOCK_MONOTONIC; None for a wait without a timeout, or with another clock."""
    if operation & 0x7F != _FUTEX_TIMED_ABSOLUTE:
        return None
    end = _read_timespec(memory, timeout)
    if end is None or not operation & _FUTEX_REALTIME:
        return end
    return end - time.time_ns() + time.monotonic_ns()


def _read_timespec(memory: Memory | None, address: int) -> int | None:
    """The nanoseconds of a timespec; None at address 0 or if it is not readable."""
    if memory is None or not address:
        return None
    try:
        seconds, nanoseconds = _TIMESPEC.unpack(memory.read(address, _TIMESPEC.size))
    except OSError:
        return None
    return int(seconds) * _NS_PER_S + int(nanoseconds)


def _describe_descriptor(pid: int, number: int) -> tuple[str, str]:
    """A descriptor of a process as text, and the kernel's name of a pipe; both are empty if unknown.

    The text is a path, `a pipe` or `a socket`.
    """
    with suppress(OSError):
        target = str(Path(f"/proc/{pid}/fd/{number}").readlink())
        kind = target.partition(":")[0]
        return {"pipe": "a pipe", "socket": "a socket"}.get(kind, target), target if kind == "pipe" else ""
    return "", ""


def _read_path(memory: Memory | None, address: int) -> str:
    """The path at an address; empty if it is not readable."""
    if memory is None:
        return ""
    with suppress(OSError):
        content = memory.read(address, min(_MAX_PATH_BYTES, _PAGE_BYTES - address % _PAGE_BYTES))
        return os.fsdecode(content.partition(b"\0")[0])
    return ""


def read_thread_ids(pid: int) -> set[int]:
    """The ids of the threads of a process; empty if it has ended."""
    with suppress(OSError):
        return {int(each.name) for each in Path(f"/proc/{pid}/task").iterdir()}
    return set()


def _read_stat(file: Path) -> tuple[str, int, int | None]:
    """The state letter, processor time in ns and start (ticks since boot) in a `stat` file; "" if it is missing."""
    try:
        fields = file.read_bytes().rpartition(b")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        return fields[0].decode(), ticks * _NS_PER_S // os.sysconf("SC_CLK_TCK"), int(fields[19])
    except (OSError, IndexError, ValueError):
        return "", 0, None


def _read_processor_time(file: Path, fallback_ns: int) -> int:
    """The processor time in a `schedstat` file, in ns. Ticks of 10 ms, as in `stat`, are too coarse."""
    try:
        return int(file.read_bytes().split()[0])
    except (OSError, IndexError, ValueError):
        return fallback_ns


def _read_small_text(file: Path) -> str:
    """The text of a file without whitespace at its ends; empty if it is not readable."""
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _parse_system_call(text: str) -> tuple[int | None, list[int]]:
    """The number and arguments in the text of a `syscall` file; None if the thread sleeps outside of system calls."""
    number, *arguments = text.split() or ("",)
    if platform.machine() != "x86_64" or not number.isdecimal() or len(arguments) < 6:
        return None, []
    return int(number), [int(each, 16) for each in arguments]
