"""The model of a comparison, which holds only differences."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model import AnswerOf, PythonLine
    from framedex.model.guidebook.observed import Place


IN_THE_RUNTIME = "in the runtime"
"""The name of the quantity for the total time of a line's calls."""


class About(enum.Enum):
    """The aspect of a difference."""

    CALLS = "calls"
    TIMES = "times"
    BYTES = "bytes"
    COMPILES = "compiles"
    ROADS = "roads"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that differs: `before` and `after`, None if one recording does not have it.

    `name` is the quantity (`calls`, `time of a call`), `of` the part (a function, `host to device, float`). Times are
    in ns, sizes in bytes.
    """

    about: About
    name: str
    of: str
    before: int | None
    after: int | None

    @property
    def change(self) -> int:
        """How much larger the number became; a recording without it counts as 0."""
        return (self.after or 0) - (self.before or 0)


@dataclass(frozen=True, slots=True)
class Branch:
    """A frame on the stack paths below a line, listed outermost first. Callees follow their caller.

    `depth` is the number of outer frames. `before` and `after` are call counts: 0 if one recording lacks this frame.
    Frames below it may again be in both. The last frame of each path is the runtime function, with `language`
    "boundary".
    """

    depth: int
    function: str
    language: str
    place: Place
    before: int
    after: int

    @property
    def is_shared(self) -> bool:
        """Whether both recordings have the frame."""
        return bool(self.before and self.after)


@dataclass(frozen=True, slots=True)
class OfFunction:
    """A runtime function whose calls differ. `call_before` and `call_after` are examples; None if there are none."""

    function: str
    quantities: tuple[Quantity, ...]
    call_before: int | None
    call_after: int | None


@dataclass(frozen=True, slots=True)
class OfLine:
    """A program line in each recording: None if the recording does not have it.

    Both are None for calls without known Python. `why` are sentences: differences in compiled programs, and reasons for
    recompilations. The durations are those of all calls of the line into the runtime, in ns, even if they differ only
    by noise.
    """

    before: PythonLine | None
    after: PythonLine | None
    quantities: tuple[Quantity, ...]
    roads: tuple[Branch, ...]
    why: tuple[str, ...] = ()
    duration_before: int = 0
    duration_after: int = 0


@dataclass(frozen=True, slots=True)
class OfRound:
    """A round of a loop, by number, that differs."""

    number: int
    quantities: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True)
class OfLoop:
    """A loop that differs, identified by the line in each of its rounds."""

    before: PythonLine | None
    after: PythonLine | None
    quantities: tuple[Quantity, ...]
    rounds: tuple[OfRound, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two recordings: its captures, their index, and the recorded versions."""

    index: str
    answer: AnswerOf
    versions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """All differences. `unchanged` counts the lines without any."""

    before: Side
    after: Side
    functions: tuple[OfFunction, ...]
    lines: tuple[OfLine, ...]
    loops: tuple[OfLoop, ...]
    devices: tuple[Quantity, ...]
    unchanged: int

    @property
    def is_empty(self) -> bool:
        """Whether the recordings have no differences."""
        return not (self.functions or self.lines or self.loops or self.devices)
