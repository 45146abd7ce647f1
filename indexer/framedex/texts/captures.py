"""Captures as text for verbs and editors: the captures that an answer covers, and missing parts of a recording.

Examples of headings:

- `Capture 7 of train.py, 2026-11-23 07:12:01`
- `Capture 7 of train.py, 2026-11-23 07:12:01 (the latest of 3; --capture all for all of them)`
- `Capture 5 of train.py, 2026-11-23 07:12:01 (the latest of 7 that has any of this; --capture all for all of them)`
- `Captures 7 to 10 of train.py, 2026-11-23 07:12:01 (one run, the latest with calls here; --capture all for all)`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.base.words import count
from framedex.model import MergeOutcome, Metadata, StopReason
from framedex.model.metadata import SHARED_FORMAT
from framedex.model.scopes import CaptureScope

if TYPE_CHECKING:
    from framedex.model import AnswerScope, CaptureRow, StopReasons, Trace

UNNAMED_FRAMES = "its frames stay as module and offset."
"""The end of every sentence about a binary without usable names."""

_TRUNCATED = "The stack is deeper than the recorder follows: its outermost frames are missing."

_NOT_MERGED = {
    MergeOutcome.NO_HOST: "Some Python frames have no interpreter frame on the native stack.",
    MergeOutcome.COUNT_MISMATCH: "The native stack has an interpreter frame without matching Python frames.",
    MergeOutcome.HOST_MISMATCH: "The address and the symbol of the interpreter lead to different native frames.",
    MergeOutcome.NOT_TOLD: "",
    MergeOutcome.MISSING: "The stack of this call is missing from the capture.",
    MergeOutcome.UNKNOWN: "The stack was not merged, for a reason that is unknown to this version of framedex.",
}

# The meaning of each reason, and its remedy.
_STOP_TEXTS = {
    StopReason.DISK_FULL: ("the disk was full", "Free some space, or record onto another disk (-o DIR)"),
    StopReason.LIMIT: (
        "the limit for its size was reached",
        "Raise --limit, or keep the newest calls with --ring",
    ),
    StopReason.NO_FILE: (
        "a file could not be opened (too many open files, or its folder is gone or closed to the program)",
        "Raise the limit for open files (ulimit -n), and leave the folder of captures alone while the program runs",
    ),
}


def format_unmerged_reason(trace: Trace) -> str | None:
    """The reason why a stack's native and Python frames are separate; None if they are merged."""
    if trace.outcome is MergeOutcome.MERGED:
        return None
    return " ".join(filter(None, [_TRUNCATED if trace.is_truncated else "", _NOT_MERGED[trace.outcome]]))


def format_truncation_reason(trace: Trace) -> str | None:
    """The reason why a merged stack lacks its outermost frames; None if it is complete."""
    return _TRUNCATED if trace.is_truncated and trace.outcome is MergeOutcome.MERGED else None


def format_early_stop(stops: StopReasons) -> str:
    """The reason why a capture ends before its program did, the calls it lacks, and the remedy."""
    why = " and ".join(_STOP_TEXTS[reason][0] for reason in stops.reasons) or "no file could be created"
    missing = []
    if stops.threads:
        calls = count(stops.missing_calls, "later call") if stops.missing_calls else "later calls"
        missing.append(f"{calls} of {count(stops.threads, 'thread')}")
    if stops.lacks_threads:
        missing.append(f"all calls of {'other' if missing else 'some'} threads")
    what = " and ".join(missing) or "names of functions and binaries"
    remedies = (f" {_STOP_TEXTS[reason][1]}." for reason in stops.reasons)
    return f"Recording stopped early: {why}. Missing: {what}.{''.join(remedies)}"


def format_unrecorded_queries(stops: StopReasons) -> str:
    """The number of calls that `framedex run --flight` only counted; empty if none."""
    return (
        f"Not recorded by choice: {count(stops.queries, 'call')} that `--flight` only counts." if stops.queries else ""
    )


def is_of_samples(metadata_text: str) -> bool:
    """Whether a capture has the samples of another recorder, from its metadata."""
    foreign = Metadata.parse(metadata_text).foreign
    return foreign is not None and foreign.is_of_samples


def is_shared(metadata_text: str) -> bool:
    """Whether a capture is a shared one, from its metadata."""
    foreign = Metadata.parse(metadata_text).foreign
    return foreign is not None and foreign.format == SHARED_FORMAT


def format_all_problems(stops: StopReasons, problems: Iterable[str]) -> tuple[str, ...]:
    """All problems of a capture; an early stop comes first."""
    return (*([format_early_stop(stops)] if stops else []), *problems)


def format_data_problems(problems: Iterable[str]) -> list[str]:
    """The problems of a capture that make its data possibly wrong or incomplete.

    A missing binary costs frames their names, but no calls.
    """
    return [each for each in problems if not each.endswith(UNNAMED_FRAMES)]


OPTION = "--capture all for all of them"


def answer_heading(answer: AnswerScope, remedy: str = OPTION, quoted: Callable[[str], str] = str) -> str:
    """The first line of an answer: its captures, and whether others are excluded, with the remedy that includes them.

    `quoted` formats the program's name.
    """
    which = _describe_choice(answer, remedy)
    return _describe_captures(answer.captures, quoted) + (f" ({which})" if which else "")


def format_device_answer_heading(answer: AnswerScope) -> str:
    """The first line of an answer with device times or device memory: it also names the captures from the mock TPU."""
    whole = [each for each in answer.captures if each.id in answer.on_mock and each.id not in answer.partly_on_mock]
    partial = [each for each in answer.captures if each.id in answer.partly_on_mock]
    notes = []
    for chosen, note in ((whole, "on the mock TPU"), (partial, "partly on the mock TPU")):
        if chosen and len(chosen) < len(answer.captures):
            notes.append(f"{_capture_noun(chosen).lower()} {_format_ids(chosen)} {note}")
        elif chosen:
            notes.append(note)
    if not notes:
        return answer_heading(answer)
    owner = "the mock's device times" if partial else "device times"
    return f"{answer_heading(answer)}, {' and '.join(notes)}; {owner} are its CPU's"


def _describe_captures(captures: Sequence[CaptureRow], quoted: Callable[[str], str]) -> str:
    if not captures:
        return "No capture with calls"
    commands = dict.fromkeys(words.shorten_command(make_printable(capture.command)) for capture in captures)
    program = quoted(next(iter(commands))) if len(commands) == 1 else words.count(len(commands), "program")
    started = words.format_local_time(captures[0].started)
    return f"{_capture_noun(captures)} {_format_ids(captures)} of {program}, {started}"


def _describe_choice(answer: AnswerScope, remedy: str) -> str:
    count = len(answer.captures)
    if answer.counted is CaptureScope.ALL and count > 1:
        return f"all {count}"
    if answer.counted is not CaptureScope.LATEST or count >= answer.among:
        return ""
    run = "one run, " if count > 1 else ""
    if not answer.is_about_location:
        having = " that has any of this" if answer.has_later else ""
        return f"{run}the latest of {answer.among}{having}; {remedy}"
    having = "that has it" if answer.is_compiled else "with calls here"
    if answer.has_others:
        return f"{run}the latest {having}; {remedy}"
    return f"{run}of {answer.among} the only one {having}"


def _capture_noun(captures: Sequence[CaptureRow]) -> str:
    return "Capture" if len(captures) == 1 else "Captures"


def _format_ids(captures: Sequence[CaptureRow]) -> str:
    ids = sorted(capture.id for capture in captures)
    if len(ids) > 2 and ids[-1] - ids[0] == len(ids) - 1:
        return f"{ids[0]} to {ids[-1]}"
    *others, last = map(str, ids)
    return f"{', '.join(others)} and {last}" if others else last
