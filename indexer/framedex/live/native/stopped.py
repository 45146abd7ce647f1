"""A living process at one moment: its threads are stopped while their registers, stacks and Python are read.

By ptrace(2): PTRACE_SEIZE and PTRACE_INTERRUPT send no signal, and the kernel restarts a system call in progress. If
this process dies, the kernel lets the threads run again.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import shlex
import signal
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from framedex.base import words
from framedex.base.errors import FramedexError, raise_if_limit
from framedex.base.memory_maps import MappedRange, find_root, read_maps
from framedex.live.memory import Memory, MemoryRanges, ProcessMemory
from framedex.live.model import ProcessState
from framedex.live.native.image import REGISTERS, FileMapping, ProcessImage, StopTimeoutError, ThreadRegisters
from framedex.live.native.modules import VDSO
from framedex.live.native.stacks import ProcessStacks, read_stacks
from framedex.live.snapshot import describe_refusal
from framedex.live.tasks import read_command_line, read_process_state, read_thread_ids

_GET_REGISTERS, _DETACH, _SEIZE, _INTERRUPT = 12, 17, 0x4206, 0x4207  # linux/ptrace.h
_EVENT_STOP = 128
_ALL_CHILDREN = 0x40000000  # __WALL
_REGISTERS = struct.Struct(f"<{len(REGISTERS)}Q")
_REGISTERS_BYTES = 27 * 8  # sizeof(struct user_regs_struct)
_STACK_POINTER = 7
_RED_ZONE_BYTES = 128  # leaf functions use these bytes below the stack pointer
_MAX_STACK_BYTES = 16 << 20
_STOP_TIMEOUT_S = 1.0  # limit until all threads have stopped
_READ_TIMEOUT_S = 5.0  # limit until they run again
_POLL_S = 0.0002
_ROUNDS = 16  # repeated because running threads may start new threads


class StoppedProcess:
    """The threads of a stopped process. A thread that cannot stop now, in a device driver for example, is left out."""

    def __init__(self, pid: int) -> None:
        """Stop all threads. Raises PermissionError without the permission to trace the process."""
        self._pid = pid
        self._ptrace = ctypes.CDLL(None, use_errno=True).ptrace
        self._ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
        self._ptrace.restype = ctypes.c_long
        self._signals: dict[int, int] = {}  # by thread id: the signal that was about to be delivered, or 0
        self._seized: set[int] = set()
        started = time.monotonic()
        self._stop_deadline, self._read_deadline = started + _STOP_TIMEOUT_S, started + _READ_TIMEOUT_S
        try:
            for _ in range(_ROUNDS):
                if not (new := read_thread_ids(self._pid) - self._seized):
                    break
                self._stop_threads(new)
        except BaseException:
            self.resume()
            raise

    def image(self, memory: ProcessMemory) -> ProcessImage:
        """The process, with copies of its stacks. Other memory is read from the living process."""
        pid = self._pid
        maps = list(read_maps(pid))
        threads = [ThreadRegisters(tid, self._read_registers(tid)) for tid in sorted(self._signals)]
        threads.sort(key=lambda thread: thread.tid != pid)
        copies = [_copy_stack(memory, thread.registers[_STACK_POINTER], maps) for thread in threads]
        missing = len(self._seized) - len(threads)
        return ProcessImage(
            pid=pid,
            command=shlex.join(read_command_line(pid)),
            program=str(Path(f"/proc/{pid}/exe").readlink()),
            threads=tuple(threads),
            mappings=tuple(
                FileMapping(each.start, each.end, each.offset, each.path) for each in maps if each.path.startswith("/")
            ),
            memory=_CopiedMemory(memory, copies, self._check_deadline),
            vdso=next((each.start for each in maps if each.path == VDSO), None),
            problem=f"{words.count(missing, 'thread')} did not stop and cannot be shown." if missing else "",
            root=find_root(pid),
        )

    def resume(self) -> None:
        """Let all threads run again. A thread that stops only after this runs when this process ends."""
        for tid in self._seized - self._signals.keys():
            self._has_stopped(tid)
        self._seized -= self._signals.keys()
        for tid, number in self._signals.items():
            with suppress(OSError):  # it was killed
                self._call_ptrace(_DETACH, tid, number)
        self._signals.clear()

    def _stop_threads(self, tids: set[int]) -> None:
        self._seized |= tids
        interrupted = set()
        for tid in tids:
            try:
                self._call_ptrace(_SEIZE, tid)
                self._call_ptrace(_INTERRUPT, tid)
                interrupted.add(tid)
            except OSError as error:
                if error.errno != errno.ESRCH:  # it has ended
                    raise
                self._seized.discard(tid)
        while interrupted and time.monotonic() < self._stop_deadline:
            stopped = {tid for tid in interrupted if self._has_stopped(tid)}
            interrupted -= stopped
            if not stopped:
                time.sleep(_POLL_S)

    def _has_stopped(self, tid: int) -> bool:
        """Whether a thread has stopped or ended."""
        try:
            found, status = os.waitpid(tid, os.WNOHANG | _ALL_CHILDREN)
        except ChildProcessError:
            found, status = tid, 0
        if not found:
            return False
        if os.WIFSTOPPED(status):
            self._signals[tid] = 0 if status >> 16 == _EVENT_STOP else os.WSTOPSIG(status)
        else:
            self._seized.discard(tid)
        return True

    def _check_deadline(self) -> None:
        """Raise StopTimeoutError if the threads have been stopped for too long."""
        if self._signals and time.monotonic() > self._read_deadline:
            raise StopTimeoutError(f"the process may not be stopped for more than {_READ_TIMEOUT_S:.0f} s")

    def _read_registers(self, tid: int) -> dict[int, int]:
        content = ctypes.create_string_buffer(_REGISTERS_BYTES)
        self._call_ptrace(_GET_REGISTERS, tid, content)
        values = _REGISTERS.unpack_from(content)
        return {name: value for name, value in zip(REGISTERS, values, strict=True) if name is not None}

    def _call_ptrace(self, request: int, tid: int, data: object = None) -> None:
        if self._ptrace(request, tid, None, data) < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def read_living_stacks(pid: int) -> ProcessStacks:
    """The stacks of a living process, which is stopped until its memory is copied.

    Raises FramedexError without the permission to trace the process, if it ends meanwhile, or if it cannot be read.
    """
    if platform.machine() != "x86_64":
        raise FramedexError(
            f"The native frames of process {pid} are not readable on {platform.machine()}: only x86-64 is supported."
        )
    try:
        with _stop_process(pid) as (image, stopped):
            return read_stacks(image, resume=stopped.resume)
    except PermissionError as error:
        remedy = describe_refusal(pid, error)[1]
        if read_process_state(pid) is ProcessState.TRACED:
            remedy = "Another program traces it, such as a debugger or strace: detach that first."
        raise FramedexError(
            f"The native frames of process {pid} are not readable: {error.strerror}.", remedy
        ) from error
    except OSError as error:
        raise_if_limit(error)
        if error.errno == errno.ESRCH or read_process_state(pid) is ProcessState.ENDED:
            raise FramedexError(
                f"Process {pid} ended while it was read.", "Look at its capture or its core file."
            ) from error
        raise FramedexError(
            f"The native frames of process {pid} are not readable: {error.strerror or error}.", "Run the command again."
        ) from error


@contextmanager
def _stop_process(pid: int) -> Iterator[tuple[ProcessImage, StoppedProcess]]:
    """Stop a process, and let it run again at the latest at the end of the context. Ctrl-Z takes effect after that.

    Raises PermissionError without the permission to trace the process, OSError if it ends meanwhile.
    """
    with ProcessMemory(pid) as memory:
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})
        try:
            stopped = StoppedProcess(pid)
            try:
                yield stopped.image(memory), stopped
            finally:
                stopped.resume()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


class _CopiedMemory(Memory):
    """The memory of a living process, of which some parts were copied. `check` precedes other reads."""

    def __init__(self, memory: Memory, copies: Sequence[tuple[int, bytes]], check: Callable[[], None]) -> None:
        self._memory, self._check = memory, check
        self._copies = MemoryRanges((start, len(content), content) for start, content in copies)

    def read(self, address: int, size: int) -> bytes:
        """The bytes at an address."""
        offset, left, content = self._copies.find(address) or (0, 0, b"")
        if size <= left:
            return content[offset : offset + size]
        self._check()
        return self._memory.read(address, size)


def _copy_stack(memory: Memory, stack_pointer: int, maps: Sequence[MappedRange]) -> tuple[int, bytes]:
    """The address and content of a stack, from its stack pointer to the end of its mapping; empty if unreadable."""
    first = stack_pointer - _RED_ZONE_BYTES
    last = next((each.end for each in maps if each.start <= stack_pointer < each.end), first)
    try:
        return first, memory.read(first, min(last - first, _MAX_STACK_BYTES))
    except OSError:
        return first, b""
