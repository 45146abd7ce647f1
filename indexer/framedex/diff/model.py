"""What two recordings differ in: only what differs is in it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model import AnswerOf, PythonLine
    from framedex.model.guidebook.observed import Place


IN_THE_RUNTIME = "in the runtime"
"""The name of the quantity that is the time of all calls of a line."""


class About(enum.Enum):
    """What a difference is about."""

    CALLS = "calls"
    TIMES = "times"
    BYTES = "bytes"
    COMPILES = "compiles"
    ROADS = "roads"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that differs: `before` and `after`, None where one recording has none of it.

    `name` says of what it is (`calls`, `time of a call`), `of` of which part (a function, `host to device, float`).
    Times are in ns, bytes in bytes.
    """

    about: About
    name: str
    of: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Branch:
    """A frame of the roads below a line, which are listed outermost first; what leads on from a frame follows it.

    `depth` counts the frames that lead to it. `before` and `after` are how many calls passed: 0 where one recording
    passes this frame over; what follows may be in both again. The last frame of each road is the function of the
    runtime, whose `language` is "boundary".
    """

    depth: int
    function: str
    language: str
    place: Place
    before: int
    after: int

    @property
    def is_shared(self) -> bool:
        """Whether both recordings pass it."""
        return bool(self.before and self.after)


@dataclass(frozen=True, slots=True)
class OfFunction:
    """A function of the runtime whose calls differ. The calls are ones to look at, None where there are none."""

    function: str
    quantities: tuple[Quantity, ...]
    call_before: int | None
    call_after: int | None


@dataclass(frozen=True, slots=True)
class OfLine:
    """A line of the program, as each recording has it: None where it has nothing of it.

    Both are None for the calls of which no Python is known. `why` are sentences: what is other
    in the programs that are compiled, and why they are compiled again. The durations are those of all its calls into
    the runtime, ns, whether or not they differ by more than noise.
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
    """A round of a loop, by its number, in which something differs."""

    number: int
    quantities: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True)
class OfLoop:
    """A loop that differs, by the line that is in each of its rounds."""

    before: PythonLine | None
    after: PythonLine | None
    quantities: tuple[Quantity, ...]
    rounds: tuple[OfRound, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two recordings: which captures it is of, the index that has them, and the versions that ran."""

    index: str
    answer: AnswerOf
    versions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """All that differs. `unchanged` counts the lines in which nothing does."""

    before: Side
    after: Side
    functions: tuple[OfFunction, ...]
    lines: tuple[OfLine, ...]
    loops: tuple[OfLoop, ...]
    devices: tuple[Quantity, ...]
    unchanged: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.functions or self.lines or self.loops or self.devices)
