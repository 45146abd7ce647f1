"""The content of a capture as recorded: addresses, code objects, and calls in columns.

The index receives calls in batches, with their contributions to the totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from framedex.model.locations import Language
from framedex.model.metadata import Metadata
from framedex.model.rows import MergeOutcome, StopReasons

if TYPE_CHECKING:  # slow to import, and not needed to read an index
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BinaryState:
    """A file at one moment: an equal state means equal content. Sizes in bytes, times in nanoseconds."""

    size: int
    inode: int
    modified_ns: int
    changed_ns: int


class BinaryId(NamedTuple):
    """The identity of a binary among those with one path: its GNU build-id in hex, and its content.

    `build_id` is empty if the binary has none. `fingerprint` (see docs/reference/capture-format.md) is empty if the
    binary was not read.
    """

    path: str
    build_id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Module:
    """A binary mapped into the recorded process.

    `base` is the load address, `size` the mapped length in bytes. `build_id` is the GNU build-id in hex, None if the
    binary has none. `fingerprint` covers samples of its content (see docs/reference/capture-format.md). `file` is the
    state of the file when it was recorded, None if unknown. `content` is the SHA-256 of the file, empty if unknown.
    """

    path: str
    base: int
    size: int
    build_id: str | None
    fingerprint: str
    file: BinaryState | None = None
    content: str = ""

    @property
    def id(self) -> BinaryId:
        """The key of the binary, equal in all captures of the same file."""
        return BinaryId(self.path, self.build_id or "", self.fingerprint)


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A Python code object: its origin and its location table (PEP 626 / CPython `Objects/locations.md`)."""

    filename: str
    qualname: str
    first_line: int
    line_table: bytes


@dataclass(frozen=True, slots=True)
class NativeFrame:
    """One native frame: an index into `Capture.modules` (-1: outside every module) and a byte offset from its base.

    The offset points to the return address, so use `offset - 1` to look up the calling instruction.
    """

    module: int
    offset: int


@dataclass(frozen=True, slots=True)
class PythonFrame:
    """One Python frame: an index into `Capture.codes`, the byte offset of its current instruction, and its line.

    `line` is 0 if the location table has none. `is_returning`: the function has ended, and its locals are being
    destroyed.
    """

    code: int
    instruction: int
    line: int
    is_returning: bool = False


@dataclass(frozen=True, slots=True)
class ImportedFrame:
    """A frame imported from another recorder, with names but no address to look up.

    `function` may be mangled. If missing, `file` and `module` (the binary) are empty, and `line` and `first_line` (of
    the function) are 0. `is_inlined`: inlined into the next outer frame.
    """

    language: Language
    function: str
    file: str = ""
    line: int = 0
    first_line: int = 0
    module: str = ""
    is_inlined: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """A recorded stack: indices into `Capture.frames`, innermost first.

    If the native and Python frames could not be merged, `frames` has the native and `python` the Python frames.
    Otherwise `python` is empty. `is_truncated`: the outermost frames are missing, because the stack exceeds the
    recorder's limit.
    """

    frames: tuple[int, ...]
    python: tuple[int, ...] = ()
    outcome: MergeOutcome = MergeOutcome.MERGED
    is_truncated: bool = False


class StackColumns(NamedTuple):
    """Consecutive stacks in columns. Each has two chains of frames: `Stack.frames`, then `Stack.python`.

    `frames` has the frames of all chains, and `sizes` the number of frames of each chain.
    """

    frames: Integers
    sizes: Integers
    outcomes: Sequence[MergeOutcome]
    is_truncated: Integers


class StackList(Sequence[Stack]):
    """The stacks of a capture. `Stack` objects are built on access: a capture may have a million stacks."""

    def __init__(self, count: int, read: Callable[[int, int], StackColumns]) -> None:
        """`read` returns the stacks from one index up to another one."""
        self._count = count
        self._read = read

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Stack: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Stack]: ...

    def __getitem__(self, index: int | slice) -> Stack | Sequence[Stack]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(self._count))]
        position = index + self._count if index < 0 else index
        if not 0 <= position < self._count:
            raise IndexError("stack index out of range")
        return next(_iterate_stacks(self._read(position, position + 1)))

    def __iter__(self) -> Iterator[Stack]:
        for begin in range(0, self._count, STACKS_PER_BATCH):
            yield from _iterate_stacks(self._read(begin, min(begin + STACKS_PER_BATCH, self._count)))

    def read_columns(self, begin: int, end: int) -> StackColumns:
        """Return the stacks from `begin` up to `end` in columns."""
        return self._read(begin, end)


STACKS_PER_BATCH = 1 << 14
"""The number of stacks to hold in columns at a time, which takes about 10 MB."""


def _iterate_stacks(columns: StackColumns) -> Iterator[Stack]:
    ends = columns.sizes.cumsum().tolist()
    frames = columns.frames.tolist()
    begin = 0
    for number, outcome in enumerate(columns.outcomes):
        middle, end = ends[2 * number], ends[2 * number + 1]
        is_truncated = bool(columns.is_truncated[number])
        yield Stack(tuple(frames[begin:middle]), tuple(frames[middle:end]), outcome, is_truncated)
        begin = end


def read_stack_columns(stacks: Sequence[Stack], begin: int, end: int) -> StackColumns:
    """Return the stacks from `begin` up to `end` in columns."""
    if isinstance(stacks, StackList):
        return stacks.read_columns(begin, end)
    import numpy as np

    wanted = stacks[begin:end]
    chains = [chain for stack in wanted for chain in (stack.frames, stack.python)]
    return StackColumns(
        np.array([frame for chain in chains for frame in chain], np.int64),
        np.array([len(chain) for chain in chains], np.int64),
        [stack.outcome for stack in wanted],
        np.array([stack.is_truncated for stack in wanted], np.int64),
    )


@dataclass(frozen=True, slots=True)
class Function:
    """A boundary function, an entry point of the runtime: `boundary` is for example `pjrt` or `mock_tpu`."""

    boundary: str
    name: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A recorded thread: the kernel's thread id and the thread's name at its first call."""

    tid: int
    name: str


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of a capture as columns of equal length, ordered by start time.

    `thread`, `function` and `stack` index the capture's tuples. `start` is in nanoseconds since the recording began.
    `duration` is in nanoseconds, -1 if the call never returned. `error` is the PJRT error code (0: none, -1: never
    returned). `arguments` has one JSON object per call (`{}` if nothing was decoded): input fields, then output fields,
    and `error_message` if the call returned an error.
    """

    thread: npt.NDArray[np.uint32]
    function: npt.NDArray[np.uint32]
    stack: npt.NDArray[np.uint32]
    start: npt.NDArray[np.int64]
    duration: npt.NDArray[np.int64]
    error: npt.NDArray[np.int32]
    arguments: tuple[str, ...]

    @staticmethod
    def empty() -> Calls:
        """Return empty columns."""
        import numpy as np

        words, times = np.zeros(0, np.uint32), np.zeros(0, np.int64)
        return Calls(words, words, words, times, times, np.zeros(0, np.int32), ())

    def __len__(self) -> int:
        return len(self.thread)


@dataclass(frozen=True, slots=True)
class ObjectDescription:
    """An object that calls refer to by id: `content` depends on `kind`, see docs/reference/capture-format.md."""

    kind: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Capture:
    """One decoded run.

    `problems` lists the unreadable parts as sentences; the rest is complete. `stops` has the reasons why calls after
    its end are missing.
    """

    path: Path
    metadata: Metadata
    modules: tuple[Module, ...]
    codes: tuple[CodeObject, ...]
    frames: tuple[NativeFrame | PythonFrame | ImportedFrame, ...]
    stacks: Sequence[Stack]
    functions: tuple[Function, ...]
    threads: tuple[Thread, ...]
    calls: Calls
    problems: tuple[str, ...]
    descriptions: tuple[ObjectDescription, ...] = ()
    stops: StopReasons = field(default_factory=StopReasons)


@dataclass(frozen=True, slots=True)
class CallKind:
    """Attributes shared by calls of a capture: indices of the function, thread and stack, and the error code."""

    function: int
    thread: int
    stack: int
    error: int


@dataclass(frozen=True, slots=True)
class KindTotals:
    """The contribution of a batch to the totals of call kinds, in columns of equal length.

    `kind` indexes the capture's kinds. Durations are in nanoseconds; calls that have not returned count as 0.
    `longest_call`, `first_call` and `latest_call` are rows of the capture's calls.
    """

    kind: Integers
    calls: Integers
    duration: Integers
    own_duration: Integers
    longest: Integers
    longest_call: Integers
    first_call: Integers
    latest_call: Integers

    @property
    def columns(self) -> tuple[Integers, ...]:
        """The columns, in the order of the fields."""
        return tuple(getattr(self, name) for name in self.__slots__)

    def __getitem__(self, rows: npt.NDArray[Any]) -> KindTotals:
        """Return the totals of these rows, which are indices or a mask."""
        return KindTotals(*(column[rows] for column in self.columns))


@dataclass(frozen=True, slots=True)
class ObjectColumns:
    """Objects that are new or changed since an earlier batch, in order of creation.

    `place` is the index of an object in the capture, in that order. `type` indexes `CallBatch.types`, `client` is an
    object index, and calls are rows of the capture's calls. `created_kind` is the kind of `created_call` for objects
    new in this batch. `size` is in bytes. A missing value is the smallest integer, -2**63.
    """

    place: Integers
    type: Integers
    number: Integers
    address: Integers
    born: Integers
    created_call: Integers
    first_call: Integers
    last_call: Integers
    deleted_call: Integers
    destroyed_call: Integers
    uses: Integers
    client: Integers
    size: Integers
    created_kind: Integers


@dataclass(frozen=True, slots=True)
class CallBatch:
    """The next calls of a capture, ordered by start, after those of earlier batches.

    `first` is the row of the first call. `kinds` and `arguments` are new in this batch, with numbers that continue
    those of earlier batches; `kind` and `argument` have such a number for each call. `inside` is the number of rows
    back to the enclosing call, 0 if there is none. `start` and `duration` are as in `Calls`.

    `samples` are pairs (kind, argument): new entries among the few smallest arguments of each kind. `spans` are rows
    (kind, first, last): the first and last row of a kind within each block of 256 rows. `durations` are rows
    (function, thread, bucket, calls) of the calls that returned. `changed` are rows (row, kind, duration, argument) of
    earlier calls that have returned since. Only their own time counts in `totals`; `durations` and `spans` exclude
    them. For kinds of FFI runs, totals, spans and samples are rebuilt, because one kind may split into several.

    `types` are the types of `objects`. `numbers` are rows (object, number): the runtime's own ids, set if they are
    unique within a type. `violations` are rows (index in `ViolationKind`, object, call, earlier call). The earlier call
    is negative if there is none. `links` are rows (call, thread, chain, index in `LinkEvidence`). `chains` are new in
    this batch and numbered like `kinds`. Threads are indices into the capture's threads.

    To continue a stored capture, its first `CaptureWriter.rows` calls are passed again. Batches of these calls need
    only `first`, `kind` (for its length), `kinds` and `chains`, and one batch has to end exactly there.
    """

    first: int
    kinds: tuple[CallKind, ...]
    arguments: tuple[str, ...]
    kind: Integers
    inside: Integers
    start: Integers
    duration: Integers
    argument: Integers
    totals: KindTotals
    samples: Integers
    spans: Integers
    durations: Integers
    changed: Integers
    types: tuple[str, ...]
    objects: ObjectColumns
    numbers: Integers
    violations: Integers
    chains: tuple[tuple[int, ...], ...]
    links: Integers

    def __len__(self) -> int:
        return len(self.kind)
