"""`framedex explain`: the stacks in a crash text or log, with the source of each frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.lazy import compile_on_use
from framedex.base.plaintext import make_printable, make_visible
from framedex.commands.inputs.logs import (
    NO_INDEX,
    build_bare_address_notes,
    build_problems,
    build_release_notes,
    find_release_problems,
    open_resolver,
    standard_input,
    unreadable_error,
)
from framedex.commands.output.console import exit_nothing_found, json_option, note, print_json, print_lines
from framedex.commands.output.render_stacks import build_frame_document, render_found_frame_lines
from framedex.commands.output.terminal import Line, Span
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks.detect import read
from framedex.text_stacks.log_text import remove_escapes, remove_html
from framedex.text_stacks.source_lookup.frame_context import find_callees, find_quoted_source

if TYPE_CHECKING:
    from framedex.text_stacks.model import TextStack
    from framedex.text_stacks.source_lookup.frame_context import FoundFrame
    from framedex.text_stacks.source_lookup.resolve import Resolver


_MAX_BYTES = 16 << 20
"""Stacks are searched in this many bytes at the end of a log; release statements in the whole log."""

_CHUNK_BYTES = 1 << 20
_ELF_MAGIC = b"\x7fELF"
_CRASHED_AT = compile_on_use(r"(?:received|Aborted) at (?:time=)?(?P<time>1\d{9})\b")  # absl and glog


@click.command()
@click.argument("file", metavar="[FILE|-]", default="-")
@json_option
@click.pass_obj
def explain(index_path: Path | None, file: str, as_json: bool) -> None:
    """Find the source of every frame in a crash text or log.

    Supported: stacks of Python, absl, glog, gdb, lldb, sanitizers, LLVM, PyTorch, py-spy, HLO, MLIR and others, and
    plain file:line. A text may mix them, behind any log prefix. docs/reference/stack-formats.md has the list.

    A frame with only a symbol, a binary and an offset, or an op name is looked up in the index. A frame of XLA or JAX
    is also looked up in the known releases. Example: train.py 2>&1 | framedex explain

    Only the last 16 MiB of a larger log are searched. `framedex resolve` annotates a log of any size.
    """
    log = _read_log(file)
    text = log.text
    reading = read(text)
    lines = text.split("\n")
    with (
        open_resolver(index_path, file, log.releases) as (resolver, index),
        index.reading() if index else nullcontext(),
    ):
        resolver.written_before = _find_latest_time(file, text)
        resolver.set_program(*reading.frames())
        explained = [(stack, tuple(_find_sources(resolver, stack, lines))) for stack in reading.stacks]
    if as_json:
        problems = [*log.problems, *reading.problems, *find_release_problems(resolver.released)]
        problems += build_problems(resolver.builds)
        releases = {package: {"version": each[0], "basis": each[1]} for package, each in resolver.released.used.items()}
        print_json(
            {
                "stacks": [_build_stack_document(*each, log.skipped) for each in explained],
                "releases": releases,
                "problems": problems,
            }
        )
        _exit_if_empty(explained)
        return
    print_lines(line for each in explained for line in _render_stack_lines(*each, log.skipped))
    notes = (*build_release_notes(resolver.released), *build_problems(resolver.builds))
    for sentence in (
        *log.problems,
        *reading.problems,
        *notes,
        *build_bare_address_notes(each for _, found in explained for each in found),
    ):
        note(sentence)
    _exit_if_empty(explained)
    if index is None and any(found.location is None for _, frames in explained for found in frames):
        note(NO_INDEX)


def _exit_if_empty(explained: Sequence[object]) -> None:
    if not explained:
        exit_nothing_found("This text contains no stack in a supported format.")


@dataclass(frozen=True, slots=True)
class _Log:
    """The last part of a log, the number of lines before it, and the releases that the whole log states."""

    text: str
    skipped: int
    releases: StatedReleases

    @property
    def problems(self) -> tuple[str, ...]:
        """The note on lines that are not searched."""
        if not self.skipped:
            return ()
        return (
            f"The log has over {words.format_size(_MAX_BYTES)}: stacks before line {self.skipped + 1:,} are "
            "left out. For one"
            " of them, pass a part of the log.",
        )


def _read_log(file: str) -> _Log:
    """Read the log in parts. Raises FramedexError if it cannot be read."""
    releases, skipped, kept = StatedReleases(), 0, bytearray()
    try:
        with nullcontext(standard_input().buffer) if file == "-" else Path(file).open("rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                kept += chunk
                if kept.startswith(_ELF_MAGIC):
                    raise FramedexError(
                        f"{make_printable(file)} is a binary file.",
                        "`framedex core FILE` shows the stacks in a core file.",
                    )
                if len(kept) >= 2 * _MAX_BYTES:
                    skipped += _drop_early_lines(kept, releases)
    except (OSError, ValueError) as error:
        raise unreadable_error(file, error) from error
    if len(kept) > _MAX_BYTES:
        skipped += _drop_early_lines(kept, releases)
    text = _decode_text(bytes(kept))
    releases.read_text(text)
    return _Log(text, skipped, releases)


def _drop_early_lines(kept: bytearray, releases: StatedReleases) -> int:
    """Remove the lines before the last `_MAX_BYTES`, parse their releases, and return their number."""
    last = len(kept) - _MAX_BYTES
    end = kept.rfind(b"\n", 0, last) + 1 or last
    text = _decode_text(bytes(kept[:end]))
    del kept[:end]
    releases.read_text(text)
    return text.count("\n")


def _find_latest_time(file: str, text: str) -> float | None:
    """The latest possible time of the text: its crash time, or the modification time of its file."""
    times = [float(match["time"]) for match in _CRASHED_AT.finditer(text)]
    if file != "-":
        with suppress(OSError, ValueError):
            times.append(Path(file).stat().st_mtime)
    return min(times, default=None)


def _find_sources(resolver: Resolver, stack: TextStack, lines: Sequence[str]) -> Iterator[FoundFrame]:
    frames = [(frame, find_quoted_source(frame, lines)) for frame in stack.frames]
    resolver.set_stack(frames)
    inward = find_callees(stack.frames, stack.innermost_first)
    return (resolver.find(*each, called) for each, called in zip(frames, inward, strict=True))


def _decode_text(content: bytes) -> str:
    text = remove_html(remove_escapes(content.decode("utf-8", "replace")))
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _render_stack_lines(stack: TextStack, frames: Sequence[FoundFrame], skipped: int) -> Iterator[Line]:
    located = sum(found.location is not None for found in frames)
    order = "innermost first" if stack.innermost_first else "innermost last"
    summary = f"  {stack.format}, {words.count(len(frames), 'frame')}, {located} with source, {order}"
    yield (Span(make_visible(stack.title or f"line {skipped + stack.first_line + 1}"), "head"), Span(summary, "dim"))
    for found in frames:
        yield from render_found_frame_lines(found)
    yield ()


def _build_stack_document(stack: TextStack, frames: Sequence[FoundFrame], skipped: int) -> dict[str, Any]:
    return {
        "format": stack.format.value,
        "title": stack.title,
        "first_line": skipped + stack.first_line + 1,
        "last_line": skipped + stack.last_line + 1,
        "innermost_first": stack.innermost_first,
        "frames": [{"line": skipped + found.frame.first_line + 1} | build_frame_document(found) for found in frames],
    }
