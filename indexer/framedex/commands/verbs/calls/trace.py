"""`framedex trace`: the stack of a call."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.folders import user_folder
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.missing_answers import not_recorded_error
from framedex.commands.inputs.project_index import note_incomplete_captures
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_counted_index, render_heading_line
from framedex.commands.output.atomic_files import write_atomic
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import build_trace_document
from framedex.commands.output.render_trace import (
    dispatch_lines,
    frames_with_public_link,
    render_all_frames,
    render_folded_frames,
    render_profiled_lines,
    render_stack_lines,
    render_trace_header,
)
from framedex.commands.output.terminal import Terminal
from framedex.model import FrameRole, Language, Staleness
from framedex.texts.traces import format_trace

if TYPE_CHECKING:
    from framedex.commands.output.render_trace import Frames
    from framedex.commands.output.terminal import Line
    from framedex.index import Index
    from framedex.model import FrameRow, Trace

_ADVICE_INTERVAL_S = 24 * 60 * 60.0


def _print_advice(topic: str, texts: Iterable[str]) -> None:
    """Print the strings as notes, unless this topic was shown on a terminal within a day.

    A log gets them every time, because its reader may have seen no other.
    """
    advice = list(texts)
    if advice and not (sys.stderr.isatty() and _was_printed_recently(topic)):
        for text in advice:
            note(text)


def _was_printed_recently(topic: str) -> bool:
    """Whether the advice was printed within a day. Records that it is printed now; False if that fails."""
    folder = user_folder("XDG_CACHE_HOME")
    if folder is None:
        return False
    file = folder / "framedex" / "advice" / topic
    if 0 <= time.time() - _modification_time(file) < _ADVICE_INTERVAL_S:
        return True
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return False


def _modification_time(file: Path) -> float:
    """The modification time of a file in seconds since the Unix epoch; 0 if it is missing."""
    try:
        return file.lstat().st_mtime
    except (OSError, ValueError):
        return 0.0


_JAXLIB = {"libjax_common.so", "_jax.so", "xla_extension.so"}
# The repositories of the functions in jaxlib's binaries.
_TREES = (
    ("`xla::` and `tsl::`", re.compile(r"(?:xla|tsl|stream_executor)::"), "https://github.com/openxla/xla"),
    ("`jax::` and `jaxlib::`", re.compile(r"(?:jax|jaxlib)::"), "https://github.com/jax-ml/jax"),
)


@click.command()
@click.argument("call", metavar="ID|FUNCTION")
@click.option("--first", is_flag=True, help="Most recent frame first.")
@click.option("--all", "show_all", is_flag=True, help="Show interpreter and glue frames, and every candidate line.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write a trace document for editors."
)
@capture_option
@json_option
@click.pass_obj
def trace(
    index_path: Path | None,
    call: str,
    first: bool,
    show_all: bool,
    output: Path | None,
    selection: CaptureSelection | None,
    as_json: bool,
) -> None:
    """Show the Python and C++ stack of a call.

    ID is a number from `framedex calls`. FUNCTION is a runtime function (its name, last part or a unique part), for
    its latest call, or a function of your program, for the latest call through it. The most recent frame comes last.
    The stack of an FFI handler ends with the Python stack of its ffi_call.
    """
    with open_counted_index(index_path, selection) as index:
        found = _find_trace(index, call, selection)
        answer = None if _is_id(call) else index.calls.answer_of(found.call)
        profiled = index.calls.find_profiled_run(found.call)
        capture = next((row for row in index.captures() if row.id == found.call.capture), None)
    if output is not None:
        write_atomic(output, format_trace(found))
        note(f"Wrote {output}. Open it in an editor with framedex's language server to follow its frames.")
    elif as_json:
        print_json(build_trace_document(found, profiled))
    else:
        frames = (*found.frames, *found.python)
        code = [frame for frame in frames if frame.function.role is FrameRole.CODE]
        print_lines(
            [
                *([render_heading_line(answer)] if answer is not None and answer.among > 1 else []),
                *render_trace_header(found, frames if show_all else code),
                *(render_profiled_lines(profiled, show_all) if profiled is not None else []),
                (),
                *_render_all_stack_lines(
                    found, render_all_frames if show_all else render_folded_frames, -1 if first else 1
                ),
            ]
        )
        if capture is not None:
            note_incomplete_captures(capture)
        for path, is_followed in _find_stale_files(found).items():
            effect = "its lines are shown at their current position" if is_followed else "its lines may have moved"
            note(f"{path} has changed since the recording: {effect}.")
        _print_advice(
            "trace", (*_explain_unnamed_frames(found), *_suggest_missing_sources(found), *_suggest_public_sources(code))
        )


def _is_id(call: str) -> bool:
    return call.isascii() and call.isdigit()


def _find_trace(index: Index, call: str, selection: CaptureSelection | None) -> Trace:
    """The trace for a call id or a function name. Raises FramedexError if the selected captures have none."""
    if _is_id(call):
        found = index.calls.trace(int(call)) if len(call) < 19 else None
        if found is None and isinstance(selection, tuple):
            raise FramedexError(
                f"Call {call} is not in the captures of --capture.", f"`framedex trace {call}` searches all captures."
            )
        if found is None:
            raise FramedexError(f"There is no call {call} in the index.", "`framedex calls` lists the calls.")
        return found
    latest = index.calls.latest(call)
    found = index.calls.trace(latest.id) if latest else None
    if found is None:
        raise not_recorded_error(
            index,
            call,
            f"No recorded call of a function like '{call}'.",
            "`framedex calls` lists the calls; `framedex callers NAME` finds functions within stacks.",
        )
    return found


def _suggest_missing_sources(found: Trace) -> Iterator[str]:
    """Yield, for each binary, the number of named frames without source, and the source trees that have it."""
    modules: dict[str, list[FrameRow]] = {}
    for frame in (*found.frames, *found.python):
        is_named = frame.function.role is FrameRole.CODE and frame.function.symbol and frame.module
        if frame.location is None and is_named:
            modules.setdefault(PurePath(frame.module).name, []).append(frame)
    for module, frames in modules.items():
        names = [frame.function.name for frame in frames]
        trees = [
            f"{shown} in {tree}"
            for shown, pattern, tree in _TREES
            if module in _JAXLIB and any(map(pattern.match, names))
        ]
        commit = "; `framedex sources` shows the commit" if trees else ""
        if module in _JAXLIB and (others := _other_scopes(names)):
            trees.append(f"{others} in neither XLA nor JAX")
        details = f": {', '.join(trees)}" if trees else ""
        yield (
            f"{words.count(len(frames), 'named frame')} of {module} without source here{details}."
            f" `framedex index --source DIR` links them to a source tree{commit}."
        )


def _suggest_public_sources(code: Sequence[FrameRow]) -> Iterator[str]:
    """Yield the number of frames whose source is public but not on this machine.

    Interpreter frames are not counted: by default, `sources fetch` does not fetch CPython.
    """
    if public := frames_with_public_link(code):
        count = words.count(len(public), "frame")
        yield f"The source of {count} is public, not local. `framedex sources fetch` downloads known commits."


def _other_scopes(names: Iterable[str]) -> str:
    """The outermost scopes of functions from neither repository, each once."""
    others = [name for name in names if not any(pattern.match(name) for _, pattern, _ in _TREES)]
    scopes = dict.fromkeys(
        f"`{scope}::`" if colons else f"`{scope}`"
        for scope, colons, _ in (make_printable(name).partition("::") for name in others)
    )
    return ", ".join(scopes)


def _explain_unnamed_frames(found: Trace) -> Iterator[str]:
    """Yield, for each binary, the number of frames without a name, and the command that explains them."""
    modules = Counter(
        PurePath(frame.module).name
        for frame in found.frames
        if frame.function.role is FrameRole.CODE
        and frame.function.language is Language.NATIVE
        and not frame.function.symbol
    )
    for module, frames in modules.items():
        yield f"{words.count(frames, 'frame')} of {module} without a name: `framedex doctor` shows the reason."


def _find_stale_files(found: Trace) -> dict[str, bool]:
    """The files of the trace that changed since the recording, each with whether git can map all its lines."""
    frames = (*found.frames, *found.python)
    places = [frame.location for frame in frames if frame.location is not None and frame.location.stale is not None]
    unknown = {place.path for place in places if place.stale is Staleness.UNKNOWN}
    return {place.path: place.path not in unknown for place in places}


def _render_all_stack_lines(found: Trace, frames: Frames, step: int) -> Iterator[Line]:
    width = Terminal.of_stdout().width
    yield from render_stack_lines(found, frames, width, step)
    yield from dispatch_lines(found, frames, width, step)
