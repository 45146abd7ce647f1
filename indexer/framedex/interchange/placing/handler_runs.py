"""The recorded run of the FFI handler whose crash a text reports: runs that never returned, from the same lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.plaintext import printable, shell_word

if TYPE_CHECKING:
    from framedex.ffi.model import UnfinishedRun
    from framedex.index import Index
    from framedex.interchange.model import TextFrame


def describe_recorded_run(index: Index | None, crashed: TextFrame, stack: Sequence[TextFrame]) -> str:
    """A sentence about the recorded run of the handler that crashed; `stack` are the lines that the text names.

    Raises FramedexError where the index is damaged.
    """
    target = crashed.ffi_target
    if index is None:
        return "the call is not in an index here: run `framedex index` on its capture"
    runs = [run for run in index.ffi.unfinished_runs(target, crashed.ffi_stage) if _is_from(run, stack)]
    if runs:
        latest = runs[-1]
        given = f", {printable(latest.given)}" if latest.given else ""
        several = "" if len(runs) == 1 else f", the latest of {words.count(len(runs), 'such call')}"
        return f"recorded as call {latest.call}{given}{several}: `framedex trace {latest.call}`"
    if index.ffi.is_called(target):
        return f"the call is not in the index; `framedex ffi {shell_word(target)}` shows other calls of this target"
    return "the call is not in the index: run `framedex index` on its capture"


def _is_from(run: UnfinishedRun, stack: Sequence[TextFrame]) -> bool:
    """Whether a site of a run has the innermost lines that the text names, as far as both go."""
    named = [_key(frame.place.path, frame.place.line) for frame in stack if frame.place is not None]
    if not named:
        return True
    sites = [[_key(line.location.path, line.location.line) for line in site.lines] for site in run.sites]
    if any(frame.is_alternative for frame in stack):  # the text names several calls
        return any(lines[0] in named for lines in sites if lines)
    return any(lines[: len(named)] == named[: len(lines)] for lines in sites if lines)


def _key(path: str, line: int) -> tuple[str, int]:
    """A line of a file, whichever folder it was in: an index may know it where it is now."""
    return path.replace("\\", "/").rpartition("/")[2], line
