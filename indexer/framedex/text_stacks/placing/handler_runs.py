"""The recorded run of an FFI handler that crashed: a run from the same lines that never returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.plaintext import printable, shell_word

if TYPE_CHECKING:
    from framedex.ffi.model import UnfinishedRun
    from framedex.index import Index
    from framedex.text_stacks.model import TextFrame


def describe_recorded_run(index: Index | None, crashed: TextFrame, stack: Sequence[TextFrame]) -> str:
    """Return a sentence about the recorded run of the crashed handler; `stack` are the printed lines of the call.

    Raises FramedexError if the index is damaged.
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
    """Whether a site of a run has the same innermost lines as the text, compared up to the shorter of both."""
    named = [_key(frame.place.path, frame.place.line) for frame in stack if frame.place is not None]
    if not named:
        return True
    sites = [[_key(line.location.path, line.location.line) for line in site.lines] for site in run.sites]
    if any(frame.is_alternative for frame in stack):  # the text lists several possible calls
        return any(lines[0] in named for lines in sites if lines)
    return any(lines[: len(named)] == named[: len(lines)] for lines in sites if lines)


def _key(path: str, line: int) -> tuple[str, int]:
    """Return a file name and line as a key, without the folder: the index may know the file at its current path."""
    return path.replace("\\", "/").rpartition("/")[2], line
