"""A process as it is now, and why it hangs: lines to print."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable, truncate
from framedex.base.regularfile import open_regular
from framedex.commands.output.proposals import format_command
from framedex.commands.output.terminal import Line, Span, render_location_line, render_stated_line, render_text_line
from framedex.live.model import Activity, GilRole, ProcessState
from framedex.live.waits import python_frames
from framedex.model.locations import Location, LocationEvidence

if TYPE_CHECKING:
    from framedex.captures.open_calls import OpenCall
    from framedex.live.diagnosis import Diagnosis, Step
    from framedex.live.model import LiveFrame, LiveThread, ProcessSnapshot, Task
    from framedex.live.native.stacks import ThreadStack

_INDENT = 2
_MAX_NAME_WIDTH = 48
_MAX_THREAD_IDS = 4  # ids listed in the heading of threads with the same stack
_MAX_TEXT = 100  # characters of a source line
_NS_PER_S = 1_000_000_000
_ACTIVITIES = {
    Activity.RUNNING: "runs",
    Activity.FUTEX: "waits for another thread",
    Activity.SLEEP: "sleeps",
    Activity.INPUT: "waits for input",
    Activity.DISK: "waits for the disk",
    Activity.STOPPED: "is stopped",
    Activity.UNKNOWN: "waits",
}


def render_snapshot_lines(snapshot: ProcessSnapshot, *, all_frames: bool) -> Iterator[Line]:
    """The process, and each thread that has Python frames or calls in progress; the others are counted.

    Threads with the same stack are shown together.
    """
    yield from render_process_lines(snapshot)
    yield from _render_crash_lines(snapshot)
    shown = [thread for thread in snapshot.threads if is_interesting(thread, snapshot)]
    for threads in _group_threads_by_stack(shown):
        yield ()
        yield from _render_thread_group_lines(threads, snapshot, all_frames=all_frames)
    if others := len(snapshot.threads) - len(shown):
        running = sum(is_running(each) for each in snapshot.threads if each not in shown)
        yield ()
        state = f", {running} of them running" if running else ""
        yield render_text_line(
            f"{words.count(others, 'other thread')} without Python and without calls in progress{state}", "dim"
        )


def render_process_lines(snapshot: ProcessSnapshot) -> Iterator[Line]:
    """The process, its capture, and the reason if a part of it is not readable."""
    yield (Span(f"{_format_process_text(snapshot)}", "head"),)
    if snapshot.capture is not None:
        yield render_text_line(f"capture  {_shorten_path(snapshot.capture)}", "dim")
    for problem in filter(None, (snapshot.problem, snapshot.remedy, snapshot.capture_problem)):
        yield render_text_line(problem, "error")


def is_interesting(thread: LiveThread, snapshot: ProcessSnapshot) -> bool:
    """Whether a thread has Python frames or calls in progress; the main thread always."""
    return bool((thread.python and thread.python.frames) or thread.open_calls or thread.tid == snapshot.pid)


def is_running(thread: LiveThread) -> bool:
    """Whether a thread is running, or ready to run."""
    return thread.task is not None and thread.task.activity is Activity.RUNNING


def _format_process_text(snapshot: ProcessSnapshot) -> str:
    python = f", Python {snapshot.python_version}" if snapshot.python_version else ""
    if snapshot.state is ProcessState.ENDED:
        when = (
            ""
            if snapshot.ended_unix_ns is None
            else f" {words.format_age(time.time() - snapshot.ended_unix_ns / _NS_PER_S)}"
        )
        state = f"process {snapshot.pid} {snapshot.end or 'has ended'}{when}"
    elif snapshot.state is ProcessState.ELSEWHERE:
        state = f"process {snapshot.pid} is on another machine or in another container"
    else:
        state = f"process {snapshot.pid} is {snapshot.state}{python}"
    return f"{make_printable(words.shorten_command(snapshot.command)) or 'a program'}: {state}{_format_calls(snapshot)}"


def _format_calls(snapshot: ProcessSnapshot) -> str:
    if snapshot.calls is None:
        return ", not recorded by framedex"
    last = snapshot.last_record_ns
    if last is None:
        return ", no calls recorded"
    if snapshot.state is ProcessState.ENDED:
        return f", {words.count(snapshot.calls, 'call')} recorded"
    return f", {words.count(snapshot.calls, 'call')} so far, the last {format_age(snapshot, last)} ago"


def format_age(snapshot: ProcessSnapshot, since_ns: int) -> str:
    """The time from a moment on CLOCK_MONOTONIC until the observation."""
    return words.format_duration(max(snapshot.time_ns - since_ns, 0))


def _group_threads_by_stack(threads: Iterable[LiveThread]) -> Iterable[list[LiveThread]]:
    """Threads with the same frames and wait together; those with calls, locks or the GIL, and the main one, alone."""
    groups: dict[object, list[LiveThread]] = {}
    for thread in threads:
        is_single = thread.is_main or thread.open_calls or thread.gil is not None or thread.waits_for is not None
        task = thread.task
        wait = None if task is None else (task.activity, task.call, task.subject, task.mutex_owner)
        key = thread.tid if is_single else (tuple(python_frames(thread)), wait)
        groups.setdefault(key, []).append(thread)
    return groups.values()


def format_thread_group(threads: Sequence[LiveThread | ThreadStack]) -> str:
    """The number and the ids of several threads; empty for a single one."""
    if len(threads) == 1:
        return ""
    ids = ", ".join(str(thread.tid) for thread in threads[:_MAX_THREAD_IDS])
    return f"{words.count(len(threads), 'thread')} ({ids}{', …' if len(threads) > _MAX_THREAD_IDS else ''})"


def _render_thread_group_lines(
    threads: Sequence[LiveThread], snapshot: ProcessSnapshot, *, all_frames: bool
) -> Iterator[Line]:
    """The common state and Python frames of threads. The ends of their timed waits differ, so they are left out."""
    first = threads[0]
    if len(threads) == 1:
        yield from render_thread_lines(first, snapshot, all_frames=all_frames)
        return
    state = format_thread_state(first, snapshot) if first.task is None else _make_plural(_format_wait(first.task))
    yield (Span(format_thread_group(threads), "head"), Span(f"  {state}"))
    yield from _render_python_lines(first, all_frames=all_frames)


def render_thread_lines(thread: LiveThread, snapshot: ProcessSnapshot, *, all_frames: bool) -> Iterator[Line]:
    """The state of a thread, its calls in progress and its Python frames."""
    yield (Span(format_thread_name(thread), "head"), Span(f"  {format_thread_state(thread, snapshot)}"))
    yield from open_call_lines(thread, snapshot)
    yield from _render_python_lines(thread, all_frames=all_frames)


def _render_python_lines(thread: LiveThread, *, all_frames: bool) -> Iterator[Line]:
    if thread.python is not None and thread.python.is_changing:
        yield render_text_line(f"{'':{_INDENT}}Its frames changed while they were read:", "dim")
    yield from render_frame_lines(python_frames(thread), all_frames=all_frames)


def open_call_lines(thread: LiveThread, snapshot: ProcessSnapshot) -> Iterator[Line]:
    """The calls in progress, innermost first."""
    for call in reversed(thread.open_calls):
        yield (
            Span(f"{'':{_INDENT}}in "),
            Span(make_printable(call.function), "native"),
            Span(f"  {_format_start(snapshot, call)}"),
        )


def _format_start(snapshot: ProcessSnapshot, call: OpenCall) -> str:
    if snapshot.state is ProcessState.ENDED:
        return "never returned"
    return f"for {format_age(snapshot, call.since_ns)}"


def format_thread_name(thread: LiveThread) -> str:
    """The displayed name: `main`, or the kernel's name with the thread id."""
    return "main" if thread.is_main else f"{make_printable(thread.name)} ({thread.tid})"


def format_thread_state(thread: LiveThread, snapshot: ProcessSnapshot) -> str:
    """The activity of a thread in words, with its lock, and its relation to the GIL."""
    if thread.task is None:
        return "" if snapshot.state is ProcessState.ENDED else "state unknown"
    text = _format_activity(thread, thread.task, snapshot)
    if thread.gil is GilRole.HOLDS:
        return f"{text}, holds the GIL"
    return text


def _format_activity(thread: LiveThread, task: Task, snapshot: ProcessSnapshot) -> str:
    if thread.gil is GilRole.WAITS:
        return "waits for the GIL"
    if thread.waits_for is not None:
        return f"waits for {thread.waits_for.name}"
    text = _format_wait(task)
    if task.until_ns is not None and task.until_ns > snapshot.time_ns and not task.mutex_owner:
        text = f"{text}, for {words.format_duration(task.until_ns - snapshot.time_ns)} more"
    return text


def _format_wait(task: Task) -> str:
    if task.mutex_owner:
        owner = "it holds itself" if task.mutex_owner == task.tid else f"thread {task.mutex_owner} holds"
        return f"waits for a mutex that {owner}"
    if task.activity is Activity.INPUT:
        subject = f" ({make_printable(task.subject)})" if task.subject else ""
        return f"waits in {task.call}{subject}"
    return _ACTIVITIES[task.activity]


def _make_plural(state: str) -> str:
    """The state of several threads, such as `wait in read` for `waits in read`."""
    verb, space, rest = state.partition(" ")
    return f"{'are' if verb == 'is' else verb.removesuffix('s')}{space}{rest}"


def render_frame_lines(frames: Sequence[LiveFrame], *, all_frames: bool) -> Iterator[Line]:
    """Frames, innermost first, the user's highlighted; libraries' frames below the user's innermost one are counted."""
    first = next((index for index, frame in enumerate(frames) if frame.is_user_code), len(frames))
    width = min(max((len(make_printable(frame.function)) for frame in frames), default=0), _MAX_NAME_WIDTH)
    hidden = 0
    for index, frame in enumerate(frames):
        if index > first and not frame.is_user_code and not all_frames:
            hidden += 1
            continue
        yield from _render_hidden_line(hidden)
        hidden = 0
        mark = ">" if index == first else " "
        name = make_printable(frame.function).ljust(width)
        yield (
            Span(f"{'':{_INDENT}}{mark} "),
            Span(name, "python" if frame.is_user_code else "dim"),
            Span("  "),
            *render_frame_location_line(frame),
        )
    yield from _render_hidden_line(hidden)


def _render_hidden_line(hidden: int) -> Iterator[Line]:
    if hidden:
        yield render_text_line(f"{'':{_INDENT}}  … {words.count(hidden, 'frame')} of libraries", "dim")


def render_frame_location_line(frame: LiveFrame) -> Line:
    """The line of a frame, with a link to its file if it exists."""
    if not frame.file.startswith("/"):
        return render_stated_line(f"{frame.file}:{frame.line}", None, ())
    return render_location_line(Location(frame.file, frame.line, LocationEvidence.EXACT))


def _shorten_path(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


_VERDICTS = {
    "hang": "Hang",
    "busy": "Busy",
    "waiting": "Waiting",
    "progress": "No hang",
    "stopped": "Stopped",
    "ended": "Ended",
    "unknown": "Unknown",
}


def render_diagnosis_lines(diagnosis: Diagnosis, snapshot: ProcessSnapshot) -> Iterator[Line]:
    """The verdict and its cause, each thread from the cause to the main thread with its line, and the process."""
    style = "error" if diagnosis.verdict == "hang" else "head"
    yield (Span(f"{_VERDICTS[diagnosis.verdict]}: ", style), Span(make_printable(diagnosis.cause.text)))
    yield from _step_place(diagnosis.cause, snapshot)
    for step in diagnosis.steps:
        yield ()
        yield render_text_line(step.text)
        yield from _step_place(step, snapshot)
    yield from _render_crash_lines(snapshot)
    if snapshot.hang_report:
        yield ()
        yield render_text_line("Before the end, the watchdog (`--hang-after`) reported:", "head")
        yield from (render_text_line(f"{'':{_INDENT}}{line}") for line in snapshot.hang_report.splitlines())
    yield ()
    yield render_text_line(_format_process_text(snapshot), "dim")
    for problem in filter(None, (snapshot.problem, snapshot.remedy, snapshot.capture_problem)):
        yield render_text_line(problem, "error")


def _render_crash_lines(snapshot: ProcessSnapshot) -> Iterator[Line]:
    """The Python frames at which a signal ended the process, and the command that shows the native ones."""
    if snapshot.crash_file:
        yield ()
        yield render_text_line(
            "It crashed here:" if snapshot.crash_frames else "It crashed. Its Python frames are unknown.", "head"
        )
        yield from render_frame_lines(snapshot.crash_frames, all_frames=False)
        command = format_command("explain", _shorten_path(snapshot.crash_file))
        yield render_text_line(f"{'':{_INDENT}}Native frames: {command}", "dim")


def _step_place(step: Step, snapshot: ProcessSnapshot) -> Iterator[Line]:
    if step.line is not None:
        place = (Span(f"{'':{_INDENT}}"), *render_frame_location_line(step.line))
        yield (*place, Span(f" in {make_printable(step.line.function)}", "dim"))
        if text := _read_source_line(step.line, snapshot):
            yield render_text_line(f"{'':{2 * _INDENT}}{truncate(text, _MAX_TEXT)}")


def _read_source_line(frame: LiveFrame, snapshot: ProcessSnapshot) -> str:
    """The text of a frame's line; empty if its file has changed since the program started, or is unreadable."""
    try:
        with open_regular(Path(frame.file)) as file:
            if snapshot.started_unix_ns is None or os.fstat(file.fileno()).st_mtime_ns > snapshot.started_unix_ns:
                return ""
            line = next(islice(file, frame.line - 1, frame.line), b"")
    except (OSError, ValueError):
        return ""
    return line.decode("utf-8", "replace").strip()
