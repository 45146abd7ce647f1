"""The wait of each thread of a process: its kind, and the threads that could end it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from framedex.live.model import Activity, GilRole, LiveFrame, LiveThread, ProcessSnapshot

if TYPE_CHECKING:
    from framedex.captures.open_calls import OpenCall

_BUSY_SHARE = 0.1  # a thread is running if it used a processor for more of the time between two snapshots
_STANDARD_LIBRARY = re.compile(r"/lib(?:64)?/python3\.[^/]+/(?!(?:site|dist)-packages/)|^<frozen ")
_START_OF_THREAD = "Thread._bootstrap"  # the outermost frame of a thread that Python started
_JAX_FILE = re.compile(r"/jax/(?:_src|experimental|extend)/|/jaxlib/")


class WaitKind(StrEnum):
    """The kind of a thread's wait."""

    RUNNING = "running"  # does not wait: it computes
    LOCK = "lock"  # threading.Lock or RLock
    MUTEX = "mutex"  # a mutex of C or C++
    GIL = "gil"
    PYTHON = "python"  # a queue, condition, event, future or join of Python's standard library
    NATIVE = "native"  # waits in native code for another thread
    TIMED = "timed"  # a sleep, or a wait with a timeout
    INPUT = "input"  # waits for a file, pipe, socket, child process or disk
    STOPPED = "stopped"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Wait:
    """The wait of a thread. `holder` is the thread id that holds the lock, mutex or GIL, None if unknown.

    `cpu_ns` is its processor time between the snapshots. `has_computed`: this is a considerable part of the time.
    Otherwise a thread that runs at the second snapshot computes on a loaded machine, or woke for a moment.
    """

    kind: WaitKind
    thread: LiveThread
    holder: int | None = None
    cpu_ns: int = 0
    has_computed: bool = False

    @property
    def is_for_python(self) -> bool:
        """Whether only other Python code can end the wait."""
        return self.kind in (WaitKind.PYTHON, WaitKind.LOCK)

    @property
    def is_in_callback(self) -> bool:
        """Whether the thread runs Python that a runtime called back, not a thread that Python started."""
        python = self.thread.python
        if python is None or not python.frames or self.thread.is_main:
            return False
        return not self.is_of_python_thread

    @property
    def is_of_python_thread(self) -> bool:
        """Whether Python started the thread."""
        python = self.thread.python
        return python is not None and bool(python.frames) and python.frames[-1].function == _START_OF_THREAD

    @property
    def line(self) -> LiveFrame | None:
        """The user's innermost line, otherwise the innermost frame; None without Python."""
        return find_innermost_line(python_frames(self.thread))

    @property
    def called_function(self) -> str:
        """The function of a library that the user's innermost line calls, such as `Queue.get`; empty if none."""
        frames = python_frames(self.thread)
        first = next((index for index, frame in enumerate(frames) if frame.is_user_code), 0)
        return frames[first - 1].function if first else ""

    @property
    def event(self) -> int | None:
        """The address of the awaited event: the latest one for which the thread's line registered a callback."""
        calls = [call for call in self.thread.pending if find_innermost_line(call_frames(call)) == self.line]
        return max(calls, key=lambda call: call.since_ns).object if calls else None

    @property
    def is_for_jax(self) -> bool:
        """Whether JAX's Python code is running or the line is blocked on a runtime event."""
        python = self.thread.python
        is_in_jax = python is not None and bool(python.frames) and bool(_JAX_FILE.search(python.frames[0].file))
        return is_in_jax or self.event is not None


def python_frames(thread: LiveThread) -> Sequence[LiveFrame]:
    """The Python frames of a thread, innermost first; if unreadable, those at the start of its innermost open call."""
    if thread.python is not None and thread.python.frames:
        return thread.python.frames
    if not thread.open_calls:
        return ()
    return call_frames(thread.open_calls[-1])


def call_frames(call: OpenCall) -> Sequence[LiveFrame]:
    """The Python frames of a recorded call, innermost first."""
    return [LiveFrame(each.name, each.file, each.line) for each in call.frames if each.language == "python"]


def find_innermost_line(frames: Sequence[LiveFrame]) -> LiveFrame | None:
    """The user's innermost line, otherwise the innermost frame; None without frames."""
    return next((frame for frame in frames if frame.is_user_code), frames[0] if frames else None)


def find_waits(before: ProcessSnapshot, after: ProcessSnapshot) -> dict[int, Wait]:
    """The wait of each thread of `after`, by thread id; `before` is an earlier snapshot, which shows processor time."""
    earlier = {thread.tid: thread for thread in before.threads}
    elapsed_ns = max(after.time_ns - before.time_ns, 1)
    holders = _lock_holders(after.threads)
    gil_holder = next((thread.tid for thread in after.threads if thread.gil is GilRole.HOLDS), None)
    waits = {}
    for thread in after.threads:
        known = earlier.get(thread.tid)
        before_ns = known.task.cpu_ns if known is not None and known.task is not None else None
        cpu_ns = 0 if before_ns is None or thread.task is None else thread.task.cpu_ns - before_ns
        has_computed = cpu_ns > _BUSY_SHARE * elapsed_ns
        wait = _wait_of(thread, known, holders, gil_holder, has_computed=has_computed)
        waits[thread.tid] = replace(wait, cpu_ns=cpu_ns, has_computed=has_computed)
    return waits


def find_supporting_threads(waits: Mapping[int, Wait], start: int) -> set[int]:
    """The thread ids whose work may end the wait of a thread, with that thread.

    A lock needs its holder. JAX needs the threads of the runtime, and callbacks. Another wait in Python needs any
    thread.
    """
    found: set[int] = set()
    left = [start]
    while left:
        wait = waits[left.pop()]
        if wait.thread.tid not in found:
            found.add(wait.thread.tid)
            left += _find_threads_that_may_end(wait, waits)
    return found


def _find_threads_that_may_end(wait: Wait, waits: Mapping[int, Wait]) -> Iterable[int]:
    if wait.holder is not None and wait.holder in waits:
        return (wait.holder,)
    if wait.kind is WaitKind.NATIVE and wait.is_for_jax:
        return (tid for tid, each in waits.items() if not each.is_of_python_thread and not each.thread.is_main)
    return waits if wait.line is not None or wait.thread.is_main else ()


def _lock_holders(threads: Iterable[LiveThread]) -> Mapping[int, int]:
    """The thread id that holds each lock, by the address of the lock, as far as known."""
    holders: dict[int, int] = {}
    of_python = [thread.python for thread in threads if thread.python is not None]
    tids = {each.identifier: each.tid for each in of_python}
    for each in of_python:
        holders |= {lock.address: each.tid for lock in each.held}
    for each in of_python:
        holders |= {lock.address: tids[lock.owner] for lock in each.reached if lock.owner in tids}
    return holders


def _wait_of(
    thread: LiveThread,
    earlier: LiveThread | None,
    holders: Mapping[int, int],
    gil_holder: int | None,
    *,
    has_computed: bool,
) -> Wait:
    task = thread.task
    if task is None:
        return Wait(WaitKind.UNKNOWN, thread)
    if GilRole.WAITS in (thread.gil, earlier.gil if earlier else None) and thread.gil is not GilRole.HOLDS:
        return Wait(WaitKind.GIL, thread, gil_holder)
    before = earlier.task if earlier is not None and earlier.task is not None else task
    is_same_wait = thread.python is not None and task.futex != 0 and task.futex == before.futex
    if has_computed and not is_same_wait:
        return Wait(WaitKind.RUNNING, thread)
    if task.activity is Activity.RUNNING:
        if before.activity in (Activity.INPUT, Activity.DISK):  # it wakes for a moment, such as for a heartbeat
            return Wait(WaitKind.INPUT, thread)
        wakes_for_a_moment = before.activity is Activity.SLEEP or before.until_ns is not None
        return Wait(WaitKind.TIMED if wakes_for_a_moment else WaitKind.RUNNING, thread)
    if task.activity is Activity.STOPPED:
        return Wait(WaitKind.STOPPED, thread)
    if task.activity in (Activity.INPUT, Activity.DISK):
        return Wait(WaitKind.INPUT, thread)
    if task.activity is Activity.SLEEP or task.until_ns is not None:
        return Wait(WaitKind.TIMED, thread)
    if task.activity is Activity.UNKNOWN:
        return Wait(WaitKind.UNKNOWN, thread)
    if task.mutex_owner:
        return Wait(WaitKind.MUTEX, thread, task.mutex_owner)
    frames = thread.python.frames if thread.python is not None else ()
    is_in_library = bool(frames) and _STANDARD_LIBRARY.search(frames[0].file) is not None
    lock = thread.waits_for
    if lock is not None and (lock.address in holders or not is_in_library):
        return Wait(WaitKind.LOCK, thread, holders.get(lock.address))
    return Wait(WaitKind.PYTHON if is_in_library else WaitKind.NATIVE, thread)
