"""Costs by program line: compilations, transfers, live device memory, and waits with the steps of loops."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import PythonLine, Table


MIN_TEMPORARY_SHARE = 0.1
"""The share of a device's peak from which on the temporaries of programs are shown line by line."""

SAME_KEYS = "function, arguments and settings as before"
"""The text for a recompilation if all facts that JAX's tracing cache compares are known and equal."""

SAME_PASS = "the pass of a derivative as before"
"""`CompileChange.what` if the same holds for a program that JAX derived from a function."""

LOOP_BODY = "loop body"
"""`MemorySaving.what` if the values are those of a loop's body."""

UNSPECIFIED_SHARDING = "unspecified"
"""The value of a sharding that JAX leaves to the compiler, as for an array that no `device_put` has placed."""


class ChangeCause(enum.Enum):
    """A change since the previous compilation of the same function."""

    SHAPE = "shape"
    DTYPE = "dtype"
    WEAK_TYPE = "weak type"
    STATIC = "static argument"
    STATIC_DATA = "static data"  # of a pytree: JAX compares it like a static argument
    PARAMETER = "parameter"  # of a primitive that runs outside of `jax.jit`
    FUNCTION = "function"  # another function object, even if its code is equal
    SETTING = "JAX setting"
    ARGUMENTS = "arguments"  # a different number or tree structure
    DERIVATIVE = "derivative"  # another pass of a derivative, which is a program of its own
    SHARDING = "sharding"
    DONATION = "donation"
    LAYOUT = "layout"
    OPTIONS = "compile options"
    CONSTANTS = "constants"
    OBJECT_ID = "object id"  # only the id of a Python object in the ops
    CODE = "code"  # the program's ops differ, and nothing above explains it
    SAME = "same program"  # recompiled an identical program, and no known fact above differs


@dataclass(frozen=True, slots=True)
class CompileChange:
    """A difference between compilations of a function.

    `what` names it (`argument 0 (x)`, `n`, `xla_cpu_enable_fast_math`). `values` has its values in readable form
    (`float32[3]`), in order of appearance, without duplicates; empty if unknown. For changed code and for an identical
    program, `what` is empty unless JAX reported the arguments and weak types and static arguments are unchanged.
    `parameter` is the name of an array argument in the program (`x`, `params['w']`). An argument without a name is
    counted from 1 (`array argument 1`). It is empty if `what` is not an argument.
    """

    cause: ChangeCause
    what: str
    values: tuple[str, ...] = ()
    parameter: str = field(default="", compare=False)  # follows from `what`


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """A compilation that JAX's persistent cache did not save, compared with the nearest earlier one of its function.

    `call` compiled the program, `earlier_call` in the capture at `earlier_path` compiled or loaded the nearest one.
    `parts` of the cache key differ, by JAX's names; `changes` are known differences. If no part differs, JAX did not
    store the earlier program because it compiled in less than `minimum_s` seconds. If `minimum_s` is None, the entry of
    the earlier program is gone or in another folder.
    """

    call: int
    earlier_call: int
    earlier_path: str
    parts: tuple[str, ...]
    changes: tuple[CompileChange, ...]
    minimum_s: float | None


@dataclass(frozen=True, slots=True)
class Collective:
    """Equal transfers between the devices of a compiled program: `count` of them from one line.

    `line` is the innermost line of the program itself that the op comes from (None: unknown), the other fields are
    those of `ProgramCollective`. If `is_requested` is false, the compiler inserted them, to match shardings.
    """

    opcode: str
    op: str
    shape: str
    size: int
    devices: int
    is_repeated: bool
    is_requested: bool
    line: PythonLine | None
    count: int


@dataclass(frozen=True, slots=True)
class Compiles:
    """The compilations of one function that a line of the program caused; durations in ns.

    `line` is the innermost line of the program itself that led to them (None: no Python is known). `outward` has its
    callers, nearest first. `function` is the name of the jitted function (`f`, `<lambda>`), empty if unknown.
    `compiles` counts compilations, `loads` counts executables loaded from a compilation cache, `failed` counts errors
    of both. `changes` are between consecutive compilations of this function, from any line, most frequent first.
    `traces`, `lowerings` and `lookups` in the compilation cache count JAX's work before, with their durations. A trace
    includes the functions that it traced inside. The counts are 0 if these phases were not recorded.
    """

    line: PythonLine | None
    outward: tuple[PythonLine, ...]
    function: str
    compiles: int
    failed: int
    total_duration: int
    longest_duration: int
    loads: int
    load_duration: int
    changes: tuple[CompileChange, ...]
    first_call: int
    latest_call: int
    problem: str = ""
    """A sentence about missing facts of the programs."""
    traces: int = 0
    trace_duration: int = 0
    lowerings: int = 0
    lower_duration: int = 0
    lookups: int = 0
    lookup_duration: int = 0
    cache_misses: tuple[CacheMiss, ...] = ()
    """The explained misses of the persistent cache, in order."""
    collectives: tuple[Collective, ...] = ()
    """The transfers between devices in the latest program, largest first."""


class TransferDirection(enum.Enum):
    """The source and destination of a transfer."""

    HOST_TO_DEVICE = "host to device"
    DEVICE_TO_HOST = "device to host"
    DEVICE_TO_DEVICE = "device to device"


@dataclass(frozen=True, slots=True)
class Transfers:
    """The transfers in one direction that a line caused, explicit and implicit ones separately; `duration` in ns.

    `how` is the operation in the program: `device_put`, `float`, `operand of a call`; empty if unknown. `is_implicit`:
    JAX's `transfer_guard("disallow")` blocks them. `size` is in bytes, without the `unsized` transfers, whose size no
    call reports.
    """

    line: PythonLine | None
    outward: tuple[PythonLine, ...]
    direction: TransferDirection
    how: str
    is_implicit: bool
    count: int
    size: int
    unsized: int
    total_duration: int
    first_call: int
    latest_call: int


@dataclass(frozen=True, slots=True)
class LineMemory:
    """The buffers that a line created; sizes in bytes of device memory.

    Until a buffer is donated, it belongs to the line that created it, and then to the line that received its memory.
    The live size of the buffers is `at_peak` at the device's peak, `at_end` at the end of the recording, and `most` at
    this line's peak. `growth` is the average size that remains after each iteration of the line's loop, if its live
    bytes only rise (a leak); otherwise 0. `rounds` is the number of iterations. `temporaries` is the part of
    `at_peak` that belongs to programs that the line runs, and to no buffer.
    """

    line: PythonLine | None
    outward: tuple[PythonLine, ...]
    buffers: int
    allocated: int
    at_peak: int
    buffers_at_peak: int
    at_end: int
    most: int
    growth: int = 0
    rounds: int = 0
    latest_call: int = 0
    temporaries: int = 0


@dataclass(frozen=True, slots=True)
class LiveBuffers:
    """The live buffers of a line at one time; sizes in bytes of device memory."""

    line: PythonLine | None
    buffers: int
    size: int


@dataclass(frozen=True, slots=True)
class TemporaryBuffer:
    """A temporary of a program that is alive at the program's peak; `size` in bytes.

    `instruction` of kind `opcode` defines it, with JAX's name `op` (`jit(f)/sort`; empty if XLA added it). It lives
    from step `first` to step `last` of the schedule, whose instruction is `last_instruction`. `line` is the innermost
    line of the user's own files in `stack`, the lines of the op, innermost first. `is_near`: the instruction names no
    line, and the nearest one that does is used. `fused` are the ops of a fusion with their lines. `shares` are the
    lines of a fusion with their shares of its ops, the largest first; empty if all its ops have one line.
    """

    instruction: str
    opcode: str
    op: str
    shape: str
    size: int
    first: int
    last: int
    last_instruction: str
    is_near: bool
    line: PythonLine | None
    stack: tuple[PythonLine, ...]
    fused: tuple[tuple[str, PythonLine | None], ...]
    shares: tuple[tuple[PythonLine, float], ...] = ()


@dataclass(frozen=True, slots=True)
class MemorySaving:
    """A change that would lower a program's peak by about `size` bytes; an estimate.

    `change` is `remat` (compute the values of `line` again), `donate` (the argument `what`), or `batch` (halve the
    dimension `what` of the arguments). `what` of `remat` is `LOOP_BODY` if `line` is a loop such as `jax.lax.scan`.
    """

    change: str
    what: str
    size: int
    line: PythonLine | None = None


@dataclass(frozen=True, slots=True)
class ProgramPeak:
    """The temporaries of the program with the largest temporaries at a device's peak; sizes in bytes on one device.

    `sizes` are what the plug-in reports of the program: `temporaries`, `code`, `arguments`, `results`, `aliased`,
    `peak`. `peak` is the maximum of the live temporaries in its schedule of `steps` steps, reached at `peak_step`;
    `over_time` has points (step, live bytes). `is_exact`: the compiler reported the buffers; otherwise they are
    estimates from shapes. `buffers` are alive at the peak, largest first. Without a schedule, `steps` is 0.
    """

    function: str
    compile_call: int
    sizes: tuple[tuple[str, int], ...]
    is_exact: bool = False
    peak: int = 0
    peak_step: int = 0
    steps: int = 0
    over_time: tuple[tuple[int, int], ...] = ()
    buffers: tuple[TemporaryBuffer, ...] = ()
    savings: tuple[MemorySaving, ...] = ()

    @property
    def temporaries(self) -> int:
        """The reported size of all temporaries."""
        return dict(self.sizes).get("temporaries", 0)

    def buffers_by_line(self) -> list[tuple[PythonLine | None, list[TemporaryBuffer]]]:
        """Return the buffers of each line, largest total first."""
        found: dict[PythonLine | None, list[TemporaryBuffer]] = {}
        for buffer in self.buffers:
            found.setdefault(buffer.line, []).append(buffer)
        return sorted(found.items(), key=lambda group: -sum(buffer.size for buffer in group[1]))

    def sizes_over_time(self, buffers: Iterable[TemporaryBuffer]) -> list[int]:
        """Return the live bytes of buffers at each step of `over_time`."""
        lives = [(buffer.first, buffer.last, buffer.size) for buffer in buffers]
        return [sum(size for first, last, size in lives if first <= step <= last) for step, _ in self.over_time]


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """A call that ran out of memory, with the live buffers at that time.

    `wanted` is the requested size in bytes (None: unknown), `alive` the live bytes, `held` the live buffers by line,
    largest first. `program` is the one that the call was to run, if known.
    """

    call: int
    time: int
    line: PythonLine | None
    wanted: int | None
    alive: int
    held: tuple[LiveBuffers, ...]
    program: ProgramPeak | None = None


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """The memory of one device in one capture; times in ns since the recording began, sizes in bytes.

    `device` is its number on the mock TPU, or the memory space of the buffers for other plug-ins (`memory#1`); empty if
    unknown. `over_time` has at most a few thousand points (time, live bytes), including the peak. `unsized` counts
    buffers of unknown size, which are in no sum. `temporaries` and `code` are the parts of the peak inside programs,
    and `program` has the largest temporaries.
    """

    capture: int
    device: str
    peak: int
    peak_time: int
    peak_call: int
    at_end: int
    buffers: int
    unsized: int
    over_time: tuple[tuple[int, int], ...]
    lines: tuple[LineMemory, ...]
    failures: tuple[OutOfMemory, ...] = ()
    temporaries: int = 0
    code: int = 0
    program: ProgramPeak | None = None

    @property
    def large_program(self) -> ProgramPeak | None:
        """The program if its temporaries are a notable part of the peak, or if memory ran out."""
        is_large = self.temporaries >= MIN_TEMPORARY_SHARE * self.peak
        return self.program if is_large or self.failures else None


class WaitReason(enum.Enum):
    """The reason of a wait."""

    READY = "result"  # block_until_ready, an event
    COPY = "copy to the host"  # float(x), np.asarray(x), device_get
    RUN = "run"  # a program launch that returned late: the program ran synchronously, or the queue was full


@dataclass(frozen=True, slots=True)
class Waits:
    """The time that a Python thread was blocked on the runtime in a line; durations in ns.

    Of `count` waits, `unsure` have no recorded end of the awaited work: they count until the thread's next call.
    `unended` counts waits that had not ended at the end of the recording: they lasted at least until then. The calls
    are the blocking ones, or the ones before the waits.

    The longest wait was for the event `longest_event`, such as `event#12`, of the program that the call `longest_run`
    ran, in the program line `dispatched_in`. Each is None if unknown.
    """

    line: PythonLine | None
    outward: tuple[PythonLine, ...]
    how: WaitReason
    thread: str
    count: int
    unsure: int
    total_duration: int
    longest_duration: int
    longest_call: int
    first_call: int
    latest_call: int
    unended: int = 0
    longest_event: str | None = None
    longest_run: int | None = None
    dispatched_in: PythonLine | None = None


PARTS_OF_STEPS = ("compile", "dispatch", "transfer", "wait")
"""The parts of a loop step in the runtime, by the fields with their durations; the rest is `own`."""


@dataclass(frozen=True, slots=True)
class LoopStep:
    """One iteration of a loop of the program; times in ns.

    `compile`, `dispatch`, `transfer` and `wait` are non-overlapping times of the thread in the runtime.
    """

    number: int
    start: int
    duration: int
    compile: int
    dispatch: int
    transfer: int
    wait: int
    first_call: int

    @property
    def own(self) -> int:
        """The rest of `duration` in ns: the program itself."""
        return _own_duration(self)


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the program, detected by its repetition. `line` is a line of the program that runs in every iteration.

    Times in ns: `duration` and the fields after it are totals of all `rounds`, `median_duration` is of one iteration.
    `steps` has all iterations. If there are thousands, they are split into groups of equal size, and `steps` has the
    longest of each group.
    """

    capture: int
    thread: str
    line: PythonLine | None
    rounds: int
    start: int
    duration: int
    median_duration: int
    compile: int
    dispatch: int
    transfer: int
    wait: int
    steps: tuple[LoopStep, ...]

    @property
    def own(self) -> int:
        """The rest of `duration` in ns: the program itself."""
        return _own_duration(self)


def _own_duration(timed: LoopStep | Loop) -> int:
    in_runtime: int = sum(getattr(timed, part) for part in PARTS_OF_STEPS)
    return max(timed.duration - in_runtime, 0)


@dataclass(frozen=True, slots=True)
class WaitsAndLoops:
    """All waits and loops of some captures.

    `recorded` is the time from the first call to the end of the last. `device` is the part of it in which a program is
    known to have run (None: unknown). Both are in ns, as totals of the captures.

    `unseen_times` times, for `unseen` ns in total, a thread made no call until its own program had ended. The recording
    does not show whether the thread waited. `unseen_call` is the call before the longest of these times, or 0.

    `ended_by` has the signals that killed programs, one for each such capture. Waits between a thread's last call and
    the signal are not recorded.
    """

    lines: Table[Waits]
    loops: Table[Loop]
    recorded: int
    device: int | None
    unseen: int = 0
    unseen_times: int = 0
    unseen_call: int = 0
    ended_by: tuple[str, ...] = ()
