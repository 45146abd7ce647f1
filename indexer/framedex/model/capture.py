"""What a capture holds, as it was recorded: addresses, code objects, calls in columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from framedex.model.metadata import Metadata
from framedex.model.missing import MergeOutcome, Stops
from framedex.model.places import Language

if TYPE_CHECKING:  # readers of the index start quickly, and need no numpy
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class BinaryState:
    """A file at one moment: while all of it is the same, so is its content. Sizes in bytes, times in nanoseconds."""

    size: int
    inode: int
    modified_ns: int
    changed_ns: int


class BinaryId(NamedTuple):
    """Which binary it is of those that were at a path: by its GNU build-id in hex, and by what it holds.

    `build_id` is empty where the binary has none, `fingerprint` (see docs/reference/capture-format.md) where it was not
    read.
    """

    path: str
    build_id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Module:
    """A binary mapped into the recorded process.

    `base` is the load address in bytes, `size` the mapped length in bytes. `build_id` is the GNU build-id in hex, or
    None where the binary has none; `fingerprint` is of samples of its content (see docs/reference/capture-format.md),
    `file` the state in which the file was when it was recorded, None where that is not known; `content` is the SHA-256
    of all of it, empty where that is not known.
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
        return BinaryId(self.path, self.build_id or "", self.fingerprint)


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A Python code object: where it came from and its location table (PEP 626 / CPython `Objects/locations.md`)."""

    filename: str
    qualname: str
    first_line: int
    line_table: bytes


@dataclass(frozen=True, slots=True)
class NativeFrame:
    """One native frame: an index into `Capture.modules` (-1: outside every module) and a byte offset from its base.

    The offset is that of the return address, so a look-up of the calling instruction uses `offset - 1`.
    """

    module: int
    offset: int


@dataclass(frozen=True, slots=True)
class PythonFrame:
    """One Python frame: an index into `Capture.codes`, the byte offset of its current instruction, and its line.

    `line` is 0 where the location table names none. `is_returning`: the frame has ended, and what it held is being
    destroyed.
    """

    code: int
    instruction: int
    line: int
    is_returning: bool = False


@dataclass(frozen=True, slots=True)
class ToldFrame:
    """One frame as another recorder names it, with nothing that it could be looked up by.

    `function` may be mangled; `file` and `module` (the binary) are empty where they are not told, `line` and
    `first_line` (of the function) are 0 then. `is_inlined`: into the next frame outward.
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

    When the native and the Python frames could not be merged, `frames` holds the native ones and `python` the Python
    ones; otherwise `python` is empty. `is_truncated`: the outermost frames are missing, since the stack is deeper than
    the recorder follows.
    """

    frames: tuple[int, ...]
    python: tuple[int, ...] = ()
    outcome: MergeOutcome = MergeOutcome.MERGED
    is_truncated: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A boundary function that can be entered: `boundary` is for example `pjrt` or `mock_tpu`."""

    boundary: str
    name: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A recorded thread: the kernel's thread id and the name it had at its first call."""

    tid: int
    name: str


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of a capture as columns of equal length, ordered by start time.

    `thread`, `function` and `stack` index the capture's tuples. `start` is in nanoseconds since the recording began;
    `duration` in nanoseconds, -1 where the call never returned; `error` is the PJRT error code (0: none, -1: never
    returned). `arguments` holds one JSON object per call (`{}` where nothing was decoded): input fields first, then
    the output fields, and `error_message` where an error came back.
    """

    thread: npt.NDArray[np.uint32]
    function: npt.NDArray[np.uint32]
    stack: npt.NDArray[np.uint32]
    start: npt.NDArray[np.int64]
    duration: npt.NDArray[np.int64]
    error: npt.NDArray[np.int32]
    arguments: tuple[str, ...]

    @staticmethod
    def none() -> Calls:
        """No calls."""
        import numpy as np

        words, times = np.zeros(0, np.uint32), np.zeros(0, np.int64)
        return Calls(words, words, words, times, times, np.zeros(0, np.int32), ())

    def __len__(self) -> int:
        return len(self.thread)


@dataclass(frozen=True, slots=True)
class Description:
    """What calls refer to by an id: `content` as docs/reference/capture-format.md has it for its `kind`."""

    kind: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Capture:
    """One run, decoded.

    `problems` lists in plain sentences what could not be read; the rest is whole. `stops` says why calls after its end
    are missing.
    """

    path: Path
    metadata: Metadata
    modules: tuple[Module, ...]
    codes: tuple[CodeObject, ...]
    frames: tuple[NativeFrame | PythonFrame | ToldFrame, ...]
    stacks: tuple[Stack, ...]
    functions: tuple[Function, ...]
    threads: tuple[Thread, ...]
    calls: Calls
    problems: tuple[str, ...]
    descriptions: tuple[Description, ...] = ()
    stops: Stops = field(default_factory=Stops)
