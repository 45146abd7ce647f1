"""What the index answers of a line: for editors, and for `where`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framedex.model.places import How, LinkHow, Location
    from framedex.model.rows import CaptureRow, FrameRow, FunctionRow


@dataclass(frozen=True, slots=True)
class StackHit:
    """Calls that pass a line: the boundary function, a stack to look at, and how many calls share it.

    `frame` is the frame on the line asked for, `position` its index in the stack counted from the outermost.
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
    """Calls of one boundary function that a line had made on other threads; `how` is known of all of them alike."""

    function: str
    boundary: str
    how: LinkHow
    calls: int
    total_duration: int
    latest_call: int


@dataclass(frozen=True, slots=True)
class Step:
    """One frame inward or outward from a line: the frame on the line, the neighbour reached, and how many calls."""

    origin: FrameRow
    target: FrameRow
    calls: int


@dataclass(frozen=True, slots=True)
class Road:
    """The way that some recorded stacks take from a line to the next frame, inward or outward, that was asked for.

    `nodes` are the places of `target` in the tree of stacks, by which the next question can stay on these stacks.
    `longest` is the time in ns, all calls together, of the stack and boundary function among them that took longest.
    `makes_client`: the runtime's client was made on the way, as happens at whatever line comes first in a process.
    `goes_on`: some of the stacks have frames inward of `target`. `passed` is how many frames of code, none of which
    could be shown, lie between the two on that longest stack.
    """

    origin: FrameRow
    target: FrameRow
    nodes: tuple[int, ...]
    calls: int
    longest: int
    makes_client: bool
    goes_on: bool
    passed: int = 0


@dataclass(frozen=True, slots=True)
class LineSummary:
    """What was recorded through a line: for hovers.

    `frame_lines` are the lines on which the frames stand: the line itself, or others of its statement. `boundaries` are
    (function, calls, total duration in ns), most calls first; `callers` are (function, calls) one frame outward;
    `arguments` are a few distinct argument objects of the calls; `hows` how the frames are known.
    """

    path: str
    line: int
    frame_lines: tuple[int, ...]
    calls: int
    total_duration: int
    boundaries: tuple[tuple[str, int, int], ...]
    callers: tuple[tuple[FunctionRow, int], ...]
    arguments: tuple[dict[str, Any], ...]
    hows: tuple[How, ...]
    latest_capture: CaptureRow
    latest_call: int


@dataclass(frozen=True, slots=True)
class BoundaryEnd:
    """A boundary function that was reached from a line; `total_duration` in ns.

    `frames` are the innermost ones of the latest call's stack, the innermost first.
    """

    function: str
    calls: int
    total_duration: int
    latest_call: int
    frames: tuple[FrameRow, ...]


@dataclass(frozen=True, slots=True)
class LineMark:
    """The totals of the calls through a line: `duration` in ns, the names in `boundaries` with most time first."""

    line: int
    calls: int
    duration: int
    boundaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaticCall:
    """A call that stands in a definition's source: where it is made, what is called as written, and its definitions.

    `targets` are all definitions of that name in the source index, as (qualified name, location, last line).
    """

    line: int
    callee: str
    targets: tuple[tuple[str, Location, int], ...]


@dataclass(frozen=True, slots=True)
class StaticCaller:
    """A definition whose source calls a function: where it begins, its last line, and the lines of its calls.

    `one_of` is how many functions of the sources those calls can be of, as far as the text tells. `is_sure`: what is
    written tells that it is this one; else it may be one of a library too.
    """

    name: str
    location: Location
    end_line: int
    lines: tuple[int, ...]
    one_of: int
    is_sure: bool


@dataclass(frozen=True, slots=True)
class StaticCallers:
    """The definitions whose sources call a function, the surest first.

    `doubtful` counts those that were left out: their calls can be of more functions than are worth telling.
    """

    callers: tuple[StaticCaller, ...]
    doubtful: int


@dataclass(frozen=True, slots=True)
class FileTrouble:
    """Something that the index knows to be wrong with the data of a file; `line` is 1-based, 1 for the file itself."""

    kind: str
    line: int
    message: str
