"""Answers about a line: for editors, and for `where`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framedex.model.locations import LinkEvidence, Location, LocationEvidence
    from framedex.model.rows import CaptureRow, FrameRow, FunctionRow


@dataclass(frozen=True, slots=True)
class StackHit:
    """Calls through a line: the boundary function, an example stack, and the number of calls that share it.

    `frame` is the frame on the queried line, `position` its index in the stack, counted from the outermost.
    """

    function: str
    boundary: str
    stack: int
    latest_call: int
    calls: int
    total_duration: int
    frame: FrameRow
    position: int


@dataclass(frozen=True, slots=True)
class LinkedCalls:
    """Calls of one boundary function that a line caused on other threads; `how` holds for all of them."""

    function: str
    boundary: str
    how: LinkEvidence
    calls: int
    total_duration: int
    latest_call: int


@dataclass(frozen=True, slots=True)
class FrameStep:
    """One frame inward or outward from a line: the frame on the line, the neighbour frame, and the number of calls."""

    origin: FrameRow
    target: FrameRow
    calls: int


@dataclass(frozen=True, slots=True)
class StackPath:
    """A path in recorded stacks from a line to the next inner or outer frame, as requested.

    `nodes` are the nodes of `target` in the tree of stacks; a follow-up query with them stays on these stacks.
    `longest` is the time in ns, over all calls, of the stack and boundary function with the most time. `makes_client`:
    the runtime's client was created on the path, as by the first line that uses the runtime. `has_more_frames`: some of
    the stacks have frames inside `target`. `skipped_frames` is the number of code frames between the two on that
    longest stack that cannot be shown.
    """

    origin: FrameRow
    target: FrameRow
    nodes: tuple[int, ...]
    calls: int
    longest: int
    makes_client: bool
    has_more_frames: bool
    skipped_frames: int = 0


@dataclass(frozen=True, slots=True)
class LineSummary:
    """The recorded calls through a line, summarised for hovers.

    `frame_lines` are the lines of the frames: the line itself, or others of its statement. `boundaries` are (function,
    calls, total duration in ns), most calls first. `callers` are (function, calls), one frame outward. `arguments` are
    a few distinct argument objects of the calls. `hows` is the evidence for the frames.
    """

    path: str
    line: int
    frame_lines: tuple[int, ...]
    calls: int
    total_duration: int
    boundaries: tuple[tuple[str, int, int], ...]
    callers: tuple[tuple[FunctionRow, int], ...]
    arguments: tuple[dict[str, Any], ...]
    hows: tuple[LocationEvidence, ...]
    latest_capture: CaptureRow
    latest_call: int


@dataclass(frozen=True, slots=True)
class BoundaryEnd:
    """A boundary function reached from a line; `total_duration` in ns.

    `frames` are the innermost ones of the latest call's stack, innermost first.
    """

    function: str
    calls: int
    total_duration: int
    latest_call: int
    frames: tuple[FrameRow, ...]


@dataclass(frozen=True, slots=True)
class LineMark:
    """The totals of the calls through a line: `duration` in ns, `boundaries` sorted by time, longest first."""

    line: int
    calls: int
    duration: int
    boundaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaticCall:
    """A call in a definition's source: its line, the callee as written, and the callee's definitions.

    `targets` are all definitions of that name in the source index, as (qualified name, location, last line).
    """

    line: int
    callee: str
    targets: tuple[tuple[str, Location, int], ...]


@dataclass(frozen=True, slots=True)
class StaticCaller:
    """A definition whose source calls a function: its start, its last line, and the lines of its calls.

    `one_of` is the number of source functions that those calls can mean, according to the text. `is_sure`: the text
    determines this function; otherwise the call may also mean a library function.
    """

    name: str
    location: Location
    end_line: int
    lines: tuple[int, ...]
    one_of: int
    is_sure: bool


@dataclass(frozen=True, slots=True)
class StaticCallers:
    """The definitions whose sources call a function, most certain first.

    `doubtful` counts the omitted definitions: their calls can mean too many functions.
    """

    callers: tuple[StaticCaller, ...]
    doubtful: int


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A known problem with the data of a file; `line` is 1-based, 1 for the file itself."""

    kind: str
    line: int
    message: str
