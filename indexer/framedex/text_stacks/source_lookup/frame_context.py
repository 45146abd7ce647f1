"""The context of a frame in its text: its callee, its quoted source line, and the recorded run of a crashed handler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable, quote_shell_word
from framedex.model import Language, Location, LocationEvidence
from framedex.text_stacks.model import StackFormat, TextFrame

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.programs.ffi.model import UnfinishedRun
    from framedex.text_stacks.model import TextFrame


@dataclass(frozen=True, slots=True)
class FoundFrame:
    """The location of a frame; `location` is None if unknown. `function` is its best known name.

    `outward` are the locations of the callers that the text names. `is_doubtful`: the name is from a local binary that
    may be a different build from the text's. `is_found_by_name`: the printed file is not on this machine, and the
    locations are those of the function, perhaps in another release.

    A location without a local file has a `url`, or the path of a source map.
    """

    frame: TextFrame
    function: str
    location: Location | None
    candidates: tuple[Location, ...] = ()
    outward: tuple[Location, ...] = ()
    is_doubtful: bool = False
    is_found_by_name: bool = False

    @property
    def conjunction(self) -> str:
        """The word before the candidates: "and" for a fused op, which has several lines, else "or"."""
        return "and" if self.location is not None and self.location.how is LocationEvidence.OP_NAME else "or"


def find_callees(frames: Sequence[TextFrame], innermost_first: bool) -> list[TextFrame | None]:
    """Return the callee of each frame of a stack, in text order; None if the text does not prove it."""
    callee_frame = frames if innermost_first else frames[::-1]
    called = [None, *(find_callee(outer, inner) for inner, outer in pairwise(callee_frame))] if callee_frame else []
    return called if innermost_first else called[::-1]


def find_callee(frame: TextFrame, inner: TextFrame) -> TextFrame | None:
    """Return the next inner frame if `frame` calls it; None if frames may be omitted between them."""
    if frame.language is not Language.NATIVE or inner.language is not Language.NATIVE:
        return None
    is_next = frame.number is None or inner.number is None or abs(frame.number - inner.number) == 1
    return inner if is_next and not frame.is_alternative and not inner.is_alternative else None


def is_inlined_in(inner: TextFrame, frame: TextFrame) -> bool:
    """Whether a frame's code is inlined into another frame: same address, other function (so not a recursion)."""
    return inner.address is not None and inner.address == frame.address and inner.function != frame.function


_INDENT = "    "


def find_quoted_source(frame: TextFrame, lines: Sequence[str]) -> str:
    """Return the source line quoted below a traceback frame, without indentation; empty if there is none.

    `lines` are those of the text.
    """
    if frame.format is not StackFormat.PYTHON or frame.last_line + 1 >= len(lines):
        return ""
    line, below = lines[frame.last_line], lines[frame.last_line + 1]
    before = max(frame.start - 2, 0)  # the prefix of every line, of a log or an exception group
    if below[:before] != line[:before] or not below.startswith(_INDENT, before):
        return ""
    source = below[before:].strip()
    return source if source.isascii() and source.strip("^~ ") else ""


def describe_recorded_run(index: Index | None, crashed: TextFrame, stack: Sequence[TextFrame]) -> str:
    """Return a sentence about the recorded run of the crashed handler; `stack` are the printed lines of the call.

    Raises FramedexError if the index is damaged.
    """
    target = crashed.ffi_target
    if index is None:
        return "the call is not in an index here: run `framedex index` on its capture"
    runs = [run for run in index.ffi.unfinished_runs(target, crashed.ffi_stage) if _has_same_lines(run, stack)]
    if runs:
        latest = runs[-1]
        given = f", {make_printable(latest.given)}" if latest.given else ""
        several = "" if len(runs) == 1 else f", the latest of {words.count(len(runs), 'such call')}"
        return f"recorded as call {latest.call}{given}{several}: `framedex trace {latest.call}`"
    if index.ffi.is_called(target):
        return (
            f"the call is not in the index; `framedex ffi {quote_shell_word(target)}` shows other calls of this target"
        )
    return "the call is not in the index: run `framedex index` on its capture"


def _has_same_lines(run: UnfinishedRun, stack: Sequence[TextFrame]) -> bool:
    """Whether a site of a run has the same innermost lines as the text, compared up to the shorter of both."""
    named = [_line_key(frame.place.path, frame.place.line) for frame in stack if frame.place is not None]
    if not named:
        return True
    sites = [[_line_key(line.location.path, line.location.line) for line in site.lines] for site in run.sites]
    if any(frame.is_alternative for frame in stack):  # the text lists several possible calls
        return any(lines[0] in named for lines in sites if lines)
    return any(lines[: len(named)] == named[: len(lines)] for lines in sites if lines)


def _line_key(path: str, line: int) -> tuple[str, int]:
    """Return a file name and line as a key, without the folder: the index may know the file at its current path."""
    return path.replace("\\", "/").rpartition("/")[2], line


def printed_evidence(frame: TextFrame) -> LocationEvidence:
    """Return how a frame's location is known: our trace documents print it, other texts name the line itself."""
    if frame.format is StackFormat.TRACE:
        return next(
            (LocationEvidence(label) for label in frame.labels if label in set(LocationEvidence)),
            LocationEvidence.EXACT,
        )
    return LocationEvidence.EXACT
