"""Merged stacks of a core file or a living process: lines to print, and JSON documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.output.render_live import (
    format_thread_name,
    format_thread_state,
    open_call_lines,
    render_frame_location_line,
    render_process_lines,
)
from framedex.commands.output.render_stacks import build_frame_document, render_found_frame_lines
from framedex.commands.output.terminal import Line, Span, render_text_line
from framedex.live.documents import build_snapshot_document
from framedex.live.model import LiveFrame
from framedex.live.runtime import is_python_binary

if TYPE_CHECKING:
    from framedex.live.model import ProcessSnapshot
    from framedex.live.native.merging import MergedStack
    from framedex.live.native.naming import NamedFrames
    from framedex.live.native.stacks import ProcessStacks, ThreadStack
    from framedex.live.native.unwinding import NativeFrame

_MAX_THREAD_IDS = 4  # ids listed in the heading of threads with the same stack


def render_core_lines(stacks: ProcessStacks, names: NamedFrames, *, all_frames: bool) -> Iterator[Line]:
    """The process and the stacks of its threads; threads with the same stack are shown together."""
    yield (Span(_format_process_text(stacks), "head"),)
    yield from (render_text_line(problem, "error") for problem in stacks.problems)
    for threads in _threads_by_stack(stacks.threads):
        yield ()
        yield _render_core_heading(threads, stacks)
        yield from _render_stack_lines(threads[0].merged, names, all_frames=all_frames)


def render_native_snapshot_lines(
    snapshot: ProcessSnapshot, stacks: ProcessStacks, names: NamedFrames, *, all_frames: bool
) -> Iterator[Line]:
    """A living process and the stacks of its threads, with their states and calls in progress."""
    yield from render_process_lines(snapshot)
    yield from (render_text_line(problem, "error") for problem in stacks.problems)
    live_threads = {thread.tid: thread for thread in snapshot.threads}
    for threads in _threads_by_stack(stacks.threads):
        yield ()
        thread = live_threads.get(threads[0].tid)
        if thread is None or len(threads) > 1:
            yield _render_core_heading(threads, stacks)
        else:
            yield (Span(format_thread_name(thread), "head"), Span(f"  {format_thread_state(thread, snapshot)}"))
            yield from open_call_lines(thread, snapshot)
        yield from _render_stack_lines(threads[0].merged, names, all_frames=all_frames)


def _format_process_text(stacks: ProcessStacks) -> str:
    image = stacks.image
    python = f", Python {stacks.python_version}" if stacks.python_version else ""
    cause = f"killed by {image.signal}" if image.signal else "was not killed by a signal"
    address = f" at address {image.fault_address:#x}" if image.fault_address is not None else ""
    program = make_printable(words.shorten_command(image.command)) or "a program"
    return f"{program}: process {image.pid}{python}, {cause}{address}"


def _threads_by_stack(threads: Sequence[ThreadStack]) -> list[list[ThreadStack]]:
    """The threads, the first one first, then those with Python; native threads with the same stack together."""
    groups: dict[object, list[ThreadStack]] = {}
    for index, thread in enumerate(threads):
        is_single = index == 0 or _is_python(thread)
        key = index if is_single else tuple(frame.address for frame in thread.native.frames)
        groups.setdefault(key, []).append(thread)
    return sorted(groups.values(), key=lambda group: (group[0] is not threads[0], not _is_python(group[0])))


def _is_python(thread: ThreadStack) -> bool:
    return bool(thread.merged.apart) or any(isinstance(frame, LiveFrame) for frame in thread.merged.frames)


def _render_core_heading(threads: Sequence[ThreadStack], stacks: ProcessStacks) -> Line:
    tid = threads[0].tid
    name = f"main ({tid})" if tid == stacks.image.pid else f"thread {tid}"
    gil = "  holds the GIL" if threads[0].has_gil else ""
    return (Span(_group_name(threads) or name, "head"), Span(gil))


def _group_name(threads: Sequence[ThreadStack]) -> str:
    """The name of several threads; empty for a single one."""
    if len(threads) == 1:
        return ""
    ids = ", ".join(str(thread.tid) for thread in threads[:_MAX_THREAD_IDS])
    return f"{words.count(len(threads), 'thread')} ({ids}{', …' if len(threads) > _MAX_THREAD_IDS else ''})"


def _render_stack_lines(stack: MergedStack, names: NamedFrames, *, all_frames: bool) -> Iterator[Line]:
    """The frames, innermost first. Callers of Python that are libraries are counted."""
    frames = stack.frames
    innermost = next((index for index, frame in enumerate(frames) if isinstance(frame, LiveFrame)), len(frames))
    first = next(
        (i for i, frame in enumerate(frames) if isinstance(frame, LiveFrame) and frame.is_user_code), len(frames)
    )
    hidden = 0
    for index, frame in enumerate(frames):
        if not all_frames and index > innermost and _is_hidden(frame, is_outward=index > first):
            hidden += 1
            continue
        yield from _render_hidden_line(hidden)
        hidden = 0
        yield from _render_frame_lines(frame, names, is_first=index == first)
    yield from _render_hidden_line(hidden)
    if stack.problem:
        yield render_text_line(f"  The stack ends here: {stack.problem}.", "error")
    if stack.apart:
        yield render_text_line("  Python frames outside of these:", "dim")
        for frame in stack.apart:
            yield from _render_frame_lines(frame, names, is_first=False)


def _is_hidden(frame: NativeFrame | LiveFrame, *, is_outward: bool) -> bool:
    """Whether a caller of Python code is left out: the interpreter, and libraries' Python below the user's."""
    if isinstance(frame, LiveFrame):
        return is_outward and not frame.is_user_code
    return frame.module is not None and is_python_binary(frame.module.path)


def _render_hidden_line(hidden: int) -> Iterator[Line]:
    if hidden:
        yield render_text_line(f"    … {words.count(hidden, 'frame')} of libraries", "dim")


def _render_frame_lines(frame: NativeFrame | LiveFrame, names: NamedFrames, *, is_first: bool) -> Iterator[Line]:
    if isinstance(frame, LiveFrame):
        mark, style = ">" if is_first else " ", "python" if frame.is_user_code else "dim"
        yield (
            Span(f"{mark} "),
            Span(make_printable(frame.function), style),
            Span("  "),
            *render_frame_location_line(frame),
        )
        return
    for found in names[frame]:
        yield from render_found_frame_lines(found)


def build_core_document(stacks: ProcessStacks, names: NamedFrames) -> dict[str, Any]:
    """The process of a core file and the stacks of its threads, as a JSON document."""
    return {
        "pid": stacks.image.pid,
        "command": stacks.image.command,
        "signal": stacks.image.signal,
        "fault_address": stacks.image.fault_address,
        "python_version": stacks.python_version,
        "problems": list(stacks.problems),
        "threads": [
            {"tid": thread.tid, "has_gil": thread.has_gil, **_build_stack_document(thread.merged, names)}
            for thread in stacks.threads
        ],
    }


def build_native_snapshot_document(
    snapshot: ProcessSnapshot, stacks: ProcessStacks, names: NamedFrames
) -> dict[str, Any]:
    """A living process as a JSON document: that of `live`, with the merged stack of each thread."""
    merged = {thread.tid: _build_stack_document(thread.merged, names) for thread in stacks.threads}
    document = build_snapshot_document(snapshot)
    for thread in document["threads"]:
        thread["stack"] = merged.get(thread["tid"])
    return document | {"native_problems": list(stacks.problems)}


def _build_stack_document(stack: MergedStack, names: NamedFrames) -> dict[str, Any]:
    return {
        "frames": [document for frame in stack.frames for document in _build_frame_documents(frame, names)],
        "frames_apart": [asdict(frame) for frame in stack.apart],
        "problem": stack.problem,
    }


def _build_frame_documents(frame: NativeFrame | LiveFrame, names: NamedFrames) -> list[dict[str, Any]]:
    if isinstance(frame, LiveFrame):
        return [{"language": "python", **asdict(frame), "is_users": frame.is_user_code}]
    return [build_frame_document(found) for found in names[frame]]
