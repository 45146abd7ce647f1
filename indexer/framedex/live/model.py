"""The state of a process at one moment: its threads, their Python stacks, calls in progress and waits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from framedex.model.locations import is_framedex_file, is_library_file

if TYPE_CHECKING:
    from framedex.captures.open_calls import OpenCall


class ProcessState(StrEnum):
    """The state of a process."""

    ALIVE = "alive"
    STOPPED = "stopped"  # stopped by SIGSTOP or by job control of a terminal
    TRACED = "traced"  # stopped by a debugger
    ENDED = "ended"
    ELSEWHERE = "on another machine"  # or in another container, where only its recorded calls are visible


class Activity(StrEnum):
    """The activity of a thread, according to the kernel."""

    RUNNING = "running"
    FUTEX = "futex"  # waits for a lock, a condition or an event of this process
    SLEEP = "sleep"
    INPUT = "input"  # waits for a file, a pipe, a socket or the end of a child process
    DISK = "disk"  # uninterruptible sleep, mostly for a disk
    STOPPED = "stopped"
    UNKNOWN = "unknown"  # sleeps in a system call that framedex cannot read


class GilRole(StrEnum):
    """The relation of a thread to the GIL."""

    HOLDS = "holds"
    WAITS = "waits"


ANOTHER_PROCESS = "another process"
"""The subject of a task that waits in shared memory, as for a lock of `multiprocessing`."""

_FROZEN_MODULE = "<frozen "  # file names of modules built into the interpreter start so


@dataclass(frozen=True, slots=True)
class LiveFrame:
    """A Python frame: the absolute path of its file (or a name such as `<stdin>`), and its current line."""

    function: str
    file: str
    line: int

    @property
    def is_user_code(self) -> bool:
        """Whether the frame is the user's own code, not that of Python or an installed package."""
        is_library = is_library_file(self.file) or self.file.startswith(_FROZEN_MODULE)
        return not is_library and not is_framedex_file(self.file)


@dataclass(frozen=True, slots=True)
class LockObject:
    """A `threading.Lock` or `RLock`.

    `owner` is the Python identifier of the thread that holds an RLock, else 0: a Lock does not store its owner.
    `futex` is the address on which its waiters sleep, 0 if they sleep elsewhere (from Python 3.14 on).
    """

    address: int
    kind: str
    is_locked: bool
    owner: int
    futex: int

    @property
    def name(self) -> str:
        """The type and address of the lock, such as `RLock 0x7f0012`."""
        return f"{self.kind} {self.address:#x}"


@dataclass(frozen=True, slots=True)
class PythonThread:
    """A Python thread: its kernel thread id, its Python identifier, and its frames, innermost first.

    `evaluators` are, for each frame, an address inside the native frame that evaluates it, 0 if unknown.
    `is_changing`: the frames changed during each attempt to read them. `held` are the locks
    of the `with` blocks that it executes. `reached` are locks on the value stack of its innermost frame.
    """

    tid: int
    identifier: int
    frames: tuple[LiveFrame, ...]
    evaluators: tuple[int, ...]
    is_changing: bool = False
    held: tuple[LockObject, ...] = ()
    reached: tuple[LockObject, ...] = ()
    has_gil: bool = False


@dataclass(frozen=True, slots=True)
class Python:
    """The Python interpreter of a process. `gil` is the address range of the GIL; threads wait for it there."""

    minor: int
    threads: tuple[PythonThread, ...]
    gil: range


@dataclass(frozen=True, slots=True)
class Task:
    """A kernel thread. `cpu_ns` is its processor time.

    `futex` is the address that it waits on, 0 if none, and `mutex_owner` the thread id that owns the C mutex there, 0
    if it is not a mutex. `until_ns` is the end of a timed wait or sleep on CLOCK_MONOTONIC, None if it has none or if
    unknown. `call` is the name of its system call, and `subject` the file or process that the call waits for. `pipe` is
    the kernel's name of a pipe, such as `pipe:[17]`; empty for other files.
    """

    tid: int
    name: str
    activity: Activity
    cpu_ns: int = 0
    call: str = ""
    futex: int = 0
    mutex_owner: int = 0
    until_ns: int | None = None
    subject: str = ""
    pipe: str = ""


@dataclass(frozen=True, slots=True)
class LiveThread:
    """A thread: kernel state, Python frames (innermost first) and calls in progress (outermost first).

    `is_main`: it is the process's first thread. `name` is the kernel's.

    `waits_for` is the lock that it waits for. `calls` is the number of its recorded calls, None if it has no stream,
    and `last_record_ns` the time of its last record on CLOCK_MONOTONIC. `pending` are the calls that registered
    callbacks for events that have not fired. `signal` is the name of a fatal signal on this thread, such as `SIGSEGV`.
    """

    tid: int
    name: str
    task: Task | None
    python: PythonThread | None = None
    gil: GilRole | None = None
    waits_for: LockObject | None = None
    calls: int | None = None
    last_record_ns: int | None = None
    open_calls: tuple[OpenCall, ...] = ()
    pending: tuple[OpenCall, ...] = ()
    signal: str | None = None
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class ProcessSnapshot:
    """A process at `time_ns` of CLOCK_MONOTONIC. The main thread is first.

    `started_unix_ns` is the start of the recording, else of the process. `end` is how the process ended, such as `was
    killed by SIGSEGV`, empty if unknown; `ended_unix_ns` is when, None if unknown. `problem` is the reason why Python
    frames or kernel states are missing, `remedy` what to do. `capture_problem` is the reason if the capture is
    unreadable. `hang_report` is the answer that `framedex run --hang-after` wrote before the process ended, empty if
    it wrote none. `crash_file` is the path of the stack at which a signal ended it, empty if there is none, and
    `crash_frames` are its Python frames, innermost first.
    """

    pid: int
    command: str
    state: ProcessState
    time_ns: int
    started_unix_ns: int | None
    threads: tuple[LiveThread, ...]
    capture: str | None = None
    python_version: str = ""
    end: str = ""
    ended_unix_ns: int | None = None
    problem: str = ""
    remedy: str = ""
    capture_problem: str = ""
    hang_report: str = ""
    crash_file: str = ""
    crash_frames: tuple[LiveFrame, ...] = ()

    @property
    def may_continue(self) -> bool:
        """Whether the process may make progress: it exists and is not stopped, or is elsewhere."""
        return self.state in (ProcessState.ALIVE, ProcessState.ELSEWHERE)

    @property
    def calls(self) -> int | None:
        """The number of recorded calls; None without a capture."""
        return None if self.capture is None else sum(each.calls or 0 for each in self.threads)

    @property
    def last_record_ns(self) -> int | None:
        """The time of the last call or return on CLOCK_MONOTONIC; None if nothing was recorded."""
        return max((each.last_record_ns for each in self.threads if each.last_record_ns is not None), default=None)
